package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// die opens a workspace and ends like a killed process: it frees its locks and leaves everything else.
func die(t *testing.T, options Options) *Workspace {
	t.Helper()
	w, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{filepath.Join(w.Temp, "run-file"), filepath.Join(w.Partial, "pairs-X")} {
		write(t, file, "x")
	}
	abandon(w)
	return w
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(
		os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(content), 0o666),
	); err != nil {
		t.Fatal(err)
	}
}

// check fails unless all paths exist, or unless none of them does.
func check(t *testing.T, there bool, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if _, err := os.Lstat(path); (err == nil) != there {
			t.Errorf("%s is there: %v, want %v (%v)", path, err == nil, there, err)
		}
	}
}

// TestDeadRuns: a job clears away what dead runs have left, wherever it finds a trace of them. It clears away
// nothing of live runs.
func TestDeadRuns(t *testing.T) {
	root := t.TempDir()
	in := func(output, temp string) Options {
		return Options{Output: filepath.Join(root, output), Temp: filepath.Join(root, temp)}
	}
	alive, err := Open(in("living", "shared"))
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	for _, c := range []struct {
		name       string
		dead, next Options
	}{
		{"same folders", in("a", "shared"), in("a", "shared")},
		{"same output", in("b", "gone"), in("b", "shared")},
		{"same temporary folder", in("c", "shared"), in("d", "shared")},
	} {
		t.Run(c.name, func(t *testing.T) {
			dead := die(t, c.dead)
			next, err := Open(c.next)
			if err != nil {
				t.Fatal(err)
			}
			next.Close()
			check(t, false, dead.Temp, dead.Temp+lockSuffix, dead.Partial)
			check(t, true, alive.Temp, alive.Temp+lockSuffix, alive.Partial)
		})
	}
}

// TestNotOurs: folders and files stay if they only look like a run's.
func TestNotOurs(t *testing.T) {
	root := t.TempDir()
	temp, output := filepath.Join(root, "temp"), filepath.Join(root, "out")
	const token = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	other := record{"ZYXWVUTSRQPONMLKJIHGFEDCBA", output, filepath.Join(temp, "x")}
	files := []string{
		filepath.Join(temp, "run-2024-results", "a"),
		filepath.Join(temp, "run-2024-results.lock"),
		filepath.Join(temp, "run-"+token, "a"),
		filepath.Join(temp, "run-"+token+".lock"),
		filepath.Join(output, ".partial-run-"+token, "a"),
		filepath.Join(output, ".partial-run-2024", "a"),
		filepath.Join(root, ".publish-run-"+token, "a"),
	}
	for _, file := range files {
		write(t, file, "mine")
	}
	copied := filepath.Join(temp, "run-"+token, markName)
	write(t, copied, string(other.encode()))
	w, err := Open(Options{Output: output, Temp: temp, Overwrite: true})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	check(t, true, append(files, copied)...)
}

// TestRecords: a record is read back as it was, whatever its paths contain, and no other content passes for a
// record.
func TestRecords(t *testing.T) {
	want := record{"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "/out\xff\n\"", "/temp\ntemp \"x\""}
	if got, err := decodeRecord(want.encode()); err != nil || got != want {
		t.Errorf("%+v, want %+v (%v)", got, want, err)
	}
	whole := string(want.encode())
	for i := range whole {
		if _, err := decodeRecord([]byte(whole[:i])); err == nil {
			t.Errorf("%q passes for a record", whole[:i])
		}
	}
	for _, content := range []string{"mirrorbeam run short\noutput \"a\"\ntemp \"b\"\n", whole + "\n", "\n\n\n"} {
		if _, err := decodeRecord([]byte(content)); err == nil {
			t.Errorf("%q passes for a record", content)
		}
	}
}

