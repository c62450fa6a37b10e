package asmkernels

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode"
	"unicode/utf8"
)

// scanResult is what Scan.Run returns and leaves behind.
type scanResult struct {
	scan         Scan
	read         int
	folded       []byte
	starts, ends []uint16
}

// runOn runs s over text, whose last Lookahead bytes are not to be read for
// their own sake, in memory that make returns.
func runOn(s Scan, text []byte, makeBytes func(text []byte) []byte) scanResult {
	limit := len(text) - Lookahead
	window := makeBytes(text)
	folded := makeBytes(make([]byte, s.Written+len(text)+BlockSize))
	starts, ends := make([]uint16, s.Starts+len(text)+BlockSize), make([]uint16, s.Ends+len(text)+BlockSize)
	first, firstEnd := s.Starts, s.Ends
	from := s.Written
	read := s.Run(testClasses, folded, starts, ends, window, limit)
	return scanResult{s, read, folded[from:s.Written], starts[first:s.Starts], ends[firstEnd:s.Ends]}
}

// checkRun compares Scan.Run of every tier with the plain code.
func checkRun(t *testing.T, s Scan, text []byte, makeBytes func([]byte) []byte) {
	t.Helper()
	defer SelectTier(SelectTier(PlainGo))
	want := runOn(s, text, slices.Clone)
	for _, tier := range Tiers() {
		SelectTier(tier)
		got := runOn(s, text, makeBytes)
		if got.scan != want.scan || got.read != want.read || !bytes.Equal(got.folded, want.folded) ||
			!slices.Equal(got.starts, want.starts) || !slices.Equal(got.ends, want.ends) {
			t.Fatalf("%v: %q after %+v:\ngot  %+v\nwant %+v", tier, text, s, got, want)
		}
	}
}

// asciiText returns a text of size bytes of words of about the given length.
func asciiText(random *rand.Rand, size, word int) []byte {
	text := make([]byte, size)
	for i := range text {
		text[i] = byte(random.IntN(128))
		if random.IntN(word+1) > 0 {
			text[i] = "abcxyzABCXYZ0189"[random.IntN(16)]
		}
	}
	return text
}

// states are Scans to begin with.
var states = []Scan{
	{},
	{Written: 7, Starts: 3, Ends: 2, Open: 1},
	{Written: 30, Starts: 5, Ends: 4, Open: 1, Closed: 1},
}

func TestRun(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for size := range 600 {
		for _, s := range states {
			checkRun(t, s, asciiText(random, size+Lookahead, size%9), slices.Clone)
		}
	}
}

// TestRunShortTokens has as many starts and ends of tokens as possible.
func TestRunShortTokens(t *testing.T) {
	for _, tokens := range []string{"0 ", " 0", "0中", "中0", "中中", "0", "ab "} {
		for _, s := range states {
			text := append(bytes.Repeat([]byte(tokens), 3*BlockSize), make([]byte, Lookahead)...)
			for _, tier := range Tiers() {
				before := SelectTier(tier)
				checkWide(t, s, text, slices.Clone)
				SelectTier(before)
			}
		}
	}
}

func TestRunClassifiesEveryByte(t *testing.T) {
	for c := range 0x80 {
		for at := range BlockSize {
			for _, around := range []byte("x ") {
				text := bytes.Repeat([]byte{around}, 2*BlockSize+Lookahead)
				text[at] = byte(c)
				text[BlockSize+at] = byte(c)
				checkRun(t, Scan{}, text, slices.Clone)
			}
		}
	}
}

// testClasses classifies as package unicode does, with Han as solos.
var testClasses = NewClasses(kindOf)

func kindOf(r rune) (Kind, rune) {
	lower := unicode.ToLower(r)
	switch {
	case !utf8.ValidRune(r):
		return Care, lower
	case unicode.Is(unicode.Han, r):
		return Solo, lower
	case unicode.IsLetter(r), unicode.IsDigit(r):
		return Letter, lower
	case unicode.IsMark(r):
		return Mark, lower
	}
	return Separator, r
}

// isPlain says whether a kernel may take the code point r.
func isPlain(r rune, size int) bool {
	kind, lower := kindOf(r)
	switch {
	case r == utf8.RuneError && size == 1, size > 3, kind == Care:
		return false
	case size == 3:
		return lower == r
	}
	return utf8.RuneLen(lower) == size
}

