package workspace

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// nobody is the number of a user who has no rights.
const nobody = 65534

const forgedToken = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// forgeries are the ways in which a folder becomes one that somebody else may have made.
var forgeries = map[string]func(t *testing.T, path string) error{
	"of another user": func(t *testing.T, path string) error {
		if os.Geteuid() != 0 {
			t.Skip("only root can give files to another user")
		}
		return os.Lchown(path, nobody, nobody)
	},
	"writable by everybody": func(_ *testing.T, path string) error { return os.Chmod(path, 0o777) },
}

// plantRun puts a run's folder with a journal in an output folder, and the run's lock in a folder of
// temporary files.
func plantRun(t *testing.T, output, temp string, j journal, files ...string) {
	t.Helper()
	r := record{forgedToken, output, filepath.Join(temp, runPrefix+forgedToken)}
	partial := target{path: output}.partial(forgedToken)
	content, err := json.Marshal(j)
	if err := errors.Join(err, os.MkdirAll(output, 0o777), os.MkdirAll(temp, 0o755), os.Mkdir(partial, 0o700),
		os.Mkdir(filepath.Join(partial, setAsideName), 0o700)); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{markName: string(r.encode()), journalName: string(content)} {
		write(t, filepath.Join(partial, name), content)
	}
	for _, name := range files {
		write(t, filepath.Join(partial, name), "forged")
	}
	write(t, r.lock(), string(r.encode()))
}

// forge makes everything below a folder look as if somebody else might have made it.
func forge(t *testing.T, folder string, as func(*testing.T, string) error) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, as(t, path))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// holds fails unless a file has the wanted content.
func holds(t *testing.T, path, want string) {
	t.Helper()
	if content, err := os.ReadFile(path); err != nil || string(content) != want {
		t.Errorf("%s holds %q, want %q (%v)", path, content, want, err)
	}
}

// TestForgedJournals: a journal that somebody else may have written moves nothing, wherever a job finds it,
// even if all of its names are good.
func TestForgedJournals(t *testing.T) {
	result := output.ShardName("pairs", 0, 1, output.JSONL)
	good := journal{Old: []string{result}, New: []move{{From: SummaryName, To: SummaryName}}}
	for kind, as := range forgeries {
		t.Run("in the output folder "+kind, func(t *testing.T) {
			root := t.TempDir()
			out, temp := filepath.Join(root, "out"), filepath.Join(root, "temp")
			plantRun(t, out, temp, good, SummaryName)
			forge(t, target{path: out}.partial(forgedToken), as)
			write(t, filepath.Join(out, result), "mine")
			if w, err := Open(Options{Output: out, Temp: temp, Overwrite: true}); err == nil {
				w.Close()
			}
			holds(t, filepath.Join(out, result), "mine")
			check(t, false, filepath.Join(out, SummaryName))
			check(t, true, filepath.Join(target{path: out}.partial(forgedToken), journalName))
		})
		t.Run("found by a lock "+kind, func(t *testing.T) {
			root := t.TempDir()
			out, temp := filepath.Join(root, "theirs"), filepath.Join(root, "temp")
			plantRun(t, out, temp, good, SummaryName)
			write(t, filepath.Join(out, result), "mine")
			lock := filepath.Join(temp, runPrefix+forgedToken+lockSuffix)
			if err := as(t, lock); err != nil {
				t.Fatal(err)
			}
			w, err := Open(Options{Output: filepath.Join(root, "out"), Temp: temp})
			if err != nil {
				t.Fatal(err)
			}
			w.Close()
			holds(t, filepath.Join(out, result), "mine")
			check(t, true, lock, filepath.Join(target{path: out}.partial(forgedToken), journalName))
		})
	}
}

// TestForgedLock: a lock leads to an output folder only if the folder has a record of the same run.
func TestForgedLock(t *testing.T) {
	root := t.TempDir()
	out, temp := filepath.Join(root, "theirs"), filepath.Join(root, "temp")
	result := output.ShardName("pairs", 0, 1, output.JSONL)
	plantRun(t, out, temp, journal{Old: []string{result}}, SummaryName)
	other := record{forgedToken, out, filepath.Join(root, "elsewhere")}
	write(t, filepath.Join(target{path: out}.partial(forgedToken), markName), string(other.encode()))
	write(t, filepath.Join(out, result), "mine")
	w, err := Open(Options{Output: filepath.Join(root, "out"), Temp: temp})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	holds(t, filepath.Join(out, result), "mine")
	check(t, true, target{path: out}.partial(forgedToken))
}