// TestForeignManifests: a manifest that lists foreign files removes nothing, with or without overwriting.
// Neither do other foreign files that have names of results.
func TestForeignManifests(t *testing.T) {
	for _, files := range []map[string]string{
		{
			ManifestName:  `{"token":"ABCDEFGHIJKLMNOPQRSTUVWXYZ","files":[{"name":"thesis.docx","output":"","rows":0,"bytes":6}]}`,
			"thesis.docx": "thesis",
		},
		{
			ManifestName:   `{"token":"ABCDEFGHIJKLMNOPQRSTUVWXYZ","files":[{"name":"pairs-1.docx","output":"pairs","rows":0,"bytes":6}]}`,
			"pairs-1.docx": "thesis",
		},
		{ManifestName: `{"token":"T","files":[{"name":"pairs-00000-of-00001.jsonl","output":"pairs"}]}`},
		{ManifestName: `{"files":[{"name":"pairs-00000-of-00001.jsonl","output":"pairs"}]}`},
		{ManifestName: `{"token":"ABCDEFGHIJKLMNOPQRSTUVWXYZ","files":[{"name":"pairs-../x","output":"pairs","rows":0,"bytes":1}]}`},
		{SummaryName: "mine"},
		{SuccessName: ""},
	} {
		for _, overwrite := range []bool{false, true} {
			output := filepath.Join(t.TempDir(), "out")
			for name, content := range files {
				write(t, filepath.Join(output, name), content)
			}
			if w, err := Open(Options{Output: output, Temp: output + ".temp", Overwrite: overwrite}); err == nil {
				w.Close()
				t.Errorf("%v, overwrite %v: no error", files, overwrite)
			} else if !strings.Contains(err.Error(), "no job has written") {
				t.Errorf("%v, overwrite %v: %v", files, overwrite, err)
			}
			for name := range files {
				check(t, true, filepath.Join(output, name))
			}
		}
	}
}

// TestDamagedManifest: a manifest that is no JSON, as a power cut leaves it, is said to be damaged, and nothing is
// removed.
func TestDamagedManifest(t *testing.T) {
	for _, content := range []string{"", "\x00\x00\x00\x00", `{"token":"ABCDEFGHIJ`, `{"files":[}`} {
		output := filepath.Join(t.TempDir(), "out")
		write(t, filepath.Join(output, ManifestName), content)
		write(t, filepath.Join(output, SuccessName), "")
		w, err := Open(Options{Output: output, Temp: output + ".temp", Overwrite: true})
		if err == nil {
			w.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "manifest.json is damaged") ||
			!strings.Contains(err.Error(), "move this one away") {
			t.Errorf("%q: %v", content, err)
		}
		check(t, true, filepath.Join(output, ManifestName), filepath.Join(output, SuccessName))
	}
}

// TestForeignResults: a file that has the name of a new result stays, unless it belongs to the earlier job.
func TestForeignResults(t *testing.T) {
	for _, hasOld := range []bool{false, true} {
		g := newGround(t)
		if hasOld {
			if err := publish(g.options(), "next", disk{}); err != nil {
				t.Fatal(err)
			}
		}
		mine := filepath.Join(g.output(), output.ShardName("pairs", 0, shards["new"], output.JSONL))
		write(t, mine, "mine")
		if err := publish(g.options(), "new", disk{}); err == nil || !strings.Contains(err.Error(), "move it away") {
			t.Errorf("the file was taken for a result (%v)", err)
		}
		if content, err := os.ReadFile(mine); err != nil || string(content) != "mine" {
			t.Errorf("it holds %q (%v)", content, err)
		}
	}
}

// TestLinks: the output may be a link to a folder, and it stays a link. A link to nothing is refused, and
// stays too.
func TestLinks(t *testing.T) {
	g := newGround(t)
	options := g.options()
	options.Output = filepath.Join(g.root, "link")
	if err := os.Symlink("out", options.Output); err != nil {
		t.Fatal(err)
	}
	if err := publish(options, "new", disk{}); err == nil ||
		!strings.Contains(err.Error(), "symbolic link to out, which does not exist") {
		t.Errorf("a link to nothing: %v", err)
	}
	check(t, true, options.Output)
	if err := os.Mkdir(g.output(), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"old", "new"} {
		if err := publish(options, name, disk{}); err != nil {
			t.Fatal(err)
		}
		if got := g.standing(); got != name {
			t.Errorf("the results %q stand, want %q", got, name)
		}
	}
	if to, err := os.Readlink(options.Output); err != nil || to != "out" {
		t.Errorf("the link leads to %q (%v)", to, err)
	}
}

