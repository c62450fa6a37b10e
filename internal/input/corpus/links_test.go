package corpus

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestListBounded lists folders that are full of links to each other. Each file is listed once, and without
// delay.
func TestListBounded(t *testing.T) {
	tree := map[string]string{}
	for i := range 12 {
		tree[fmt.Sprintf("c/%d/x.jsonl", i)] = "{}\n"
	}
	dir := plant(t, tree)
	for i := range 12 {
		for k := range 12 {
			link(t, fmt.Sprintf("../%d", k), filepath.Join(dir, fmt.Sprintf("c/%d/to%d", i, k)))
		}
	}
	for _, input := range []string{"c", "c/**", "c/**/*.jsonl", "c/**/x.jsonl"} {
		start := time.Now()
		files, err := list(t, input)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); len(files) != 12 || took > 5*time.Second {
			t.Errorf("%s: %d files in %v, want 12", input, len(files), took)
		}
		for _, file := range files {
			if strings.Contains(file.Path, "to") {
				t.Errorf("%s: %s is listed by a link", input, file.Path)
			}
		}
	}
}

// link makes a symbolic link.
func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// TestListOnce: a file is listed once, whatever leads to it and in whatever order,
// by the path without links if there is one.
func TestListOnce(t *testing.T) {
	dir := plant(t, map[string]string{"c/a.jsonl": "{}\n", "c/sub/b.jsonl": "{}\n", "far/d.jsonl": "{}\n"})
	link(t, "a.jsonl", filepath.Join(dir, "c/a-longer-name.jsonl"))
	link(t, "c", filepath.Join(dir, "to-the-corpus"))
	link(t, "../far", filepath.Join(dir, "c/linked"))
	link(t, "../far/d.jsonl", filepath.Join(dir, "c/d-too.jsonl"))
	link(t, "../../far/d.jsonl", filepath.Join(dir, "c/sub/d-as-well.jsonl"))
	if err := os.Link("c/a.jsonl", "c/hard-link.jsonl"); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"hard-link.jsonl < c/hard-link.jsonl", "sub/b.jsonl < c/sub/b.jsonl",
		"sub/d-as-well.jsonl < c/sub/d-as-well.jsonl",
	}
	inputs := []string{"c", "to-the-corpus", "c/*.jsonl", "to-the-corpus/a.jsonl", "c/a.jsonl"}
	for range 10 {
		files, err := list(t, inputs...)
		if err != nil {
			t.Fatal(err)
		}
		got := namesAndPaths(files)
		slices.Sort(got) // the order of inputs is another one each time
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("List(%q), -want +got:\n%s", inputs, diff)
		}
		rand.Shuffle(len(inputs), func(i, j int) { inputs[i], inputs[j] = inputs[j], inputs[i] })
	}
}

// TestListIrregular: a file of a folder that is not a regular one cannot be read if its documents would be missed.
// Nobody waits for its content.
func TestListIrregular(t *testing.T) {
	dir := plant(t, map[string]string{"c/a.jsonl": "{}\n"})
	makePipe := func(path string) error { return syscall.Mkfifo(path, 0o666) }
	for _, test := range []struct {
		about, path string
		make        func(path string) error
		want        string // in the error; empty: none
	}{
		{"a pipe", "c/p.jsonl", makePipe, "it is not a regular file but a named pipe: write its content to a file"},
		{"a pipe of another name", "c/p", makePipe, ""},
		{"a socket", "c/s.jsonl", func(path string) error {
			listener, err := net.Listen("unix", path)
			if err == nil {
				t.Cleanup(func() { listener.Close() })
			}
			return err
		}, "it is not a regular file but a socket"},
		{"a link to a device", "c/null.jsonl", func(path string) error {
			return os.Symlink("/dev/null", path)
		}, "it is not a regular file but a device"},
		{"a link to a file of /proc", "c/status.jsonl", func(path string) error {
			return os.Symlink("/proc/self/status", path)
		}, "it has content but the size 0"},
	} {
		if err := test.make(filepath.Join(dir, test.path)); err != nil {
			t.Logf("%s: cannot be made here: %v", test.about, err)
			continue
		}
		listing, err := List(t.Context(), []string{"c"}, Options{})
		if err != nil || (len(listing.Unread) == 0) != (test.want == "") ||
			len(listing.Unread) > 0 && !strings.HasPrefix(listing.Unread[0].Fault, test.want) {
			t.Errorf("%s: %v, error %v, want %q", test.about, listing.Unread, err, test.want)
		}
		os.Remove(test.path)
	}
}

