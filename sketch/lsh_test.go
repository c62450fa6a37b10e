package sketch

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/fnv"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// TestLSHGolden compares with the digests that ExLSH's article and documentation
// state.
func TestLSHGolden(t *testing.T) {
	for _, c := range []struct {
		text    string
		options LSHOptions
		want    string
	}{
		{"lorem ipsum dolor sit", LSHOptions{Width: 4, Hash: md5.New()}, "X2Vs9ee9Uk38p6pkUIhlZQ=="},
		{
			"lorem ipsum dolor sit",
			LSHOptions{Width: 1, Hash: sha256.New()},
			"BABBQURRDEiogqAAISKIKAWAQEQZAAgrUtTgXD5FDaA=",
		},
		{"lorem ipsum dolor sit", LSHOptions{}, "OEAhAhKSgBAwgQEAgCCAEg=="},
		{"username", LSHOptions{Tokenize: SplitCharacters}, "FPIBaaBQGlKKARlqA9lb1g=="},
		{"Lorem ipsum dolor sit amet", LSHOptions{}, "uX05itKaghA0gQHCwDCIFg=="},
		{"Lorem ipsum dolor sit amet", LSHOptions{Width: 2, Hash: sha1.New()}, "VhW06EEJyWQA1gKIAAlQgI4NHUE="},
	} {
		if got := base64.StdEncoding.EncodeToString(
			must(NewLSH(c.options)).Digest(nil, []byte(c.text)),
		); got != c.want {
			t.Errorf("digest of %q is %s, want %s", c.text, got, c.want)
		}
	}
}

// naiveLSH is the definition: counters of big numbers of bits.
func naiveLSH(tokens []string, width int, newHash func() hash.Hash) []byte {
	tallies := make([]int, 8*newHash().Size())
	for i := range max(len(tokens)-width+1, 0) {
		h := newHash()
		h.Write([]byte(strings.Join(tokens[i:i+width], "")))
		sum := new(big.Int).SetBytes(h.Sum(nil))
		for bit := range tallies {
			tallies[bit] += 2*int(sum.Bit(bit)) - 1
		}
	}
	digest := new(big.Int)
	for bit, tally := range tallies {
		if tally > 0 {
			digest.SetBit(digest, bit, 1)
		}
	}
	return digest.FillBytes(make([]byte, newHash().Size()))
}

// lshHashes are hashes of various sizes, whole words or not.
var lshHashes = map[string]func() hash.Hash{
	"MD5":     md5.New,
	"SHA-1":   sha1.New,
	"SHA-256": sha256.New,
	"CRC32":   func() hash.Hash { return crc32.NewIEEE() },
	"FNV-128": fnv.New128a,
	"xxh3":    func() hash.Hash { return xxh3.New() },
}

func TestLSH(t *testing.T) {
	random := rand.New(rand.NewPCG(61, 62))
	for name, newHash := range lshHashes {
		for width := 1; width <= 4; width++ {
			l := must(NewLSH(LSHOptions{Width: width, Hash: newHash()}))
			for _, count := range []int{0, 1, 2, 3, 4, 5, 16, 17, 18, 19, 20, 40, 300} {
				tokens := make([]string, count)
				for i := range tokens {
					tokens[i] = fmt.Sprint("t", random.IntN(30))
				}
				got, want := l.Digest(nil, []byte(strings.Join(tokens, ", "))), naiveLSH(tokens, width, newHash)
				if !bytes.Equal(got, want) {
					t.Errorf("%s of %d tokens, width %d: %x, want %x", name, count, width, got, want)
				}
			}
		}
	}
}

