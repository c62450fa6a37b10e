package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// TestNothingToDo runs on inputs without documents: the results are there, and
// empty.
func TestNothingToDo(t *testing.T) {
	for name, how := range map[string]struct {
		content string
		compression
	}{
		"empty":       {"", plain},
		"blank":       {"\n \n\t\n", plain},
		"empty gzip":  {"", gzipped},
		"blank zstd":  {"\n\n", zstded},
		"only a mark": {"\ufeff", plain},
	} {
		t.Run(name, func(t *testing.T) {
			config := testConfig(t, put(t, filepath.Join(t.TempDir(), "x.jsonl"), []byte(how.content), how.compression))
			config.Emit = []string{output.Clusters, output.Pairs, output.Removed}
			summary := runJob(t, config)
			for _, name := range append(config.Emit, output.Rejects) {
				if b := readOutput(t, config.Output, name); len(b) > 0 {
					t.Errorf("%s holds %q", name, b)
				}
			}
			if n := summary.Counts; n.Documents != 0 || n.Rejected != 0 || n.Kept != 0 || n.Removed != 0 {
				t.Errorf("counts %+v", n)
			}
		})
	}
}

// TestUniqueOfEveryFile: every input file has its file of unique, even a file without a byte, without a document, or
// without a kept document.
func TestUniqueOfEveryFile(t *testing.T) {
	lines := synthetic(52)
	files := []file{
		{"a.jsonl", lines},
		{"b.jsonl", nil},
		{"c.jsonl", []line{{kind: blankLine}}},
		{"d.jsonl", []line{{raw: "{}", kind: rejectLine}}},
		{"e.jsonl", lines[:10]}, // all of these came before
		{"f.jsonl", nil},
	}
	config := testConfig(t, putCorpus(t, plain, files...))
	runJob(t, config)
	for i, f := range files {
		name := fmt.Sprintf("unique-%05d-of-%05d.jsonl", i, len(files))
		if _, err := os.Stat(filepath.Join(config.Output, name)); err != nil {
			t.Errorf("of %s with %d lines: %v", f.name, len(f.lines), err)
		}
	}
	if !t.Failed() {
		checkUnique(t, config, files)
	}
}

// TestBrokenStreams cuts compressed files short. The readable part is read, the rest is reported, and rejects are in
// the order of files and positions.
func TestBrokenStreams(t *testing.T) {
	for _, how := range []compression{gzipped, zstded} {
		t.Run(string(how), func(t *testing.T) {
			dir := t.TempDir()
			lines := synthetic(54)
			for _, name := range []string{"a.jsonl", "b.jsonl"} {
				path := put(t, filepath.Join(dir, name),
					append([]byte("not a document\n"), file{name, lines}.content()...), how)
				if info, err := os.Stat(path); err != nil ||
					name == "a.jsonl" && os.Truncate(path, info.Size()*3/4) != nil {
					t.Fatal(name, err)
				}
			}
			config := testConfig(t, dir)
			summary := runJob(t, config)
			rows := readRows[rejectedRow](t, config.Output, output.Rejects)
			lost := slices.ContainsFunc(rows, func(row rejectedRow) bool {
				return row.File == "a.jsonl" && strings.Contains(row.Error, "cut short")
			})
			if !lost || rows[len(rows)-1].File != "b.jsonl" {
				t.Errorf("rejects %+v", rows)
			}
			if !slices.IsSortedFunc(rows, func(a, b rejectedRow) int {
				return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Position, b.Position))
			}) {
				t.Errorf("rejects are not sorted: %+v", rows)
			}
			if n := summary.Counts.Documents; how == gzipped && n <= int64(len(lines)) || n < int64(len(lines)) {
				t.Errorf("%d documents, the whole file has %d", n, len(lines))
			}
		})
	}
}

// TestChangedInput: if a file shrinks while the job runs, the job fails. The error blames the input and gives the
// reason alone.
func TestChangedInput(t *testing.T) {
	failing(t)
	path := put(t, filepath.Join(t.TempDir(), "x.jsonl"), file{"x.jsonl", synthetic(57)}.content(), plain)
	config := testConfig(t, path)
	r := prepared(t, config)
	defer r.close()
	if err := os.Truncate(path, 1000); err != nil {
		t.Fatal(err)
	}
	_, err := execute(t.Context(), r.job, &r.Config)
	if !errors.Is(err, ErrInput) || strings.Contains(err.Error(), "\n") ||
		!strings.Contains(err.Error(), "changed while the job ran") {
		t.Errorf("error %v", err)
	}
}

