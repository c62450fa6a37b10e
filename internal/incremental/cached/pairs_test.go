package cached

import (
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/incremental/state"
	input "mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// TestPairs: the pairs of unchanged documents that the last run has found become edges, each once, between the
// documents that represent classes, whether or not these have keys in this run. Where documents have sides, or there is
// a reference, these need not be the first ones. A pair that a new document represents is left to the score, and equal
// documents with keys to their group.
func TestPairs(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 5))
		runs := worktest.Runs(t)
		digests := make([]digest.Digest, 8)
		keyed := map[digest.Digest]bool{} // equal documents have keys, or none has
		for i := range digests {
			digests[i] = digest.Digest{random.Uint64N(3), random.Uint64()}
			keyed[digests[i]] = random.IntN(2) == 0
		}
		type class struct {
			digest digest.Digest
			scope  uint64
		}
		unchanged := make(documents.Unchanged, 20) // each document is a file
		for i := range unchanged {
			unchanged[i] = random.IntN(4) > 0
		}
		refOf := func(i int) docref.Ref {
			ref, err := docref.New(i, 0)
			if err != nil {
				t.Fatal(err)
			}
			return ref
		}
		members := map[class][]docref.Ref{}
		sides, firstInput := make([]uint64, 20), docref.Ref(0)
		if seed%2 == 0 {
			firstInput = refOf(random.IntN(12))
		}
		for i := range sides {
			if seed%3 == 0 {
				sides[i] = 1 + random.Uint64N(2)
			}
		}
		written := worktest.Write(t, runs, func(run *runfile.Writer) error {
			for i := range 20 {
				ref := refOf(i)
				c := class{digests[random.IntN(len(digests))], random.Uint64N(3)}
				members[c] = append(members[c], ref)
			}
			var all []records.KnownDocument
			for c, refs := range members {
				for _, ref := range refs {
					all = append(all, records.KnownDocument{
						Digest: c.digest,
						Scope:  c.scope,
						Side:   sides[ref.File()],
						Ref:    ref,
						Size:   10,
						Keyed:  keyed[c.digest],
					})
				}
			}
			random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			for _, d := range all {
				if err := records.WriteFixed(run, records.Known, 0, d); err != nil {
					return err
				}
			}
			return nil
		})
		var cachedPairs []state.CachedPair
		for range 12 {
			cachedPairs = append(cachedPairs,
				state.CachedPairOf(digests[random.IntN(8)], digests[random.IntN(8)], records.NewScore(9, 10, false)))
		}
		cachedPairs = append(cachedPairs,
			// of a document that has gone
			state.CachedPairOf(digests[0], digest.Digest{1, 1}, records.NewScore(9, 10, false)))
		var packed []byte
		for _, v := range cachedPairs {
			packed = v.Append(packed)
		}
		path := filepath.Join(t.TempDir(), "pairs")
		if err := state.WriteCachedPairs(path, packed, nil); err != nil {
			t.Fatal(err)
		}

		classOf := func(refs []docref.Ref) candidates.Class {
			c := candidates.Class{First: refs[0], Second: refs[0], Side: sides[refs[0].File()]}
			for _, ref := range refs[1:] {
				if c.Second == c.First && (sides[ref.File()] != c.Side || c.First < firstInput && ref >= firstInput) {
					c.Second = ref
				}
			}
			return c
		}
		want := map[pair]int{}
		for c, refs := range members {
			other := slices.IndexFunc(refs, func(ref docref.Ref) bool {
				return sides[ref.File()] != sides[refs[0].File()]
			})
			for _, ref := range refs[1:] {
				if keyed[c.digest] {
					continue
				}
				if other > 0 && sides[ref.File()] == sides[refs[0].File()] {
					want[pairOf(refs[other], ref)] = 1
				} else {
					want[pairOf(refs[0], ref)] = 1
				}
			}
			for _, v := range cachedPairs {
				second := members[class{v.B, c.scope}]
				if c.digest == v.A && v.A != v.B && len(second) > 0 {
					if x, y, ok := candidates.Ends(classOf(refs), classOf(second), firstInput); ok &&
						unchanged.Both(x, y) {
						want[pairOf(x, y)] = 1
					}
				}
			}
		}
		k := Pairs{CachedPairs: work.Path(path), Shards: 3}
		k.layout.FirstInput, k.unchanged = firstInput, unchanged
		outcomes := worktest.Do(t, runs, worktest.Tasks(t, runs, Delivery(), written), k.Task)
		if got := joined(t, outcomes); !maps.Equal(got, want) {
			t.Errorf("seed %d: edges %v, want %v", seed, got, want)
		}
	}
}

// TestKnownErrors: a document without a digest, and equal documents one of which has keys, are errors: their pairs
// would be lost.
func TestKnownErrors(t *testing.T) {
	d := digest.Digest{1, 2}
	for name, all := range map[string][]records.KnownDocument{
		"without a digest": {{Ref: 1}, {Ref: 2, Digest: d}},
		"one with keys":    {{Ref: 1, Digest: d, Keyed: true}, {Ref: 2, Digest: d}},
	} {
		t.Run(name, func(t *testing.T) {
			packed := make([]byte, len(all)*records.KnownSize)
			for i, d := range all {
				records.Put(packed[i*records.KnownSize:], d)
			}
			var k Pairs
			k.layout.Inputs = &documents.Inputs{Files: []input.File{{Name: "a"}}}
			if _, err := k.classes(&knownEdges{documents: readKnown(packed)}); err == nil {
				t.Error("no error")
			}
		})
	}
}

// TestNothingKnown: without a document that was in a pair there is no task.
func TestNothingKnown(t *testing.T) {
	runs := worktest.Runs(t)
	empty := worktest.Write(t, runs, func(run *runfile.Writer) error {
		return run.Section(records.IDs, 0, make([]byte, records.IDSize))
	})
	if tasks := worktest.Tasks(t, runs, Delivery(), empty); len(tasks) != 0 {
		t.Errorf("%d tasks", len(tasks))
	}
}
