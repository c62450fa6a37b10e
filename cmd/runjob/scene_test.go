package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mirrorbeam.dev/internal/schema/findings"
)

// scene is a folder in which the real program meets a fault. The program runs there, so its messages have
// paths relative to the folder.
type scene struct {
	t      *testing.T
	dir    string
	system string // the system's temporary folder, which must stay empty
	before map[string]string
}

func newScene(t *testing.T) *scene {
	s := &scene{t: t, dir: t.TempDir(), system: t.TempDir()}
	s.before = s.outputs()
	return s
}

// write writes a file of the scene.
func (s *scene) write(name string, content []byte) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o666); err != nil {
		s.t.Fatal(err)
	}
}

// started is a run of the program.
type started struct {
	*exec.Cmd
	scene  *scene
	stderr bytes.Buffer
	end    context.CancelFunc
}

// command prepares a command that runs the program, on two cores whatever the
// machine has.
func (s *scene) command(name string, args ...string) *started {
	// a minute is too short for the largest jobs on a busy machine
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	s.t.Cleanup(cancel)
	j := &started{Cmd: exec.CommandContext(ctx, name, args...), scene: s, end: cancel}
	j.Dir, j.Stderr = s.dir, &j.stderr
	j.Env = append(os.Environ(), "GOMAXPROCS=2", "TMPDIR="+s.system)
	return j
}

// runjob prepares the main job on in.jsonl, or on the --input among the
// arguments.
func (s *scene) runjob(args ...string) *started { return s.command("runjob", jobArgs(args)...) }

func jobArgs(args []string) []string {
	all := []string{"run"}
	if !slices.Contains(args, "--output") {
		all = append(all, "--output", "out")
	}
	if !slices.Contains(args, "--input") {
		all = append(all, "--input", "in.jsonl")
	}
	return append(all, args...)
}

// limited prepares the main job under a limit of the shell, such as "-n 16".
func (s *scene) limited(limit string, args ...string) *started {
	return s.command("sh",
		append([]string{"-c", "ulimit " + limit + ` && exec runjob "$@"`, "sh"}, jobArgs(args)...)...)
}

// nobody is a user whom the modes of files stop.
const nobody = 65534

// unprivileged prepares the main job for a user whom the modes of files stop. It
// opens the scene to that user, and the program.
func (s *scene) unprivileged(args ...string) *started {
	s.t.Helper()
	if os.Getuid() != 0 {
		return s.runjob(args...)
	}
	binary, err := os.Executable()
	if err == nil {
		var content []byte
		if content, err = os.ReadFile(binary); err == nil {
			err = os.WriteFile(filepath.Join(s.dir, "runjob"), content, 0o755)
		}
	}
	for _, folder := range []string{s.dir, filepath.Dir(s.dir), s.system} {
		err = errors.Join(err, os.Chmod(folder, 0o777))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	j := s.command("./runjob", jobArgs(args)...)
	j.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return j
}

// onSmallDisk prepares the main job with a disk of its own at ./disk: a tmpfs with the given options, in a
// namespace of mounts that ends with the job. The file ./left lists what the job leaves there.
func (s *scene) onSmallDisk(options string, args ...string) *started {
	s.t.Helper()
	if err := os.Mkdir(filepath.Join(s.dir, "disk"), 0o777); err != nil {
		s.t.Fatal(err)
	}
	mount := "mount -t tmpfs -o " + options + " none disk"
	for _, flags := range []string{"-rm", "-m"} {
		try := s.command("unshare", flags, "sh", "-c", mount)
		if try.Run() == nil {
			script := mount + ` && { runjob "$@"; code=$?; ls -A disk >left; exit $code; }`
			return s.command("unshare", append([]string{flags, "sh", "-c", script, "sh"}, jobArgs(args)...)...)
		}
	}
	s.t.Skip("no disk can be mounted here, neither in a user namespace nor as root: nothing was filled up")
	return nil
}

// pausedAtWork starts the job and stops it once it has files like the pattern
// in its temporary folder.
func (j *started) pausedAtWork(pattern string) *started {
	t := j.scene.t
	t.Helper()
	if err := j.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.end(); j.Wait() })
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if files, _ := filepath.Glob(filepath.Join(j.scene.dir, "out.temp", "run-*", pattern)); len(files) == 0 {
			continue
		}
		j.signal(syscall.SIGSTOP)
		if len(j.scene.outputs()) > 0 {
			t.Fatal("the job has ended before it could be stopped")
		}
		return j
	}
	t.Fatal("the job has not begun its work in time:", j.stderr.String())
	return nil
}

