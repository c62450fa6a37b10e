package candidates

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
)

// sidedGroup returns a group whose documents have one of some sides, the first of them mostly, ordered by digest.
func sidedGroup(random *rand.Rand, documents, sides int, exact bool) []Record {
	records := randomGroup(random, documents, documents/4, exact)
	for i := range records {
		records[i].Side = uint64(1 + max(0, random.IntN(2*sides)-sides))
	}
	new(ranking).sortBucket(records, nil)
	return records
}

// unmetPairs returns the pairs of classes that are not apart and have not met, by their first documents.
func unmetPairs(records []Record, exact bool) map[[2]docref.Ref]bool {
	sides, firsts := map[digest.Digest]map[uint64]bool{}, []Record{}
	for _, r := range records {
		if sides[r.Digest] == nil {
			sides[r.Digest] = map[uint64]bool{}
			firsts = append(firsts, r)
		}
		sides[r.Digest][r.Side] = true
	}
	pairs := map[[2]docref.Ref]bool{}
	for i := range firsts {
		for j := range i {
			a, b := &firsts[i], &firsts[j]
			differ := len(sides[a.Digest]) > 1 || len(sides[b.Digest]) > 1 || a.Side != b.Side
			if differ && !(exact && a.metBefore(b)) && !(!exact && a.met(b)) {
				pairs[[2]docref.Ref{min(a.Ref, b.Ref), max(a.Ref, b.Ref)}] = true
			}
		}
	}
	return pairs
}

// TestSides compares with all pairs: classes are compared unless all their documents are of one side, and a pair is
// named by two documents of different sides.
func TestSides(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 32))
	for _, exact := range []bool{false, true} {
		for _, documents := range []int{30, 60, 90, 200} {
			for _, sides := range []int{1, 2, 5, 100} {
				t.Run(fmt.Sprintf("%v/%d/%d", exact, documents, sides), func(t *testing.T) {
					records := sidedGroup(random, documents, sides, exact)
					of, first := map[docref.Ref]Record{}, map[digest.Digest]docref.Ref{}
					for _, r := range records {
						of[r.Ref] = r
						if _, known := first[r.Digest]; !known {
							first[r.Digest] = r.Ref
						}
					}
					want := unmetPairs(records, exact)
					g := Grouper{Exact: exact, MaxComparisons: 1 << 40, Identical: func(_, _ *Record) {}}
					g.Candidate = func(a, b *Record) {
						x, y := first[of[a.Ref].Digest], first[of[b.Ref].Digest]
						pair := [2]docref.Ref{min(x, y), max(x, y)}
						if !want[pair] || of[a.Ref].Side == of[b.Ref].Side {
							t.Errorf("%d and %d are no pair, or come again", a.Ref, b.Ref)
						}
						delete(want, pair)
					}
					g.Groups(records)
					for pair := range want {
						if a, b := of[pair[0]], of[pair[1]]; !exact || g.reach(&a, &b) {
							t.Errorf("%d and %d are missing", pair[0], pair[1])
						}
					}
				})
			}
		}
	}
}

// TestSidedStars: each document is joined to the first equal one of another side. If there is none, it is joined to the
// first equal one.
func TestSidedStars(t *testing.T) {
	random := rand.New(rand.NewPCG(33, 34))
	for _, sides := range []int{1, 2, 9} {
		records := sidedGroup(random, 300, sides, false)
		for i := range records {
			records[i].First = true
		}
		joined := map[docref.Ref][]docref.Ref{}
		g := Grouper{MaxComparisons: 1 << 40, Candidate: func(_, _ *Record) {}, Identical: func(first, other *Record) {
			joined[first.Ref] = append(joined[first.Ref], other.Ref)
			joined[other.Ref] = append(joined[other.Ref], first.Ref)
		}}
		g.Groups(append([]Record(nil), records...))
		for i := range records {
			firstSame, firstOther := docref.Ref(0), docref.Ref(0)
			for j := range records {
				a, b := &records[i], &records[j]
				switch {
				case a.Digest != b.Digest:
				case a.Side != b.Side && firstOther == 0:
					firstOther = b.Ref
				case firstSame == 0:
					firstSame = b.Ref
				}
			}
			want := firstOther
			if want == 0 {
				want = firstSame
			}
			has := want == records[i].Ref
			for _, ref := range joined[records[i].Ref] {
				has = has || ref == want
			}
			if !has {
				t.Errorf("%d is joined to %v, want %d", records[i].Ref, joined[records[i].Ref], want)
			}
		}
	}
}
