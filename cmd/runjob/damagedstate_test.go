package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/inspect/query"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/pipeline"
)

// damages are what may happen to a file. It has been removed, and is made again.
var damages = []struct {
	name string
	do   func(path string, content []byte) error
}{
	{"a byte is flipped at its beginning", func(path string, b []byte) error {
		b[0] ^= 1
		return os.WriteFile(path, b, 0o600)
	}},
	{"a byte is flipped in its middle", func(path string, b []byte) error {
		b[len(b)/2] ^= 1
		return os.WriteFile(path, b, 0o600)
	}},
	{"it is cut in half", func(path string, b []byte) error { return os.WriteFile(path, b[:len(b)/2], 0o600) }},
	{"it is missing", func(string, []byte) error { return nil }},
	{"it is a folder", func(path string, _ []byte) error { return os.Mkdir(path, 0o700) }},
	{"it is a pipe", func(path string, _ []byte) error { return syscall.Mkfifo(path, 0o600) }},
	{"it is a link", func(path string, _ []byte) error { return os.Symlink("/dev/zero", path) }},
}

// damagedJob is a job with a state that the test damages.
type damagedJob struct {
	t      *testing.T
	config job.Config
	// files are all files of the state, by path. rows is what the job finds.
	files map[string]string
	rows  string
	// kept is the run file that has what the state stores in addition to the segments of files.
	kept string
}

// newDamagedJob runs a job about sites three times. A suspect comes, and nobody acknowledges it.
func newDamagedJob(t *testing.T) *damagedJob {
	t.Helper()
	root := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(root, "cache"))
	w := &damagedJob{t: t, config: job.Default()}
	c := &w.config
	c.Input = []string{filepath.Join(root, "in")}
	c.State = filepath.Join(root, "state")
	c.Output = filepath.Join(root, "out")
	c.Overwrite, c.Protected, c.MirrorPages = true, filepath.Join(root, "protected"), 1
	c.Emit, c.FailOn = []string{"clusters", "pairs", "mirrors", "sites", "suspects"}, []string{"new-suspects"}
	if err := os.WriteFile(c.Protected, []byte("example.org\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, host := range []string{"example.org", "examp1e.net", "harbour.example"} {
		text := []string{
			"the page asks for a name and a secret word, as it has always done",
			"the ferry waits for high water",
		}[i/2]
		writeOld(t, fmt.Sprintf("%s/%d.jsonl", c.Input[0], i),
			fmt.Appendf(nil, "{\"id\":%q,\"url\":\"http://%[1]s/login\",\"text\":%q}\n", host, text))
		if _, err := pipeline.Run(t.Context(), w.config); err != nil {
			t.Fatal(err)
		}
	}
	w.files, w.rows = contents(t, c.State), w.results()
	content, err := state.Read(c.State)
	if err != nil {
		t.Fatal(err)
	}
	w.kept = filepath.Join(c.State, content.Kept)
	w.files[filepath.Join(c.State, "lock")] = "process 1 on another machine\n"
	return w
}

