package candidates

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam/internal/docref"
)

// prefixDocument is a document of a join by prefixes: its shingles in the order of
// their counts, so that the first ones are its keys.
type prefixDocument struct {
	ref      docref.Ref
	digest   uint64
	shingles []uint64
	keys     int
}

// prefixJoin makes documents in families, and their records.
func prefixJoin(random *rand.Rand, families, members int, threshold float64, template int) ([]prefixDocument, []Record) {
	count := map[uint64]int{}
	var documents []prefixDocument
	everywhere := make([]uint64, template)
	for i := range everywhere {
		everywhere[i] = random.Uint64() >> 16
	}
	for range families {
		base := make([]uint64, 5+random.IntN(40))
		for i := range base {
			base[i] = random.Uint64() >> 16
		}
		for range members {
			set := slices.Clone(everywhere)
			for _, shingle := range base {
				if random.IntN(8) == 0 {
					shingle = random.Uint64() >> 16
				}
				set = append(set, shingle)
			}
			slices.Sort(set)
			set = slices.Compact(set)
			digest := uint64(0)
			for _, shingle := range set {
				digest = digest*0x9e3779b97f4a7c15 + shingle
				count[shingle]++
			}
			documents = append(documents, prefixDocument{ref: docref.Ref(len(documents) + 1), digest: digest, shingles: set})
		}
	}
	var records []Record
	for i := range documents {
		d := &documents[i]
		slices.SortFunc(d.shingles, func(a, b uint64) int { return cmp.Or(cmp.Compare(count[a], count[b]), cmp.Compare(a, b)) })
		d.keys = len(d.shingles) - int(threshold*float64(len(d.shingles))*(1-1e-9)+0.999999) + 1
		r := Record{Ref: d.ref, Digest: d.digest, Size: uint32(len(d.shingles)), First: true}
		for position, shingle := range d.shingles[:d.keys] {
			if count[shingle] == 1 {
				continue
			}
			r.Key, r.Position = PrefixKeyOf(shingle), uint32(position)
			records = append(records, r)
			r.SetPrevious(shingle)
			r.First = false
			r.AfterDense = r.AfterDense || count[shingle] > 20
		}
	}
	random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	return documents, records
}

// TestPrefixGroupsMissNoPair compares with all pairs of all documents.
func TestPrefixGroupsMissNoPair(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for _, threshold := range []float64{0.3, 0.6, 0.8, 0.95} {
		for _, template := range []int{0, 10} {
			documents, records := prefixJoin(random, 40, 6, threshold, template)
			got, again := groupExact(records, threshold, 1<<30, 0)
			if again > 0 {
				t.Fatalf("%g: a second time without a dense group", threshold)
			}
			// Of identical documents only the first is compared.
			digests := map[uint64]bool{}
			documents = slices.DeleteFunc(documents, func(d prefixDocument) bool {
				seen := digests[d.digest]
				digests[d.digest] = true
				return seen
			})
			pairs, repeats := 0, 0
			for i, a := range documents {
				for _, b := range documents[:i] {
					n := 0
					for _, shingle := range a.shingles {
						if slices.Contains(b.shingles, shingle) {
							n++
						}
					}
					times := got[[2]docref.Ref{b.ref, a.ref}]
					repeats += max(times-1, 0)
					if float64(n)/float64(len(a.shingles)+len(b.shingles)-n) < threshold {
						continue
					}
					if pairs++; times == 0 {
						t.Fatalf("%g: documents of %d and %d with %d in common were not compared", threshold, len(a.shingles), len(b.shingles), n)
					}
				}
			}
			if pairs == 0 && threshold < 0.9 || repeats > 5*len(got) {
				t.Errorf("%g: %d pairs, %d candidates, %d repeats", threshold, pairs, len(got), repeats)
			}
		}
	}
}

