package candidates

import (
	"math/rand/v2"
	"slices"
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
			records = append(records, Record{Key: KeyOf(key, min(k, MaxPrevious)), Ref: docref.Ref(ref), Digest: digest, Size: size, Previous: previous, First: k == 0})
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
	dense     []uint32 // keys
	skipped   int64
}

func group(records []Record, threshold float64, bound int, firstInput docref.Ref) outcome {
	o := outcome{pairs: map[pair]int{}, identical: map[[2]docref.Ref]int{}}
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
	g.Dense = func(group []Record, skipped int64) {
		o.dense = append(o.dense, group[0].hash())
		o.skipped += skipped
	}
	again := slices.Clone(records)
	g.Groups(Sort(records, make([]Record, len(records))))
	if len(o.dense) > 0 {
		g.DenseKeys = map[uint32]bool{}
		for _, key := range o.dense {
			g.DenseKeys[key] = true
		}
		g.Again(Sort(again, make([]Record, len(again))))
	}
	return o
}

// TestGroupsFindsEveryPair compares with all pairs of all records.
func TestGroupsFindsEveryPair(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const threshold = 0.6
	for _, shape := range [][4]int{{2, 1, 1}, {30, 4, 3}, {300, 5, 20}, {2000, 3, 300}, {300, 5, 20, 200}, {300, 5, 20, 300}, {50, 2, 2, 10}, {400, 7, 4}, {200, 20, 30}} {
		records := randomRecords(random, shape[0], shape[1], shape[2])
		firstInput := docref.Ref(shape[3])                                // those before it are of a reference
		first, second := map[uint64]docref.Ref{}, map[uint64]docref.Ref{} // second: of the input
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
		got := group(records, threshold, 1<<30, firstInput)
		if len(got.pairs) != len(want) || got.skipped != 0 {
			t.Errorf("shape %v: %d pairs, want %d; %d skipped", shape, len(got.pairs), len(want), got.skipped)
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
	got := group(records, 0.1, bound, 0)
	if compared := int64(len(got.pairs)); compared > bound || compared+got.skipped != n*(n-1)/2 || len(got.dense) != 1 {
		t.Errorf("%d compared, %d skipped in %d groups, of %d pairs and a bound of %d", compared, got.skipped, len(got.dense), n*(n-1)/2, bound)
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
	got := group(records, 0.1, all, references)
	if len(got.pairs) != all || got.skipped != 0 || len(got.dense) != 0 {
		t.Errorf("%d pairs of %d, %d skipped in %d groups", len(got.pairs), all, got.skipped, len(got.dense))
	}
	got = group(records, 0.1, all/2, references)
	if compared := int64(len(got.pairs)); compared == 0 || got.skipped == 0 || compared+got.skipped != all || len(got.dense) != 1 {
		t.Errorf("%d compared, %d skipped in %d groups, of %d", compared, got.skipped, len(got.dense), all)
	}
	for p := range got.pairs {
		if p.b < references {
			t.Fatalf("%v is within the reference", p)
		}
	}
}

// TestReferenceThatTheInputCopies: where the input is a copy of the reference, it has
// the pairs that it would have alone, also where groups are dense.
func TestReferenceThatTheInputCopies(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const documents, threshold = 400, 0.6
	for _, bound := range []int{1 << 30, 2000, 300} {
		records := randomRecords(random, documents, 5, 12)
		slices.SortFunc(records, byKey)
		// One of each class, so that neither side has copies of its own.
		records = slices.CompactFunc(records, func(a, b Record) bool { return a.Key == b.Key && a.Digest == b.Digest })
		alone := group(slices.Clone(records), threshold, bound, 0)
		for _, r := range slices.Clone(records) {
			r.Ref += documents
			records = append(records, r)
		}
		got := group(records, threshold, bound, documents)
		if len(got.pairs) != len(alone.pairs) || got.skipped != alone.skipped || len(got.dense) != len(alone.dense) || bound < 1000 && len(got.dense) == 0 {
			t.Errorf("bound %d: %d pairs, %d skipped in %d groups; without a reference %d, %d in %d", bound,
				len(got.pairs), got.skipped, len(got.dense), len(alone.pairs), alone.skipped, len(alone.dense))
		}
		for p, times := range alone.pairs {
			p.b += documents
			if got.pairs[p] != times {
				t.Errorf("bound %d: %v came %d times, without a reference %d", bound, p, got.pairs[p], times)
			}
		}
	}
}

// TestAgain: what shares a key that is not dense is compared, whatever dense keys
// it shares before; what shares dense keys only is compared within the second of
// them; and nothing comes without need.
func TestAgain(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	const documents, keys, bound = 300, 5, 500
	// The first two keys are the same for nearly all documents, the others tell
	// families of some ten apart.
	family := make([]int, documents)
	keysOf := make([][keys]uint64, documents)
	hash := func(band, value int) uint64 { return rand.New(rand.NewPCG(uint64(band), uint64(value))).Uint64() }
	var records []Record
	for ref := range documents {
		family[ref] = random.IntN(documents / 10)
		var previous [MaxPrevious]uint32
		for band := range keys {
			value := family[ref]
			switch {
			case band < 2 && random.IntN(20) > 0:
				value = 1000
			case random.IntN(3) == 0:
				value = 2000 + ref // a key of its own
			}
			key := hash(band, value)
			keysOf[ref][band] = KeyOf(key, 0)
			records = append(records, Record{
				Key: KeyOf(key, min(band, MaxPrevious)), Ref: docref.Ref(ref + 1), Digest: uint64(ref), Size: uint32(100 + random.IntN(10)), Previous: previous,
			})
			copy(previous[1:], previous[:])
			previous[0] = PreviousOf(key)
		}
	}
	got := group(records, 0.5, bound, 0)
	if len(got.dense) != 2 {
		t.Fatalf("%d dense groups, want 2", len(got.dense))
	}
	found := map[[2]docref.Ref]int{}
	for p, times := range got.pairs {
		found[[2]docref.Ref{p.a, p.b}] += times
	}
	wanted := 0
	for a := range documents {
		for b := a + 1; b < documents; b++ {
			sharesSparse, sharesAny := false, false
			for band := range keys {
				if keysOf[a][band] == keysOf[b][band] {
					sharesAny = true
					sharesSparse = sharesSparse || !slices.Contains(got.dense, PreviousOf(keysOf[a][band]))
				}
			}
			times := found[[2]docref.Ref{docref.Ref(a + 1), docref.Ref(b + 1)}]
			if sharesSparse {
				wanted++
			}
			if sharesSparse && times == 0 || !sharesAny && times > 0 || times > 3 {
				t.Fatalf("documents %d and %d of families %d and %d came %d times; common keys: %v, some not dense: %v",
					a, b, family[a], family[b], times, sharesAny, sharesSparse)
			}
		}
	}
	if wanted < documents || len(got.pairs) > wanted+5*bound {
		t.Errorf("%d pairs share a key that is not dense, %d came", wanted, len(got.pairs))
	}
}
