package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/storage"
)

// kills is how many jobs are killed in each place, each at a moment of its own. KILLS asks for more of them.
const kills = 8

// scheduledJob is a job with a state that the tests kill. All its folders lie in one.
type scheduledJob struct {
	*scene
	folder string
	state  string
	output string
	server *deadlyBucket // nil on the disk
	random *rand.Rand
	kills  int // for each run
	died   int // before their end
}

// killedRun is an incremental run whose job is killed.
type killedRun struct {
	name string
	// change changes the input before the run.
	change func(*scheduledJob)
	// args are the arguments of the run, in which DIR is the folder.
	args []string
	// prunes says that the job leaves documents out, and isKept that there is nothing for it to do.
	prunes, isKept bool
}

// killedRuns are runs of all kinds. The run before each has the files a, b and c.
var killedRuns = []killedRun{
	{
		name:   "grown",
		change: func(j *scheduledJob) { j.put("in/d.jsonl", runCorpus(500, 200)) },
		args:   []string{"--input", "DIR/in"},
		prunes: true,
	},
	{name: "changed", change: func(j *scheduledJob) {
		j.put("in/b.jsonl", runCorpus(550, 100))
		if err := storage.Remove(j.folder + "/in/c.jsonl"); err != nil {
			j.t.Fatal(err)
		}
	}, args: []string{"--input", "DIR/in", "--allow-removal"}, prunes: true},
	{
		name:   "added",
		change: func(j *scheduledJob) { j.put("new/d.jsonl", runCorpus(500, 200)) },
		args:   []string{"--input", "DIR/new", "--add"},
		prunes: true,
	},
	{name: "nothing", change: func(*scheduledJob) {}, args: []string{"--input", "DIR/in"}, isKept: true},
}

// isPruned matches the summary of a job that has left documents out.
var isPruned = regexp.MustCompile(`"name": "prune",[^}]*"tasks": [1-9]`)

// runCorpus returns a number of documents from that number on; one in three is like the document before it.
func runCorpus(from, n int) []byte {
	var b bytes.Buffer
	for i := from; i < from+n; i++ {
		random := rand.New(rand.NewPCG(3, uint64(i-i%3/2)))
		fmt.Fprintf(&b, `{"id":"%d","url":"http://s%d.example/%d","text":"`, i-i%7/6, i%5, i) // some share an id
		for range 60 {
			fmt.Fprintf(&b, "%x ", random.Uint32N(1<<20))
		}
		fmt.Fprintf(&b, "x%d\"}\n", i)
	}
	return b.Bytes()
}

// newKilledJob returns a job in a folder, on which many are killed.
func newKilledJob(s *scene, folder string, server *deadlyBucket) *scheduledJob {
	number, seed := kills, rand.Uint64()
	for name, of := range map[string]any{"KILLS": &number, "KILL_SEED": &seed} {
		if text := os.Getenv(name); text != "" {
			if _, err := fmt.Sscan(text, of); err != nil {
				s.t.Fatalf("%s: %v", name, err)
			}
		}
	}
	s.t.Logf("%d jobs are killed; to kill them at the same moments: KILL_SEED=%d", number, seed)
	return &scheduledJob{
		scene:  s,
		folder: folder,
		server: server,
		random: rand.New(rand.NewPCG(seed, 18)),
		kills:  (number + len(killedRuns) - 1) / len(killedRuns),
	}
}

// put writes an input file, which looks as if it had been there for long.
func (j *scheduledJob) put(name string, content []byte) {
	j.t.Helper()
	if storage.Scheme(j.folder) == "" {
		writeOld(j.t, filepath.Join(j.folder, name), content)
	} else if err := storage.WriteFile(j.folder+"/"+name, content); err != nil {
		j.t.Fatal(err)
	}
}

// run returns the job with the arguments of a run.
func (j *scheduledJob) run(args []string) *started {
	all := []string{
		"run", "--output", j.output, "--temp", filepath.Join(j.dir, "temp"), "--emit",
		"clusters,pairs,mirrors,sites", "--overwrite", "--state", j.state,
	}
	for _, arg := range args {
		all = append(all, strings.Replace(arg, "DIR", j.folder, 1))
	}
	return j.command("runjob", all...)
}

// complete runs the job, which must succeed, and returns its results.
func (j *scheduledJob) complete(args []string) map[string]string {
	j.t.Helper()
	if job := j.run(args); job.Run() != nil {
		j.t.Fatal(job.stderr.String())
	}
	return j.results()
}

