package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"mirrorbeam/internal/output"
)

// ground is a folder with an output folder in it, and what jobs do there.
type ground struct {
	t    *testing.T
	root string
}

// newGround lies in memory if it can: waiting for a device is most of the time that
// publishing takes, and there are hundreds of grounds.
func newGround(t *testing.T) ground {
	t.Helper()
	root, err := os.MkdirTemp("/dev/shm", "ground")
	if err != nil {
		return ground{t, t.TempDir()}
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	return ground{t, root}
}

func (g ground) output() string { return filepath.Join(g.root, "out") }

func (g ground) options() Options {
	return Options{Output: g.output(), Temp: UsualTemp(g.output()), Overwrite: true}
}

// shards is how many files the results of a name have: others come and go with it.
var shards = map[string]int{"old": 3, "new": 2, "next": 1}

// results writes files for the results of a name, which stands in each of them.
func results(w *Workspace, name string) (files []output.File, err error) {
	for i := range shards[name] {
		shard := output.ShardName("pairs", i, shards[name], output.JSONL)
		writer, err := output.NewWriter(w.Partial, output.File{Name: shard, Output: "pairs"}, output.JSONL)
		if err != nil {
			return nil, err
		}
		err = writer.Row([]byte(name + strings.Repeat("-", i) + "\n"))
		file, closing := writer.Close()
		if err = errors.Join(err, closing); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

type testSummary struct {
	Name   string `json:"name"`
	Hash   string `json:"config_hash"`
	Counts int    `json:"counts"`
}

// publish does what a job does with its folders. The disk is that of publishing only.
func publish(options Options, name string, d disk) error {
	w, err := open(options, disk{})
	if err != nil {
		return err
	}
	files, err := results(w, name)
	if err != nil {
		return err
	}
	w.disk = d
	err = w.Publish(files, testSummary{name, "hash", 1})
	if errors.Is(err, errKilled) {
		for _, lock := range w.locks { // as the end of a process does
			lock.Close()
		}
		return err
	}
	w.Close()
	return err
}

// errKilled is what every operation gives after the process was killed.
var errKilled = errors.New("killed")

// others are the files and folders of somebody else in the output folder.
var others = map[string]string{"mine.txt": "mine", "folder/a": "a", "folder/deep/b": "b", ".hidden": "h", "run-2024/x": "x"}

func (g ground) putOthers() {
	g.t.Helper()
	for name, content := range others {
		path := filepath.Join(g.output(), name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(content), 0o640)); err != nil {
			g.t.Fatal(err)
		}
	}
	if err := os.Symlink("mine.txt", filepath.Join(g.output(), "link")); err != nil {
		g.t.Fatal(err)
	}
}

// checkOthers fails unless each file of somebody else is there under its path.
func (g ground) checkOthers(when string) {
	g.t.Helper()
	for name, want := range others {
		if got, err := os.ReadFile(filepath.Join(g.output(), name)); err != nil || string(got) != want {
			g.t.Errorf("%s: %s of somebody else holds %q (%v)", when, name, got, err)
		}
	}
	if to, err := os.Readlink(filepath.Join(g.output(), "link")); err != nil || to != "mine.txt" {
		g.t.Errorf("%s: the link of somebody else leads to %q (%v)", when, to, err)
	}
}

// standing returns the name of the results that stand whole in the output folder:
// the mark of success, the manifest, and all files in it with their bytes. "" is for
// none; any mixture is a failure of the test.
func (g ground) standing() string {
	g.t.Helper()
	if _, err := os.Stat(filepath.Join(g.output(), SuccessName)); err != nil {
		return ""
	}
	m, err := disk{}.readManifest(g.output())
	if err != nil || len(m.Files) == 0 {
		g.t.Fatalf("there is a mark of success, and the manifest lists %d files (%v)", len(m.Files), err)
	}
	name := ""
	for i, file := range m.Files {
		content, err := os.ReadFile(filepath.Join(g.output(), file.Name))
		if err != nil || int64(len(content)) != file.Bytes {
			g.t.Fatalf("%s has %d bytes, the manifest says %d (%v)", file.Name, len(content), file.Bytes, err)
		}
		row, _, _ := strings.Cut(strings.TrimSuffix(string(content), "\n"), "-")
		if i > 0 && row != name {
			g.t.Fatalf("%s is of the results %q, those before it of %q", file.Name, row, name)
		}
		name = row
	}
	if shards[name] != len(m.Files) {
		g.t.Fatalf("%q has %d files", name, len(m.Files))
	}
	summary, err := os.ReadFile(filepath.Join(g.output(), SummaryName))
	if err != nil || !strings.Contains(string(summary), strconv.Quote(name)) {
		g.t.Fatalf("beside the results %q the summary is %s (%v)", name, summary, err)
	}
	return name
}

// checkNext publishes once more and checks that this leaves the next results, what is
// somebody else's, and nothing besides.
func (g ground) checkNext(hasOthers bool) {
	g.t.Helper()
	if err := publish(g.options(), "next", disk{}); err != nil {
		g.t.Fatalf("the next job: %v", err)
	}
	if name := g.standing(); name != "next" {
		g.t.Fatalf("after the next job the results %q stand", name)
	}
	want := map[string]bool{"out": true}
	for _, name := range []string{SuccessName, ManifestName, SummaryName, output.ShardName("pairs", 0, 1, output.JSONL)} {
		want["out/"+name] = true
	}
	if hasOthers {
		for _, name := range []string{"link", "folder", "folder/deep", "run-2024"} {
			want["out/"+name] = true
		}
		for name := range others {
			want["out/"+name] = true
		}
		g.checkOthers("after the next job")
	}
	if found := g.paths(); !maps.Equal(found, want) {
		g.t.Fatalf("after the next job there are %v, want %v", found, want)
	}
}

// paths returns what is in the ground.
func (g ground) paths() map[string]bool {
	g.t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(g.root, func(path string, _ fs.DirEntry, err error) error {
		if path != g.root {
			found[strings.TrimPrefix(path, g.root+"/")] = true
		}
		return err
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return found
}

// situation is one in which results are published.
type situation struct {
	name           string
	hasOld, others bool
	refuses        func(operation string) error // what the disk cannot do at all
}

func situations() (all []situation) {
	noExchange := func(operation string) error {
		if operation == "exchange" {
			return syscall.EINVAL
		}
		return nil
	}
	anything := func(string) error { return nil }
	for _, others := range []bool{false, true} {
		with := map[bool]string{false: "", true: " beside other files"}[others]
		all = append(all,
			situation{"first results" + with, false, others, anything},
			situation{"exchange" + with, true, others, anything},
			situation{"journal" + with, true, others, noExchange})
	}
	return all
}

// prepare sets the ground for a situation.
func (s situation) prepare(t *testing.T) ground {
	t.Helper()
	g := newGround(t)
	if s.hasOld {
		if err := publish(g.options(), "old", disk{}); err != nil {
			t.Fatal(err)
		}
	} else if err := os.Mkdir(g.output(), 0o777); err != nil {
		t.Fatal(err)
	}
	if s.others {
		g.putOthers()
	}
	return g
}

// before is the name of the results that stand before the job.
func (s situation) before() string { return map[bool]string{false: "", true: "old"}[s.hasOld] }

// count returns how many operations publishing takes.
func (s situation) count(t *testing.T) int {
	n := 0
	g := s.prepare(t)
	if err := publish(g.options(), "new", disk{func(operation, _ string) error { n++; return s.refuses(operation) }}); err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	if name := g.standing(); name != "new" {
		t.Fatalf("%s: the results %q stand", s.name, name)
	}
	return n
}

// TestFailures lets each operation of publishing fail once, and each with all after it:
// the old results stand whole if there is an error, the new ones if there is none.
func TestFailures(t *testing.T) {
	for _, s := range situations() {
		for _, lasting := range []bool{false, true} {
			stood := map[string]int{}
			total := s.count(t)
			for n := range total {
				g, i := s.prepare(t), 0
				where := ""
				err := publish(g.options(), "new", disk{func(operation, path string) error {
					i++
					if i-1 == n || lasting && i > n {
						if i-1 == n {
							where = operation + " " + path
						}
						return syscall.EIO
					}
					return s.refuses(operation)
				}})
				when := fmt.Sprintf("%s, operation %d of %d (%s) fails, lasting %v: %v", s.name, n, total, where, lasting, err)
				name := g.standing()
				want := s.before()
				if err == nil {
					want = "new"
				}
				isOpen := errors.Is(err, errInterrupted)
				if name != want && !isOpen && !(lasting && name == "new") {
					t.Fatalf("%s: the results %q stand, want %q", when, name, want)
				}
				if isOpen {
					name = "interrupted"
				}
				stood[name]++
				if s.others {
					g.checkOthers(when)
				}
				g.checkNext(s.others)
			}
			t.Logf("%s: %d operations fail, lasting %v: %v", s.name, total, lasting, stood)
		}
	}
}

// TestKills ends a job at each operation of publishing: nothing happens from there on.
// The old results or the new ones stand whole. Where folders cannot be exchanged a
// journal may be left, by which the next job makes the new ones whole.
func TestKills(t *testing.T) {
	for _, s := range situations() {
		stood := map[string]int{}
		total := s.count(t)
		for n := range total {
			g := s.prepare(t)
			_ = publish(g.options(), "new", s.killedAt(n))
			stood[g.checkKilled(s, fmt.Sprintf("%s, killed at operation %d of %d", s.name, n, total))]++
			g.checkNext(s.others)
		}
		t.Logf("%s: killed at %d operations: %v", s.name, total, stood)
	}
}

// TestKilledTwice kills the next job, too, while it clears away what the first has
// left.
func TestKilledTwice(t *testing.T) {
	for _, s := range situations() {
		total := s.count(t)
		for n := 0; n < total; n += 4 {
			for m, isDone := 0, false; !isDone; m += 2 {
				g := s.prepare(t)
				_ = publish(g.options(), "new", s.killedAt(n))
				w, err := open(g.options(), s.killedAt(m))
				if isDone = err == nil; isDone {
					w.Close()
				}
				g.checkKilled(s, fmt.Sprintf("%s, killed at operation %d, then at %d", s.name, n, m))
				g.checkNext(s.others)
			}
		}
	}
}

// killedAt is a disk on which nothing happens from operation n on.
func (s situation) killedAt(n int) disk {
	i := 0
	return disk{func(operation, _ string) error {
		if i++; i > n {
			return errKilled
		}
		return s.refuses(operation)
	}}
}

// checkKilled checks the output folder after a job was killed that published there,
// and returns the name of the results that stand.
func (g ground) checkKilled(s situation, when string) string {
	g.t.Helper()
	if s.others {
		g.checkOthers(when)
	}
	name := g.standing()
	switch {
	case name == "new", name == s.before():
		return name
	case strings.HasPrefix(s.name, "exchange"):
		g.t.Fatalf("%s: the results %q stand", when, name)
	}
	// Whoever opens the folder next makes them whole.
	if w, err := Open(g.options()); err != nil {
		g.t.Fatalf("%s: %v", when, err)
	} else {
		w.Close()
	}
	if name := g.standing(); name != "new" {
		g.t.Fatalf("%s: after the journal is done the results %q stand", when, name)
	}
	return "interrupted, then new"
}

// childVariable holds the operation at which a process kills itself.
const childVariable = "MIRRORBEAM_TEST_KILL_AT"

// TestKilledProcess kills a real process at some operations of publishing.
func TestKilledProcess(t *testing.T) {
	if at := os.Getenv(childVariable); at != "" {
		killAt(t, at)
		return
	}
	for _, s := range situations() {
		if !s.others {
			continue
		}
		total, stood := s.count(t), map[string]int{}
		for n := 0; n < total; n += 3 {
			g := s.prepare(t)
			child := exec.Command(os.Args[0], "-test.run=^TestKilledProcess$")
			child.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", childVariable, n, g.root))
			if strings.HasPrefix(s.name, "journal") {
				child.Env = append(child.Env, childVariable+"_JOURNAL=1")
			}
			out, err := child.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("%s, operation %d: %v\n%s", s.name, n, err, out)
			}
			stood[g.checkKilled(s, fmt.Sprintf("%s, SIGKILL at operation %d of %d", s.name, n, total))]++
			g.checkNext(s.others)
		}
		t.Logf("%s: SIGKILL at every third of %d operations: %v", s.name, total, stood)
	}
}

// killAt publishes in this process and kills it at an operation.
func killAt(t *testing.T, at string) {
	number, root, _ := strings.Cut(at, " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	err = publish(ground{t, root}.options(), "new", disk{func(operation, _ string) error {
		if i == n {
			return errors.Join(syscall.Kill(os.Getpid(), syscall.SIGKILL), errors.New("not killed"))
		}
		i++
		if operation == "exchange" && os.Getenv(childVariable+"_JOURNAL") != "" {
			return syscall.EINVAL
		}
		return nil
	}})
	t.Fatalf("operation %d did not kill the process (%v)", n, err)
}
