package asmkernels

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
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
	read := s.Run(folded, starts, ends, window, limit)
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

func TestRunClassifiesEveryByte(t *testing.T) {
	for c := range 256 {
		for at := range BlockSize {
			text := bytes.Repeat([]byte{' '}, 3*BlockSize)
			text[at] = byte(c)
			text[BlockSize+at] = byte(c)
			for i := range text[:Lookahead] {
				if c < 0x80 && i != at {
					text[i] = 'x'
				}
			}
			if c < 0x80 || at > 0 {
				checkRun(t, Scan{}, text, slices.Clone)
			}
		}
	}
}

func FuzzRun(f *testing.F) {
	f.Add([]byte("The quick brown fox jumps over 2 lazy dogs, and so on until a block is full and another begins"), byte(0))
	f.Add(bytes.Repeat([]byte("a "), 200), byte(1))
	f.Add([]byte("\x80"), byte(2))
	f.Fuzz(func(t *testing.T, text []byte, state byte) {
		for i := range text {
			text[i] &= 0x7f
		}
		checkRun(t, states[int(state)%len(states)], append(text, make([]byte, Lookahead)...), slices.Clone)
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
					s.Run(folded, starts, ends, text, size)
				}
			})
		}
	})
}
