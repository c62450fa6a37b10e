package sketch

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestAlphanumerics holds the hash of the table of the article's program, whose
// 1,024 words were hashed in little-endian order, and its first and last words
// as the article prints them.
func TestAlphanumerics(t *testing.T) {
	table := newAlphanumericTable()
	hash := fnv.New64a()
	count := 0
	for c := range 1 << 16 {
		if table.unit(uint16(c)) {
			count++
		}
		if c < len(table.bytes) && table.bytes[c] != (c < utf8.RuneSelf && table.unit(uint16(c))) {
			t.Errorf("byte %#x differs from the character", c)
		}
	}
	if err := binary.Write(hash, binary.LittleEndian, table.units[:]); err != nil {
		t.Fatal(err)
	}
	if got, want := hash.Sum64(), uint64(0x2eca11f427037fc4); got != want {
		t.Errorf("hash of the table is %#x, want %#x: Go's Unicode tables have changed, list what differs", got, want)
	}
	if want := 48812; count != want {
		t.Errorf("%d letters and digits, want %d", count, want)
	}
	begin := []uint64{0x03ff000000000000, 0x07fffffe07fffffe, 0x0420040000000000, 0xff7fffffff7fffff}
	end := []uint64{0x07fffffe03ff0000, 0xffffffc007fffffe, 0x7fffffffffffffff, 0x000000001cfcfcfc}
	if got := table.units[:len(begin)]; !slices.Equal(got, begin) {
		t.Errorf("the table begins with %#x, want %#x", got, begin)
	}
	if got := table.units[len(table.units)-len(end):]; !slices.Equal(got, end) {
		t.Errorf("the table ends with %#x, want %#x", got, end)
	}
}

// singleHashChecker compares with the naive variant, keeping its hashers.
type singleHashChecker map[SingleHashOptions]*SingleHash

func newSingleHashChecker() singleHashChecker {
	c := singleHashChecker{}
	for _, words := range []int{1, 2, 3, 4, 5, 6} {
		for _, size := range []int{1, 7, 128} {
			for _, article := range []bool{false, true} {
				o := SingleHashOptions{Words: words, Size: size, Article: article}
				c[o] = must(NewSingleHash(o))
			}
		}
	}
	return c
}

func (c singleHashChecker) check(t *testing.T, text []byte) {
	t.Helper()
	units := CodeUnits(text)
	for o, hasher := range c {
		got, gotWords := hasher.Fingerprint(nil, text)
		want, wantWords := naiveFingerprint(units, o)
		if !slices.Equal(got, want) || gotWords != wantWords {
			t.Fatalf("%+v of %.200q: %d words, %x; want %d words, %x", o, text, gotWords, got, wantWords, want)
		}
	}
}

func TestSingleHash(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 32))
	c := newSingleHashChecker()
	for _, text := range edgeTexts {
		c.check(t, []byte(text))
		c.check(t, []byte(strings.Repeat(text+" ", 3)+text))
	}
	for i := range 300 {
		c.check(t, randomText(random, random.IntN(3000), i%2 == 0))
	}
}

// TestSingleHashSlip shows the effect of the article's slip: words of Cyrillic letters have the same hash as
// words of other letters with the same lower bytes.
func TestSingleHashSlip(t *testing.T) {
	cyrillic, other := []byte("да мы есть"), []byte("\u0134\u0130 \u013c\u014b \u0135\u0141\u0142\u014c")
	for _, article := range []bool{false, true} {
		hasher := must(NewSingleHash(SingleHashOptions{Words: 3, Size: 8, Article: article}))
		a, _ := hasher.Fingerprint(nil, cyrillic)
		b, _ := hasher.Fingerprint(nil, other)
		if slices.Equal(a, b) != article {
			t.Errorf("article %v: fingerprints %x and %x", article, a, b)
		}
	}
}

func TestSingleHashGolden(t *testing.T) {
	for _, c := range []struct {
		article bool
		text    string
		want    []uint32
	}{
		// No separator and no upper byte: FNV-1a of "a\0b\0c\0", by hand.
		{true, "a b c", []uint32{0xae1e997d}},
		{false, "a b c", []uint32{0xae1e997d}},
		{true, "Все люди рождаются свободными", []uint32{0xbf9017ae, 0xefae6f7c}},
		{false, "Все люди рождаются свободными", []uint32{0xaeee7ec2, 0xb9c31c44}},
		{false, "two words", nil},
	} {
		hasher := must(NewSingleHash(SingleHashOptions{Words: 3, Size: 128, Article: c.article}))
		if got, _ := hasher.Fingerprint(nil, []byte(c.text)); !slices.Equal(got, c.want) {
			t.Errorf("article %v, %q: %#x, want %#x", c.article, c.text, got, c.want)
		}
	}
}

