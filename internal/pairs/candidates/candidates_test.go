package candidates

import (
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
)

// randomRecords makes documents with keys keys each, of a small set of values,
// so that groups are large and many documents are identical.
func randomRecords(random *rand.Rand, documents, keys, values int) []Record {
	var records []Record
	for ref := range documents {
		seed := rand.New(rand.NewPCG(uint64(random.IntN(documents/2+1)), 9))
		equal, size := digest.Digest{seed.Uint64()}, uint32(1+seed.IntN(40))
		var previous [MaxPrevious]uint32
		for k := range keys {
			key := rand.New(rand.NewPCG(uint64(k), uint64(seed.IntN(values)))).Uint64()
			records = append(records, Record{
				Key:      KeyOf(key, min(k, MaxPrevious)),
				Ref:      docref.Ref(ref),
				Digest:   equal,
				Size:     size,
				Position: uint32(k),
				Previous: previous,
				First:    k == 0,
			})
			copy(previous[1:], previous[:])
			previous[0] = PreviousOf(key)
		}
	}
	random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	return records
}

// pair is a pair of documents, the first one before, and their sizes.
type pair struct {
	a, b         docref.Ref
	sizeA, sizeB uint32
}

// oversized is a group that Oversized has received.
type oversized struct {
	key   uint64
	pairs int64
	group []Record
}

type outcome struct {
	pairs           map[pair]int
	identical       map[[2]docref.Ref]int
	oversizedGroups []oversized
	dense           []uint64 // key ids
	left            int64    // pairs of the dense groups
}

// bounds are the bounds of a job of the tests: a group of more pairs than few waits, and one of
// more than limit is dense.
type bounds struct{ few, limit int64 }

var unbounded = bounds{1 << 60, 1 << 60}

// group does what a job does with records.
func group(records []Record, g Grouper, b bounds) outcome {
	o := outcome{pairs: map[pair]int{}, identical: map[[2]docref.Ref]int{}}
	g.MaxComparisons = b.few
	g.Candidate = func(a, b *Record) {
		if a.Ref > b.Ref {
			a, b = b, a
		}
		o.pairs[pair{a.Ref, b.Ref, a.Size, b.Size}]++
	}
	g.Identical = func(first, other *Record) { o.identical[[2]docref.Ref{first.Ref, other.Ref}]++ }
	g.Oversized = func(group []Record, pairs int64) {
		o.oversizedGroups = append(o.oversizedGroups, oversized{group[0].Key, pairs, slices.Clone(group)})
	}
	again := slices.Clone(records)
	g.Groups(Sort(records, make([]Record, len(records))))
	for _, c := range o.oversizedGroups {
		if c.pairs > b.limit {
			o.dense = append(o.dense, g.KeyID(&c.group[0]))
			o.left += c.pairs
			g.DenseKeys.Add(g.KeyID(&c.group[0]))
		}
	}
	if len(o.dense) > 0 && !g.Exact {
		g.Again(Sort(again, make([]Record, len(again))))
	}
	for _, c := range o.oversizedGroups {
		if c.pairs <= b.limit {
			g.OversizedGroup(slices.Clone(c.group))
		}
	}
	return o
}

