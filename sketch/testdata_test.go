package sketch

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mirrorbeam.dev/asmkernels"
)

// readTestdata returns the lines of a file of reference vectors, cut into fields. What other programs made them, their
// first lines say.
func readTestdata(t *testing.T, name string) (lines [][]string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
	}
	return lines
}

// TestSimHashVectors: seomoz/simhash-cpp makes the same fingerprints of hashes.
func TestSimHashVectors(t *testing.T) {
	s := newSimHash(t, SimHashOptions{Bits: 64, Raw: true, Tie: TieZero})
	lines := readTestdata(t, "seomoz_compute.tsv")
	for _, line := range lines {
		s.Reset()
		for hash := range strings.SplitSeq(line[1], ",") {
			s.Add(parseHex(t, hash), 1)
		}
		if got, want := s.Fingerprint(nil)[0], parseHex(t, line[0]); got != want {
			t.Errorf("%s: %016x, want %016x", line[1], got, want)
		}
	}
	if len(lines) < 100 {
		t.Errorf("%d vectors", len(lines))
	}
}

// generatedWords returns the words of the generated text with this number.
func generatedWords(i int) (words [][]byte) {
	for j := range i + 5 {
		words = append(words, fmt.Appendf(nil, "w%d", (i*i+7*j)%97))
	}
	return words
}

// TestSimHashWordVectors: mfonda/simhash makes the same fingerprints of generated words, by 64-bit FNV-1.
func TestSimHashWordVectors(t *testing.T) {
	s := newSimHash(t, SimHashOptions{Bits: 64, Raw: true, Tie: TieOne})
	lines := readTestdata(t, "mfonda_words.tsv")
	for i, line := range lines {
		words := generatedWords(i)
		for column, features := range [][][]byte{words, pairs(words)} {
			s.Reset()
			for _, feature := range features {
				h := fnv.New64()
				h.Write(feature)
				s.Add(h.Sum64(), 1)
			}
			if got := fmt.Sprintf("%016x", s.Fingerprint(nil)[0]); got != line[1+column] {
				t.Errorf("text %d, column %d: %s, want %s", i, column, got, line[1+column])
			}
		}
	}
	if len(lines) != 100 {
		t.Errorf("%d vectors", len(lines))
	}
}

// TestJaccardVectors: the program of Gudkov's article gives the same scores to fingerprints.
func TestJaccardVectors(t *testing.T) {
	fingerprints, compared := map[string][]uint32{}, 0
	for _, line := range readTestdata(t, "gudkov_jaccard.tsv") {
		if len(line) == 2 {
			for digits := range strings.SplitSeq(line[1], ",") {
				fingerprints[line[0]] = append(fingerprints[line[0]], uint32(parseHex(t, digits)))
			}
			continue
		}
		a, b := fingerprints[line[0]], fingerprints[line[1]]
		var numbers []float64
		for _, field := range line[2:] {
			number, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatal(err)
			}
			numbers = append(numbers, number)
		}
		got := []float64{
			asmkernels.JaccardClassical(a, b), asmkernels.JaccardFast(a, b, numbers[0]),
			asmkernels.JaccardTurbo(a, b, numbers[0]),
		}
		if !slices.Equal(got, numbers[1:]) || Jaccard(a, b) != got[0] {
			t.Errorf("%s and %s: %v, want %v", line[0], line[1], got, numbers[1:])
		}
		compared++
	}
	if compared < 10 {
		t.Errorf("%d pairs were compared", compared)
	}
}

// TestSingleHashWordVectors: the program of Gudkov's article makes the same fingerprints of generated texts.
func TestSingleHashWordVectors(t *testing.T) {
	hasher := must(NewSingleHash(SingleHashOptions{Words: 3, Size: 8, Article: true}))
	lines := readTestdata(t, "gudkov_words.tsv")
	for i, line := range lines {
		var wide []byte
		for j := range i + 5 {
			wide = fmt.Appendf(wide, "%c\U0001d49c", 128+563*((i*i+7*j)%97))
		}
		for column, text := range [][]byte{bytes.Join(generatedWords(i), []byte(" ")), wide} {
			var got []string
			fingerprint, _ := hasher.Fingerprint(nil, text)
			for _, hash := range fingerprint {
				got = append(got, fmt.Sprintf("%08x", hash))
			}
			if got := strings.Join(got, ","); got != line[1+column] {
				t.Errorf("text %d, column %d: %s, want %s", i, column, got, line[1+column])
			}
		}
	}
	if len(lines) != 60 {
		t.Errorf("%d vectors", len(lines))
	}
}

// TestFastSimHashVectors: hash4j makes the same fingerprints of numbers, with and without its bit hack.
func TestFastSimHashVectors(t *testing.T) {
	lines := readTestdata(t, "hash4j_simhash.tsv")
	for i, line := range lines {
		for column, fast := range []bool{false, true} {
			s := newSimHash(t, SimHashOptions{Bits: 128, FastSimHash: fast})
			for j := range 1 + 7*i {
				s.Add(uint64((i+1)*j*j), 1)
			}
			if got := hexBytes(s.Fingerprint(nil)); got != line[1+column] {
				t.Errorf("set %d, FastSimHash %v: %s, want %s", i, fast, got, line[1+column])
			}
		}
	}
	if len(lines) != 60 {
		t.Errorf("%d vectors", len(lines))
	}
}

// TestTutorialVectors: the program of McCormick's tutorial makes the same signatures of generated texts.
func TestTutorialVectors(t *testing.T) {
	numbers := func(line []string) (all []uint64) {
		for digits := range strings.SplitSeq(line[1], ",") {
			number, err := strconv.ParseUint(digits, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, number)
		}
		return all
	}
	lines := readTestdata(t, "mccormick_signatures.tsv")
	m := must(NewUniversalMinHash(4, 1))
	m.factors, m.addends = numbers(lines[0]), numbers(lines[1])
	for i, line := range lines[2:] {
		shingles := AppendCRC32Shingles(nil, bytes.Join(generatedWords(i), []byte(" ")), 3)
		if got := m.Signature(nil, shingles); !slices.Equal(got, numbers(line)) {
			t.Errorf("text %d: %d, want %s", i, got, line[1])
		}
	}
	if len(lines) != 42 {
		t.Errorf("%d lines", len(lines))
	}
}