// TestJournalNames: a journal with a name that no job gives is refused, and moves nothing.
func TestJournalNames(t *testing.T) {
	for name, j := range map[string]journal{
		"old":             {Old: []string{"../thesis"}},
		"old of no job":   {Old: []string{"thesis"}},
		"to":              {New: []move{{From: "payload", To: "../thesis"}}},
		"to of no job":    {New: []move{{From: "payload", To: ".bashrc"}}},
		"from":            {New: []move{{From: "../../thesis", To: SummaryName}}},
		"from the folder": {New: []move{{From: ".", To: SummaryName}}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			out, temp := filepath.Join(root, "out"), filepath.Join(root, "temp")
			plantRun(t, out, temp, j, "payload")
			for _, path := range []string{filepath.Join(root, "thesis"), filepath.Join(out, "thesis")} {
				write(t, path, "mine")
			}
			if w, err := Open(Options{Output: out, Temp: temp, Overwrite: true}); err == nil {
				w.Close()
				t.Error("the journal was believed")
			} else if !strings.Contains(err.Error(), "which no job gives") {
				t.Error(err)
			}
			holds(t, filepath.Join(root, "thesis"), "mine")
			holds(t, filepath.Join(out, "thesis"), "mine")
			check(t, true, filepath.Join(target{path: out}.partial(forgedToken), "payload"))
		})
	}
}

// TestForgedStaging: a link leads nowhere, even with the name of the folder that a dead run has built next to
// the output folder.
func TestForgedStaging(t *testing.T) {
	root := t.TempDir()
	out, home := filepath.Join(root, "out"), filepath.Join(root, "home")
	write(t, filepath.Join(home, "thesis"), "mine")
	dead := die(t, Options{Output: out, Temp: filepath.Join(root, "temp")})
	if err := os.Symlink(home, dead.output.(*folder).target.staging(dead.token)); err != nil {
		t.Fatal(err)
	}
	if w, err := Open(Options{Output: out, Temp: filepath.Join(root, "temp")}); err == nil {
		w.Close()
	}
	holds(t, filepath.Join(home, "thesis"), "mine")
}

// TestUnsafeTemp: a folder of temporary files is refused if somebody else can exchange the run's folder in
// it. A sticky folder is accepted.
func TestUnsafeTemp(t *testing.T) {
	for _, c := range []struct {
		name  string
		mode  fs.FileMode
		owner int
		want  string
	}{
		{"another user's", 0o755, nobody, "belongs to another user"},
		{"another user's, and sticky", fs.ModeSticky | 0o777, nobody, "belongs to another user"},
		{"everybody's", 0o777, os.Geteuid(), "all users may write to it"},
		{"everybody's, and sticky", fs.ModeSticky | 0o777, os.Geteuid(), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.owner != os.Geteuid() && os.Geteuid() != 0 {
				t.Skip("only root can give files to another user")
			}
			root := t.TempDir()
			out := filepath.Join(root, "out")
			temp := job.UsualTemp(out)
			if err := errors.Join(
				os.Mkdir(temp, 0o700), os.Chown(temp, c.owner, -1), os.Chmod(temp, c.mode),
			); err != nil {
				t.Fatal(err)
			}
			w, err := Open(Options{Output: out, Temp: temp})
			if err == nil {
				w.Close()
			}
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// TestTempWithoutMask: the folder that a job makes for temporary files is safe, even if the user's mask lets
// everybody write to new files.
func TestTempWithoutMask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	g := newGround(t)
	if err := publish(g.options(), "new", disk{}); err != nil {
		t.Error(err)
	}
}

// TestPipes: a job does not wait for a pipe that has the name of a file it reads.
func TestPipes(t *testing.T) {
	for _, name := range []string{"manifest", "journal", "mark", "lock"} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			out, temp := filepath.Join(root, "out"), filepath.Join(root, "temp")
			plantRun(t, out, temp, journal{})
			partial := target{path: out}.partial(forgedToken)
			path := map[string]string{
				"manifest": filepath.Join(out, ManifestName), "journal": filepath.Join(partial, journalName),
				"mark": filepath.Join(partial, markName), "lock": filepath.Join(temp, runPrefix+forgedToken+lockSuffix),
			}[name]
			_ = os.Remove(path) // there may be no manifest
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() {
				w, err := Open(Options{Output: out, Temp: temp, Overwrite: true})
				if err == nil {
					w.Close()
				}
				ended <- err
			}()
			select {
			case err := <-ended:
				if name == "manifest" && (err == nil || !strings.Contains(err.Error(), "is a pipe and no file")) {
					t.Error(err)
				}
			case <-time.After(10 * time.Second):
				t.Error("the job waits for a writer")
			}
		})
	}
}
