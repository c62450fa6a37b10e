package sketch

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/asmkernels"
)

// checkSum is the hash of all that a Hasher, a MinHash and a SimHash make of
// texts.
func checkSum(t *testing.T, texts [][]byte, m Measure) uint64 {
	h, minhash := must(NewHasher(m)), must(NewMinHash(21))
	simhash := newSimHash(t, SimHashOptions{Bits: 128})
	var signature []uint32
	var fingerprint []uint64
	var bytes []byte
	sum := xxh3.New()
	for _, text := range texts {
		d := h.Document(text)
		signature = minhash.SignatureOfHashes(signature, d.Set)
		bytes = d.Digest.Append(bytes[:0])
		bytes = binary.LittleEndian.AppendUint64(bytes, uint64(d.Tokens)<<32|uint64(d.InvalidBytes))
		simhash.Reset()
		simhash.AddSet(d.Set)
		fingerprint = simhash.Fingerprint(fingerprint)
		for _, x := range append(fingerprint, d.Set...) {
			bytes = binary.LittleEndian.AppendUint64(bytes, x)
		}
		for _, x := range signature {
			bytes = binary.LittleEndian.AppendUint32(bytes, x)
		}
		sum.Write(bytes)
	}
	return sum.Sum64()
}

// checkTiers makes sure that texts have the same check sum on every tier.
func checkTiers(t *testing.T, texts [][]byte) {
	t.Helper()
	for _, m := range []Measure{{Shingle: 3}, {Shingle: 3, Tokens: SingleTokens}, {Shingle: 3, Tokens: ScriptTokens}} {
		var want uint64
		for _, tier := range asmkernels.Tiers() {
			before := asmkernels.SelectTier(tier)
			got := checkSum(t, texts, m)
			asmkernels.SelectTier(before)
			if tier == asmkernels.PlainGo {
				want = got
			}
			if got != want {
				t.Errorf("%+v: check sum on %v is %x, want %x", m, tier, got, want)
			}
		}
	}
}

func TestTiersOfCorpora(t *testing.T) {
	seen := make(map[string]bool)
	for _, kind := range benchmarkTexts {
		if kind.corpus == "" || seen[kind.corpus] {
			continue
		}
		seen[kind.corpus] = true
		t.Run(kind.name, func(t *testing.T) {
			limit := 64 << 20
			if testing.Short() {
				limit = 1 << 20
			}
			texts := readCorpus(t, kind.corpus, limit)
			checkTiers(t, texts)
		})
	}
}

func TestTiersOfRandomTexts(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	var texts [][]byte
	for i := range 2000 {
		texts = append(texts, randomText(random, random.IntN(1000), i%4 == 0))
	}
	for i := range 20 {
		texts = append(texts, randomText(random, random.IntN(10*chunkSize), i%4 == 0))
	}
	// Tokens at the lengths where the hash takes another block.
	for length := range 100 {
		texts = append(texts, slices.Repeat([]byte("token"), length), slices.Repeat([]byte("слово "), length))
	}
	for _, kind := range benchmarkTexts {
		texts = append(texts, slices.Repeat([]byte(kind.standIn), 100))
	}
	checkTiers(t, texts)
}

func TestDocumentAllocates(t *testing.T) {
	texts := [][]byte{
		slices.Repeat([]byte("Words of ASCII in a text of some length, "), 500),
		randomText(rand.New(rand.NewPCG(9, 10)), 3*chunkSize, true),
	}
	for _, tier := range asmkernels.Tiers() {
		t.Run(tier.String(), func(t *testing.T) {
			defer asmkernels.SelectTier(asmkernels.SelectTier(tier))
			h, minhash := must(NewHasher(Measure{Shingle: 3, Tokens: SingleTokens})), must(NewMinHash(21))
			var signature []uint32
			for _, text := range texts {
				signature = minhash.SignatureOfHashes(signature, h.Document(text).Set)
				if n := testing.AllocsPerRun(10, func() {
					signature = minhash.SignatureOfHashes(signature, h.Document(text).Set)
				}); n != 0 {
					t.Errorf("a warm Hasher and MinHash allocate %v times a document", n)
				}
			}
		})
	}
}
