package common

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
	"mirrorbeam.dev/sketch"
)

// page is a document of a test: its split, and its shingles, ascending.
type page struct {
	split int
	ref   docref.Ref
	set   []uint64
}

// name returns the set of a page as a text, which stands for its digest.
func (p *page) name() string { return fmt.Sprint(p.set) }

// newPages returns pages of a template, reprints of an article, pages that are the template and hardly anything else,
// and copies.
func newPages(t *testing.T, random *rand.Rand) (pages []page) {
	t.Helper()
	hashes := func(n int) (all []uint64) {
		for range n {
			all = append(all, random.Uint64()>>16)
		}
		return all
	}
	template, article := hashes(30), hashes(60)
	var sets [][]uint64
	for range 25 {
		sets = append(sets, slices.Concat(template, hashes(8+random.IntN(40)))) // some have too little of their own
		sets = append(sets, slices.Concat(article, hashes(random.IntN(4))))
	}
	// A fifth of a page must be its own: with the one kind it just is, with the other it just is not.
	enough, little := hashes(40), hashes(41)
	for range 12 {
		sets = append(sets, slices.Concat(enough, hashes(10)), slices.Concat(little, hashes(10)))
	}
	for range 4 {
		sets = append(sets, slices.Concat(template, hashes(3)), hashes(20), nil)
	}
	for range 20 {
		sets = append(sets, slices.Clone(sets[0])) // a text that occurs often counts once
	}
	random.Shuffle(len(sets), func(i, j int) { sets[i], sets[j] = sets[j], sets[i] })
	for i, set := range sets {
		slices.Sort(set)
		ref, err := docref.New(i*3/len(sets), int64(i))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, page{ref.File(), ref, set})
	}
	return pages
}

// commonOf finds the common shingles by brute force.
func commonOf(pages []page, limit int) map[uint64]bool {
	distinct := map[string][]uint64{}
	for i := range pages {
		distinct[pages[i].name()] = pages[i].set
	}
	frequent := func(counts func(set []uint64) []uint64) map[uint64]bool {
		documents, found := map[uint64]int{}, map[uint64]bool{}
		for _, set := range distinct {
			for _, hash := range counts(set) {
				if documents[hash]++; documents[hash] > limit {
					found[hash] = true
				}
			}
		}
		return found
	}
	first := frequent(func(set []uint64) []uint64 { return set })
	return frequent(func(set []uint64) (shared []uint64) {
		for _, hash := range set {
			if first[hash] {
				shared = append(shared, hash)
			}
		}
		if own := len(set) - len(shared); own < sketch.LeastOwn || own*5 < len(set) {
			return nil
		}
		return shared
	})
}

// rounds are the run files of a job on its way to the common shingles.
type rounds struct {
	*testing.T
	runs     work.Runs
	law      Law
	shards   int
	sketches []work.Outcome
	count    int64
}

// write writes the pages as the blocks of their splits. A digest is equal for equal sets only.
func (r *rounds) write(pages []page) {
	numbers := map[string]uint64{}
	for split := range 3 {
		var all []sketchblock.Document
		for i := range pages {
			p := &pages[i]
			if numbers[p.name()] == 0 {
				numbers[p.name()] = uint64(len(numbers) + 1)
			}
			if p.split == split {
				all = append(all, sketchblock.Document{
					Ref:    p.ref,
					Digest: digest.Digest{numbers[p.name()]},
					Set:    p.set,
					Size:   len(p.set),
					ID:     fmt.Append(nil, p.ref),
				})
			}
		}
		path := worktest.Write(r.T, r.runs, func(run *runfile.Writer) error {
			return worktest.Block(run, split, all...)
		})
		r.sketches = append(r.sketches, work.Outcome{
			Stage:    work.Fingerprint,
			Number:   split,
			Run:      path,
			Findings: worktest.Counted(findings.Counts{Documents: int64(len(all))}),
		})
	}
	r.count = int64(len(pages))
}

// paths returns the run files of outcomes.
func paths(outcomes []work.Outcome) []string { return work.RunsOf(outcomes) }

// find does a round: it sees shingles and counts them. It returns the outcomes of counting.
func (r *rounds) find(tasks []work.Task) []work.Outcome {
	seeing, counting := Seeing{Shards: r.shards}, Counting{Law: r.law}
	seen := worktest.Do(r.T, r.runs, tasks, seeing.Task)
	ranges := worktest.Tasks(r.T, r.runs, SeenDelivery(), paths(seen)...)
	for i := range ranges {
		ranges[i].Documents = r.count
	}
	counted := worktest.Do(r.T, r.runs, ranges, counting.Task)
	for i := range counted {
		counted[i].Stage = work.Common
	}
	return counted
}

// common does both rounds and returns the tasks of stripping.
func (r *rounds) common() []work.Task {
	first := r.find(worktest.Tasks(r.T, r.runs, WholeDelivery(FirstRound, false), paths(r.sketches)...))
	list := NewListing(WholeDelivery(SecondRound, false))
	_, again := worktest.Plan(r.T, r.runs, slices.Concat(r.sketches, first), list.Plan)
	second := r.find(again)
	last := NewListing(WholeDelivery(FirstRound, false))
	last.Stays = true
	_, tasks := worktest.Plan(r.T, r.runs, slices.Concat(r.sketches, second), last.Plan)
	return tasks
}

