package sketch

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/asmkernels"
)

// measures are the measures that documents are compared with the reference by.
var measures = []Measure{
	{Shingle: 1},
	{Shingle: 3},
	{Shingle: 3, Tokens: SingleTokens},
	{Shingle: 70, Tokens: SingleTokens},
	{Shingle: 3, Tokens: ScriptTokens, Seed: 3},
	{Shingle: 40, Tokens: ScriptTokens},
	{Shingle: 3, Tokens: CharacterTokens},
	{Shingle: 2, Seed: 0xfedcba9876543210},
}

// checker compares documents with the reference. It keeps its Hashers. So remains of one document would show
// in the next.
type checker struct{ hashers []*Hasher }

func newChecker() *checker {
	c := &checker{}
	for _, m := range measures {
		c.hashers = append(c.hashers, must(NewHasher(m)))
	}
	return c
}

func (c *checker) check(t *testing.T, text []byte) {
	t.Helper()
	for i, m := range measures {
		got, want := c.hashers[i].Document(text), referenceDocument(text, m)
		if got.Tokens != want.Tokens || got.InvalidBytes != want.InvalidBytes || !slices.Equal(got.Set, want.Set) {
			t.Fatalf(
				"%+v: document of %d bytes %.200q\ngot  %d tokens, %d invalid bytes, %d shingles\nwant %d tokens, %d invalid bytes, %d shingles",
				m, len(text), text, got.Tokens, got.InvalidBytes, len(got.Set), want.Tokens, want.InvalidBytes,
				len(want.Set))
		}
	}
}

// edgeTexts are texts at the edges of the token rule.
var edgeTexts = []string{
	"",
	"a",
	" ",
	"The quick brown fox jumps over the lazy dog, 42 times.",
	"AZaz09@[`{/:",
	"\x00a\x00b\x7f",
	"e\u0301te\u0301 \u0301\u0302a \u0301",
	"中文字 mixed漢字text ひらがな カタカナ ไทย ລາວ ខ្មែរ မြန်မာ",
	"中\u0301a\u0301文\u0301 \u0301中",
	"中1文2",
	"İstanbul ISPARTA ıspanak İİİİ",
	"\u212aelvin \u212b \u2126 \u1e9e \u023a\u023e\u2c65",
	"Привет МИР ёЁ Ελλάδα ΣΊΣΥΦΟΣ Ⴀ Ა Ꭰ ẤẦ",
	"ＡＢＣ １２３",
	"𐐀𐐨 𝒜 𠀀𠀁a𠀂 😀b😀 🇩🇪",
	"\xff\xfe a\xc0\x80b \xe4\xb8 \xed\xa0\x80 \xf4\x90\x80\x80 \xf0\x9f\x98 \xe0\x80\x80 \xc3",
	"\ufffd \ufffda",
	"नमस्ते दुनिया الْعَرَبِيَّة עִבְרִית",
	"\u0345\u0399 a\u0345",
	"²½Ⅷⓐªº_",
	"º \xf5º e\u0301",
}

// alphabets are what random texts are made of.
var alphabets = []string{
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
	"     .,;\n",
	"éüßñÉÜŁœİıȺȾ",
	"абвгдежАБВГДЕЖ",
	"中文漢字一丁七龍",
	"ひらカナーกขฃ່ໍ",
	"\u0301\u0308\u0345\u094d\u20dd",
	"\u212a\u1e9eẤＡⴀᏸ",
	"𐐀𐐨𠀀😀𝟘",
	"\ufffd\u200b—“”。，",
}

// randomText returns a text of about size bytes, in runs from one alphabet each
// and, if broken, with random bytes in between.
func randomText(random *rand.Rand, size int, broken bool) []byte {
	var text []byte
	for len(text) < size {
		alphabet := []rune(alphabets[random.IntN(len(alphabets))])
		for range 1 + random.IntN(12)*random.IntN(12) {
			text = utf8.AppendRune(text, alphabet[random.IntN(len(alphabet))])
		}
		if broken && random.IntN(3) == 0 {
			text = append(text, byte(random.Uint32()))
		}
	}
	return text
}