// TestAutoKeys: the three exact ways give the same bytes, with and without a reference,
// and auto takes all pairs for a small corpus.
func TestAutoKeys(t *testing.T) {
	input := putCorpus(t, plain, cut(oddities(lawSeed), 4)...)
	reference := putCorpus(t, plain, cut(synthetic(22), 1)...)
	for name, references := range map[string][]string{"alone": nil, "with a reference": {reference}} {
		t.Run(name, func(t *testing.T) {
			want := ""
			for _, keys := range []methods.Name{methods.Exact, methods.All, methods.Auto} {
				config := byKeys(lawConfig(t, input), keys)
				config.Reference = references
				config.Output = filepath.Join(t.TempDir(), "out")
				summary := runJob(t, config)
				wantKeys := keys
				if keys == methods.Auto {
					wantKeys = methods.All
				}
				if summary.Plan.Keys != wantKeys || summary.Plan.ExpectedRecall != 1 || summary.Audit != nil {
					t.Errorf("--keys %s: plan %+v, audit %+v", keys, summary.Plan, summary.Audit)
				}
				got := lawful(t, config.Output)
				if want == "" {
					want = got
				}
				sameText(t, string(keys), got, want)
			}
		})
	}
}

// TestAutoKeysOfLargeCorpus: a corpus of more documents is compared by exact keys.
func TestAutoKeysOfLargeCorpus(t *testing.T) {
	w := newWriter(91)
	for range methods.SmallCorpus + 1 {
		w.add(w.set(w.text(12)))
	}
	config := byKeys(testConfig(t, putCorpus(t, plain, cut(w.lines, 1)...)), methods.Auto)
	if summary := runJob(t, config); summary.Plan.Keys != methods.Exact {
		t.Errorf("plan %+v", summary.Plan)
	}
}

// lawConfig is a job at a low threshold, so that there is much to compare.
func lawConfig(t testing.TB, input ...string) job.Config {
	config := testConfig(t, input...)
	config.Threshold = 0.6
	return config
}

// lawfulOutput runs the job and returns the bytes that must not change.
func lawfulOutput(t testing.TB, config job.Config) string {
	t.Helper()
	if summary := runJob(t, config); summary.Counts.Pairs < 50 || summary.Counts.Clusters < 20 {
		t.Fatalf("a corpus with too little to compare: %+v", summary.Counts)
	}
	return lawful(t, config.Output)
}

// setFlag sets a flag of Beam for one test.
func setFlag[T any](t testing.TB, flag *T, value T) {
	before := *flag
	*flag = value
	t.Cleanup(func() { *flag = before })
}

// TestCutsChangeNothing cuts one stream of documents with ids into files. Pairs stay as they are, and so do clusters,
// except for their refs.
func TestCutsChangeNothing(t *testing.T) {
	lines := synthetic(lawSeed)
	config := lawConfig(t, putCorpus(t, plain, cut(lines, 1)...))
	runJob(t, config)
	wantPairs := string(readOutput(t, config.Output, output.Pairs))
	wantClusters := clustersWithoutRefs(t, config)
	for _, parts := range []int{2, 4} {
		t.Run(fmt.Sprint(parts), func(t *testing.T) {
			config := lawConfig(t, putCorpus(t, plain, cut(lines, parts)...))
			runJob(t, config)
			sameText(t, "pairs", string(readOutput(t, config.Output, output.Pairs)), wantPairs)
			sameRows(t, "clusters", clustersWithoutRefs(t, config), wantClusters)
		})
	}
}

func clustersWithoutRefs(t testing.TB, config job.Config) []clusterRow {
	t.Helper()
	rows := readRows[clusterRow](t, config.Output, output.Clusters)
	for i := range rows {
		rows[i].Ref = ""
	}
	return rows
}