// TestRounds: what two rounds find over run files is what brute force finds, in however many ranges. Stripping takes
// just that out of the sets, leaves a document with too little an empty one, and counts what it does.
func TestRounds(t *testing.T) {
	for seed, shards := range []int{1, 3, 16} {
		random := rand.New(rand.NewPCG(uint64(seed), 4))
		pages := newPages(t, random)
		r := &rounds{T: t, runs: worktest.Runs(t), law: Law{Above: 10}, shards: shards}
		r.write(pages)
		want := commonOf(pages, 10)
		tasks := r.common()
		packed, err := Found(string(r.runs.Folder))
		if err != nil {
			t.Fatal(err)
		}
		if got := sketchblock.AppendSet(nil, packed); !slices.Equal(got, slices.Sorted(maps.Keys(want))) ||
			len(got) != 30+40 {
			t.Fatalf("%d ranges: %d common shingles, want the %d of two templates", shards, len(got), len(want))
		}
		inputs := documents.Inputs{Files: []corpus.File{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
		stripping := Stripping{
			Inputs: work.Path(t.TempDir() + "/inputs"),
			Law:    r.law,
			Apart:  true,
			Kept:   documents.Kept{Sets: documents.AllHashes},
		}
		if err := documents.WriteInputs(string(stripping.Inputs), inputs); err != nil {
			t.Fatal(err)
		}
		if err := stripping.Setup(); err != nil {
			t.Fatal(err)
		}
		stripped := worktest.Do(t, r.runs, tasks, stripping.Task)
		checkStripped(t, pages, want, stripped)
	}
}

// checkStripped compares stripped blocks with the pages.
func checkStripped(t *testing.T, pages []page, common map[uint64]bool, stripped []work.Outcome) {
	t.Helper()
	var counts, wanted findings.Counts
	found := 0
	for _, o := range stripped {
		findings.Merge(&counts, o.Counts)
		if o.Common == nil || o.Common.Above != 10 || o.Common.Shingles != int64(len(common)) {
			t.Errorf("common shingles %+v, want %d", o.Common, len(common))
		}
		blocks, sets := worktest.Read(t, records.Documents, o.Run), worktest.Read(t, records.Sets, o.Run)
		parts := worktest.Read(t, records.CommonParts, o.Run)[o.Number]
		block, err := sketchblock.Parse(blocks[o.Number])
		if err != nil {
			t.Fatal(err)
		}
		for i, packed := range block.Sets(sets[o.Number]) {
			p := pages[slices.IndexFunc(pages, func(p page) bool { return p.ref == block.Ref(i) })]
			found++
			own := slices.DeleteFunc(slices.Clone(p.set), func(hash uint64) bool { return common[hash] })
			if out := len(p.set) - len(own); out > 0 {
				wanted.CommonIn++
				wanted.CommonShingles += int64(out)
				if len(own) < sketch.LeastOwn {
					own = nil
					wanted.CommonWhole++
				}
			}
			var part []byte
			part, parts = records.NextCommonPart(parts)
			got, apart := sketchblock.AppendSet(nil, packed), sketchblock.AppendSet(nil, part)
			if !slices.Equal(got, own) || block.Size(i) != len(own) || string(block.ID(i)) != fmt.Sprint(p.ref) {
				t.Errorf("%v: %d shingles are left, want %d of %d", p.ref, len(got), len(own), len(p.set))
			}
			if all := slices.Sorted(slices.Values(slices.Concat(got, apart))); !slices.Equal(all, p.set) {
				t.Errorf("%v: what is left and what is apart have %d shingles, want %d", p.ref, len(all), len(p.set))
			}
		}
	}
	if found != len(pages) || counts.CommonIn != wanted.CommonIn || counts.CommonWhole != wanted.CommonWhole ||
		counts.CommonShingles != wanted.CommonShingles || counts.CommonWhole == 0 {
		t.Errorf("%d documents, counts %+v, want %+v", found, counts, wanted)
	}
}

// TestWeighing: the list says of each shingle that more than two documents have how rare it makes a pair; the others
// count as of two.
func TestWeighing(t *testing.T) {
	pages := newPages(t, rand.New(rand.NewPCG(9, 4)))
	r := &rounds{T: t, runs: worktest.Runs(t), law: BeyondPairs(), shards: 4}
	r.write(pages)
	counted := r.find(worktest.Tasks(t, r.runs, WholeDelivery(FirstRound, false), paths(r.sketches)...))
	gathered := slices.Clone(r.sketches)
	for i := range gathered {
		gathered[i].Stage = work.Gather
	}
	weighing := NewWeighing(WholeDelivery(FirstRound, false))
	_, tasks := worktest.Plan(t, r.runs, slices.Concat(gathered, counted), weighing.Plan)
	rarities, err := ReadRarities(tasks[0].Catalog)
	if err != nil {
		t.Fatal(err)
	}
	documents, distinct := map[uint64]int{}, map[string]bool{}
	for i := range pages {
		if p := &pages[i]; !distinct[p.name()] {
			distinct[p.name()] = true
			for _, hash := range p.set {
				documents[hash]++
			}
		}
	}
	for hash, n := range documents {
		want := uint32(records.RarityUnit)
		if n > 2 {
			want = uint32((records.RarityUnit + (n-1)/2) / (n - 1))
		}
		if got := rarities.Of(hash); got != want {
			t.Errorf("a shingle of %d documents has the rarity %d, want %d", n, got, want)
		}
	}
}
