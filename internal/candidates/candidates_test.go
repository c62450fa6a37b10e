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
		var previous [2]uint32
		for k := range keys {
			key := rand.New(rand.NewPCG(uint64(k), uint64(seed.IntN(values)))).Uint64() &^ 1
			record := Record{Key: key, Ref: docref.Ref(ref), Digest: digest, Size: size, Previous: previous}
			if k == 0 {
				record.Key |= 1
			}
			records = append(records, record)
			previous = [2]uint32{uint32(key>>32) | 1, previous[0]}
		}
	}
	random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	return records
}

type outcome struct {
	pairs     map[Pair]int
	identical map[[2]docref.Ref]int
}

func group(records []Record, threshold float64, bound int, firstInput docref.Ref) (outcome, *Grouper) {
	o := outcome{map[Pair]int{}, map[[2]docref.Ref]int{}}
	g := &Grouper{
		Threshold: threshold, MaxComparisons: bound, FirstInput: firstInput,
		Candidate: func(p Pair) { o.pairs[p]++ },
		Identical: func(first, other *Record) { o.identical[[2]docref.Ref{first.Ref, other.Ref}]++ },
	}
	g.Groups(Sort(records, make([]Record, len(records))))
	return o, g
}

// TestGroupsFindsEveryPair compares with all pairs of all records.
func TestGroupsFindsEveryPair(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const threshold = 0.6
	for _, shape := range [][4]int{{2, 1, 1}, {30, 4, 3}, {300, 5, 20}, {2000, 3, 300}, {300, 5, 20, 200}, {300, 5, 20, 300}, {50, 2, 2, 10}} {
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
		for p := range got.pairs {
			if !want[[2]docref.Ref{p.A, p.B}] {
				t.Errorf("shape %v: %v is no pair", shape, p)
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
		records = append(records, Record{Key: 1 << 40, Ref: docref.Ref(n - i), Digest: uint64(i), Size: uint32(1000 + i), Previous: [2]uint32{uint32(i + 1)}})
	}
	got, g := group(records, 0.1, bound, 0)
	if compared := int64(len(got.pairs)); compared > bound || compared+g.Skipped != n*(n-1)/2 || g.SkippedGroups != 1 {
		t.Errorf("%d compared, %d skipped in %d groups, of %d pairs and a bound of %d", compared, g.Skipped, g.SkippedGroups, n*(n-1)/2, bound)
	}
	for ref := docref.Ref(1); ref < n; ref++ {
		if got.pairs[Pair{ref, ref + 1, uint32(1000 + n - ref), uint32(1000 + n - ref - 1)}] != 1 {
			t.Fatalf("neighbours %d and %d were not compared", ref, ref+1)
		}
	}
}

func TestDistinctNumbersAndDropsRepeats(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var d Distinct
	seen := map[Pair]bool{}
	for range 50_000 {
		a := docref.Ref(random.IntN(300))
		p := Pair{a, a + 1 + docref.Ref(random.IntN(50)), uint32(a), 7}
		p.SizeB = uint32(p.B)
		if isNew := d.Add(p); isNew == seen[p] {
			t.Fatalf("Add(%v) = %v, seen before: %v", p, isNew, seen[p])
		}
		seen[p] = true
	}
	if len(d.Pairs.Keys) != len(seen) {
		t.Errorf("%d pairs, want %d", len(d.Pairs.Keys), len(seen))
	}
	refs := d.Documents.Keys
	for _, pair := range d.Pairs.Keys {
		a, b := pair>>32, pair&0xffffffff
		if p := (Pair{docref.Ref(refs[a]), docref.Ref(refs[b]), d.Sizes[a], d.Sizes[b]}); !seen[p] {
			t.Errorf("%v was not added", p)
		}
	}
}

func BenchmarkSort(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	source := make([]Record, 1<<17)
	for i := range source {
		source[i].Key = random.Uint64() >> 6
	}
	records, scratch := make([]Record, len(source)), make([]Record, len(source))
	b.SetBytes(int64(len(source)) * 32)
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
		if p.B < references {
			t.Fatalf("%v is within the reference", p)
		}
	}
}
