package candidates

import (
	"math/rand/v2"
	"testing"

	"mirrorbeam/internal/docref"
)

// randomRecords makes documents with keys keys each, of a small set of values,
// so that groups are large and many documents are identical.
func randomRecords(random *rand.Rand, documents, keys, values int) []Record {
	var records []Record
	for ref := range documents {
		seed := rand.New(rand.NewPCG(uint64(random.IntN(documents/2+1)), 9))
		digest, size := seed.Uint64(), uint32(1+seed.IntN(40))
		var previous [MaxPrevious]uint32
		for k := range keys {
			key := rand.New(rand.NewPCG(uint64(k), uint64(seed.IntN(values)))).Uint64()
			records = append(records, Record{Key: KeyOf(key, min(k, MaxPrevious)), Ref: docref.Ref(ref), Digest: digest, Size: size, Previous: previous})
			copy(previous[1:], previous[:])
			previous[0] = uint32(key >> 32)
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

type outcome struct {
	pairs     map[pair]int
	identical map[[2]docref.Ref]int
}

func group(records []Record, threshold float64, bound int, firstInput docref.Ref) (outcome, *Grouper) {
	o := outcome{map[pair]int{}, map[[2]docref.Ref]int{}}
	g := &Grouper{
		Threshold: threshold, MaxComparisons: bound, FirstInput: firstInput,
		Candidate: func(a, b *Record) {
			if a.Ref > b.Ref {
				a, b = b, a
			}
			o.pairs[pair{a.Ref, b.Ref, a.Size, b.Size}]++
		},
		Identical: func(first, other *Record) { o.identical[[2]docref.Ref{first.Ref, other.Ref}]++ },
	}
	g.Groups(Sort(records, make([]Record, len(records))))
	return o, g
}

// TestGroupsFindsEveryPair compares with all pairs of all records.
func TestGroupsFindsEveryPair(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const threshold = 0.6
	for _, shape := range [][4]int{{2, 1, 1}, {30, 4, 3}, {300, 5, 20}, {2000, 3, 300}, {300, 5, 20, 200}, {300, 5, 20, 300}, {50, 2, 2, 10}, {400, 7, 4}, {200, 20, 30}} {
		records := randomRecords(random, shape[0], shape[1], shape[2])
		firstInput := docref.Ref(shape[3]) // those before it are of a reference
		first := map[uint64]docref.Ref{}
		for _, r := range records {
			if ref, ok := first[r.Digest]; !ok || r.Ref < ref {
				first[r.Digest] = r.Ref
			}
		}
		want := map[[2]docref.Ref]bool{}
		stars := map[[2]docref.Ref]bool{}
		byKey := map[uint64][]Record{}
		for _, r := range records {
			byKey[r.Key] = append(byKey[r.Key], r)
			if first[r.Digest] != r.Ref && r.Ref >= firstInput {
				stars[[2]docref.Ref{first[r.Digest], r.Ref}] = true
			}
		}
		for _, group := range byKey {
			for _, a := range group {
				for _, b := range group {
					low, high := min(a.Size, b.Size), max(a.Size, b.Size)
					if a.Ref < b.Ref && b.Ref >= firstInput && a.Digest != b.Digest && first[a.Digest] == a.Ref && first[b.Digest] == b.Ref &&
						float64(low)/float64(high) >= threshold {
						want[[2]docref.Ref{a.Ref, b.Ref}] = true
					}
				}
			}
		}
		got, g := group(records, threshold, 1<<30, firstInput)
		if len(got.pairs) != len(want) || g.Skipped != 0 {
			t.Errorf("shape %v: %d pairs, want %d; %d skipped", shape, len(got.pairs), len(want), g.Skipped)
		}
		for p, times := range got.pairs {
			if !want[[2]docref.Ref{p.a, p.b}] {
				t.Errorf("shape %v: %v is no pair", shape, p)
			}
			if times > 1 && shape[1] <= MaxPrevious+1 {
				t.Errorf("shape %v: %v came %d times", shape, p, times)
			}
		}
		if len(got.identical) != len(stars) {
			t.Errorf("shape %v: %d identical, want %d", shape, len(got.identical), len(stars))
		}
		for star, times := range got.identical {
			if !stars[star] || times != 1 {
				t.Errorf("shape %v: %v came %d times, a star edge: %v", shape, star, times, stars[star])
			}
		}
	}
}

// TestDenseGroupIsBoundedAndCounted gives a group of more pairs than the bound:
// what is compared and what is skipped adds up, and neighbours stay joined.
func TestDenseGroupIsBoundedAndCounted(t *testing.T) {
	const n, bound = 500, 10_000
	var records []Record
	for i := range n {
		records = append(records, Record{Key: 1 << 40, Ref: docref.Ref(n - i), Digest: uint64(i), Size: uint32(1000 + i)})
	}
	got, g := group(records, 0.1, bound, 0)
	if compared := int64(len(got.pairs)); compared > bound || compared+g.Skipped != n*(n-1)/2 || g.SkippedGroups != 1 {
		t.Errorf("%d compared, %d skipped in %d groups, of %d pairs and a bound of %d", compared, g.Skipped, g.SkippedGroups, n*(n-1)/2, bound)
	}
	for ref := docref.Ref(1); ref < n; ref++ {
		if got.pairs[pair{ref, ref + 1, uint32(1000 + n - ref), uint32(1000 + n - ref - 1)}] != 1 {
			t.Fatalf("neighbours %d and %d were not compared", ref, ref+1)
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

// TestDenseGroupOfReference: pairs within the reference make no group dense and
// are not counted as skipped.
func TestDenseGroupOfReference(t *testing.T) {
	const references, inputs = 400, 100
	var records []Record
	for i := range references + inputs {
		records = append(records, Record{Key: 1 << 40, Ref: docref.Ref(i), Digest: uint64(i), Size: uint32(1000 + i*7919%500)})
	}
	const all = references*inputs + inputs*(inputs-1)/2
	got, g := group(records, 0.1, all, references)
	if len(got.pairs) != all || g.Skipped != 0 || g.SkippedGroups != 0 {
		t.Errorf("%d pairs of %d, %d skipped in %d groups", len(got.pairs), all, g.Skipped, g.SkippedGroups)
	}
	got, g = group(records, 0.1, all/2, references)
	if compared := int64(len(got.pairs)); compared == 0 || g.Skipped == 0 || compared+g.Skipped != all || g.SkippedGroups != 1 {
		t.Errorf("%d compared, %d skipped in %d groups, of %d", compared, g.Skipped, g.SkippedGroups, all)
	}
	for p := range got.pairs {
		if p.b < references {
			t.Fatalf("%v is within the reference", p)
		}
	}
}