// groupExact returns how often each pair came, and how many came the second time.
func groupExact(records []Record, threshold float64, bound int, firstInput docref.Ref) (map[[2]docref.Ref]int, int) {
	pairs := map[[2]docref.Ref]int{}
	dense := map[uint32]bool{}
	g := &Grouper{
		Threshold: threshold, MaxComparisons: bound, Exact: true, FirstInput: firstInput,
		Candidate: func(a, b *Record) { pairs[[2]docref.Ref{min(a.Ref, b.Ref), max(a.Ref, b.Ref)}]++ },
		Identical: func(_, _ *Record) {},
		Dense:     func(group []Record, _ int64) { dense[group[0].hash()] = true },
		DenseKeys: dense,
	}
	again := slices.Clone(records)
	g.Groups(Sort(records, make([]Record, len(records))))
	if len(dense) == 0 {
		return pairs, 0
	}
	first := len(pairs)
	g.Again(Sort(again, make([]Record, len(again))))
	return pairs, len(pairs) - first
}

// afterDense makes documents whose first shingle is that of all, against the counts;
// ten share the next.
func afterDense(n int) (records []Record) {
	for ref := range n {
		r := Record{Ref: docref.Ref(ref + 1), Digest: uint64(ref), Size: uint32(100 + ref%7), First: true}
		r.Key, r.Position = PrefixKeyOf(1<<40), 0
		records = append(records, r)
		r.SetPrevious(1 << 40)
		r.First, r.AfterDense = false, true
		r.Key, r.Position = PrefixKeyOf(uint64(2+ref/10)<<30), 60
		records = append(records, r)
	}
	return records
}

// TestPrefixGroupsOfReference: where the input is a copy of the reference, it has the
// pairs that it would have alone, also those that come the second time.
func TestPrefixGroupsOfReference(t *testing.T) {
	const n, offset = 200, 1 << 20
	for _, bound := range []int{1 << 30, 2000} {
		records := afterDense(n)
		alone, again := groupExact(slices.Clone(records), 0.5, bound, 0)
		for _, r := range slices.Clone(records) {
			r.Ref += offset
			records = append(records, r)
		}
		got, gotAgain := groupExact(records, 0.5, bound, offset)
		if len(got) != len(alone) || gotAgain != again || (bound == 2000) != (again > 0) {
			t.Errorf("bound %d: %d pairs, %d of them the second time; without a reference %d, %d", bound, len(got), gotAgain, len(alone), again)
		}
		for pair, times := range alone {
			if got[[2]docref.Ref{pair[0], pair[1] + offset}] != times {
				t.Errorf("bound %d: %v did not come %d times", bound, pair, times)
			}
		}
	}
}

// TestPrefixGroupsAfterDense: a pair that shares a shingle of a group that is not
// dense is compared, though it has met under a dense one where it was skipped.
func TestPrefixGroupsAfterDense(t *testing.T) {
	const n, bound = 200, 2000
	records := afterDense(n)
	got, again := groupExact(records, 0.5, bound, 0)
	if again == 0 {
		t.Fatal("nothing came the second time")
	}
	for a := range n {
		for b := range a {
			if a/10 == b/10 && got[[2]docref.Ref{docref.Ref(b + 1), docref.Ref(a + 1)}] == 0 {
				t.Fatalf("documents %d and %d were not compared", a, b)
			}
		}
	}
}

func TestPrefixKeyOf(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	for range 1000 {
		a, b := random.Uint64()>>16, random.Uint64()>>16
		if random.IntN(2) == 0 {
			b = a ^ 1<<random.IntN(48) // they differ in one bit
		}
		if PrefixKeyOf(a) == PrefixKeyOf(b) {
			t.Fatalf("%x and %x have one key", a, b)
		}
		var x, y Record
		x.SetPrevious(a)
		y.SetPrevious(b)
		if x.metBefore(&y) || !x.metBefore(&x) {
			t.Fatalf("%x and %x are taken for one", a, b)
		}
	}
}
