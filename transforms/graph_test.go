package transforms

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph"

	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/lshbands"
)

// TestGraphShape lays out the graph of each kind of keys and looks for three things that portable runners refuse or do
// badly: a flattened impulse (apache/beam#34647), side inputs, and tasks that are not spread over workers before a
// stage works on them. It also looks for two stages of one type of DoFn: the local runner would count the first only.
// And a stage has one name: of its scope, its metrics and its file. Very large jobs join the parts of graphs by ranges.
func TestGraphShape(t *testing.T) {
	for _, keys := range []methods.Name{
		methods.MinHash, methods.Exact, methods.SimHash, methods.All,
		methods.Passages,
	} {
		for _, prunes := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", keys, prunes), func(t *testing.T) {
				checkGraph(t, keys, prunes, 0)
				checkGraph(t, keys, prunes, 16)
			})
		}
	}
}

func checkGraph(t *testing.T, keys methods.Name, prunes bool, ranges int) {
	t.Helper()
	config := job.Default()
	config.Input, config.Output, config.Keys, config.Audit = []string{"-"}, "out", keys, "100"
	config.Emit = []string{output.Clusters, output.Unique, output.Annotated, output.Sketches}
	p, s := beam.NewPipelineWithRoot()
	made := NewJob(&config, Extent{
		Scheme:      lshbands.Scheme{Bands: 5, Rows: 2},
		Bytes:       1 << 20,
		Splits:      3,
		CachedPairs: "pairs",
		Prunes:      prunes,
	}).In("temp", "partial")
	// Passages are of sequences.
	if want := prunes && keys != methods.Passages; made.Parameters.Pruned != want {
		t.Errorf("documents are left out: %v, want %v", made.Parameters.Pruned, want)
	}
	made.JoinRanges = ranges
	LayOut(s, made)
	edges, _, err := p.Build()
	if err != nil {
		t.Fatal(err)
	}
	most := 21
	if ranges > 0 {
		most += 8 // for the candidates and for the pairs
	}
	checkShape(t, edges, most)
}

func checkShape(t *testing.T, edges []*graph.MultiEdge, most int) {
	makers := map[int]graph.Opcode{} // makers of nodes
	for _, edge := range edges {
		for _, out := range edge.Output {
			makers[out.To.ID()] = edge.Op
		}
	}
	groups, working := 0, map[string]bool{}
	for _, edge := range edges {
		if edge.Op == graph.ParDo && edge.DoFn.FinishBundleFn() != nil {
			if working[edge.DoFn.Name()] {
				t.Errorf("%v works in two places: its figures of one are lost", edge)
			}
			working[edge.DoFn.Name()] = true
		}
		if stage := stageOf(edge); stage != "" {
			if scope := scopeNames(edge.Scope()); scope[0] != stage {
				t.Errorf("%v of the stage %s is in the scope %v", edge, stage, scope)
			}
			if _, err := os.Stat(stage + ".go"); err != nil {
				t.Error(err)
			}
		}
		switch {
		case edge.Op == graph.CoGBK:
			groups++
		case edge.Op == graph.Flatten && slices.ContainsFunc(edge.Input, func(in *graph.Inbound) bool {
			return makers[in.From.ID()] == graph.Impulse
		}):
			t.Errorf("%v flattens an impulse", edge)
		case edge.Op == graph.ParDo && len(edge.Input) > 1:
			t.Errorf("%v has side inputs", edge)
		case edge.Op == graph.ParDo && edge.DoFn.FinishBundleFn() != nil &&
			makers[edge.Input[0].From.ID()] != graph.Reshuffle:
			t.Errorf("%v works on tasks where they were made", edge)
		}
	}
	// Exact keys have the most: their shingles go from splits to ranges and back. Each output by split has one. What is
	// left out of a run takes three.
	if groups < 5 || groups > most {
		t.Errorf("%d shuffles: each costs a cluster about a second", groups)
	}
}

// stageOf returns the stage that a DoFn counts for, if it counts for one.
func stageOf(edge *graph.MultiEdge) string {
	if edge.Op != graph.ParDo || edge.DoFn.Recv == nil {
		return ""
	}
	if stage := reflect.ValueOf(edge.DoFn.Recv).Elem().FieldByName("Stage"); stage.IsValid() {
		return stage.String()
	}
	return ""
}

// scopeNames returns the names of a scope in a job and of those around it, the outermost first.
func scopeNames(s *graph.Scope) []string {
	if s == nil || s.Parent == nil || s.Label == "near-duplicates" {
		return nil
	}
	return append(scopeNames(s.Parent), s.Label)
}
