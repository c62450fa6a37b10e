package candidates

import (
	"math/rand/v2"
	"testing"

	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
)

// TestBitmapsLoseNoPair: bitmaps of sets differ in no more bits than the sets in elements, and sets of any similarity
// may differ in as many elements as they do.
func TestBitmapsLoseNoPair(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var both, a, b []uint64
		for range random.IntN(200) {
			both = append(both, random.Uint64()>>16)
		}
		a, b = append(a, both...), append(b, both...)
		for range random.IntN(20) {
			a = append(a, random.Uint64()>>16)
		}
		for range random.IntN(20) {
			b = append(b, random.Uint64()>>16)
		}
		together := max(len(a)+len(b), 1)
		differing := together - 2*len(both)
		var x, y Record
		x.SetBitmap(BitmapOf(a))
		y.SetBitmap(BitmapOf(b))
		var rows bitmapRows
		rows.read([]Record{x, y})
		if row := rows.row([]Record{x, y}, 0, 2); int(row[0]) > differing {
			t.Fatalf("%d elements differ, but %d bits", differing, row[0])
		}
		// The similarity is computed as for a pair that is listed.
		similarity := float64(len(both)) / float64(together-len(both))
		most := MostDiffering(together, similarity)
		if most < differing || !mayDiffer(differing, together, similarity) {
			t.Fatalf("sets of %d and %d elements with %d in common are ruled out at their similarity", len(a), len(b),
				len(both))
		}
		if len(both) > 0 && (most > differing || mayDiffer(differing+1, together, similarity)) {
			t.Fatalf("sets of %d elements together that differ in %d may be as similar as with %d", together, most,
				differing)
		}
	}
}

// TestFewWordsMakeFewCandidates: of documents whose shingles all are frequent, hardly any two come to be compared,
// though each shares a key with very many.
func TestFewWordsMakeFewCandidates(t *testing.T) {
	for _, c := range []struct {
		name      string
		documents int
	}{
		{"small groups", 3000},   // some nine documents share a key: without bitmaps there are 120,000 pairs
		{"large groups", 24_000}, // some seventy
	} {
		t.Run(c.name, func(t *testing.T) {
			got := group(fewWords(c.documents), Grouper{Threshold: 0.8, Exact: true}, unbounded)
			if len(got.pairs) > c.documents/30 {
				t.Errorf("%d pairs", len(got.pairs))
			}
		})
	}
}

// fewWords makes the records of documents whose sets are drawn from 4,000 shingles.
func fewWords(documents int) (records []Record) {
	random := rand.New(rand.NewPCG(3, 4))
	const shingles, universe, keys = 58, 4000, 12
	for i := range documents {
		set := make([]uint64, 0, shingles)
		for _, shingle := range random.Perm(universe)[:shingles] {
			set = append(set, uint64(shingle)*0x9e3779b97f4a7c15>>16)
		}
		r := Record{Ref: docref.Ref(i + 1), Digest: digest.Digest{uint64(i)}, Size: shingles, First: true}
		for position, shingle := range set[:keys] {
			r.Key, r.Position = PrefixKeyOf(shingle), uint32(position)
			r.SetBitmap(BitmapOf(set))
			records = append(records, r)
			r.SetPrevious(shingle)
			r.First = false
		}
	}
	return records
}