// TestGroupsFindsEveryPair compares with all pairs of all records.
func TestGroupsFindsEveryPair(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const threshold = 0.6
	for _, shape := range [][4]int{
		{2, 1, 1},
		{30, 4, 3},
		{300, 5, 20},
		{2000, 3, 300},
		{300, 5, 20, 200},
		{300, 5, 20, 300},
		{50, 2, 2, 10},
		{400, 7, 4},
		{200, 20, 30},
		{1500, 4, 3},
		{1500, 4, 3, 900},
	} {
		records := randomRecords(random, shape[0], shape[1], shape[2])
		// those before it are of a reference
		firstInput := docref.Ref(shape[3])
		first, second := map[digest.Digest]docref.Ref{}, map[digest.Digest]docref.Ref{} // second: of the input
		for _, r := range records {
			if ref, ok := first[r.Digest]; !ok || r.Ref < ref {
				first[r.Digest] = r.Ref
			}
			if ref, ok := second[r.Digest]; r.Ref >= firstInput && (!ok || r.Ref < ref) {
				second[r.Digest] = r.Ref
			}
		}
		want := map[[2]docref.Ref]bool{}
		stars := map[[2]docref.Ref]bool{}
		byKey := map[uint64][]Record{}
		for _, r := range records {
			byKey[r.Key] = append(byKey[r.Key], r)
			if first[r.Digest] != r.Ref {
				stars[[2]docref.Ref{first[r.Digest], r.Ref}] = true
			}
		}
		mixed := 0
		for _, group := range byKey {
			for _, a := range group {
				for _, b := range group {
					low, high := min(a.Size, b.Size), max(a.Size, b.Size)
					if first[a.Digest] >= first[b.Digest] || float64(low)/float64(high) < threshold {
						continue
					}
					x, y := first[a.Digest], first[b.Digest]
					if y < firstInput { // both begin in the reference
						secondA, hasA := second[a.Digest]
						secondB, hasB := second[b.Digest]
						switch {
						case hasB:
							y = secondB
						case hasA:
							x = secondA
						default:
							continue
						}
						mixed++
					}
					want[[2]docref.Ref{min(x, y), max(x, y)}] = true
				}
			}
		}
		if firstInput > 0 && int(firstInput) < shape[0] && mixed == 0 {
			t.Errorf("shape %v: no pair of classes that both begin in the reference", shape)
		}
		for _, b := range []bounds{unbounded, {100, 1 << 60}} {
			got := group(slices.Clone(records), Grouper{Threshold: threshold, FirstInput: firstInput}, b)
			if len(got.pairs) != len(want) || (len(got.oversizedGroups) > 0) != (b.few == 100 && shape[0] == 1500) {
				t.Errorf("shape %v, %v: %d pairs, want %d; %d oversized groups", shape, b, len(got.pairs), len(want),
					len(got.oversizedGroups))
			}
			checkPairs(t, got, want, stars, shape[1])
		}
	}
}

// checkPairs checks the pairs of documents with a number of keys, and the stars.
func checkPairs(t *testing.T, got outcome, want, stars map[[2]docref.Ref]bool, keys int) {
	t.Helper()
	for p, times := range got.pairs {
		if !want[[2]docref.Ref{p.a, p.b}] {
			t.Errorf("%v is no pair", p)
		}
		if times > 1 && keys <= MaxPrevious+1 {
			t.Errorf("%v came %d times", p, times)
		}
	}
	if len(got.identical) != len(stars) {
		t.Errorf("%d identical, want %d", len(got.identical), len(stars))
	}
	for star, times := range got.identical {
		if !stars[star] || times != 1 {
			t.Errorf("%v came %d times, a star edge: %v", star, times, stars[star])
		}
	}
}

func BenchmarkSort(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	source := make([]Record, 1<<17)
	for i := range source {
		source[i].Key = KeyOf(random.Uint64()>>6, 0)
	}
	records, scratch := make([]Record, len(source)), make([]Record, len(source))
	b.SetBytes(int64(len(source)) * 56)
	for b.Loop() {
		copy(records, source)
		Sort(records, scratch)
	}
}

// TestSort compares with a plain sort, also where a key has most of the records, or a
// digest.
func TestSort(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 18))
	for _, shape := range [][3]int{
		{1, 1, 1},
		{50, 10, 50},
		{5000, 5000, 5000},
		{5000, 1, 5000},
		{5000, 3, 20},
		{3000, 1, 1},
		{20_000, 2, 300},
	} {
		keys, digests := make([]uint64, shape[1]), make([]digest.Digest, shape[2])
		for i := range keys {
			keys[i] = random.Uint64()
		}
		for i := range digests {
			digests[i] = digest.Digest{random.Uint64() >> (i % 2 * 64), random.Uint64()}
		}
		var records []Record
		for ref := range shape[0] {
			key := keys[0]
			if random.IntN(3) == 0 {
				key = keys[random.IntN(len(keys))]
			}
			records = append(records, Record{
				Key:    key,
				Digest: digests[random.IntN(len(digests))],
				Ref:    docref.Ref(ref),
				Mark:   uint32(ref),
			})
		}
		random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		want := slices.Clone(records)
		slices.SortFunc(want, byKey)
		if got := Sort(records, make([]Record, len(records))); !slices.Equal(got, want) {
			t.Errorf("%v: not sorted, or not the same records", shape)
		}
	}
}
