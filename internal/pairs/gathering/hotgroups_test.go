package gathering

import (
	"slices"
	"testing"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// TestHotGroups: dense groups that share documents are one hot group, across parts. Its documents come to one place,
// however many they are. They know their hot group and the equal document of the input.
func TestHotGroups(t *testing.T) {
	j := newJob(t, 10)
	groups := [][]docref.Ref{
		{j.refs[10], j.refs[11], j.refs[12]},
		{j.refs[2], j.refs[12], j.refs[20]}, // 12 joins it to the group before
		{j.refs[15], j.refs[16]},
		{j.refs[25], j.refs[26], j.refs[27]},
	}
	inputs := map[docref.Ref]docref.Ref{j.refs[2]: j.refs[29]}
	wantHotGroups := [][]docref.Ref{
		{j.refs[2], j.refs[10], j.refs[11], j.refs[12], j.refs[20]},
		{j.refs[15], j.refs[16]},
		{j.refs[25], j.refs[26], j.refs[27]},
	}
	var outcomes []work.Outcome
	for part, group := range groups {
		path := worktest.Write(t, j.runs, func(run *runfile.Writer) error {
			for _, ref := range group {
				m := records.HotGroupMember{
					Ref:    ref,
					Second: inputs[ref],
					Other:  group[0],
					Size:   uint32(len(j.sets[ref])),
				}
				if err := records.Write(run, records.HotGroupMembers, part, &m); err != nil {
					return err
				}
			}
			return nil
		})
		outcomes = append(outcomes, work.Outcome{Stage: work.Group, Number: part, Run: path})
	}
	for _, c := range []struct {
		placeBytes int64
		isOnePlace bool
	}{{1 << 20, true}, {1, false}} {
		step := HotGroups{Inputs: j.inputs, PlaceBytes: c.placeBytes}
		if err := step.Setup(); err != nil {
			t.Fatal(err)
		}
		planned, tasks := worktest.Plan(t, j.runs, append(outcomes, j.sketches), step.Plan)
		if len(tasks) != files || tasks[0].Step != SetsStep {
			t.Errorf("%d tasks for %d splits: %+v", len(tasks), files, tasks)
		}
		p := j.read(t, []work.Outcome{planned})
		if (len(p.sets) == 1) != c.isOnePlace {
			t.Errorf("%d bytes a place: %d places", c.placeBytes, len(p.sets))
		}
		var hotGroups [][]docref.Ref
		sizes := worktest.Read(t, records.HotGroups, planned.Run)
		for place, sets := range p.sets {
			byHotGroup := map[records.HotGroupNumber][]docref.Ref{}
			for _, set := range sets {
				byHotGroup[set.HotGroup] = append(byHotGroup[set.HotGroup], set.Ref)
				if set.Second != inputs[set.Ref] {
					t.Errorf("document %d stands for %d of the input, want %d", set.Ref, set.Second, inputs[set.Ref])
				}
			}
			for _, hotGroup := range byHotGroup {
				hotGroups = append(hotGroups, slices.Sorted(slices.Values(hotGroup)))
			}
			if got := slices.Collect(records.All[uint32](sizes[place])); !slices.Equal(got,
				[]uint32{uint32(len(sets))}) {
				t.Errorf("place %d is told of %d documents and has %d", place, got, len(sets))
			}
		}
		slices.SortFunc(hotGroups, slices.Compare)
		if !slices.EqualFunc(hotGroups, wantHotGroups, slices.Equal) {
			t.Errorf("%d bytes a place: hot groups %d, want %d", c.placeBytes, hotGroups, wantHotGroups)
		}
	}
}
