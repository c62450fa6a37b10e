package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
	"mirrorbeam.dev/job"
)

// bucketJob is a scheduled job in a bucket, whose temporary files are on the local disk.
type bucketJob struct {
	config    job.Config
	folder    string
	documents int // in a file
	made      int // documents so far
	random    *rand.Rand
}

// newBucketJob runs the job once over some files.
func newBucketJob(t testing.TB, folder string, keys methods.Name, files, documents int) *bucketJob {
	t.Helper()
	j := &bucketJob{
		config:    byKeys(job.Default(), keys),
		folder:    folder,
		documents: documents,
		random:    rand.New(rand.NewPCG(1, 60)),
	}
	c := &j.config
	c.Input, c.Output, c.State, c.Temp = []string{folder + "/in"}, folder+"/out", folder+"/state", t.TempDir()
	c.Emit, c.Overwrite, c.AllowRemoval = []string{output.Clusters, output.Pairs}, true, true
	for i := range files {
		j.put(t, fmt.Sprintf("a%03d", i))
	}
	j.run(t)
	return j
}

// put writes a file of documents of some 100 words. Every fourth is like the one before.
func (j *bucketJob) put(t testing.TB, name string) {
	t.Helper()
	var b bytes.Buffer
	var words []string
	for i := range j.documents {
		if i%4 != 3 {
			words = make([]string, 40+j.random.IntN(120))
			for at := range words {
				words[at] = strconv.Itoa(j.random.IntN(20_000))
			}
		}
		words[j.random.IntN(len(words))] = "other"
		j.made++
		fmt.Fprintf(&b, "{\"id\":\"d%d\",\"text\":%q}\n", j.made, strings.Join(words, " "))
	}
	if err := storage.WriteFile(j.folder+"/in/"+name+".jsonl", b.Bytes()); err != nil {
		t.Fatal(err)
	}
}

// remove removes a file.
func (j *bucketJob) remove(t testing.TB, name string) {
	t.Helper()
	if err := storage.Remove(j.folder + "/in/" + name + ".jsonl"); err != nil {
		t.Fatal(err)
	}
}

func (j *bucketJob) run(t testing.TB) Summary {
	t.Helper()
	summary, err := Run(t.Context(), j.config)
	if err != nil {
		t.Fatal(err)
	}
	return summary
}

