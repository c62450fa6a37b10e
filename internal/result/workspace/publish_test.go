package workspace

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"mirrorbeam.dev/internal/util/goldentest"
)

// situation is a situation in which results are published.
type situation struct {
	name           string
	hasOld, others bool
	trees          bool                         // results are trees
	refuses        func(operation string) error // which operations the disk cannot do at all
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
		with := map[bool]string{false: "", true: ", with files of somebody else"}[others]
		all = append(all,
			situation{"no earlier results" + with, false, others, false, anything},
			situation{"folders are swapped" + with, true, others, false, anything},
			situation{"a journal" + with, true, others, false, noExchange})
	}
	for _, s := range all[len(all)/2:] {
		s.name, s.trees = s.name+", results in folders", true
		all = append(all, s)
	}
	return all
}

// prepare sets the ground for a situation.
func (s situation) prepare(t *testing.T) ground {
	t.Helper()
	g := newGround(t)
	if s.trees {
		g = newGroundOf(t, ofTrees)
	}
	if s.hasOld {
		err := publish(g.options(), "old", disk{})
		if err = errors.Join(
			err, os.WriteFile(filepath.Join(g.output(), ReportName), []byte(aPage), 0o666),
		); err != nil {
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

// before is the name of the results that are there before the job.
func (s situation) before() string { return map[bool]string{false: "", true: "old"}[s.hasOld] }

// count returns how many operations publishing takes.
func (s situation) count(t *testing.T) int {
	n := 0
	g := s.prepare(t)
	if err := publish(g.options(), "new", diskOf(func(operation, _ string) error {
		n++
		return s.refuses(operation)
	})); err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	if name := g.standing(); name != "new" {
		t.Fatalf("%s: the results %q stand", s.name, name)
	}
	return n
}

// TestFailures lets each operation of publishing fail, once alone and once with all operations after it.
// After an error the old results are complete, after success the new ones.
func TestFailures(t *testing.T) {
	for _, s := range situations() {
		for _, lasting := range []bool{false, true} {
			stood := map[string]int{}
			total := s.count(t)
			for n := 0; n < total; n += step() {
				g, i := s.prepare(t), 0
				where := ""
				err := publish(g.options(), "new", diskOf(func(operation, path string) error {
					i++
					if i-1 == n || lasting && i > n {
						if i-1 == n {
							where = operation + " " + path
						}
						return syscall.EIO
					}
					return s.refuses(operation)
				}))
				when := fmt.Sprintf("%s, operation %d of %d (%s) fails, lasting %v: %v", s.name, n, total, where,
					lasting, err)
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

// TestKills kills a job at each operation of publishing: nothing happens from there on. Either the old
// results or the new ones are complete. If folders cannot be exchanged, a journal may be left. With it the
// next job completes the new results. testdata/kills.md has what counts after how many kills.
func TestKills(t *testing.T) {
	table := "| | steps | nothing counts | the old results | neither; the next job makes them the new ones | the new results |\n|---|---|---|---|---|---|\n"
	for _, s := range situations() {
		stood := map[string]int{}
		total := s.count(t)
		for n := range total {
			g := s.prepare(t)
			_ = publish(g.options(), "new", s.killedAt(n))
			stood[g.checkKilled(s, fmt.Sprintf("%s, killed at operation %d of %d", s.name, n, total))]++
			g.checkNext(s.others)
		}
		table += fmt.Sprintf("| %s | %d |", s.name, total)
		for _, name := range []string{"", "old", "interrupted, then new", "new"} {
			if table += " "; stood[name] > 0 {
				table += fmt.Sprint(stood[name], " ")
			}
			table += "|"
		}
		table += "\n"
	}
	if runtime.GOOS == "linux" { // others have other steps
		goldentest.File(t, "testdata/kills.md", table)
	}
}

// TestKilledTwice kills the next job, too, while it clears away what the first job has left.
func TestKilledTwice(t *testing.T) {
	for _, s := range situations() {
		total := s.count(t)
		for n := 0; n < total; n += 4 * step() {
			// Every fourth second operation, another one of four for each first.
			for m, isDone := n/4%4, false; !isDone; m += 4 {
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

// step is how many operations a series goes on from one that fails to the next: the race detector sees few of them.
func step() int {
	if testing.Short() {
		return 7
	}
	return 1
}

// killedAt is a disk on which nothing happens from operation n on.
func (s situation) killedAt(n int) disk {
	i := 0
	return diskOf(func(operation, _ string) error {
		if i++; i > n {
			return errKilled
		}
		return s.refuses(operation)
	})
}

// checkKilled checks the output folder after a job was killed that published there. It returns the name of
// the results that are complete.
func (g ground) checkKilled(s situation, when string) string {
	g.t.Helper()
	if s.others {
		g.checkOthers(when)
	}
	name := g.standing()
	switch {
	case name == "new", name == s.before():
		return name
	case strings.HasPrefix(s.name, "folders are swapped"):
		g.t.Fatalf("%s: the results %q stand", when, name)
	}
	// The next job that opens the folder completes them.
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
		for n := 0; n < total; n += 3 * step() {
			g := s.prepare(t)
			child := exec.Command(os.Args[0], "-test.run=^TestKilledProcess$")
			child.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", childVariable, n, g.root))
			if strings.HasPrefix(s.name, "a journal") {
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
	err = publish(ground{t, root}.options(), "new", diskOf(func(operation, _ string) error {
		if i == n {
			return errors.Join(syscall.Kill(os.Getpid(), syscall.SIGKILL), errors.New("not killed"))
		}
		i++
		if operation == "exchange" && os.Getenv(childVariable+"_JOURNAL") != "" {
			return syscall.EINVAL
		}
		return nil
	}))
	t.Fatalf("operation %d did not kill the process (%v)", n, err)
}