func TestDocumentEdges(t *testing.T) {
	c := newChecker()
	for _, text := range edgeTexts {
		// Use every offset in a block. So everything crosses the end of a block once.
		for shift := range blockSize + 2 {
			c.check(t, []byte(strings.Repeat(" ", shift)+text))
			c.check(t, []byte(strings.Repeat("x", shift)+text))
		}
	}
}

func TestDocumentRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	c := newChecker()
	for i := range 1500 {
		c.check(t, randomText(random, random.IntN(400), i%2 == 0))
	}
	for i := range 20 {
		c.check(t, randomText(random, random.IntN(4*chunkSize), i%2 == 0))
	}
}

func TestDocumentRandomBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	c := newChecker()
	for range 500 {
		text := make([]byte, random.IntN(500))
		for i := range text {
			text[i] = byte(random.Uint32())
		}
		c.check(t, text)
		for i := range text {
			text[i] |= 0x80
		}
		c.check(t, text)
	}
}

func TestDocumentChunkBorders(t *testing.T) {
	c := newChecker()
	for _, tail := range []string{"", " ", "b", " b", "é", "中", "中文", "İ", "\xe4", "\u0301"} {
		for _, length := range []int{1, 16, 17, 33, 65, 200} {
			for at := chunkSize - 70; at <= chunkSize+80; at += 37 {
				text := bytes.Repeat([]byte("ab c "), at/5+1)[:at]
				text = append(text, strings.Repeat("x", length)...)
				c.check(t, append(text, tail...))
			}
		}
	}
}

func TestDocumentLongTokens(t *testing.T) {
	c := newChecker()
	for length := range 100 {
		c.check(t, []byte(strings.Repeat("q", length)))
		c.check(t, []byte(strings.Repeat("é", length)+" "+strings.Repeat("z", length)))
	}
	for _, length := range []int{chunkSize, 3*chunkSize + 1} {
		c.check(t, []byte(strings.Repeat("q", length)))
		c.check(t, []byte(strings.Repeat("Ж", length)))
		c.check(t, []byte(strings.Repeat("Ⱥ", length)))
		c.check(t, []byte(strings.Repeat("İ ", length)))
		c.check(t, []byte("a b "+strings.Repeat("q", length)+" c"))
		// As many tokens as possible.
		c.check(t, []byte(strings.Repeat("a ", length/2)))
		c.check(t, []byte(strings.Repeat("a中", length/4)))
	}
}

func FuzzDocument(f *testing.F) {
	for _, text := range edgeTexts {
		f.Add([]byte(text))
	}
	c := newChecker()
	f.Fuzz(func(t *testing.T, text []byte) { c.check(t, text) })
}

// TestTokenLength makes sure that padding and folding keep tokens apart.
func TestTokenLength(t *testing.T) {
	seen := make(map[uint64]int)
	hash := must(NewHasher(Measure{})).hash
	for length := 1; length < 300; length++ {
		token := hash.Token(asmkernels.Prefix{}, bytes.Repeat([]byte("a"), length+tokenBlock)[:length])
		if other, ok := seen[token]; ok {
			t.Errorf("tokens of %d and %d letters have the same hash", other, length)
		}
		seen[token] = length
	}
}

// TestGolden notices changes of the hashes. Stored sets would become worthless.
func TestGolden(t *testing.T) {
	const text = "Call me Ishmael. Some years ago—never mind how long precisely—" +
		"ÉTÉ Привет internationalisations 東京タワー นก \xff"
	for _, c := range []struct {
		measure Measure
		set     string
		digest  string
	}{
		{Measure{Shingle: 1}, "[95bbbb439c1 3282a0c9ba89]", "[907ee1984a5b47b6 17e91b436b3e4af9]"},
		{Measure{Shingle: 3}, "[1bf3dd39d22f 21cef4f96c19]", "[2401dc6d76f003da 154cca60a2a66deb]"},
		{
			Measure{Shingle: 3, Tokens: SingleTokens},
			"[1465e5cacbd 21cef4f96c19]",
			"[603872a668c34ac3 547ea6677cd845e7]",
		},
		{Measure{Shingle: 100}, "[ce774f5725e9]", "[717f1069b4a7111c 341b74da24213f31]"},
	} {
		document := must(NewHasher(c.measure)).Document([]byte(text))
		set := fmt.Sprintf("%x", BottomK(document.Set, 2))
		digest := fmt.Sprintf("%x", document.Digest)
		if set != c.set || digest != c.digest {
			t.Errorf("%+v: smallest elements %s, digest %s; want %s, %s", c.measure, set, digest, c.set, c.digest)
		}
	}
	if got, want := fmt.Sprintf("%x", must(NewHasher(Measure{Shingle: 3})).Document([]byte("?!")).Digest),
		"[5bed129143a5f56c 17ec82646289249b]"; got != want {
		t.Errorf("digest without a token = %s, want %s", got, want)
	}
}