// TestLSHSteps replaces every step.
func TestLSHSteps(t *testing.T) {
	l := must(NewLSH(LSHOptions{
		Normalize: func(dst, text []byte) []byte { return append(dst, bytes.ToUpper(text)...) },
		Tokenize:  func(dst [][]byte, text []byte) [][]byte { return append(dst, bytes.Split(text, []byte("/"))...) },
		Filter: func(tokens [][]byte) [][]byte {
			return slices.DeleteFunc(tokens, func(token []byte) bool { return string(token) == "THE" })
		},
		Width: 2,
		Hash:  sha1.New(),
	}))
	want := naiveLSH([]string{"A", "B", "Ё", "D"}, 2, sha1.New)
	if got := l.Digest(nil, []byte("a/the/b/ё/the/d")); !bytes.Equal(got, want) {
		t.Errorf("digest is %x, want %x", got, want)
	}
}

func TestNormalizeASCII(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"Lorem, IPSUM_9!":          "lorem ipsum_9 ",
		"  a  \r\n b\t":            " a b ",
		"über Café cafe\u0301 end": " ber caf caf end",
		"\u212aelvin \u037e;x":     "kelvin x",
		"İstanbul Ä°":              "i stanbul ",
		"Привет мир":               " ",
		"a\xffb\xc4c\xb0":          "a b c ",
		"\xff cafe\u0301":          " caf ",
	} {
		if got := string(NormalizeASCII([]byte("x:"), []byte(text))); got != "x:"+want {
			t.Errorf("NormalizeASCII(%q) = %q, want %q", text, got, "x:"+want)
		}
	}
}

func TestSplit(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "[] []",
		" \t":                     `[] [" " "\t"]`,
		"a bc":                    `["a" "bc"] ["a" " " "b" "c"]`,
		"\u3000ё\u00a0\u2028é \n": `["ё" "é"] ["\u3000" "ё" "\u00a0" "\u2028" "é" " " "\n"]`,
		"\xff":                    `["\xff"] ["\xff"]`,
	} {
		got := fmt.Sprintf("%q %q", SplitWords(nil, []byte(text)), SplitCharacters(nil, []byte(text)))
		if got != want {
			t.Errorf("%q splits into %s, want %s", text, got, want)
		}
	}
}

func TestLSHAllocations(t *testing.T) {
	text := []byte(strings.Repeat("All human beings are born free, également ", 30))
	for name, newHash := range lshHashes {
		l := must(NewLSH(LSHOptions{Hash: newHash()}))
		digest := l.Digest(nil, text)
		if n := testing.AllocsPerRun(10, func() { digest = l.Digest(digest, text) }); n != 0 {
			t.Errorf("a digest with %s allocates %v times", name, n)
		}
	}
}

func FuzzLSH(f *testing.F) {
	for _, text := range edgeTexts {
		f.Add([]byte(text), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, width int) {
		width = max(width%6, 1)
		normalized := NormalizeASCII(nil, text)
		if !bytes.Equal(NormalizeASCII(nil, normalized), normalized) {
			t.Errorf("%q is not normalized", normalized)
		}
		for i, c := range normalized {
			if c >= utf8.RuneSelf || c == ' ' && i > 0 && normalized[i-1] == ' ' {
				t.Errorf("%q normalizes to %q", text, normalized)
			}
		}
		want := naiveLSH(strings.Fields(string(normalized)), width, md5.New)
		if got := must(NewLSH(LSHOptions{Width: width})).Digest(nil, text); !bytes.Equal(got, want) {
			t.Errorf("digest of %q is %x, want %x", text, got, want)
		}
	})
}

func BenchmarkLSH(b *testing.B) {
	text := []byte(strings.Repeat("The company said it expects net profit of 1.2 mln dlrs in 1987. ", 16))
	for name, newHash := range lshHashes {
		measure := func(name string, work func()) {
			b.Run(name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					work()
				}
			})
		}
		measure(name+"/naive", func() {
			naiveLSH(strings.Fields(string(NormalizeASCII(nil, text))), DefaultLSHWidth, newHash)
		})
		l := must(NewLSH(LSHOptions{Hash: newHash()}))
		var digest []byte
		measure(name+"/ours", func() { digest = l.Digest(digest, text) })
	}
}
