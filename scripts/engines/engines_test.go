// Package engines runs the job on Flink and on Spark, with the scripts that users have, and holds it to the bytes of
// the local run.
package engines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"mirrorbeam.dev/internal/storage/storagetest"
	"mirrorbeam.dev/internal/util/corporatest"
)

// corpora are small ones with many near-duplicates.
var corpora = []string{"reuters21578/reuters.jsonl.zst", "mirrors/etcd_docs.jsonl.zst"}

// longest is the longest that a job may take.
const longest = 4 * time.Minute

// cluster is a cluster that a script has started, with a bucket that its workers reach.
type cluster struct {
	t       testing.TB
	engine  string
	program string
	state   string // the folder of its processes
	flags   []string
	env     []string

	// strike is called for each object that is written to the bucket, with the number of them since the start of the
	// job. If it returns true, the write is refused.
	strike            func(number int64) bool
	written, requests atomic.Int64
}

// start starts a cluster that ends with the test.
func start(t testing.TB, engine, program string, flags ...string) *cluster {
	c := &cluster{t: t, engine: engine, program: program, flags: flags}
	proxy := storagetest.NewProxy(t, nil)
	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{
		NoListener:  true,
		PublicHost:  proxy.Host,
		ExternalURL: proxy.URL,
		Writer:      io.Discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	server.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "cluster"})
	proxy.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.requests.Add(1)
		if strings.HasPrefix(r.URL.Path, "/upload/") && strings.Contains(r.URL.RawQuery, "run-") {
			if n := c.written.Add(1); c.strike != nil && c.strike(n) {
				w.WriteHeader(http.StatusForbidden)
				return
			}
		}
		server.HTTPHandler().ServeHTTP(w, r)
	}))
	folder := t.TempDir()
	c.state = filepath.Join(folder, fmt.Sprintf("mirrorbeam-%s-%d", engine, os.Getuid()))
	c.env = append(os.Environ(), "TMPDIR="+folder, "RUNJOB="+program, "STORAGE_EMULATOR_HOST="+proxy.Host, "SLOTS=2")
	t.Cleanup(func() {
		if out, err := c.script("stop"); err != nil {
			t.Errorf("stop: %v: %s", err, out)
		}
		if _, err := os.Stat(c.state); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the cluster has left files: %v", err)
		}
	})
	if out, err := c.script("start"); err != nil {
		t.Fatalf("start: %v: %s", err, out)
	}
	return c
}

// script runs the script of the cluster.
func (c *cluster) script(args ...string) (string, error) {
	out := filepath.Join(c.t.TempDir(), "out")
	file, err := os.Create(out)
	if err != nil {
		return "", err
	}
	defer file.Close()
	// The script may not write to a pipe of ours: the processes that it leaves behind would keep it open.
	command := exec.CommandContext(context.Background(), "../"+c.engine+".sh", args...)
	command.Env, command.Stdout, command.Stderr = c.env, file, file
	err = command.Run()
	content, _ := os.ReadFile(out)
	return string(content), err
}

// job prepares a job on the cluster, or on this machine if there is none.
func job(t testing.TB, c *cluster, program, corpus, output string, flags ...string) (*exec.Cmd, *bytes.Buffer) {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	t.Cleanup(cancel)
	args := append([]string{
		"run", "--input", filepath.Join(corporatest.Folder(t), filepath.FromSlash(corpus)),
		"--output", output, "--emit", "clusters,pairs",
	}, flags...)
	command, said := exec.CommandContext(ctx, program, args...), &bytes.Buffer{}
	command.Stdout, command.Stderr = said, said
	if c != nil {
		command.Args, command.Env = append(command.Args, c.flags...), c.env
		c.written.Store(0)
		c.requests.Store(0)
	}
	return command, said
}

// results returns the bytes of the clusters and of the pairs in a folder.
func results(t testing.TB, folder string) map[string]string {
	found := map[string]string{}
	for _, name := range []string{"clusters", "pairs"} {
		files, _ := filepath.Glob(filepath.Join(folder, name+"-*.jsonl"))
		slices.Sort(files)
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found[name] += string(content)
		}
	}
	return found
}

// expect runs a job on the cluster, which must have the results of the local run.
func (c *cluster) expect(t *testing.T, name, corpus string, want map[string]string, flags ...string) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		output := filepath.Join(t.TempDir(), "out")
		command, said := job(t, c, c.program, corpus, output, flags...)
		begun := time.Now()
		if err := command.Run(); err != nil {
			t.Fatalf("%v: %s", err, last(said.String()))
		}
		t.Logf("%.0f s", time.Since(begun).Seconds())
		c.same(t, results(t, output), want)
	})
}

// last returns the end of a long text.
func last(text string) string { return text[max(0, len(text)-2000):] }

