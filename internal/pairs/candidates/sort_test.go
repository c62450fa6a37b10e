package candidates

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
)

// TestBucketsDropOnlyWhatHasMet: a job finds the same without the records that get no
// place, and where very many documents have the same keys most get none.
func TestBucketsDropOnlyWhatHasMet(t *testing.T) {
	random := rand.New(rand.NewPCG(27, 28))
	for _, exact := range []bool{false, true} {
		for _, bases := range []int{1, 20, 2000} {
			records := chained(random, bases, exact)
			kept := sift(records, exact)
			want, got := findings(slices.Clone(records), exact), findings(kept, exact)
			if !slices.Equal(got, want) {
				t.Errorf("exact keys %v, %d bases: found %d without what was dropped, want %d", exact, bases, len(got),
					len(want))
			}
			if bases != 20 && len(kept) > len(records)*3/5 {
				t.Errorf("exact keys %v, %d bases: %d of %d records are left", exact, bases, len(kept), len(records))
			}
		}
	}
}

// chained returns the records of documents whose keys are the keys of one of some bases, the
// first of them random. Of several bases, one document in ten has another key instead of a later one.
func chained(random *rand.Rand, bases int, exact bool) []Record {
	var records []Record
	for ref := range 2000 {
		base := rand.New(rand.NewPCG(uint64(random.IntN(bases)), 1))
		other := random.IntN(80)
		r := Record{
			Ref:    docref.Ref(ref),
			Digest: digest.Digest{random.Uint64N(10_000)},
			Size:   uint32(60 + random.IntN(3)),
		}
		for k := range 8 {
			hash := base.Uint64()
			if k == 0 || k == other && bases > 1 {
				hash = random.Uint64()
			}
			r.Position, r.First = uint32(k), k == 0
			if r.Key = KeyOf(hash, min(k, MaxPrevious)); exact {
				r.Key = PrefixKeyOf(hash >> 16)
			}
			records = append(records, r)
			if exact {
				r.SetPrevious(hash >> 16)
				continue
			}
			copy(r.Previous[1:], r.Previous[:])
			r.Previous[0] = PreviousOf(hash)
		}
	}
	return records
}

// sift returns the records that are not dropped.
func sift(records []Record, exact bool) []Record {
	b := NewBuckets(len(records), 0, 1<<64-1)
	for i := range records {
		switch r := &records[i]; {
		case r.First:
			b.CountLink(r.Key, Unmet)
		case exact:
			b.CountLink(r.Key, PreviousShingle(r.Previous[0], r.Previous[1]))
		default:
			b.CountLink(r.Key, uint64(r.Previous[0]))
		}
	}
	var kept []Record
	b.Counted()
	for n := range b.Windows(len(records)/3 + 1) {
		window := make([]Record, n)
		for _, r := range records {
			if index, ok := b.Index(r.Key); ok {
				window[index] = r
			}
		}
		if err := b.Sort(window, nil); err != nil {
			panic(err) // nobody stops it
		}
		kept = append(kept, window...)
	}
	return kept
}

// findings returns all pairs that Groups passes on, in order, also the pairs of oversized groups.
func findings(records []Record, exact bool) [][3]uint64 {
	var found [][3]uint64
	g := Grouper{Threshold: 0.8, MaxComparisons: 1000, Exact: exact}
	note := func(what uint64) func(a, b *Record) {
		return func(a, b *Record) {
			found = append(found, [3]uint64{what, uint64(min(a.Ref, b.Ref)), uint64(max(a.Ref, b.Ref))})
		}
	}
	g.Candidate, g.Identical = note(0), note(1)
	g.Oversized = func(group []Record, pairs int64) {
		found = append(found, [3]uint64{2, g.KeyID(&group[0]), uint64(pairs)})
	}
	g.Groups(Sort(records, make([]Record, len(records))))
	slices.SortFunc(found, func(a, b [3]uint64) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]), cmp.Compare(a[2], b[2]))
	})
	return found
}

// TestSortStops: a sort that nobody wants ends with the error, however the keys are.
func TestSortStops(t *testing.T) {
	fault := errors.New("stop")
	for name, key := range map[string]func() uint64{
		"random keys": rand.Uint64,
		"one key":     func() uint64 { return 7 },
		"two keys":    func() uint64 { return rand.Uint64N(2) },
	} {
		list, most := make([]Record, 1<<18), uint64(0)
		for i := range list {
			list[i] = Record{Key: key(), Ref: docref.Ref(i)}
			most = max(most, list[i].Key)
		}
		sort := func(stopped func() error) error {
			b := NewBuckets(len(list), 0, max(most, 1<<40))
			for i := range list {
				b.Count(list[i].Key)
			}
			b.Counted()
			sorted := make([]Record, len(list))
			for i := range list {
				index, _ := b.Index(list[i].Key)
				sorted[index] = list[i]
			}
			return b.Sort(sorted, stopped)
		}
		all := 0
		if err := sort(func() error { all++; return nil }); err != nil || all < 2 {
			t.Errorf("%s: asked %d times: %v", name, all, err)
		}
		asked := 0
		if err := sort(func() error {
			if asked++; asked == all {
				return fault
			}
			return nil
		}); !errors.Is(err, fault) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// BenchmarkCliques sorts the records of cliques of 63 documents and goes through their groups. Each document lacks some
// of the nine keys of its clique. Its figure is nanoseconds a record.
func BenchmarkCliques(b *testing.B) {
	const cliques, documents, keys = 200, 63, 9
	random := rand.New(rand.NewPCG(31, 32))
	var source []Record
	for i := range cliques * documents {
		shared := rand.New(rand.NewPCG(uint64(i%cliques), 1))
		r := Record{
			Ref:    docref.Ref(i + 1),
			Digest: digest.Digest{random.Uint64(), random.Uint64()},
			Size:   58,
			First:  true,
		}
		for position := range uint32(keys) {
			shingle := shared.Uint64() >> 16
			if random.IntN(20) == 0 {
				continue
			}
			r.Key, r.Position = PrefixKeyOf(shingle), position
			source = append(source, r)
			r.SetPrevious(shingle)
			r.First = false
		}
	}
	records, scratch := make([]Record, len(source)), make([]Record, len(source))
	pairs := 0
	g := Grouper{Threshold: .8, MaxComparisons: 8128, Exact: true, Candidate: func(_, _ *Record) { pairs++ }}
	for b.Loop() {
		copy(records, source)
		g.Groups(Sort(records, scratch))
	}
	if pairs < b.N*cliques*documents*(documents-1)/2*9/10 {
		b.Errorf("%d pairs in %d rounds: a benchmark of nothing", pairs, b.N)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(source)), "ns/record")
}
