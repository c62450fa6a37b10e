package workspace

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// ground is a folder with an output folder in it. Its methods do what jobs do there.
type ground struct {
	t    *testing.T
	root string
}

// newGround makes a ground in memory if it can. There are hundreds of grounds, and publishing spends most of
// its time waiting for a device.
func newGround(t *testing.T) ground { return newGroundOf(t, "ground") }

// ofTrees begins the names of grounds where results are trees.
const ofTrees = "trees"

func newGroundOf(t *testing.T, kind string) ground {
	t.Helper()
	root, err := os.MkdirTemp("/dev/shm", kind)
	if err != nil {
		return ground{t, t.TempDir()}
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	return ground{t, root}
}

func (g ground) output() string { return filepath.Join(g.root, "out") }

func (g ground) options() Options {
	return Options{Output: g.output(), Temp: job.UsualTemp(g.output()), Overwrite: true}
}

// shards is how many files the results of a name have. The numbers differ, so files come and go from results
// to results.
var shards = map[string]int{"old": 3, "new": 2, "next": 1}

// inTrees are the same files as a job in a ground of trees calls them. A file takes the name of a folder, and the other
// way round.
var inTrees = map[string][]string{
	"old":  {"annotated/a", "unique/lang=de/b", "unique/train/deep/c"},
	"new":  {"trimmed/manifest.json", "unique/train"},
	"next": {"unique/train/deep/c"},
}

// fileName returns the name of a file of the results of a name in an output folder.
func fileName(folder, name string, i int) string {
	if strings.HasPrefix(filepath.Base(filepath.Dir(folder)), ofTrees) {
		return inTrees[name][i]
	}
	return output.ShardName("pairs", i, shards[name], output.JSONL)
}

// results writes files for the results of a name. Each file contains the name.
func results(w *Workspace, name string) (files []output.File, err error) {
	for i := range shards[name] {
		described := output.File{Name: fileName(w.Output, name, i), Output: "pairs"}
		if tree, _, inTree := strings.Cut(described.Name, "/"); inTree {
			described.Output = tree
		}
		writer, err := output.NewWriter(w.Partial, described, output.JSONL)
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

// publish does what a job does with its folders. Only publishing uses the disk d.
func publish(options Options, name string, d disk) error {
	w, err := open(options, disk{})
	if err != nil {
		return err
	}
	files, err := results(w, name)
	if err != nil {
		return err
	}
	w.output.(*folder).disk = d
	err = w.Publish(files, testSummary{name, "hash", 1})
	if errors.Is(err, errKilled) {
		abandon(w)
		return err
	}
	w.Close()
	return err
}

// abandon gives the locks back, as the end of a process does.
func abandon(w *Workspace) {
	for _, lock := range append(w.output.(*folder).locks, w.temp.(*tempFolder).lock) {
		lock.Close()
	}
}

// errKilled is the error of every operation after the process was killed.
var errKilled = errors.New("killed")

// others are the foreign files and folders in the output folder.
var others = map[string]string{
	"mine.txt":      "mine",
	"folder/a":      "a",
	"folder/deep/b": "b",
	".hidden":       "h",
	"run-2024/x":    "x",
}

func (g ground) putOthers() {
	g.t.Helper()
	for name, content := range others {
		path := filepath.Join(g.output(), name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777),
			os.WriteFile(path, []byte(content), 0o640)); err != nil {
			g.t.Fatal(err)
		}
	}
	if err := os.Symlink("mine.txt", filepath.Join(g.output(), "link")); err != nil {
		g.t.Fatal(err)
	}
}

// checkOthers fails unless each foreign file is at its path.
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

// standing returns the name of the results that are complete in the output folder: the mark of success, the
// manifest, and all files in it with their bytes. It returns "" if there are none. A mixture of results fails
// the test.
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

// checkNext publishes once more. It checks that the next results and the foreign files are there, and nothing
// else.
func (g ground) checkNext(hasOthers bool) {
	g.t.Helper()
	if err := publish(g.options(), "next", disk{}); err != nil {
		g.t.Fatalf("the next job: %v", err)
	}
	if name := g.standing(); name != "next" {
		g.t.Fatalf("after the next job the results %q stand", name)
	}
	want := map[string]bool{"out": true}
	result := fileName(g.output(), "next", 0)
	for _, name := range append(foldersOf([]string{result}), SuccessName, ManifestName, SummaryName, result) {
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

// paths returns all paths in the ground.
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

// diskOf returns a disk that calls ask before each operation. Files are synced side by side, but ask is
// called for one at a time.
func diskOf(ask func(operation, path string) error) disk {
	var mutex sync.Mutex
	return disk{func(operation, path string) error {
		mutex.Lock()
		defer mutex.Unlock()
		return ask(operation, path)
	}}
}