// written returns the files of the results and of the state, by their whole names.
func (j *bucketJob) written(t testing.TB) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, folder := range []string{j.config.Output, j.config.State} {
		s, err := storage.Of(folder)
		if err != nil {
			t.Fatal(err)
		}
		for info, err := range s.List(folder) {
			if err == nil {
				files[info.Name], err = storage.ReadFile(info.Name)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return files
}

// restore makes the results and the state what they were.
func (j *bucketJob) restore(t testing.TB, was map[string][]byte) {
	t.Helper()
	for name := range j.written(t) {
		if err := storage.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range was {
		if err := storage.WriteFile(name, content); err != nil {
			t.Fatal(err)
		}
	}
}

// runsInBucket are runs of a job over a hundred files. The files of one are gone before the next.
var runsInBucket = []struct {
	name         string
	change, undo func(t testing.TB, j *bucketJob)
	files        state.Difference
}{
	{"nothing", func(testing.TB, *bucketJob) {}, func(testing.TB, *bucketJob) {}, state.Difference{Unchanged: 100}},
	{"hundredth", func(t testing.TB, j *bucketJob) { j.put(t, "b") }, func(t testing.TB, j *bucketJob) {
		j.remove(t, "b")
	}, state.Difference{Unchanged: 100, New: 1}},
	{
		"tenth", func(t testing.TB, j *bucketJob) {
			for i := range 10 {
				j.put(t, fmt.Sprint("b", i))
			}
		}, func(t testing.TB, j *bucketJob) {
			for i := range 10 {
				j.remove(t, fmt.Sprint("b", i))
			}
		}, state.Difference{Unchanged: 100, New: 10},
	},
	{
		"exchange", func(t testing.TB, j *bucketJob) {
			j.put(t, "a050")
			j.remove(t, "a070")
		}, func(testing.TB, *bucketJob) {}, state.Difference{Unchanged: 98, Changed: 1, Removed: 1},
	},
}

// spent is what an incremental run asks of a bucket.
type spent struct {
	requests map[string]int
	// read and written are bytes of answers and of requests.
	read, written int64
}

// eachRun does each run, which begins with what the first run has left, and tells what it asks of the bucket.
func (j *bucketJob) eachRun(t testing.TB, proxy *storagetest.Proxy, tell func(run string, s spent)) {
	t.Helper()
	was := j.written(t)
	for _, run := range runsInBucket {
		run.change(t, j)
		proxy.Requests()
		proxy.Bytes()
		summary := j.run(t)
		s := spent{requests: proxy.Requests()}
		s.written, s.read = proxy.Bytes()
		if summary.State.Files != run.files || summary.State.IsKept != (run.name == "nothing") {
			t.Fatalf("%s: %+v", run.name, summary.State)
		}
		tell(run.name, s)
		run.undo(t, j)
		j.restore(t, was)
	}
}

// TestIncrementalRunsInBucket: what an incremental run asks of a bucket follows from what is new. Of files that are as
// the state knows them, and of their segments, there is no request each.
func TestIncrementalRunsInBucket(t *testing.T) {
	most := map[string]map[string]int{
		"nothing":   {"list": 4, "stat": 6, "read": 4, "write": 1, "remove": 1},
		"hundredth": {"list": 9, "stat": 32, "read": 60, "write": 17, "remove": 16, "copy": 8},
		"tenth":     {"list": 9, "stat": 32, "read": 85, "write": 17, "remove": 16, "copy": 8},
		"exchange":  {"list": 9, "stat": 32, "read": 70, "write": 17, "remove": 16, "copy": 8},
	}
	for _, service := range services {
		t.Run(service.scheme, func(t *testing.T) {
			proxy := service.serve(t)
			newBucketJob(t, service.scheme+"://corpora/runs", methods.Exact, 100, 8).eachRun(t, proxy,
				func(run string, s spent) {
					t.Log(run, s)
					for kind, n := range s.requests {
						if n > most[run][kind] {
							t.Errorf("%s: %d requests of the kind %s, at most %d are needed", run, n, kind,
								most[run][kind])
						}
					}
				})
		})
	}
}

// TestOpenedInputs: an incremental run opens the files that are new. It opens all where it cannot know that what the
// state says of their formats still holds: when it is to read them again, another format is named, or another version
// of the program has made the state.
func TestOpenedInputs(t *testing.T) {
	m, folder := storagetest.NewMemory(t)
	var opened sync.Map
	m.Ask = func(operation, name string) error {
		if operation == "open" && strings.HasPrefix(name, folder+"/in/") {
			opened.Store(name, true)
		}
		return nil
	}
	j := newBucketJob(t, folder, methods.Exact, 5, 4)
	for _, file := range []string{"1.txt", "2.html"} {
		if err := storage.WriteFile(folder+"/in/more/"+file, []byte("one text of some words")); err != nil {
			t.Fatal(err)
		}
	}
	j.config.Input = append(j.config.Input, folder+"/in/more/*")
	for _, test := range []struct {
		name   string
		change func(c *job.Config)
		opened int
	}{
		{"new texts", func(*job.Config) {}, 2},
		{"nothing new", func(*job.Config) {}, 0},
		{"results again", func(c *job.Config) { c.Republish = true }, 0},
		{"one file", func(*job.Config) { j.put(t, "b") }, 1},
		{"one more, added", func(c *job.Config) {
			j.put(t, "c")
			c.Add, c.Input = true, []string{folder + "/in/c.jsonl"}
		}, 1},
		{"nothing new then", func(*job.Config) {}, 0},
		{"all again", func(c *job.Config) { c.Rebuild = true }, 9},
		{"a format", func(c *job.Config) {
			c.Input, c.Format, c.AllowRemoval = []string{folder + "/in"}, "jsonl", true
		}, 9},
		{"the same format", func(c *job.Config) {
			c.Input, c.Format, c.Republish = []string{folder + "/in"}, "jsonl", true
		}, 2}, // the texts, which are not of the format
		{"another version", func(c *job.Config) {
			c.Input, c.Format = []string{folder + "/in"}, "jsonl"
			s, err := state.Open(c.State, "a test")
			if err != nil {
				t.Fatal(err)
			}
			s.Last.Program = "another"
			if err := errors.Join(s.Commit(s.Last), s.Close()); err != nil {
				t.Fatal(err)
			}
		}, 9},
	} {
		t.Run(test.name, func(t *testing.T) {
			usual := j.config
			test.change(&j.config)
			opened.Clear()
			j.run(t)
			names := 0
			opened.Range(func(any, any) bool { names++; return true })
			if names != test.opened {
				t.Errorf("%s: %d files are opened, want %d", test.name, names, test.opened)
			}
			j.config = usual
		})
	}
	// Other fields are other segments, whatever is known of the files.
	j.config.TextField, j.config.AllowRemoval = "id", true
	if _, err := Run(t.Context(), j.config); !errors.Is(err, ErrUsage) ||
		!strings.Contains(err.Error(), "other settings ([text_field])") {
		t.Errorf("another field: %v", err)
	}
}

// BenchmarkIncrementalRunsInBucket counts the requests of incremental runs, and their bytes. RUN_DOCUMENTS is the
// number of documents of the first run.
func BenchmarkIncrementalRunsInBucket(b *testing.B) {
	documents := 100_000
	if text := os.Getenv("RUN_DOCUMENTS"); text != "" {
		var err error
		if documents, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	for _, keys := range []methods.Name{methods.Exact, methods.MinHash} {
		b.Run(string(keys), func(b *testing.B) {
			proxy := services[0].serve(b)
			for range b.N {
				newBucketJob(b, "gs://corpora/runs", keys, 100, documents/100).eachRun(b, proxy,
					func(run string, s spent) {
						b.Logf("%-10s %v, %.1f MB read, %.1f MB written", run, s.requests, float64(s.read)/1e6,
							float64(s.written)/1e6)
					})
			}
		})
	}
}