// tools builds the program and runs the corpora on this machine.
func tools(t testing.TB) (program string, want []map[string]string) {
	if os.Getenv("ENGINES") == "" {
		t.Skip("not asked for: ENGINES=1 runs jobs on Flink and Spark, and downloads these first")
	}
	for _, tool := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("Flink and Spark cannot be had: %v", err)
		}
	}
	if !corporatest.Has(t, corpora[0]) {
		t.Skip("the corpora are not here")
	}
	program = filepath.Join(t.TempDir(), "runjob")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/runjob").CombinedOutput(); err != nil {
		t.Fatalf("build: %v: %s", err, out)
	}
	for _, corpus := range corpora {
		output := filepath.Join(t.TempDir(), "local")
		command, said := job(t, nil, program, corpus, output)
		if err := command.Run(); err != nil {
			t.Fatalf("local run: %v: %s", err, said)
		}
		found := results(t, output)
		if len(found["pairs"]) == 0 || len(found["clusters"]) == 0 {
			t.Fatalf("%s: no pairs", corpus)
		}
		want = append(want, found)
	}
	return program, want
}

const inBucket = "--temp=gs://cluster/temp"

// TestSpark runs jobs on Spark with their temporary files on the disk and in a bucket. It kills a worker of the second
// one.
func TestSpark(t *testing.T) {
	program, want := tools(t)
	c := start(t, "spark", program, "--runner=spark", "--endpoint=localhost:8097", "--environment_type=EXTERNAL",
		"--environment_config=localhost:50000")
	c.checkPorts(t)
	c.expect(t, "disk", corpora[1], want[1])
	struck := false
	c.strike = func(number int64) bool {
		if number < 12 || struck {
			return false
		}
		struck = true
		return c.kill(c.workers()[0])
	}
	c.expect(t, "bucket, a worker is killed", corpora[0], want[0], inBucket)
	if !struck {
		t.Error("no worker was killed")
	}
}

// TestFlink runs jobs on Flink on one slot and on two, with their temporary files on the disk and in a bucket. Then it
// hurts jobs in the middle of their work, which end all the same.
func TestFlink(t *testing.T) {
	program, want := tools(t)
	c := start(t, "flink", program, "--runner=flink", "--endpoint=localhost:8099", "--environment_type=EXTERNAL",
		"--environment_config=localhost:50000")
	c.checkPorts(t)
	const one, two = "--parallelism=1", "--parallelism=2"
	c.expect(t, "one slot, disk", corpora[0], want[0], one)
	c.expect(t, "one slot, bucket", corpora[1], want[1], one, inBucket)
	c.checkProgress(t, corpora[1], want[1], two)
	c.expect(t, "two slots, bucket", corpora[0], want[0], two, inBucket)

	for _, fault := range []struct {
		name   string
		strike func() bool
	}{
		{"a write is refused", func() bool { return true }},
		{"a worker is killed", func() bool { return c.kill(c.workers()[0]) }},
		{"a TaskManager is killed", func() bool { return c.kill(c.busyTaskManager()) }},
	} {
		struck := false
		c.strike = func(number int64) bool {
			if number != 12 || struck { // a restarted job writes its twelfth object, too
				return false
			}
			struck = true
			return fault.strike()
		}
		c.expect(t, fault.name, corpora[1], want[1], two, inBucket)
		if !struck {
			t.Errorf("%s: that did not happen", fault.name)
		}
	}
	c.strike = nil
	c.checkReplaced(t)
	c.checkCancel(t)
	c.checkFinish(t, "the driver leaves", want[1], func(command *exec.Cmd) error {
		command.Args = append(command.Args, "--async")
		return command.Run()
	})
	c.checkFinish(t, "the driver is killed", want[1], func(command *exec.Cmd) error {
		c.strike = func(number int64) bool { return number == 12 && c.kill(command.Process.Pid) }
		defer func() { c.strike = nil }()
		if err := command.Run(); err == nil {
			return errors.New("the driver has not died")
		}
		return nil
	})
	c.checkResume(t, want[1])
}

// checkReplaced waits until each TaskManager is there again, after one was killed.
func (c *cluster) checkReplaced(t *testing.T) {
	t.Run("a TaskManager is replaced", func(t *testing.T) {
		for wait := time.Duration(0); ; wait += time.Second {
			var found struct{ TaskManagers []struct{ ID string } }
			if c.ask("/taskmanagers", &found); len(found.TaskManagers) == 2 {
				return
			}
			if wait > time.Minute {
				t.Fatalf("there are %v", found)
			}
			time.Sleep(time.Second)
		}
	})
}

