package sketch

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

func parseHex(t *testing.T, digits string) uint64 {
	t.Helper()
	x, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestSimHashHashVectorsOfCorpora compares with seomoz/simhash-cpp: a fingerprint and
// the hashes of its features, in which a tie gives 0.
func TestSimHashHashVectorsOfCorpora(t *testing.T) {
	s := newSimHash(t, SimHashOptions{Bits: 64, Raw: true, Tie: TieZero})
	compared := 0
	readLines(t, "vectors/seomoz_compute.tsv.zst", func(line []byte) {
		fingerprint, hashes, _ := strings.Cut(string(line), "\t")
		s.Reset()
		for hash := range strings.SplitSeq(hashes, ",") {
			if hash != "" {
				s.AddSet([]uint64{parseHex(t, hash)})
			}
		}
		if got, want := s.Fingerprint(nil)[0], parseHex(t, fingerprint); got != want {
			t.Errorf("%.60s...: %016x, want %016x", hashes, got, want)
		}
		compared++
	})
	if compared != 500 {
		t.Errorf("%d fingerprints were compared, want 500", compared)
	}
}

// TestSimHashVectorsOfCorpora compares with two Go libraries: mfonda/simhash, of
// words by 64-bit FNV-1, in which a tie gives 1, and dgryski/go-simstore, of
// every three bytes by SipHash without a key, which has all bits the other way.
func TestSimHashVectorsOfCorpora(t *testing.T) {
	texts := readTexts(t, "chrisjm/articles_2500.jsonl.zst", "udhr/udhr.jsonl.zst")
	s := newSimHash(t, SimHashOptions{Bits: 64, Raw: true, Tie: TieOne})
	ofWords := func(words [][]byte) uint64 {
		s.Reset()
		for _, word := range words {
			h := fnv.New64()
			h.Write(word)
			s.AddSet([]uint64{h.Sum64()})
		}
		return s.Fingerprint(nil)[0]
	}
	ascii := regexp.MustCompile(`[\w']+(?:\://[\w\./]+){0,1}`)
	unicode := regexp.MustCompile(`[\pL-_']+`)
	columns := []func(text []byte) uint64{
		func(text []byte) uint64 { return ofWords(ascii.FindAll(bytes.ToLower(text), -1)) },
		func(text []byte) uint64 { return ofWords(unicode.FindAll(bytes.ToLower(norm.NFC.Bytes(text)), -1)) },
		func(text []byte) uint64 { return ofWords(pairs(bytes.Split(text, []byte(" ")))) },
		func(text []byte) uint64 {
			s.Reset()
			for i := range max(len(text)-2, 0) {
				s.AddSet([]uint64{sipHash(text[i : i+3])})
			}
			return ^s.Fingerprint(nil)[0]
		},
	}
	var names []string
	compared := 0
	readLines(t, "vectors/simhash_go_refs.tsv.zst", func(line []byte) {
		fields := strings.Split(string(line), "\t")
		if names == nil {
			names = fields
			return
		}
		text, ok := texts[fields[0]]
		if !ok {
			t.Errorf("text %s is missing", fields[0])
			return
		}
		compared++
		for i, column := range columns {
			if got, want := column(text), parseHex(t, fields[i+1]); got != want {
				t.Errorf("%s of %s: %016x, want %016x", names[i+1], fields[0], got, want)
			}
		}
	})
	if compared != 3192 {
		t.Errorf("%d texts were compared, want 3192", compared)
	}
}

// pairs joins every two adjacent words by a space, or all if there are fewer.
func pairs(words [][]byte) (joined [][]byte) {
	width := min(2, len(words))
	for i := range len(words) - width + 1 {
		joined = append(joined, bytes.Join(words[i:i+width], []byte(" ")))
	}
	return joined
}

// sipHash is SipHash-2-4 of at most seven bytes with a key of zeros (Aumasson,
// Bernstein, SipHash: a fast short-input PRF, 2012).
func sipHash(data []byte) uint64 {
	v0 := uint64(0x736f6d6570736575)
	v1 := uint64(0x646f72616e646f6d)
	v2 := uint64(0x6c7967656e657261)
	v3 := uint64(0x7465646279746573)
	rounds := func(count int) {
		for range count {
			v0 += v1
			v2 += v3
			v1 = bits.RotateLeft64(v1, 13) ^ v0
			v3 = bits.RotateLeft64(v3, 16) ^ v2
			v0 = bits.RotateLeft64(v0, 32)
			v2 += v1
			v0 += v3
			v1 = bits.RotateLeft64(v1, 17) ^ v2
			v3 = bits.RotateLeft64(v3, 21) ^ v0
			v2 = bits.RotateLeft64(v2, 32)
		}
	}
	var block [8]byte
	block[7] = byte(copy(block[:7], data))
	word := binary.LittleEndian.Uint64(block[:])
	v3 ^= word
	rounds(2)
	v0 ^= word
	v2 ^= 0xff
	rounds(4)
	return v0 ^ v1 ^ v2 ^ v3
}
