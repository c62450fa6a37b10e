package pipeline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/match/groups"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/settle/write"
	"mirrorbeam/internal/start/listing"
	"mirrorbeam/job"
	"mirrorbeam/transforms"
)

// innerJob says how a job is cut inside; Config does not show this.
type innerJob struct {
	splitBytes int64
	shards     int
	placeBytes int64
	graphBytes int64         // 0: as the job chooses
	bounds     groups.Bounds // zero: the usual ones
	lanes      int
	unreliable uint64 // 0: every task runs once
}

// runInner does what Run does, up to the results, with other cuts. It returns the clusters and pairs, and the result of
// the pipeline.
func runInner(t testing.TB, config job.Config, inner innerJob) (string, write.Result) {
	t.Helper()
	scheme, err := config.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	inputs, size, err := listing.Inputs(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	inputs.Splits = corpus.Splits(inputs.Files, inner.splitBytes)
	if inputs.Sites, err = config.ReadSiteLists(); err != nil {
		t.Fatal(err)
	}
	config.Output = filepath.Join(t.TempDir(), "out")
	work, err := openWorkspace(&config, "")
	if err != nil {
		t.Fatal(err)
	}
	defer work.Close()
	path := filepath.Join(work.Temp, "inputs.gob")
	if err := documents.WriteInputs(path, inputs); err != nil {
		t.Fatal(err)
	}
	job := transforms.NewJob(&config, transforms.Extent{Scheme: scheme, Bytes: size, Splits: len(inputs.Splits)}).In(work.Temp, work.Partial)
	job.Parameters.Shards, job.PlaceBytes, job.Lanes = inner.shards, inner.placeBytes, inner.lanes
	if inner.graphBytes > 0 {
		job.GraphBytes = inner.graphBytes
	}
	if inner.unreliable != 0 {
		job.Runs.Unreliable, job.Runs.Release = inner.unreliable, false
	}
	if inner.bounds != (groups.Bounds{}) {
		job.Parameters.Bounds = inner.bounds
	}
	if _, err := execute(context.Background(), job, &config); err != nil {
		t.Fatal(err)
	}
	result, err := write.ReadResult(work.Temp)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range []string{output.Clusters, output.Pairs, output.Removed, output.Rejects, output.Unique, output.Mirrors, output.Sites, output.Suspects} {
		for _, f := range result.Files {
			if f.Output == name {
				b, err := os.ReadFile(filepath.Join(work.Partial, f.Temporary))
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&all, "%s\n%s", f.Name, b)
			}
		}
	}
	return all.String(), result
}

// wholeJob is a job that is not cut.
var wholeJob = innerJob{splitBytes: 1 << 30, shards: 1, placeBytes: 1 << 30, lanes: 1}

// heapsInCuts is a job over a corpus with heaps that is cut into many pieces.
var heapsInCuts = innerJob{splitBytes: 16 << 10, shards: 12, placeBytes: 16 << 10, bounds: denseBounds, lanes: 5}

// sameInCuts compares the results of a whole job with those of the same job in cuts.
func sameInCuts(t *testing.T, config job.Config, want string, whole write.Result, cuts ...innerJob) {
	t.Helper()
	for _, inner := range cuts {
		t.Run(fmt.Sprintf("%s/%+v", config.Keys, inner), func(t *testing.T) {
			got, result := runInner(t, config, inner)
			sameText(t, "output", got, want)
			if result.Counts != whole.Counts {
				t.Errorf("counts %+v, want %+v", result.Counts, whole.Counts)
			}
			checkSame(t, "sources", result.Sources, whole.Sources)
			checkSame(t, "texts", result.Texts, whole.Texts)
			checkSame(t, "mirrors", result.Mirrors, whole.Mirrors)
			checkSame(t, "templates", result.Templates, whole.Templates)
			checkSame(t, "bridges", result.Bridges, whole.Bridges)
		})
	}
}

// checkSame compares what two runs of one job have found.
func checkSame(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s %+v, want %+v", what, got, want)
	}
}

// TestInnerCutsChangeNothing runs one corpus in one piece, and in many: splits
// within lines, shards of a few keys, places for less than one component, which
// is then cut into blocks.
func TestInnerCutsChangeNothing(t *testing.T) {
	t.Parallel()
	files := cut(oddities(lawSeed), 3)
	input := putCorpus(t, plain, files...)
	for _, keys := range []methods.Name{methods.MinHash, methods.Exact} {
		checkInnerCuts(t, byKeys(lawConfig(t, input), keys))
	}
}

