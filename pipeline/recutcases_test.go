package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/inspect/recut"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// inArchives gives a job a corpus of a web archive. Most of the archives' documents have no near-duplicate.
func inArchives(t testing.TB, config *job.Config) {
	w := newWriter(17)
	var pages []visit
	for i := range 30 {
		text := w.text(60)
		pages = append(pages,
			visit{fmt.Sprint("urn:", i), fmt.Sprint("https://a.org/", i), "2024-01-01T00:00:00Z", w.set(text)})
		if i < 4 {
			pages = append(pages,
				visit{
					fmt.Sprint("urn:copy", i), fmt.Sprint("https://b.org/", i), "2024-01-01T00:00:00Z",
					w.set(w.change(text, 0.02*float64(i))),
				})
		}
	}
	folder := t.TempDir()
	put(t, filepath.Join(folder, "crawl.warc"), archiveOf(pages...), plain)
	config.Input = []string{folder}
}

// inOtherOrder names the files of a corpus one by one, the last one first.
func inOtherOrder(t testing.TB, config *job.Config) {
	files, err := filepath.Glob(filepath.Join(config.Input[0], "*.*"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%q, %v", files, err)
	}
	slices.Reverse(files)
	config.Input = files
}

// inTwoFolders puts the files of a corpus into two folders, the first of which has the later path. One name is in both.
func inTwoFolders(t testing.TB, config *job.Config) {
	files, root, names := tree(t, config.Input[0]), t.TempDir(), []string{"same.jsonl", "same.jsonl", "b.jsonl"}
	config.Input = []string{filepath.Join(root, "z"), filepath.Join(root, "a")}
	for i, old := range slices.Sorted(maps.Keys(files)) {
		put(t, filepath.Join(config.Input[i%2], names[i]), []byte(files[old]), plain)
	}
}

// TestRecutTakesNoIdForARef: pairs call a document by its ref where others have its id, and another document may have
// that ref as its id.
func TestRecutTakesNoIdForARef(t *testing.T) {
	w := newWriter(3)
	for _, id := range []string{"x", "x", "in.jsonl:0", "y"} {
		w.addAs(id, w.set([]string{"one", "two", "three", "four", "five"}))
	}
	config := testConfig(t, putCorpus(t, plain, file{"in.jsonl", w.lines}))
	config.Emit = []string{output.Clusters, output.Pairs}
	runJob(t, config)
	folder, err := finished.Open(config.Output)
	if err != nil {
		t.Fatal(err)
	}
	o := recut.Options{
		Threshold: 1,
		Split:     keep.Component,
		Drop:      keep.Copies,
		Format:    output.JSONL,
		Emit:      config.Emit,
		Output:    filepath.Join(t.TempDir(), "recut"),
	}
	if _, err := recut.Run(t.Context(), folder, o); err == nil ||
		!strings.Contains(err.Error(), "in.jsonl:0 is the id of a document and the ref of another one") {
		t.Errorf("error %v, and pairs are\n%s", err, readOutput(t, config.Output, output.Pairs))
	}
}

// TestRecut: a recut has the files, the counts and the warnings of a run at its settings, whatever else the earlier run
// has written.
func TestRecut(t *testing.T) {
	for _, c := range []struct {
		name, scene, change string
		with                func(t testing.TB, config *job.Config)
		recuts              []string // settings of recuts, in addition to the threshold of the run
	}{
		{
			name:   "settings",
			scene:  "oddities",
			change: `{"keep":"longest"}`,
			recuts: []string{
				`{"keep":"first"}`, `{"keep":"last","threshold":0.7,"split":"star","output_format":"parquet"}`,
				`{"keep":"first","threshold":1,"emit":["removed"]}`,
				`{"drop":"clusters","threshold":0.6}`,
				`{"keep":"last","drop":"clusters","split":"star","threshold":0.6,"emit":["clusters"]}`,
			},
		},
		{
			name:   "equal",
			scene:  "equal too",
			change: `{"keep":"last"}`,
			recuts: []string{
				`{"keep":"last","split":"star"}`, `{"drop":"clusters","threshold":0.8}`,
				`{"drop":"clusters"}`, `{"keep":"last","drop":"clusters","split":"star"}`,
			},
		},
		{
			name:   "reference",
			scene:  "scored reference",
			change: `{"keep":"max:of.score"}`,
			recuts: []string{
				`{"keep":"first","threshold":0.6}`, `{"drop":"reference"}`, `{"keep":"max:of.score","emit":["unique"]}`,
				`{"keep":"first","drop":"clusters","split":"star","threshold":0.7}`,
			},
		},
		{name: "scopes", scene: "scopes", change: `{"within":"lang"}`, recuts: []string{`{"threshold":0.8}`}},
		{name: "names", scene: "names", change: `{}`, recuts: []string{`{"threshold":0.8}`, `{"emit":["clusters"]}`}},
		{
			name:   "minhash",
			scene:  "oddities",
			change: `{"keys":"minhash","recall":0.999999,"audit":"100000"}`,
			recuts: []string{`{}`, `{"threshold":0.8,"keep":"last"}`},
		},
		{
			name:   "other outputs",
			scene:  "sites",
			change: `{"emit":["clusters","pairs","removed","mirrors","sites","unique"],"mirror_pages":1}`,
			recuts: []string{`{"emit":["clusters","pairs","removed"],"threshold":0.7}`},
		},
		{
			name:   "trimmed",
			scene:  "oddities",
			change: `{"emit":["clusters","pairs","trimmed","passages"],"passage_words":5}`,
			recuts: []string{`{"emit":["clusters","pairs"],"threshold":0.7}`},
		},
		{
			name:   "stars",
			scene:  "oddities",
			change: `{"split":"star","keep":"longest","emit":["pairs"]}`,
			recuts: []string{
				`{"keep":"longest","emit":["clusters","pairs","removed"],"threshold":0.7}`,
				`{"keep":"longest","split":"component","emit":["clusters","unique","annotated"]}`,
				`{"keep":"first","emit":["unique"],"threshold":0.8}`,
			},
		},
		{
			name:   "common shingles",
			scene:  "oddities",
			change: `{"common":"3"}`,
			recuts: []string{`{"threshold":0.8}`, `{"emit":["unique","removed"],"threshold":0.9,"keep":"longest"}`},
		},
		{
			name:   "code",
			scene:  "oddities",
			change: `{"code":"auto","split":"star"}`,
			recuts: []string{`{"threshold":0.8}`, `{"emit":["unique","removed"],"threshold":0.9}`},
		},
		{
			name:   "a tree",
			scene:  "oddities",
			change: `{"emit":["pairs","unique"],"layout":"tree","columns":["cluster"]}`,
			recuts: []string{`{"threshold":0.8}`, `{"threshold":0.8,"layout":"shards"}`},
		},
		{
			name:   "copies of archives",
			scene:  "oddities",
			change: `{}`,
			with:   inArchives,
			recuts: []string{`{"emit":["clusters","pairs","removed","unique"],"threshold":0.9}`},
		},
		{
			name:   "archives",
			scene:  "oddities",
			change: `{}`,
			with:   inArchives,
			recuts: []string{
				`{"output_format":"parquet"}`, `{"output_format":"parquet","threshold":1}`,
				`{"threshold":0.9}`,
			},
		},
		{
			name:   "several inputs",
			scene:  "oddities",
			change: `{}`,
			with:   inOtherOrder,
			recuts: []string{`{"threshold":0.8}`},
		},
		{
			name:   "several folders",
			scene:  "oddities",
			change: `{}`,
			with:   inTwoFolders,
			recuts: []string{`{"threshold":0.8}`, `{"threshold":1,"keep":"last"}`},
		},
		{
			name:   "a state",
			scene:  "oddities",
			change: `{"state":"STATE"}`,
			recuts: []string{`{"state":"","threshold":0.8}`, `{"state":"","threshold":0.8,"emit":["unique"]}`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := lawScenes[c.scene]()
			config := s.config(t, strings.ReplaceAll(c.change, "STATE", filepath.Join(t.TempDir(), "state")))
			if !strings.Contains(c.change, `"emit"`) {
				config.Emit = []string{output.Clusters, output.Pairs, output.Removed}
			}
			if c.with != nil {
				c.with(t, &config)
			}
			runJob(t, config)
			folder, err := finished.Open(config.Output)
			if err != nil {
				t.Fatal(err)
			}
			for _, settings := range c.recuts {
				fresh := config
				fresh.Trimming = job.Default().Trimming
				fresh.Mirroring = job.Default().Mirroring
				fresh.Emit = slices.Clone(config.Emit)
				var chosen struct{ Keep preference.Preference }
				fresh.Keep = preference.First
				if err := errors.Join(json.Unmarshal([]byte(settings), &fresh),
					json.Unmarshal([]byte(settings), &chosen)); err != nil {
					t.Fatal(err)
				}
				fresh.Output = filepath.Join(t.TempDir(), "fresh")
				runJob(t, fresh)
				o := recut.Options{
					Threshold: fresh.Threshold,
					Keep:      chosen.Keep,
					Split:     fresh.Split,
					Drop:      fresh.Drop,
					Format:    fresh.OutputFormat,
					Emit:      fresh.Emit,
					Layout:    fresh.Layout,
					Output:    filepath.Join(t.TempDir(), "recut"),
				}
				if _, err := recut.Run(t.Context(), folder, o); err != nil {
					t.Fatalf("%s: %v", settings, err)
				}
				sameResults(t, settings, o.Output, fresh.Output, recutRun...)
			}
		})
	}
}

// TestMedianCluster: the median of cluster sizes is of all clusters in a run over everything, in an incremental run
// that has made few of them, and in a recut.
func TestMedianCluster(t *testing.T) {
	w := newWriter(5)
	for _, size := range []int{2, 2, 2, 3, 5} {
		text := w.set(w.text(40))
		for range size {
			w.add(text)
		}
	}
	folder := putCorpus(t, plain, file{"a.jsonl", w.lines[:9]}, file{"b.jsonl", w.lines})
	config := testConfig(t, filepath.Join(folder, "b.jsonl"))
	config.Emit = []string{output.Clusters, output.Pairs}
	checkMedian := func(of string, summary Summary, want int64) {
		t.Helper()
		if n := summary.Counts; n.MedianCluster != want {
			t.Errorf("%s: the median of %d clusters is %d, want %d", of, n.Clusters, n.MedianCluster, want)
		}
	}
	checkMedian("a run", runJob(t, config), 2)
	results, err := finished.Open(config.Output)
	if err != nil {
		t.Fatal(err)
	}
	o := recut.Options{
		Threshold: 1,
		Split:     keep.Component,
		Drop:      keep.Copies,
		Format:    output.JSONL,
		Emit:      config.Emit,
		Output:    filepath.Join(t.TempDir(), "recut"),
	}
	summary, err := recut.Run(t.Context(), results, o)
	if err != nil {
		t.Fatal(err)
	}
	checkMedian("a recut", summary, 2)

	config.Input = []string{folder}
	config.State = filepath.Join(t.TempDir(), "state")
	config.Output = filepath.Join(t.TempDir(), "out")
	checkMedian("the first run with a state", runJob(t, config), 4) // 4, 4, 4, 6 and 5
	put(t, filepath.Join(folder, "c.jsonl"), []byte("{\"id\":\"x\",\"text\":\"a text that nothing is like\"}\n"), plain)
	config.Overwrite = true
	checkMedian("an incremental run", runJob(t, config), 4)
	put(t, filepath.Join(folder, "b.jsonl"), []byte("{\"id\":\"y\",\"text\":\"another text\"}\n"), plain)
	config.AllowRemoval = true
	checkMedian("an incremental run without a file", runJob(t, config), 2)
}
