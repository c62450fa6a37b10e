package main

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/settle/state"
)

// kills is how many jobs are killed, each at a moment of its own.
const kills = 20

// scheduledJob is a job with a state that the tests kill. All its folders lie in one.
type scheduledJob struct {
	*scene
	folder string
	state  string
	output string
}

// run returns the job over the files of some folders.
func (j *scheduledJob) run(inputs ...string) *started {
	args := []string{"run", "--output", j.output, "--temp", filepath.Join(j.dir, "temp"), "--emit", "clusters,pairs,unique", "--overwrite", "--state", j.state}
	for _, input := range inputs {
		args = append(args, "--input", j.folder+"/"+input)
	}
	return j.command("runjob", args...)
}

// complete runs the job, which must succeed, and returns its results.
func (j *scheduledJob) complete(inputs ...string) map[string]string {
	j.t.Helper()
	if job := j.run(inputs...); job.Run() != nil {
		j.t.Fatal(job.stderr.String())
	}
	return j.results()
}

// results returns the files of the results, but for those that tell of one run.
func (j *scheduledJob) results() map[string]string {
	j.t.Helper()
	files := map[string]string{}
	for name, content := range contents(j.t, j.output) {
		if !strings.HasSuffix(name, "summary.json") && !strings.HasSuffix(name, "manifest.json") {
			files[name] = content
		}
	}
	return files
}

// contents returns the files of a folder by their whole names.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	of, err := storage.Of(folder)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for info, err := range of.List(folder) {
		if err != nil {
			t.Fatal(err)
		}
		content, err := storage.ReadFile(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		files[info.Name] = string(content)
	}
	return files
}

// restore makes a folder hold files, and nothing else.
func restore(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name := range contents(t, folder) {
		if err := storage.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range files {
		if err := storage.WriteFile(name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
}

// checkKilled checks what a killed job has left: the state before it or the one after it, and the next job ends as it
// would have.
func (j *scheduledJob) checkKilled(before int, want map[string]string) {
	j.t.Helper()
	if _, err := state.Verify(j.t.Context(), j.state); err != nil {
		j.t.Errorf("the state does not verify: %v", err)
	}
	content, err := state.Read(j.state)
	if err != nil || content.Number < before || content.Number > before+2 {
		j.t.Errorf("generation %+v, want %d or the next: %v", content, before, err)
	}
	got := j.complete("in", "new")
	for name := range got {
		// If the killed job has done all its work, there is nothing new for the next one to tell.
		if strings.Contains(name, "/changes-") {
			delete(got, name)
		}
	}
	if !maps.Equal(got, want) {
		j.t.Errorf("the next job left %d files that are not the %d files of a job that was not killed", len(got), len(want))
	}
	if _, err := state.Verify(j.t.Context(), j.state); err != nil {
		j.t.Errorf("after the next job the state does not verify: %v", err)
	}
}

// prepare runs the job once without the new files. It returns the state that this leaves, and the results of the job with
// all files.
func (j *scheduledJob) prepare() (before, want map[string]string) {
	j.t.Helper()
	j.complete("in")
	before = contents(j.t, j.state)
	want = j.complete("in", "new")
	maps.DeleteFunc(want, func(name, _ string) bool { return strings.Contains(name, "/changes-") })
	return before, want
}

// writeOld writes a file that looks as if it had been there for long.
func writeOld(t *testing.T, path string, content []byte) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, content, 0o666), os.Chtimes(path, old, old)); err != nil {
		t.Fatal(err)
	}
}

// TestKilledWithState kills jobs with a state at random moments.
func TestKilledWithState(t *testing.T) {
	s := newScene(t)
	j := &scheduledJob{scene: s, folder: s.dir, state: filepath.Join(s.dir, "state"), output: filepath.Join(s.dir, "out")}
	writeOld(t, filepath.Join(s.dir, "in/a.jsonl"), randomCorpus(3000))
	writeOld(t, filepath.Join(s.dir, "new/b.jsonl"), randomCorpus(2000))
	before, want := j.prepare()
	restore(t, j.state, before)
	start := time.Now()
	j.complete("in", "new")
	whole := time.Since(start)
	random, died := rand.New(rand.NewPCG(1, 18)), 0
	for range kills {
		restore(t, j.state, before)
		job := j.run("in", "new")
		if err := job.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.Int64N(int64(whole))))
		if err := job.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if job.Wait() != nil {
			died++
		}
		j.checkKilled(1, want)
	}
	if died == 0 {
		t.Error("no job was killed before its end")
	}
	// What dead jobs have left is gone, and so is what only the run before the last but one has needed.
	j.complete("in", "new")
	j.complete("in", "new")
	if left, err := os.ReadDir(filepath.Join(j.state, "units")); err != nil || len(left) != 2 {
		t.Errorf("%d files of units are left, want 2 (%v)", len(left), err)
	}
	if _, err := os.Stat(filepath.Join(j.state, "lock")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock is still there (%v)", err)
	}
}

// TestKilledWithStateInBucket kills jobs with a state in a bucket at random requests.
func TestKilledWithStateInBucket(t *testing.T) {
	server := newDeadlyBucket(t, "corpora")
	s := newScene(t)
	const folder = "gs://corpora/job"
	j := &scheduledJob{scene: s, folder: folder, state: folder + "/state", output: filepath.Join(s.dir, "out")}
	for name, documents := range map[string]int{"in/a.jsonl": 300, "in/c.jsonl": 100, "new/b.jsonl": 200} {
		if err := storage.WriteFile(folder+"/"+name, randomCorpus(documents)); err != nil {
			t.Fatal(err)
		}
	}
	before, want := j.prepare()
	restore(t, j.state, before)
	server.requests.Store(0)
	j.complete("in", "new")
	all := server.requests.Load()
	random := rand.New(rand.NewPCG(2, 18))
	for range kills {
		restore(t, j.state, before)
		server.killAt(t, j.run("in", "new"), 1+random.Int64N(all-2))
		// A lease ends a minute after its process. The test does not wait.
		if err := storage.Remove(j.state + "/lock"); err != nil {
			t.Fatal(err)
		}
		j.checkKilled(1, want)
	}
}

// besideAnother runs a job while another one has its state.
func (s *scene) besideAnother() observed {
	s.write("in.jsonl", between(""))
	other, err := state.Open(filepath.Join(s.dir, "state"), "another job")
	if err != nil {
		s.t.Fatal(err)
	}
	defer other.Close()
	return s.runjob("--state", "state").fails(exitStorage)
}