// checkProgress runs a job on a terminal, where the stages that have ended are shown with what they have read.
func (c *cluster) checkProgress(t *testing.T, corpus string, want map[string]string, flags ...string) {
	t.Run("two slots, disk, on a terminal", func(t *testing.T) {
		if _, err := exec.LookPath("script"); err != nil {
			t.Skipf("no terminal can be had: %v", err)
		}
		output := filepath.Join(t.TempDir(), "out")
		command, said := job(t, c, c.program, corpus, output, flags...)
		ctx, cancel := context.WithTimeout(t.Context(), longest)
		defer cancel()
		terminal := exec.CommandContext(ctx, "script", "--quiet", "--return", "--command",
			"stty cols 200; exec "+strings.Join(command.Args, " "), "/dev/null")
		terminal.Env, terminal.Stdout, terminal.Stderr = append(c.env, "TERM=xterm"), said, said
		if err := terminal.Run(); err != nil {
			t.Fatalf("%v: %s", err, last(said.String()))
		}
		c.same(t, results(t, output), want)
		for _, stage := range []string{"reading texts", "making keys", "clustering"} {
			if !regexp.MustCompile(`\x1b\[K` + stage +
				` +\d+\.\d s .*\d (documents|records) .* tasks?\r?\n`).MatchString(said.String()) {
				t.Errorf("no line says what has been read while %s: %s", stage, last(said.String()))
			}
		}
	})
}

// checkFinish hands a job to the cluster and loses the driver. Another process publishes the results.
func (c *cluster) checkFinish(t *testing.T, name string, want map[string]string, lose func(*exec.Cmd) error) {
	t.Run(name, func(t *testing.T) {
		output := filepath.Join(t.TempDir(), "out")
		command, said := job(t, c, c.program, corpora[1], output, inBucket)
		if err := lose(command); err != nil {
			t.Fatalf("%v: %s", err, last(said.String()))
		}
		if len(results(t, output)) > 0 {
			t.Error("there are results before the job has ended")
		}
		ctx, cancel := context.WithTimeout(t.Context(), longest)
		defer cancel()
		finish := exec.CommandContext(ctx, c.program, "finish", output)
		finish.Env = c.env
		if out, err := finish.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, last(string(out)))
		}
		c.same(t, results(t, output), want)
	})
}

// checkResume interrupts a job that can be resumed, and runs it again.
func (c *cluster) checkResume(t *testing.T, want map[string]string) {
	t.Run("a job is resumed", func(t *testing.T) {
		output := filepath.Join(t.TempDir(), "out")
		command, _ := job(t, c, c.program, corpora[1], output, inBucket, "--resume")
		c.strike = func(number int64) bool {
			if number == 12 {
				_ = command.Process.Signal(os.Interrupt)
			}
			return false
		}
		if err := command.Run(); err == nil {
			t.Error("the job was not interrupted")
		}
		c.strike = nil
		again, said := job(t, c, c.program, corpora[1], output, inBucket, "--resume")
		if err := again.Run(); err != nil || !strings.Contains(said.String(), "continuing from its progress") {
			t.Fatalf("%v: %s", err, last(said.String()))
		}
		c.same(t, results(t, output), want)
	})
}

// same compares the results of a job with the results of the local run.
func (c *cluster) same(t testing.TB, got, want map[string]string) {
	t.Helper()
	for name, content := range want {
		if got[name] != content {
			t.Errorf("%s: %d bytes, not the %d of the local run", name, len(got[name]), len(content))
		}
	}
}

// checkCancel interrupts a job in the middle of its work. Nothing of it goes on, on Flink either.
func (c *cluster) checkCancel(t *testing.T) {
	t.Run("an interruption", func(t *testing.T) {
		output := filepath.Join(t.TempDir(), "out")
		command, said := job(t, c, c.program, corpora[1], output, inBucket)
		c.strike = func(number int64) bool {
			if number == 12 {
				_ = command.Process.Signal(os.Interrupt)
			}
			return false
		}
		defer func() { c.strike = nil }()
		var exit *exec.ExitError
		if err := command.Run(); !errors.As(err, &exit) || exit.ExitCode() != 130 {
			t.Fatalf("%v, want exit code 130: %s", err, last(said.String()))
		}
		var found struct{ Jobs []struct{ State string } }
		c.ask("/jobs/overview", &found)
		for _, job := range found.Jobs {
			if !slices.Contains([]string{"FINISHED", "CANCELED", "FAILED"}, job.State) {
				t.Errorf("a job is %s", job.State)
			}
		}
		// A worker ends when Flink hangs up, which is somewhat after the end of the job.
		for wait := time.Duration(0); len(c.workers()) > 0; wait += time.Second {
			if wait > 30*time.Second {
				t.Fatalf("%d workers are left", len(c.workers()))
			}
			time.Sleep(time.Second)
		}
	})
}