// TestSmallest drives heap and set with few distinct values, so that duplicates
// and the hash that marks free slots occur all the time.
func TestSmallest(t *testing.T) {
	random := rand.New(rand.NewPCG(33, 34))
	for _, size := range []int{1, 2, 3, 10, 100} {
		s := newSmallest(size)
		for _, span := range []uint32{3, 50, 1000, 1 << 31} {
			s.reset()
			var all []uint32
			for range 3000 {
				h := random.Uint32N(span) << 1
				s.collect(h)
				all = append(all, h)
			}
			slices.Sort(all)
			all = slices.Compact(all)
			if got, want := s.appendSorted(nil), all[:min(size, len(all))]; !slices.Equal(got, want) {
				t.Fatalf("size %d, values below %d: %d, want %d", size, span, got, want)
			}
		}
	}
}

func TestSingleHashAllocations(t *testing.T) {
	text := []byte(strings.Repeat("Все люди are born free and равными в правах 123. ", 50))
	for _, words := range []int{2, 3} {
		hasher := must(NewSingleHash(SingleHashOptions{Words: words, Size: 128}))
		fingerprint, _ := hasher.Fingerprint(nil, text)
		if n := testing.AllocsPerRun(10, func() { fingerprint, _ = hasher.Fingerprint(fingerprint, text) }); n != 0 {
			t.Errorf("Fingerprint with %d words allocates %v times", words, n)
		}
	}
}

func FuzzSingleHash(f *testing.F) {
	for _, text := range edgeTexts {
		f.Add([]byte(text))
	}
	c := newSingleHashChecker()
	f.Fuzz(func(t *testing.T, text []byte) { c.check(t, text) })
}

func BenchmarkSingleHash(b *testing.B) {
	o := SingleHashOptions{Words: 3, Size: 128, Article: true}
	right := o
	right.Article = false
	for _, kind := range benchmarkTexts {
		if kind.name != "licences" && kind.name != "cyrillic" {
			continue
		}
		texts, size := kind.texts(b)
		var units [][]uint16
		for _, text := range texts {
			units = append(units, CodeUnits(text))
		}
		var fingerprint []uint32
		measure := func(name string, work func(i int)) {
			b.Run(kind.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					for i := range texts {
						work(i)
					}
				}
			})
		}
		measure("naive", func(i int) { naiveFingerprint(units[i], o) })
		smallest := newSmallest(o.Size)
		measure("best-of-the-article", func(i int) { fingerprint = ownTable(smallest, units[i], fingerprint) })
		for name, options := range map[string]SingleHashOptions{"ours-article": o, "ours": right} {
			hasher := must(NewSingleHash(options))
			measure(name, func(i int) { fingerprint, _ = hasher.Fingerprint(fingerprint, texts[i]) })
		}
		for words := 1; words <= 6; words++ {
			hasher := must(NewSingleHash(SingleHashOptions{Words: words, Size: 128}))
			measure(fmt.Sprint("words-", words), func(i int) {
				fingerprint, _ = hasher.Fingerprint(fingerprint, texts[i])
			})
		}
	}
}

func BenchmarkAlphanumericTable(b *testing.B) {
	for b.Loop() {
		newAlphanumericTable()
	}
}

// TestSingleHashPrograms: the programs of the article make the fingerprints of a SingleHash, but for its slip, which
// texts of ASCII do not show.
func TestSingleHashPrograms(t *testing.T) {
	hasher := must(NewSingleHash(SingleHashOptions{Words: 3, Size: 16}))
	random := rand.New(rand.NewPCG(3, 3))
	for words := range 60 {
		var text []byte
		for range words {
			text = fmt.Appendf(text, "w%d, ", random.IntN(9))
		}
		want, _ := hasher.Fingerprint(nil, text)
		for _, program := range SingleHashPrograms(16) {
			if got := program.Fingerprint(CodeUnits(text)); !slices.Equal(got, want) {
				t.Fatalf("%s of %q: %x, want %x", program.Name, text, got, want)
			}
		}
	}
}

// TestSimHashPrograms: counters of bytes make the SimHash that a loop over bits makes.
func TestSimHashPrograms(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for _, size := range []int{0, 1, 254, 255, 256, 1000} {
		set := make([]uint64, size)
		for i := range set {
			set[i] = random.Uint64()
		}
		if got, want := SimHashByBytes(set), SimHashByBits(set); got != want {
			t.Errorf("%d hashes: %x, want %x", size, got, want)
		}
	}
}
