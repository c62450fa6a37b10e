package gathering

import (
	"cmp"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// TestBlocks: where all pairs are compared, each distinct document comes to one block. A document of the reference
// stands for the equal one of the input.
func TestBlocks(t *testing.T) {
	j := newJob(t, 10)
	reference, input := j.refs[3], j.refs[14]
	outcomes := []work.Outcome{
		j.distinct(t, 0, j.refs[:3]), j.distinct(t, 1, []docref.Ref{reference, input}, j.refs[4:14]),
		j.distinct(t, 2, j.refs[15:]),
	}
	for _, c := range []struct {
		placeBytes int64
		blocks     int // 0: any number
	}{{1, 29}, {16 * 60, 0}, {1 << 20, 1}} {
		step := j.components(t, c.placeBytes, groups.UsualBounds())
		planned, tasks := worktest.Plan(t, j.runs, append(outcomes, j.sketches), step.Plan)
		if len(tasks) > 0 {
			t.Errorf("%d tasks send pairs", len(tasks))
		}
		blocks := len(worktest.Read(t, records.Blocks, planned.Run))
		if c.blocks != 0 && blocks != c.blocks || c.blocks == 0 && (blocks < 3 || blocks > 15) {
			t.Errorf("%d bytes a place: %d blocks", c.placeBytes, blocks)
		}
		all := inBlocks(t, j.read(t, []work.Outcome{planned}), blocks)
		if len(all) != len(j.refs)-1 {
			t.Errorf("%d bytes a place: %d documents, want %d", c.placeBytes, len(all), len(j.refs)-1)
		}
		for _, set := range all {
			if want := map[docref.Ref]docref.Ref{reference: input}[set.Ref]; set.Second != want || set.Ref == input {
				t.Errorf("document %d stands for %d of the input, want %d", set.Ref, set.Second, want)
			}
		}
	}
}

// distinct writes documents that are compared with all others. With a second list, the first is of equal documents, of
// which the first one stands for all.
func (j *job) distinct(t *testing.T, shard int, equal []docref.Ref, others ...[]docref.Ref) work.Outcome {
	t.Helper()
	isEqual := len(others) > 0
	path := worktest.Write(t, j.runs, func(run *runfile.Writer) error {
		for i, ref := range slices.Concat(append([][]docref.Ref{equal}, others...)...) {
			first := graphs.Node(i)
			if isEqual && i < len(equal) {
				first = 0
			}
			if err := records.WriteFixed(run, records.Distinct, shard, records.Node{
				Ref:    ref,
				Weight: uint32(len(j.sets[ref])),
				Parent: first,
			}); err != nil {
				return err
			}
		}
		return nil
	})
	return work.Outcome{Stage: work.Group, Number: shard, Run: path}
}

// inBlocks returns the sets of all blocks. The sets of a block are no smaller than sets of earlier blocks.
func inBlocks(t *testing.T, p places, blocks int) (all []records.PlacedSet) {
	t.Helper()
	if len(p.sets) != blocks {
		t.Errorf("%d places, want %d blocks", len(p.sets), blocks)
	}
	bySize := func(a, b records.PlacedSet) int { return cmp.Compare(a.Size, b.Size) }
	for block := range blocks {
		sets := slices.SortedFunc(slices.Values(p.sets[block]), bySize)
		all = append(all, sets...)
	}
	if !slices.IsSortedFunc(all, bySize) {
		t.Error("the blocks are not in the order of sizes")
	}
	return all
}