func (j *started) signal(signals ...syscall.Signal) {
	j.scene.t.Helper()
	for _, signal := range signals {
		if err := j.Process.Signal(signal); err != nil {
			j.scene.t.Fatal(err)
		}
	}
}

// observed is a row of the documentation as a test has seen it.
type observed struct {
	exit      int
	message   string
	documents string
}

// ends waits for the end of the job, and starts it first if necessary. It returns the job's exit code and
// messages.
func (j *started) ends() (exit int, message string) {
	t := j.scene.t
	t.Helper()
	if j.Process == nil {
		if err := j.Start(); err != nil {
			t.Fatal(err)
		}
	}
	err := j.Wait()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	message = j.stderr.String()
	if lines := strings.Count(message, "\n"); lines > 7 || strings.Contains(message, "goroutine ") {
		t.Errorf("it says in %d lines:\n%s", lines, message)
	}
	if left, _ := os.ReadDir(j.scene.system); len(left) > 0 {
		t.Errorf("left in the system's temporary folder: %v", left)
	}
	return j.ProcessState.ExitCode(), message
}

// fails runs a job that must fail with that exit code and leave the output
// folder as it was.
func (j *started) fails(exit int) observed {
	s := j.scene
	s.t.Helper()
	code, message := j.ends()
	if code != exit {
		s.t.Errorf("exit code %d, want %d: %s", code, exit, message)
	}
	after := s.outputs()
	for name, content := range s.before {
		if after[name] != content {
			s.t.Errorf("%s was changed", name)
		}
		delete(after, name)
	}
	if len(after) > 0 {
		s.t.Errorf("the failed job left %d files in the output folder: %q", len(after), after)
	}
	s.noLitter()
	message, _, _ = strings.Cut(message, "\n")
	return observed{code, "`" + s.neutral(s.unnamed(message)) + "`", ""}
}

// succeeds runs a job that must account for the given number of records of its input. -1 means that the
// number is unknown.
func (j *started) succeeds(records int64) observed {
	j.scene.t.Helper()
	return j.publishes(exitDone, records)
}

// publishes does what succeeds does, for a job that ends with the given code.
func (j *started) publishes(want int, records int64) observed {
	s := j.scene
	s.t.Helper()
	code, message := j.ends()
	if code != want {
		s.t.Fatalf("exit code %d, want %d: %s", code, want, message)
	}
	s.noLitter()
	results := s.outputs()
	if _, whole := results["_SUCCESS"]; !whole {
		s.t.Error("there is no mark of success")
	}
	var summary struct{ Counts findings.Counts }
	if err := json.Unmarshal([]byte(results["summary.json"]), &summary); err != nil {
		s.t.Fatal(err)
	}
	rejects := decodeRows[reject](s.t, results["rejects-00000-of-00001.jsonl"])
	n := summary.Counts
	if n.Documents != n.Kept+n.Removed || n.Rejected != int64(len(rejects)) ||
		records >= 0 && records != n.Documents+n.Rejected {
		s.t.Errorf("%d records, %d reasons, counts %+v", records, len(rejects), n)
	}
	message, _, _ = strings.Cut(message, "\n")
	documents := count(n.Kept) + " kept"
	if n.Removed > 0 {
		documents += ", " + count(n.Removed) + " removed"
	}
	if n.Rejected > 0 {
		documents += ", " + count(n.Rejected) + " rejected"
	}
	return observed{code, s.said(message, n, rejects), documents}
}

// unnamed returns a message without the name of the program, with which it must begin.
func (s *scene) unnamed(message string) string {
	s.t.Helper()
	rest, found := strings.CutPrefix(message, "runjob: ")
	if !found {
		s.t.Errorf("the message %q does not name the program", message)
	}
	return rest
}