// TestOpenPipe: a file that has become a named pipe since it was listed is an
// error, not a wait without end.
func TestOpenPipe(t *testing.T) {
	plant(t, nil)
	if err := syscall.Mkfifo("p.jsonl", 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := Open(File{Path: "p.jsonl", Size: 3}, Stretch{End: 3}, Limits{Line: 1 << 20})
	if err == nil || !strings.Contains(err.Error(), "named pipe") {
		t.Errorf("error %v", err)
	}
}

// TestListCancelled: a context that has ended ends the listing.
func TestListCancelled(t *testing.T) {
	plant(t, map[string]string{"c/a.jsonl": "{}\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := List(ctx, []string{"c"}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// TestListResults: a search that finds results of a job returns an error. An input that names the results
// gets them. Files that a killed job has left are skipped.
func TestListResults(t *testing.T) {
	const unique = "unique-00000-of-00001.jsonl"
	const manifest = `{"files":[{"name":"` + unique + `","output":"unique","input":"in.jsonl","rows":1,"bytes":3}]}`
	run := "run-" + strings.Repeat("A2", 13)
	plant(t, map[string]string{
		"c/a.jsonl":                          "{}\n",
		"c/out/" + unique:                    "{}\n",
		"c/out/manifest.json":                manifest,
		"c/out/summary.json":                 "{}",
		"c/out/_SUCCESS":                     "",
		"d/a.jsonl":                          "{}\n",
		"d/manifest.json":                    "{}\n",
		"d/summary.json":                     "{}\n",
		"d/run-2024-results/x.jsonl":         "{}\n",
		"d/out.temp/" + run + "/inputs.json": "{}\n",
		"d/out/.partial-" + run + "/x.jsonl": "{}\n",
	})
	const refused = "contains results of an earlier job, such as "
	for _, test := range []struct {
		input string
		files int
		want  string
	}{
		{"c", 0, "c/out " + refused},
		{"c/out", 0, "c/out " + refused},
		{"c/**", 0, "c/out " + refused},
		{"c/*/*.jsonl", 0, "c/out " + refused},
		{"c/out/**", 0, "c/out " + refused},
		{"c/out/*.jsonl", 0, "c/out " + refused},
		{"c/out/[a-z]*", 0, "c/out " + refused},
		{"c/out/unique-*", 1, ""},
		{"c/*/unique-*", 1, ""},
		{"c/**/unique-*", 1, ""},
		{"c/out/" + unique, 1, ""},
		{"d", 4, ""},
		{"d/**/x.jsonl", 1, ""},
		{"d/out/.*/*", 0, "no file matches"},
	} {
		files, err := list(t, test.input)
		if len(files) != test.files || (err == nil) != (test.want == "") ||
			err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %d files, error %v, want %d and %q", test.input, len(files), err, test.files, test.want)
		}
	}
}

// TestListPipeForManifest: listing does not wait for a pipe with the name of a manifest.
func TestListPipeForManifest(t *testing.T) {
	dir := plant(t, map[string]string{"c/a.jsonl": "{}\n", "c/_SUCCESS": ""})
	if err := syscall.Mkfifo(filepath.Join(dir, "c/manifest.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := List(context.Background(), []string{"c"}, Options{})
		ended <- err
	}()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "is a pipe and no file") {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the listing waits for a writer")
	}
}

// TestSearched: a listing knows whether results would lie where it has searched.
func TestSearched(t *testing.T) {
	dir := plant(t, map[string]string{"c/sub/a.jsonl": "{}\n", "far/away/b.jsonl": "{}\n", "other/c.jsonl": "{}\n"})
	link(t, "../far", filepath.Join(dir, "c/far"))
	link(t, "c/sub", filepath.Join(dir, "alias"))
	for _, test := range []struct {
		input, path, want string
	}{
		{"c", "c", "c"},
		{"c", "c/out", "c"},
		{"c", "c/sub/deep/out", "c"},
		{"c", "alias/out", "c"},
		{"c", "far/away/out", "c/far"},
		{"c/far", "far/out", "c/far"},
		{"c/**/*.jsonl", "c/out", "c"},
		{"**/a.jsonl", "out", "."},
		{"c", "c.out", ""},
		{"c", "other", ""},
		{"c/*/*.jsonl", "c/out", ""},
		{"c/sub/a.jsonl", "c/sub/out", ""},
	} {
		listing, err := List(t.Context(), []string{test.input}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		folder, found, err := listing.Searched(test.path)
		if err != nil || folder != test.want || found != (test.want != "") {
			t.Errorf("%s searches %q, %v for %s (%v), want %q", test.input, folder, found, test.path, err, test.want)
		}
	}
}

// TestListBytes: names are bytes.
func TestListBytes(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, path := range []string{"caf\xe9", "caf\xe9/d\xfe.jsonl"} {
		var err error
		if strings.HasSuffix(path, ".jsonl") {
			err = os.WriteFile(path, []byte("{}\n"), 0o666)
		} else {
			err = os.Mkdir(path, 0o777)
		}
		if err != nil {
			t.Skip("this file system has no such names:", err)
		}
	}
	for _, input := range []string{"caf\xe9", "caf\xe9/d\xfe.jsonl", "caf?/*", "**/d\xfe.*"} {
		files, err := list(t, input)
		if err != nil || len(files) != 1 || files[0].Path != "caf\xe9/d\xfe.jsonl" {
			t.Errorf("%q: %+v (%v)", input, files, err)
		}
	}
}

// TestWithReferenceLinks: a file of the reference that is one of the input by
// another name is refused.
func TestWithReferenceLinks(t *testing.T) {
	dir := plant(t, map[string]string{"in/a.jsonl": "{}\n"})
	link(t, "in/a.jsonl", filepath.Join(dir, "symbolic.jsonl"))
	if err := os.Link("in/a.jsonl", "hard.jsonl"); err != nil {
		t.Fatal(err)
	}
	input, err := list(t, "in")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"symbolic.jsonl", "hard.jsonl"} {
		reference, err := list(t, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := WithReference(reference, input); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v, want one that names both", name, err)
		}
	}
}