// results returns the files of the results, but for those that tell of one run.
func (j *scheduledJob) results() map[string]string {
	j.t.Helper()
	files := contents(j.t, j.output)
	maps.DeleteFunc(files, func(name, _ string) bool {
		return strings.HasSuffix(name, "summary.json") || strings.HasSuffix(name, "manifest.json")
	})
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

// kill starts a job and kills it at a random moment of a job that takes so long or, in a bucket, that makes that many
// requests.
func (j *scheduledJob) kill(job *started, whole time.Duration, requests int64) {
	j.t.Helper()
	if j.server != nil {
		j.server.killAt(j.t, job, 1+j.random.Int64N(requests-2))
		// A lease ends a minute after its process. The test does not wait.
		if err := storage.Remove(j.state + "/lock"); err != nil {
			j.t.Fatal(err)
		}
		j.died++
		return
	}
	if err := job.Start(); err != nil {
		j.t.Fatal(err)
	}
	time.Sleep(time.Duration(j.random.Int64N(int64(whole))))
	if err := job.Process.Kill(); err != nil {
		j.t.Fatal(err)
	}
	if job.Wait() != nil {
		j.died++
	}
}

// killRun kills jobs of a run. Each leaves the state before it or the one after it, and the next job ends as it would
// have.
func (j *scheduledJob) killRun(run killedRun) {
	j.t.Helper()
	j.state, j.output = j.folder+"/state-"+run.name, filepath.Join(j.dir, "out-"+run.name)
	restore(j.t, j.folder+"/in", nil)
	restore(j.t, j.folder+"/new", nil)
	for i, name := range []string{"a", "b", "c"} {
		j.put("in/"+name+".jsonl", runCorpus(200*i, 150))
	}
	j.complete([]string{"--input", "DIR/in"})
	before, published := contents(j.t, j.state), contents(j.t, j.output)
	run.change(j)
	requests := int64(0)
	if j.server != nil {
		j.server.requests.Store(0)
	}
	start := time.Now()
	want := j.complete(run.args)
	whole := time.Since(start)
	if j.server != nil {
		requests = j.server.requests.Load()
	}
	summary, was := contents(j.t, j.output)[j.output+"/summary.json"], published[j.output+"/summary.json"]
	if isPruned.MatchString(summary) != run.prunes || (summary == was) != run.isKept {
		j.t.Errorf("run %s: %s", run.name, summary)
	}
	for range j.kills {
		restore(j.t, j.state, before)
		restore(j.t, j.output, published)
		j.kill(j.run(run.args), whole, requests)
		j.checkKilled(run, want)
	}
	j.checkSwept(run)
}

// checkKilled checks what a killed job has left.
func (j *scheduledJob) checkKilled(run killedRun, want map[string]string) {
	j.t.Helper()
	if _, err := state.Verify(j.t.Context(), j.state); err != nil {
		j.t.Errorf("the state does not verify: %v", err)
	}
	most := 3 // a job in a bucket takes a number before it removes what a dead one has left
	if run.isKept {
		most = 1
	}
	content, err := state.Read(j.state)
	if err != nil || content.Number < 1 || content.Number > most {
		j.t.Errorf("generation %+v, want 1 to %d: %v", content, most, err)
	}
	got := j.complete(run.args)
	isTold := func(name, _ string) bool { return strings.Contains(name, "/changes-") }
	if !run.isKept { // if the killed job has done all its work, there is nothing new for the next one to tell
		maps.DeleteFunc(got, isTold)
		want = maps.Clone(want)
		maps.DeleteFunc(want, isTold)
	}
	if !maps.Equal(got, want) {
		j.t.Errorf("the next job left %d files that are not the %d files of a job that was not killed", len(got),
			len(want))
	}
	if _, err := state.Verify(j.t.Context(), j.state); err != nil {
		j.t.Errorf("after the next job the state does not verify: %v", err)
	}
}

// checkSwept checks that what dead jobs have left is gone when the state is pruned.
func (j *scheduledJob) checkSwept(run killedRun) {
	j.t.Helper()
	j.complete(run.args)
	s, err := state.Open(j.state, "a test")
	if err != nil {
		j.t.Fatal(err)
	}
	_, _, err = s.Prune()
	if err := errors.Join(err, s.Close()); err != nil {
		j.t.Fatal(err)
	}
	needed := map[string]bool{j.state + "/" + s.Last.Kept: true}
	for _, file := range s.Last.Files {
		for _, stretch := range file.Stretches {
			needed[j.state+"/"+stretch.Run] = true
		}
	}
	for name := range contents(j.t, j.state) {
		if strings.Contains(name, "/segments/") && !needed[name] || strings.HasSuffix(name, "/lock") {
			j.t.Errorf("%s is left", name)
		}
	}
}

// writeOld writes a file that looks as if it had been there for long.
func writeOld(t *testing.T, path string, content []byte) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, content, 0o666),
		os.Chtimes(path, old, old)); err != nil {
		t.Fatal(err)
	}
}

// killRuns kills jobs of all runs.
func (j *scheduledJob) killRuns() {
	for _, run := range killedRuns {
		j.killRun(run)
	}
	if j.died == 0 {
		j.t.Error("no job was killed before its end")
	}
}

// TestKilledWithState kills jobs with a state at random moments.
func TestKilledWithState(t *testing.T) {
	s := newScene(t)
	newKilledJob(s, s.dir, nil).killRuns()
}

// TestKilledWithStateInBucket kills jobs with a state in a bucket at random requests.
func TestKilledWithStateInBucket(t *testing.T) {
	server := newDeadlyBucket(t, "corpora")
	newKilledJob(newScene(t), "gs://corpora/job", server).killRuns()
}

// besideAnother runs a job while another one has its state.
func (s *scene) besideAnother() observed {
	s.write("in.jsonl", between(""))
	other, err := state.Open(filepath.Join(s.dir, "state"), "another job")
	if err != nil {
		s.t.Fatal(err)
	}
	defer other.Close()
	return s.runjob("--state", "state", "--wait-for-lease", "0s").fails(exitUnavailable)
}