// checkInnerCuts compares a job in one piece with the same one in many.
func checkInnerCuts(t *testing.T, config job.Config) {
	want, whole := runInner(t, config, wholeJob)
	if whole.Counts.Pairs < 50 {
		t.Fatalf("a corpus with too little to compare: %+v", whole.Counts)
	}
	sameInCuts(t, config, want, whole,
		innerJob{splitBytes: 1 << 30, shards: 3, placeBytes: 1 << 30, lanes: 2},
		innerJob{splitBytes: 1 << 30, shards: 20, placeBytes: 1 << 14, graphBytes: 4 << 10, lanes: 2},
		innerJob{splitBytes: 20 << 10, shards: 1, placeBytes: 4 << 10, lanes: 3},
		innerJob{splitBytes: 10 << 10, shards: 3, placeBytes: 1 << 10, graphBytes: 32 << 10, lanes: 2},
		innerJob{splitBytes: 6 << 10, shards: 50, placeBytes: 256, lanes: 7},
		innerJob{splitBytes: 3 << 10, shards: 7, placeBytes: 200, graphBytes: 100 << 10, lanes: 2},
	)
}

// TestInnerCutsOfCompressed does the same to files that are read whole.
func TestInnerCutsOfCompressed(t *testing.T) {
	files := cut(oddities(lawSeed), 4)
	config := lawConfig(t, putCorpus(t, zstded, files...))
	want, _ := runInner(t, config, wholeJob)
	for _, inner := range []innerJob{
		{splitBytes: 1, shards: 20, placeBytes: 1 << 12, lanes: 2},
		{splitBytes: 100 << 10, shards: 3, placeBytes: 1 << 10, lanes: 1},
	} {
		got, _ := runInner(t, config, inner)
		sameText(t, fmt.Sprintf("%+v", inner), got, want)
	}
}

// TestAllPairsInBlocks compares all pairs in one block, and block by block, down to one document a block.
func TestAllPairsInBlocks(t *testing.T) {
	t.Parallel()
	files := cut(oddities(lawSeed), 3)
	config := lawConfig(t, putCorpus(t, plain, files...))
	config.Keys = methods.All
	want, whole := runInner(t, config, wholeJob)
	tr := naiveTruth(3, true, files...)
	if rows := tr.pairRows(config.Threshold); whole.Counts.Pairs != int64(len(rows)) || len(rows) < 50 {
		t.Errorf("%d pairs, want %d, and more than 50", whole.Counts.Pairs, len(rows))
	}
	sameInCuts(t, config, want, whole,
		innerJob{splitBytes: 1 << 30, shards: 3, placeBytes: 64 << 10, lanes: 2},
		innerJob{splitBytes: 8 << 10, shards: 20, placeBytes: 8 << 10, lanes: 3},
		innerJob{splitBytes: 20 << 10, shards: 2, placeBytes: 16, lanes: 2},
	)
}

// TestDensePlaces cuts a component whose pairs take many times the room of its
// sets: the pairs of a place come in parts, or the component is cut into blocks.
func TestDensePlaces(t *testing.T) {
	w := newWriter(6)
	base := w.text(9)
	for i := range 150 {
		w.add(w.set(append(base[:9:9], fmt.Sprint("last", i))))
	}
	config := lawConfig(t, putCorpus(t, plain, cut(w.lines, 2)...))
	want, whole := runInner(t, config, wholeJob)
	if all := int64(150 * 149 / 2); whole.Counts.Pairs != all {
		t.Fatalf("%d pairs, want %d", whole.Counts.Pairs, all)
	}
	sameInCuts(t, config, want, whole,
		// 1,500 hashes or pairs: one place, eight parts.
		innerJob{splitBytes: 1 << 30, shards: 1, placeBytes: 12_000, lanes: 1},
		innerJob{splitBytes: 2 << 10, shards: 7, placeBytes: 2_000, lanes: 2},
	)
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
				t.Errorf("%d pairs in %d groups were skipped, more is true", result.Skipped.Pairs, result.Skipped.Groups)
			}
			all, unbounded := runInner(t, config, wholeJob)
			if unbounded.Skipped != (work.Skipped{}) {
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
			if result.Counts.Clustered > unbounded.Counts.Clustered || 50*result.Counts.Clustered < 49*unbounded.Counts.Clustered {
				t.Errorf("%d documents in clusters, without the bound %d", result.Counts.Clustered, unbounded.Counts.Clustered)
			}
			if e := result.Skipped.Example; e == nil || e.Documents < 30 || e.First == e.Second || !strings.Contains(e.First, ".json:") || e.Second == "" {
				t.Errorf("example %+v", e)
			}
			for _, inner := range []innerJob{
				{splitBytes: 3 << 10, shards: 3, placeBytes: 1 << 10, bounds: denseBounds, lanes: 2},
				{splitBytes: 10 << 10, shards: 20, placeBytes: 1 << 20, bounds: denseBounds, lanes: 5},
			} {
				got, other := runInner(t, config, inner)
				sameText(t, fmt.Sprintf("%+v", inner), got, want)
				if !reflect.DeepEqual(other.Skipped, result.Skipped) {
					t.Errorf("%+v skipped %+v, want %+v", inner, other.Skipped, result.Skipped)
				}
			}
		})
	}
}
