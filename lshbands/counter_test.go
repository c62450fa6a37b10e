package lshbands

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam.dev/asmkernels"
)

// TestCountsDependOnTheCorpusOnly: frequencies are the same in whatever order, and in whatever parts, documents are
// counted. A shingle that several documents have is never taken for one that only one document has, and is the more
// frequent the more have it.
func TestCountsDependOnTheCorpusOnly(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	sets := randomSets(random, 500)
	documents := map[uint64]int{}
	var all []uint64
	for _, set := range sets {
		for _, hash := range set {
			documents[hash]++
			all = append(all, hash)
		}
	}
	one := newCounter(len(all))
	for _, set := range sets {
		one.Add(asmkernels.AppendCounted(nil, set))
	}
	want := one.AppendFrequencies(nil, asmkernels.AppendCounted(nil, all))
	alone, seemShared := 0, 0
	for i, hash := range all {
		if documents[hash] > 1 && want[i] < frequencyAlone(hash, documents[hash]) {
			t.Fatalf("a shingle of %d documents has the frequency %d", documents[hash], want[i])
		}
		if documents[hash] == 1 {
			alone++
			seemShared += int(min(want[i], 1))
		}
	}
	if seemShared == 0 || seemShared > alone/2 {
		t.Errorf("of %d shingles of one document %d seem to be in several", alone, seemShared)
	}
	one.Add(asmkernels.AppendCounted(nil, all)) // a counter that is reset has counted nothing
	one.Reset(len(all))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j], want[i], want[j] = all[j], all[i], want[j], want[i] })
	for rest := range slices.Chunk(all, 77) {
		one.Add(asmkernels.AppendCounted(nil, rest))
	}
	if got := one.AppendFrequencies(nil, asmkernels.AppendCounted(nil, all)); !bytes.Equal(got, want) {
		t.Error("in another order there are other frequencies")
	}
}

func newCounter(shingles int) *Counter {
	c := new(Counter)
	c.Reset(shingles)
	return c
}

// frequencyAlone returns the frequency of a shingle of that many documents that shares its cell with no other.
func frequencyAlone(hash uint64, documents int) byte {
	counter := newCounter(1)
	packed := asmkernels.AppendCounted(nil, []uint64{hash})
	for range documents {
		counter.Add(packed)
	}
	return counter.AppendFrequencies(nil, packed)[0]
}

// TestCounters: the counters of all ranges are one counter a range.
func TestCounters(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	const shingles = 3*shinglesPerRange + 5
	if n := Ranges(shingles); n != 4 {
		t.Fatalf("%d ranges", n)
	}
	sets := randomSets(random, 300)
	all := NewCounters(shingles)
	ranges := make([]*Counter, 4)
	for i := range ranges {
		ranges[i] = newCounter(shingles / 4)
	}
	for _, set := range sets {
		all.Add(set)
		for _, hash := range set {
			ranges[RangeOf(hash, 4)].Add(asmkernels.AppendCounted(nil, []uint64{hash}))
		}
	}
	for _, set := range sets {
		got, last := all.AppendFrequencies(nil, set), 0
		for i, hash := range set {
			in := RangeOf(hash, 4)
			if want := ranges[in].AppendFrequencies(nil, asmkernels.AppendCounted(nil, set[i:i+1]))[0]; got[i] !=
				want || in < last {
				t.Fatalf("the shingle %x, in range %d, has the frequency %d, want %d", hash, in, got[i], want)
			}
			last = in
		}
	}
}

// TestRanges: every corpus has ranges, and the largest hash is in the last of them.
func TestRanges(t *testing.T) {
	for shingles, want := range map[int64]int{0: 1, shinglesPerRange - 1: 1, shinglesPerRange: 2, 1 << 60: mostRanges} {
		n := Ranges(shingles)
		if n != want || RangeOf(0, n) != 0 || RangeOf(1<<48-1, n) != n-1 {
			t.Errorf("%d shingles have %d ranges, want %d", shingles, n, want)
		}
	}
}