// restore makes the state whole.
func (w *damagedJob) restore() {
	w.t.Helper()
	err := errors.Join(os.RemoveAll(w.config.State), os.MkdirAll(filepath.Join(w.config.State, "segments"), 0o700))
	for path, content := range w.files {
		err = errors.Join(err, os.WriteFile(path, []byte(content), 0o600))
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// run runs the job. It has the results that it had, and tells of the suspect.
func (w *damagedJob) run(ctx context.Context) error {
	summary, err := pipeline.Run(ctx, w.config)
	if err != nil {
		return err
	}
	if got := w.results(); got != w.rows {
		return fmt.Errorf("the results are %s, want %s", got, w.rows)
	}
	if len(summary.Failing()) == 0 {
		return errors.New("nobody hears of the suspect")
	}
	return nil
}

// results returns the rows of all results but the changes.
func (w *damagedJob) results() string {
	w.t.Helper()
	var rows []string
	for name, content := range contents(w.t, w.config.Output) {
		if strings.HasSuffix(name, ".jsonl") && !strings.Contains(name, "changes-") {
			rows = append(rows, content)
		}
	}
	slices.Sort(rows)
	return strings.Join(rows, "")
}

// toRemove matches the file that a message says is to be removed.
var toRemove = regexp.MustCompile(`(/\S+/state/\S+?):? (?:is .*|.*damaged.*|.*another kind.*): remove (?:it|this file)`)

// mend does what a message says, and runs the job again.
func (w *damagedJob) mend(ctx context.Context, err error) error {
	for range 2 {
		text := strings.Join(faultLines(err), "\n")
		rebuild := w.config.Rebuild
		if named := toRemove.FindStringSubmatch(text); named != nil {
			if err := os.RemoveAll(named[1]); err != nil {
				return err
			}
		} else if strings.Contains(text, "--rebuild") {
			w.config.Rebuild = true
		} else {
			return fmt.Errorf("no remedy: %w", err)
		}
		err = w.run(ctx)
		w.config.Rebuild = rebuild
		if err == nil {
			return nil
		}
	}
	return err
}

// kinds returns a file of each kind that the newest generation needs, and an older generation.
func (w *damagedJob) kinds() []string {
	byKind := map[string][]string{}
	for path := range w.files {
		kind, _, _ := strings.Cut(filepath.Base(path), "-")
		if path == w.kept {
			kind = "kept" // its name is random like the names of segments
		}
		byKind[kind] = append(byKind[kind], path)
	}
	newest := filepath.Join(w.config.State, "generation-0000000003")
	var all []string
	for kind, paths := range byKind {
		slices.Sort(paths)
		if kind == "generation" {
			all = append(all, paths[1:]...)
			continue
		}
		needed := func(path string) bool {
			return kind == "lock" || strings.Contains(w.files[newest], filepath.Base(path))
		}
		all = append(all, paths[slices.IndexFunc(paths, needed)])
	}
	slices.Sort(all)
	return all
}

// TestDamagedState: whatever happens to a file of a state, each command has the right result, or ends with 4 and says
// what to do. That helps.
func TestDamagedState(t *testing.T) {
	quietLogs()
	w, ctx := newDamagedJob(t), t.Context()
	folder := stateFolder{w.config.State}
	verify := func() error { return (&stateVerify{folder}).Run(ctx, io.Discard) }
	commands := map[string]func() error{
		"state verify":      verify,
		"state show":        func() error { return (&stateShow{folder}).Run(ctx, io.Discard) },
		"state prune":       func() error { return (&statePrune{folder}).Run(ctx, io.Discard) },
		"state compact":     func() error { return (&stateCompact{folder}).Run(ctx, io.Discard) },
		"state acknowledge": func() error { return (&stateAcknowledge{stateFolder: folder}).Run(ctx, io.Discard) },
		"query": func() error {
			index, err := query.OpenState(ctx, w.config.State, nil)
			if err == nil {
				err = index.Close()
			}
			return err
		},
		"run": func() error {
			err := w.run(ctx)
			if err != nil && exitCode(err) == exitStorage {
				if mended := errors.Join(w.mend(ctx, err), verify()); mended != nil {
					return fmt.Errorf("after %w: %w", err, mended)
				}
			}
			return err
		},
	}
	kinds := w.kinds()
	if len(kinds) != 10 {
		t.Fatalf("the state has %d kinds of files: %v", len(kinds), kinds)
	}
	remedies := regexp.MustCompile(`--rebuild|: remove |remove the state|state prune`)
	for _, path := range kinds {
		t.Run(filepath.Base(path), func(t *testing.T) {
			for _, damage := range damages {
				for name, command := range commands {
					w.restore()
					if err := errors.Join(os.Remove(path), damage.do(path, []byte(w.files[path]))); err != nil {
						t.Fatal(err)
					}
					err := command()
					if code := exitCode(err); code != exitDone &&
						(code != exitStorage || !remedies.MatchString(strings.Join(faultLines(err), "\n"))) {
						t.Errorf("%s: %s: %s ends with %d: %v", filepath.Base(path), damage.name, name, code, err)
					}
				}
			}
		})
	}
}

// TestStateOfAnotherVersion: a file of a layout that this program does not read is refused, the message says what
// helps, and that helps.
func TestStateOfAnotherVersion(t *testing.T) {
	quietLogs()
	w := newDamagedJob(t)
	w.config.Republish = true
	layout := regexp.MustCompile(`^(mirrorbeam [a-z]+ )[0-9]|mbrun002`) // of a run file at its end
	for _, path := range w.kinds() {
		t.Run(filepath.Base(path), func(t *testing.T) {
			content, name := w.files[path], filepath.Base(path)
			if name == "lock" || name == "generation-0000000002" || path == w.kept {
				return // no run needs it that makes all rows
			}
			w.restore()
			other := layout.ReplaceAllStringFunc(content, func(mark string) string { return mark[:len(mark)-1] + "9" })
			if err := os.WriteFile(path, []byte(other), 0o600); err != nil || other == content {
				t.Fatal(name, err)
			}
			runtime.GC() // no table of an earlier run is shared any more: only here do files of a state change
			_, verifyErr := state.Verify(t.Context(), w.config.State)
			remedy := "--rebuild"
			if strings.HasPrefix(name, "generation-") {
				remedy = "name another folder"
			}
			runErr := w.run(t.Context())
			verifyErr = state.Remedy(w.config.State, verifyErr)
			for command, err := range map[string]error{"verify": verifyErr, "run": runErr} {
				if err == nil {
					t.Errorf("%s: %s takes it", name, command)
					continue
				}
				text := strings.Join(faultLines(err), "\n")
				if exitCode(err) != exitStorage && command == "run" ||
					!strings.Contains(text, "another version of this program") || !strings.Contains(text, remedy) {
					t.Errorf("%s: %s: %s", name, command, text)
				}
			}
			helped := w.config
			if helped.Rebuild = remedy == "--rebuild"; !helped.Rebuild {
				helped.State += "-other"
			}
			if _, err := pipeline.Run(t.Context(), helped); err != nil || w.results() != w.rows {
				t.Errorf("%s: after %s: %v", name, remedy, err)
			}
		})
	}
}

// withDamagedState runs a job when a byte of its state is flipped.
func (s *scene) withDamagedState() observed {
	s.write("in.jsonl", between(""))
	for range 2 {
		s.runjob("--state", "state", "--overwrite").succeeds(-1)
	}
	s.before = s.outputs()
	all, err := filepath.Glob(filepath.Join(s.dir, "state/clusters-*"))
	if err != nil || len(all) == 0 {
		s.t.Fatalf("no clusters: %v", err)
	}
	for _, path := range all {
		b, err := os.ReadFile(path)
		if err == nil {
			b[len(b)-1] ^= 1
			err = os.WriteFile(path, b, 0o600)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	// Else a slow machine finds that nothing has changed.
	return s.runjob("--state", "state", "--overwrite", "--republish").fails(exitStorage)
}

// withOpenState runs a job whose state is in a folder to which everybody may write.
func (s *scene) withOpenState() observed {
	s.write("in.jsonl", between(""))
	folder := filepath.Join(s.dir, "shared")
	if err := errors.Join(os.Mkdir(folder, 0o777), os.Chmod(folder, 0o777)); err != nil {
		s.t.Fatal(err)
	}
	return s.runjob("--state", "shared/state").fails(exitStorage)
}