// said returns what the documentation has of the first line of a job that publishes: the reasons of its rejects, or
// else the line. A line that only counts documents is left out. All that is left out is checked here.
func (s *scene) said(message string, n findings.Counts, rejects []reject) string {
	s.t.Helper()
	counts := regexp.MustCompile("^" + counted(n.Documents, "document") + `, [\d.]+ k?M?B; ` + count(n.Rejected) +
		" rejected")
	rest := counts.ReplaceAllString(message, "")
	switch {
	case len(rejects) == 0 && rest == "":
		return ""
	case len(rejects) == 0:
		return "`" + s.neutral(message) + "`"
	case rest == message || !strings.HasSuffix(rest, ", see out/rejects-*"):
		s.t.Errorf("the command says %q of %d documents and %d rejects, and not where these are", message, n.Documents,
			n.Rejected)
	}
	var reasons []string
	for _, one := range rejects {
		if reason := "`" + s.neutral(one.Error) + "`"; !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	return "reject: " + strings.Join(reasons, ", ")
}

// reject is what a test reads of a row of rejects.
type reject struct{ Error string }

// asFresh checks that the clusters are the same as in a job over the same content in an empty folder.
func (s *scene) asFresh(content []byte) {
	s.t.Helper()
	fresh := newScene(s.t)
	fresh.write("in.jsonl", content)
	fresh.runjob().succeeds(lines(content))
	const name = "clusters-00000-of-00002.jsonl"
	if got := s.outputs()[name]; got == "" || got != fresh.outputs()[name] {
		s.t.Errorf("%s has %d bytes and is not as after a job in an empty folder", name, len(got))
	}
}

// outputs returns the content of the files in the output folder.
func (s *scene) outputs() map[string]string {
	files := map[string]string{}
	entries, _ := os.ReadDir(filepath.Join(s.dir, "out"))
	for _, entry := range entries {
		if !entry.IsDir() {
			content, err := os.ReadFile(filepath.Join(s.dir, "out", entry.Name()))
			if err != nil {
				s.t.Fatal(err)
			}
			files[entry.Name()] = string(content)
		}
	}
	return files
}

// noLitter fails if a job has left files of its own.
func (s *scene) noLitter() {
	s.t.Helper()
	err := filepath.WalkDir(s.dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) {
			return nil
		}
		if err == nil && entry.IsDir() && entry.Name() == "segments" {
			return fs.SkipDir // of a state: the next run removes what is left
		}
		if name := filepath.Base(path); strings.HasPrefix(name, "run-") || strings.HasPrefix(name, ".partial-") ||
			name == "out.temp" || name == "temp" {
			s.t.Errorf("left behind: %s", path)
		}
		return err
	})
	if err != nil {
		s.t.Error(err)
	}
}

var (
	randomName = regexp.MustCompile(`(list-)\d+|([a-z]+-)[A-Z2-7]{26}`)
	needs      = regexp.MustCompile(`needs \d+`)
)

// neutral removes from a message the parts that differ between runs and machines.
func (s *scene) neutral(message string) string {
	real, err := filepath.EvalSymlinks(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	message = strings.NewReplacer(real+"/", "", s.dir+"/", "").Replace(message)
	message = randomName.ReplaceAllString(message, "$1$2…")
	return needs.ReplaceAllString(message, "needs …")
}

// decodeRows decodes rows of JSON.
func decodeRows[Row any](t *testing.T, content string) []Row {
	t.Helper()
	var rows []Row
	for line := range strings.Lines(content) {
		var row Row
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		rows = append(rows, row)
	}
	return rows
}

// largeCorpus is a corpus on which a job works for much longer than it takes to stop the job. Its last
// documents are copies of the first.
var largeCorpus = sync.OnceValue(func() []byte {
	corpus := randomCorpus(100_000)
	head := corpus[:bytes.IndexByte(corpus[10_000:], '\n')+10_001]
	return append(corpus, bytes.ReplaceAll(head, []byte(`{"id":"`), []byte(`{"id":"copy of `))...)
})

// named checks the names of documents in the rows of pairs.
func (s *scene) named(seen observed, a, b string) observed {
	s.t.Helper()
	results := s.outputs()
	pairs := decodeRows[struct{ A, B string }](s.t, results["pairs-00000-of-00001.jsonl"])
	removed := decodeRows[struct {
		Kept string `json:"kept_id"`
		Ref  string
	}](s.t, results["removed-00000-of-00001.jsonl"])
	if len(pairs) != 1 || len(removed) != 1 {
		s.t.Fatalf("pairs %v, removed %v", pairs, removed)
	}
	if pairs[0].A != a || pairs[0].B != b || removed[0].Kept != a || !strings.HasPrefix(removed[0].Ref, "in.jsonl:") {
		s.t.Errorf("pairs %v, removed %v: want %s and %s", pairs, removed, a, b)
	}
	seen.documents += fmt.Sprintf("; they are called `%s` and `%s`", pairs[0].A, pairs[0].B)
	return seen
}
