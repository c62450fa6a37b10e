package pipeline

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/result/write"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	_ "mirrorbeam.dev/internal/work/worktest" // rehearses failures
	"mirrorbeam.dev/job"
)

// innerJob says how a job is cut inside; Config does not show this.
type innerJob struct {
	splitBytes int64
	shards     int
	placeBytes int64
	graphBytes int64         // 0: as the job chooses
	bounds     groups.Bounds // zero: the usual ones
	lanes      int
	ranges     int    // 0: one task joins the parts of a graph
	unreliable uint64 // 0: every task runs once
}

// runInner does what Run does, up to the results, with other cuts. It returns the rows, and the result of the pipeline.
func runInner(t testing.TB, config job.Config, inner innerJob) (string, write.Result) {
	t.Helper()
	config.Output = filepath.Join(t.TempDir(), "out")
	r, err := prepare(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	// More splits than this tell nothing new, and each writes a section for each shard.
	const most = 50
	r.inputs.Splits = corpus.Splits(r.inputs.Files, max(inner.splitBytes, r.Bytes/most))
	if err := documents.WriteInputs(string(r.job.Inputs), *r.inputs); err != nil {
		t.Fatal(err)
	}
	j := r.newJob().In(r.results.Temp, r.results.Partial)
	j.Parameters.Shards, j.PlaceBytes, j.Lanes = inner.shards, inner.placeBytes, inner.lanes
	j.Trimming.Ranges, j.Trimming.Held = inner.shards, int(inner.placeBytes/100)
	j.JoinRanges = inner.ranges
	if inner.graphBytes > 0 {
		j.GraphBytes, j.RangeBytes = inner.graphBytes, inner.graphBytes
	}
	if inner.unreliable != 0 {
		j.Runs.Unreliable, j.Runs.Release = inner.unreliable, false
	}
	if inner.bounds != (groups.Bounds{}) {
		j.Parameters.Bounds = inner.bounds
	}
	if _, err := execute(t.Context(), j, &r.Config); err != nil {
		t.Fatal(err)
	}
	result, err := write.ReadResult(r.results.Temp)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range result.Files {
		fmt.Fprintf(&all, "%s\n%s", f.Name, decoded(t, filepath.Join(r.results.Partial, f.Temporary), f.Name))
	}
	return all.String(), result
}

// wholeJob is a job that is not cut.
var wholeJob = innerJob{splitBytes: 1 << 30, shards: 1, placeBytes: 1 << 30, lanes: 1}

// checkSame compares what two runs of one job have found.
func checkSame(t *testing.T, what string, got, want any) {
	t.Helper()
	if difference := cmp.Diff(want, got, cmpopts.EquateEmpty()); difference != "" {
		t.Errorf("other %s (- wanted, + got):\n%s", what, difference)
	}
}

// denseBounds makes a group of more than 64 documents dense. Stars of more than 8 documents are not compared.
var denseBounds = groups.Bounds{Group: 30}

// TestDenseGroups bounds the comparisons of a group below what its documents need. Skipped pairs are counted, every
// listed pair is right, and the output depends only on the bound.
func TestDenseGroups(t *testing.T) {
	t.Parallel()
	w := newWriter(5)
	base := w.text(100)
	for range 120 {
		w.add(w.set(w.change(base, 0.01)))
	}
	w.families(5, 5, 30, 60)
	files := cut(w.lines, 2)
	config := testConfig(t, putCorpus(t, plain, files...))
	config.Emit = []string{output.Clusters, output.Pairs}
	bands := byKeys(config, methods.MinHash)
	bands.Bands, bands.Rows = 4, 2 // few wide bands: large groups
	for _, config := range []job.Config{config, bands} {
		t.Run(string(config.Method()), func(t *testing.T) {
			dense := innerJob{splitBytes: 1 << 30, shards: 1, placeBytes: 1 << 30, bounds: denseBounds, lanes: 1}
			want, result := runInner(t, config, dense)
			if result.Skipped.Pairs == 0 || result.Skipped.Groups == 0 {
				t.Errorf("%d pairs in %d groups were skipped, more is true", result.Skipped.Pairs,
					result.Skipped.Groups)
			}
			all, unbounded := runInner(t, config, wholeJob)
			if unbounded.Skipped != (findings.Skipped{}) {
				t.Errorf("skipped %+v below the bound", unbounded.Skipped)
			}
			if result.Counts.Pairs >= unbounded.Counts.Pairs {
				t.Errorf("%d pairs under the bound, %d without", result.Counts.Pairs, unbounded.Counts.Pairs)
			}
			without := strings.Split(all, "\n")
			for row := range strings.Lines(want) {
				if strings.HasPrefix(row, `{"a":`) && !slices.Contains(without, strings.TrimSuffix(row, "\n")) {
					t.Errorf("a pair only under the bound: %s", row)
				}
			}
			// A few comparisons for each document still hold most similar documents together.
			if result.Counts.Clustered > unbounded.Counts.Clustered ||
				50*result.Counts.Clustered < 49*unbounded.Counts.Clustered {
				t.Errorf("%d documents in clusters, without the bound %d", result.Counts.Clustered,
					unbounded.Counts.Clustered)
			}
			if e := result.Skipped.Example; e == nil || e.Documents < 30 || e.First == e.Second ||
				!strings.Contains(e.First, ".json:") || e.Second == "" {
				t.Errorf("example %+v", e)
			}
			for _, inner := range []innerJob{
				{splitBytes: 3 << 10, shards: 3, placeBytes: 1 << 10, bounds: denseBounds, lanes: 2, ranges: 9},
				{splitBytes: 10 << 10, shards: 20, placeBytes: 1 << 20, bounds: denseBounds, lanes: 5},
			} {
				got, other := runInner(t, config, inner)
				sameText(t, fmt.Sprintf("%+v", inner), got, want)
				sameResult(t, other, result)
			}
		})
	}
}