// TestCompressionChangesNothing stores each file in another way: refs are positions in the decoded stream and names
// lack the endings.
func TestCompressionChangesNothing(t *testing.T) {
	files := cut(oddities(lawSeed), 3)
	want := lawfulOutput(t, lawConfig(t, putCorpus(t, plain, files...)))
	input := putCorpus(t, plain, files[0])
	put(t, filepath.Join(input, files[1].name), files[1].content(), gzipped)
	put(t, filepath.Join(input, files[2].name), files[2].content(), zstded)
	config := lawConfig(t, input)
	config.OutputFormat = output.JSONLGzip
	sameText(t, "output", lawfulOutput(t, config), want)
	checkUnique(t, config, files)
	for i, ending := range []output.Format{output.JSONL, output.JSONLGzip, output.JSONLZstd} {
		if _, err := os.Stat(filepath.Join(config.Output,
			output.ShardName(output.Unique, i, len(files), ending))); err != nil {
			t.Errorf("unique is not compressed as the input is: %v", err)
		}
	}
}

// countDocuments returns how many documents files hold.
func countDocuments(files []file) (n int) {
	for _, f := range files {
		for _, l := range f.lines {
			if l.kind == documentLine {
				n++
			}
		}
	}
	return n
}

// TestReferenceOfTheSameNames: files of one name in input and reference are distinguished by their whole paths.
func TestReferenceOfTheSameNames(t *testing.T) {
	lines := synthetic(62)[:5]
	referenceFolder := putCorpus(t, plain, file{"x.jsonl", lines})
	inputFolder := putCorpus(t, plain, file{"x.jsonl", lines})
	config := testConfig(t, inputFolder)
	config.Reference = []string{filepath.Join(referenceFolder, "x*")}
	runJob(t, config)
	rows := readRows[removedRow](t, config.Output, output.Removed)
	if len(rows) != 5 {
		t.Errorf("%d documents go, want all 5", len(rows))
	}
	for _, row := range rows {
		if !strings.HasPrefix(row.Ref, inputFolder) || !strings.HasPrefix(row.KeptID, referenceFolder) ||
			!row.Reference || row.Similarity != 1 {
			t.Errorf("%+v", row)
		}
	}
}

// TestReferenceRefused: a missing reference must not pass for one without copies.
func TestReferenceRefused(t *testing.T) {
	input := putCorpus(t, plain, file{"x.jsonl", synthetic(63)})
	for _, c := range []struct{ name, reference, says string }{
		{"no match", filepath.Join(input, "nothing*"), "reference: no file matches"},
		{"in both", filepath.Join(input, "x.jsonl"), "of reference are one file"},
		{
			"only rejects", put(t, filepath.Join(t.TempDir(), "bad.jsonl"), []byte("{}\n"), plain),
			"no document in the reference, 1 record",
		},
		{
			"empty", put(t, filepath.Join(t.TempDir(), "empty.jsonl"), nil, plain),
			"no document in the reference: nothing",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := testConfig(t, input)
			config.Reference = []string{c.reference}
			if _, err := Run(context.Background(), config); !errors.Is(err, ErrInput) ||
				!strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one of the input that says %q", err, c.says)
			}
		})
	}
}

// TestRoom: a job is refused if its disk has less than half of what it needs at least, and warned of if it is a close
// call.
func TestRoom(t *testing.T) {
	for _, test := range []struct {
		room              room
		isRefused, isTold bool
	}{
		{room{free: 100e6, wanted: 100e6, least: 100e6}, false, false},
		{room{free: 99e6, wanted: 100e6, least: 100e6}, false, true},
		{room{free: 50e6, wanted: 100e6, least: 100e6}, false, true},
		{room{free: 49e6, wanted: 100e6, least: 100e6}, true, false},
		{room{free: 49e6, wanted: 100e6, least: 50e6}, false, true},
		{room{}, false, false},
	} {
		t.Run(fmt.Sprintf("%v of %v bytes", test.room.free, test.room.wanted), func(t *testing.T) {
			var told []string
			config := testConfig(t, "in.jsonl")
			config.Temp = "/some {temp} where"
			config.Progress = func(line string) { told = append(told, line) }
			err := test.room.check(&config)
			if refused := err != nil; refused != test.isRefused || len(told) > 0 != test.isTold {
				t.Errorf("%+v: error %v, told %q", test.room, err, told)
			}
			if err != nil &&
				(!errors.Is(err, failure.Storage) ||
					!strings.HasSuffix(err.Error(),
						"folder /some {temp} where has 49.0 MB free, and the job needs about 100.0 MB: make room on it, or name a folder on another disk with temp")) {
				t.Errorf("%+v: %v", test.room, err)
			}
			config.Progress = nil
			if again := test.room.check(&config); (again != nil) != test.isRefused {
				t.Errorf("%+v: without progress: %v", test.room, again)
			}
		})
	}
}