// TestClassesGolden notices a new version of Unicode, which changes the tokens
// of some texts. Then UnicodeVersion has changed too.
func TestClassesGolden(t *testing.T) {
	for _, c := range []struct {
		name  string
		table *classTable
		want  string
	}{
		{"word", wordTable(), "d975f9040ecb2961"},
		{"ideograph", ideographTable(), "87a5d3ebee044dc6"},
	} {
		var all []byte
		for r := range rune(unicode.MaxRune + 1) {
			all = append(all, c.table.class(uint32(r)))
			all = utf8.AppendRune(all, unicode.ToLower(r))
		}
		if got := fmt.Sprintf("%x", xxh3.Hash(all)); got != c.want {
			t.Errorf("%s classes of Unicode %s have the hash %s, want %s", c.name, UnicodeVersion, got, c.want)
		}
	}
}

// TestClasses compares the tables with the functions of package unicode.
func TestClasses(t *testing.T) {
	for r := range rune(unicode.MaxRune + 1) {
		word, ideograph := wordTable().class(uint32(r)), ideographTable().class(uint32(r))
		want := class(0)
		switch {
		case !utf8.ValidRune(r):
			want = irregular
		case unicode.IsLetter(r), unicode.IsDigit(r):
			want = letter
		case unicode.IsMark(r):
			want = mark
		}
		if want != 0 && unicode.ToLower(r) != r {
			want |= irregular
		}
		if word != want {
			t.Fatalf("class of %U = %d, want %d", r, word, want)
		}
		if unicode.In(r, unsegmentedScripts...) {
			if word&irregular != 0 || r < firstOfThree {
				t.Fatalf("%U is a token of its own, but has a lower case or two bytes", r)
			}
			want = solo
		}
		if ideograph != want {
			t.Fatalf("class of %U with solo tokens = %d, want %d", r, ideograph, want)
		}
		lower := unicode.ToLower(r)
		if word != irregular && utf8.RuneLen(lower) != utf8.RuneLen(r) {
			if word&letter == 0 {
				t.Fatalf("%U changes its length, but is no letter", r)
			}
			if 2*utf8.RuneLen(lower) > 3*utf8.RuneLen(r) {
				t.Fatalf("%U grows by more than half", r)
			}
		}
	}
}

func TestDigest(t *testing.T) {
	h := must(NewHasher(Measure{Shingle: 2}))
	digest := func(text string) Digest { return h.Document([]byte(text)).Digest }
	if digest("A b a") != digest("a, b, A: b!") {
		t.Error("equal sets have different digests")
	}
	seen := make(map[Digest]string)
	for _, text := range []string{"", " ", "?", "\xff", "a", "a b", "a b c", "b a", "c b a"} {
		if other, ok := seen[digest(text)]; ok {
			t.Errorf("%q and %q have the same digest", other, text)
		}
		seen[digest(text)] = text
	}
}

func TestShortDocuments(t *testing.T) {
	h := must(NewHasher(Measure{Shingle: 3}))
	one := slices.Clone(h.Document([]byte("a b")).Set)
	if two := h.Document([]byte("A, B.")).Set; len(one) != 1 || !slices.Equal(one, two) {
		t.Errorf("sets of the same two tokens: %x and %x, want the same element", one, two)
	}
	if d := h.Document([]byte("... !")); len(d.Set) != 0 || d.Tokens != 0 {
		t.Errorf("document without a token: %+v", d)
	}
	zero := must(NewHasher(Measure{})).Document([]byte("a b"))
	one1 := must(NewHasher(Measure{Shingle: 1})).Document([]byte("a b"))
	if !slices.Equal(zero.Set, one1.Set) {
		t.Error("a shingle width of 0 does not count as 1")
	}
}