// TestWorkingFolder: with --output . the folder stays the one that the user is in.
func TestWorkingFolder(t *testing.T) {
	g := newGround(t)
	if err := os.Mkdir(g.output(), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(g.output())
	options := Options{Output: ".", Temp: job.UsualTemp("."), Overwrite: true}
	for _, name := range []string{"old", "new"} {
		if err := publish(options, name, disk{}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(SuccessName); err != nil || g.standing() != name {
			t.Errorf("the results %q stand (%v)", g.standing(), err)
		}
	}
	if found := g.paths(); len(found) != 6 {
		t.Errorf("there are %v", found)
	}
}

// TestLongPaths: a folder whose path leaves no room for the names in it is refused before any work, and
// nothing of it stays.
func TestLongPaths(t *testing.T) {
	for _, length := range []int{3900, 4000, 4030, 4060, 4090, 5000} {
		g := newGround(t)
		options := g.options()
		path := g.root + strings.Repeat("/"+strings.Repeat("x", 200), 30)
		options.Output = strings.TrimSuffix(path[:length], "/")
		w, err := Open(options)
		if err != nil && !strings.Contains(err.Error(), "too long") {
			t.Errorf("of %d bytes: %v", length, err)
		}
		if (err == nil) != (length == 3900) {
			t.Errorf("of %d bytes: error %v", length, err)
		}
		if err == nil {
			w.Close()
		}
		if found := g.paths(); len(found) > 0 {
			t.Errorf("of %d bytes: %d folders are left", length, len(found))
		}
	}
}

// TestLongNames: the output folder may have the longest possible name. A longer name is refused, and the
// error names the output folder.
func TestLongNames(t *testing.T) {
	for _, length := range []int{250, 251, 255, 256} {
		g := newGround(t)
		out := filepath.Join(g.root, strings.Repeat("n", length))
		err := publish(Options{Output: out, Temp: job.UsualTemp(out)}, "new", disk{})
		if (err == nil) != (length <= 255) ||
			err != nil && !strings.Contains(err.Error(), "name another one with output") {
			t.Errorf("of %d bytes: %v", length, err)
		}
		if err == nil {
			check(t, true, filepath.Join(out, SuccessName))
			check(t, false, job.UsualTemp(out))
		}
	}
}

// TestPrivate: nobody else may look into the folders of a run. The results are as open as the user's other
// files, and their folder keeps its mode.
func TestPrivate(t *testing.T) {
	g := newGround(t)
	w, err := Open(g.options())
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{w.Temp, w.Partial} {
		if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v (%v)", folder, info.Mode(), err)
		}
	}
	w.Close()
	plain := filepath.Join(t.TempDir(), "plain")
	write(t, plain, "")
	for _, name := range []string{"old", "new"} {
		if err := publish(g.options(), name, disk{}); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(g.output(), fs.ModeSetgid|0o751); err != nil {
			t.Fatal(err)
		}
	}
	if err := publish(g.options(), "next", disk{}); err != nil {
		t.Fatal(err)
	}
	want, _ := os.Stat(plain)
	for name := range g.paths() {
		if info, err := os.Stat(filepath.Join(g.root, name)); err != nil ||
			!info.IsDir() && info.Mode() != want.Mode() {
			t.Errorf("%s: %v, want %v (%v)", name, info.Mode(), want.Mode(), err)
		}
	}
	if info, err := os.Stat(g.output()); err != nil || info.Mode() != fs.ModeDir|fs.ModeSetgid|0o751 {
		t.Errorf("the output folder: %v (%v)", info.Mode(), err)
	}
}

// TestOneAtATime: while a job publishes, no other job gets its output folder, before the exchange or after
// it.
func TestOneAtATime(t *testing.T) {
	g := newGround(t)
	if err := publish(g.options(), "old", disk{}); err != nil {
		t.Fatal(err)
	}
	tries := 0
	if err := publish(g.options(), "new", diskOf(func(operation, path string) error {
		tries++
		if w, err := Open(g.options()); err == nil {
			w.Close()
			t.Errorf("another job began before %s %s", operation, path)
		} else if !strings.Contains(err.Error(), "another job is writing") {
			t.Error(err)
		}
		return nil
	})); err != nil || tries < 50 {
		t.Errorf("%d tries (%v)", tries, err)
	}
}

// TestRemoveFolder removes folders to which somebody goes on writing.
func TestRemoveFolder(t *testing.T) {
	for range 20 {
		folder := filepath.Join(t.TempDir(), "run")
		if err := os.Mkdir(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		begun, ended := make(chan struct{}), make(chan error)
		go func() {
			for i := 0; ; i++ {
				if err := os.WriteFile(filepath.Join(folder, strconv.Itoa(i)), nil, 0o600); err != nil {
					ended <- err
					return
				}
				if i == 10 {
					close(begun)
				}
			}
		}()
		<-begun
		_ = disk{}.removeFolder(folder)
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the folder is there (%v)", err)
			os.Rename(folder, folder+".gone") // otherwise its writer would not end
		}
		if err := <-ended; !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}