// checkWide makes sure of what Scan.Run has made of the bytes that it has taken
// of text, by going through them one code point after the other.
func checkWide(t *testing.T, s Scan, text []byte, makeBytes func([]byte) []byte) {
	t.Helper()
	got := runOn(s, text, makeBytes)
	var folded []byte
	var starts, ends []uint16
	open, closed := s.Open == 1, s.Closed == 1
	for rest := text[:got.read]; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if !isPlain(r, size) {
			t.Fatalf("%q of %q was taken", rest[:size], text)
		}
		kind, lower := kindOf(r)
		in := kind == Letter || kind == Solo || kind == Mark && open && !closed
		at := uint16(s.Written + len(folded))
		if open && (!in || closed || kind == Solo) {
			ends = append(ends, at)
		}
		if in && (!open || closed || kind == Solo) {
			starts = append(starts, at)
		}
		open, closed = in, kind == Solo
		if in {
			folded = utf8.AppendRune(folded, lower)
		} else {
			// What is in no token may become anything.
			folded = append(folded, got.folded[len(folded):][:size]...)
		}
		rest = rest[size:]
	}
	want := Scan{
		Written: s.Written + got.read,
		Starts:  s.Starts + len(starts),
		Ends:    s.Ends + len(ends),
		Letters: got.scan.Letters,
	}
	if open {
		want.Open = 1
	}
	if open && closed {
		want.Closed = 1
	}
	if got.scan != want || !bytes.Equal(got.folded, folded) || !slices.Equal(got.starts, starts) ||
		!slices.Equal(got.ends, ends) {
		t.Fatalf("%q after %+v:\ngot  %+v\nwant %+v %q %v %v", text, s, got, want, folded, starts, ends)
	}

	if got.read < len(text)-Lookahead {
		block := text[got.read:][:BlockSize]
		var letters uint64
		for i, c := range block {
			if c < 0x80 && (unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))) {
				letters |= 1 << i
			}
		}
		if got.scan.Letters != letters {
			t.Fatalf("letters of %q = %b, want %b", block, got.scan.Letters, letters)
		}
		if bytes.IndexFunc(block, func(r rune) bool { return r >= 0x80 }) < 0 {
			t.Fatalf("%q was not taken", block)
		}
	}
}

// wideTexts are made of what the kernels have to tell apart.
var wideTexts = []string{
	"Привет МИР ёЁ Ελλάδα ΣΊΣΥΦΟΣ",
	"éüßñÉÜŁœ İıȺȾ",
	"中文字 mixed漢字text ひらがな カタカナ",
	"e\u0301te\u0301 \u0301\u0302a \u0301 中\u0301",
	"नमस्ते दुनिया الْعَرَبِيَّة עִבְרִית",
	"한국어 ẤẦ \u2014 \u201c\u201d ＡＢＣ１２３",
	"𐐀𐐨 😀 \u212a",
	"\xff a\xc0\x80b \xe4\xb8 \xed\xa0\x80 \xe0\x80\x80 \xc3 \x80",
}

// wideText returns a text of pieces of wideTexts, and of random bytes if broken.
func wideText(random *rand.Rand, size int, broken bool) []byte {
	var text []byte
	kind := []rune(wideTexts[random.IntN(len(wideTexts)-2)])
	for len(text) < size {
		if random.IntN(20) == 0 {
			kind = []rune(wideTexts[random.IntN(len(wideTexts))])
		}
		text = utf8.AppendRune(text, kind[random.IntN(len(kind))])
		if broken && random.IntN(40) == 0 {
			text = append(text, byte(random.Uint32()))
		}
	}
	return text
}

func TestRunWide(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(5, 6))
		for _, text := range wideTexts {
			for shift := range BlockSize {
				padded := append(bytes.Repeat([]byte{"x "[shift%2]}, shift), text...)
				checkWide(t, Scan{}, append(padded, make([]byte, Lookahead)...), slices.Clone)
			}
		}
		for i := range 3000 {
			text := append(wideText(random, i%500, i%2 == 0), make([]byte, Lookahead)...)
			checkWide(t, states[i%len(states)], text, slices.Clone)
		}
		for range 2000 {
			text := make([]byte, random.IntN(200)+Lookahead)
			for i := range text {
				text[i] = byte(random.Uint32() | 0x80)
			}
			checkWide(t, Scan{}, text, slices.Clone)
		}
	})
}

// TestRunEveryCodePoint leads every code point of two and three bytes past the
// kernels.
func TestRunEveryCodePoint(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		for r := rune(0x80); r < firstOfFour; r++ {
			text := fmt.Appendf(nil, "a%c %cb %c%c %*s", r, r, r, r, Lookahead, "")
			checkWide(t, Scan{}, text, slices.Clone)
		}
	})
}

func FuzzRun(f *testing.F) {
	f.Add([]byte("The quick brown fox jumps over 2 lazy dogs, and so on until a block is full and another begins"),
		byte(0))
	f.Add(bytes.Repeat([]byte("a "), 200), byte(1))
	// As many ends of tokens as possible.
	f.Add(bytes.Repeat([]byte("0 "), BlockSize), byte(2))
	f.Add(bytes.Repeat([]byte("0中"), BlockSize), byte(2))
	for i, text := range wideTexts {
		f.Add([]byte(text), byte(i))
	}
	f.Fuzz(func(t *testing.T, text []byte, state byte) {
		text = append(slices.Clip(text), make([]byte, Lookahead)...)
		s := states[int(state)%len(states)]
		for _, tier := range Tiers() {
			before := SelectTier(tier)
			checkWide(t, s, text, slices.Clone)
			SelectTier(before)
		}
		for i := range text {
			text[i] &= 0x7f
		}
		checkRun(t, s, text, slices.Clone)
	})
}

func BenchmarkRun(b *testing.B) {
	onEveryTier(b, func(b *testing.B) {
		for _, word := range []int{3, 5, 10} {
			const size = 8 << 10
			text := asciiText(rand.New(rand.NewPCG(3, 4)), size+Lookahead, word)
			folded := make([]byte, size+2*Lookahead)
			starts, ends := make([]uint16, size), make([]uint16, size)
			b.Run(fmt.Sprintf("word=%d", word), func(b *testing.B) {
				b.SetBytes(size)
				for b.Loop() {
					var s Scan
					s.Run(nil, folded, starts, ends, text, size)
				}
			})
		}
	})
}
