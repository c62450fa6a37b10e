package candidates

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
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
func prefixJoin(random *rand.Rand, families, members int, threshold float64,
	template int,
) ([]prefixDocument, []Record) {
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
			documents = append(documents, prefixDocument{
				ref:      docref.Ref(len(documents) + 1),
				digest:   digest,
				shingles: set,
			})
		}
	}
	var records []Record
	for i := range documents {
		d := &documents[i]
		slices.SortFunc(d.shingles, func(a, b uint64) int {
			return cmp.Or(cmp.Compare(count[a], count[b]), cmp.Compare(a, b))
		})
		d.keys = len(d.shingles) - int(threshold*float64(len(d.shingles))*(1-1e-9)+0.999999) + 1
		r := Record{Ref: d.ref, Digest: digest.Digest{d.digest}, Size: uint32(len(d.shingles)), First: true}
		for position, shingle := range d.shingles[:d.keys] {
			if count[shingle] == 1 {
				continue
			}
			r.Key, r.Position = PrefixKeyOf(shingle), uint32(position)
			if i%5 > 0 { // most, but not all
				r.SetBitmap(BitmapOf(d.shingles))
			}
			records = append(records, r)
			r.SetPrevious(shingle)
			r.First = false
		}
	}
	random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	return documents, records
}

// inBoth returns how many shingles two documents have in common, which are few enough to
// look at each.
func inBoth(a, b []uint64) int {
	n := 0
	for _, shingle := range a {
		if slices.Contains(b, shingle) {
			n++
		}
	}
	return n
}

// TestPrefixGroupsMissNoPair compares with all pairs of all documents: those that reach the
// threshold are compared, unless they have the key of a dense group in common, and so are
// in its hot group.
func TestPrefixGroupsMissNoPair(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	left := 0
	for _, threshold := range []float64{0.3, 0.6, 0.8, 0.95} {
		for _, template := range []int{0, 10, 40} {
			for _, b := range []bounds{unbounded, {100, 1 << 60}, {100, 4000}, {100, 500}} {
				documents, records := prefixJoin(random, 40, 6, threshold, template)
				got := group(records, Grouper{Threshold: threshold, Exact: true}, b)
				found := map[[2]docref.Ref]int{}
				for p, times := range got.pairs {
					found[[2]docref.Ref{p.a, p.b}] += times
				}
				// Of identical documents only the first is compared.
				digests := map[uint64]bool{}
				documents = slices.DeleteFunc(documents, func(d prefixDocument) bool {
					seen := digests[d.digest]
					digests[d.digest] = true
					return seen
				})
				pairs, repeats := 0, 0
				for i, x := range documents {
					for _, y := range documents[:i] {
						n := inBoth(x.shingles, y.shingles)
						times := found[[2]docref.Ref{y.ref, x.ref}]
						repeats += max(times-1, 0)
						if float64(n)/float64(len(x.shingles)+len(y.shingles)-n) < threshold {
							continue
						}
						pairs++
						dense := func(shingle uint64) bool {
							return slices.Contains(got.dense, shingle) && slices.Contains(y.shingles[:y.keys], shingle)
						}
						switch {
						case times > 0:
						case slices.ContainsFunc(x.shingles[:x.keys], dense):
							left++
						default:
							t.Fatalf("%g, %v: documents of %d and %d with %d in common were not compared", threshold,
								b, len(x.shingles), len(y.shingles), n)
						}
					}
				}
				if pairs == 0 && threshold < 0.9 || repeats > 5*len(got.pairs) {
					t.Errorf("%g, %v: %d pairs, %d candidates, %d repeats", threshold, b, pairs, len(got.pairs),
						repeats)
				}
			}
		}
	}
	if left == 0 {
		t.Error("no pair was left to a hot group")
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
