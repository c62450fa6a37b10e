package corpus

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
)

// plant writes files below a new directory, makes it the working directory,
// and returns it.
func plant(t *testing.T, contents map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range contents {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return dir
}

// list lists the files that inputs stand for.
func list(t *testing.T, inputs ...string) ([]File, error) {
	listing, err := List(t.Context(), inputs, Options{})
	return listing.Files, err
}

// namesAndPaths shortens a list to what most tests look at.
func namesAndPaths(files []File) []string {
	var lines []string
	for _, file := range files {
		lines = append(lines, file.Name+" < "+filepath.ToSlash(file.Path))
	}
	return lines
}

func TestList(t *testing.T) {
	tree := map[string]string{}
	for _, name := range []string{
		"c/b.jsonl", "c/a.JSONL.GZ", "c/x.ndjson.zst", "c/y.json", "c/z.txt", "c/.hidden.jsonl", "c/_marked.jsonl",
		"c/sub/b.jsonl", "c/sub/deep/b.jsonl", "c/.git/b.jsonl", "c/_tmp/b.jsonl",
		"d/b.jsonl", "e/f/g.jsonl", "f/g.jsonl", "h/g.jsonl", "odd[1].jsonl", "plain.dat",
	} {
		tree[name] = "{}\n"
	}
	plant(t, tree)
	inC := []string{
		"_marked.jsonl < c/_marked.jsonl", "_tmp/b.jsonl < c/_tmp/b.jsonl", "a.JSONL < c/a.JSONL.GZ",
		"b.jsonl < c/b.jsonl", "sub/b.jsonl < c/sub/b.jsonl",
		"sub/deep/b.jsonl < c/sub/deep/b.jsonl", "x.ndjson < c/x.ndjson.zst", "y.json < c/y.json",
	}
	for _, test := range []struct {
		about  string
		inputs []string
		want   []string
	}{
		{"directory", []string{"c"}, inC},
		{"the same directory twice", []string{"./c/", "c", "d/../c"}, inC},
		{"file", []string{"plain.dat"}, []string{"plain.dat < plain.dat"}},
		{"a name with a bracket", []string{"odd[1].jsonl"}, []string{"odd[1].jsonl < odd[1].jsonl"}},
		{"an escaped bracket", []string{`odd\[1].jsonl`}, []string{"odd[1].jsonl < odd[1].jsonl"}},
		{
			"glob of one level",
			[]string{"c/*.jsonl"},
			[]string{"_marked.jsonl < c/_marked.jsonl", "b.jsonl < c/b.jsonl"},
		},
		{"glob of hidden names", []string{"c/.*.jsonl"}, []string{".hidden.jsonl < c/.hidden.jsonl"}},
		{"glob that matches directories too", []string{"c/s*"}, nil},
		{"glob with a middle", []string{"*/sub/b.jsonl"}, []string{"c/sub/b.jsonl < c/sub/b.jsonl"}},
		{"glob of all depths", []string{"c/**/b.jsonl"}, []string{
			"_tmp/b.jsonl < c/_tmp/b.jsonl", "b.jsonl < c/b.jsonl", "sub/b.jsonl < c/sub/b.jsonl",
			"sub/deep/b.jsonl < c/sub/deep/b.jsonl",
		}},
		{
			"glob of everything",
			[]string{"c/sub/**/**"},
			[]string{"b.jsonl < c/sub/b.jsonl", "deep/b.jsonl < c/sub/deep/b.jsonl"},
		},
		{
			"the longest name wins",
			[]string{"c/sub/b.jsonl", "c/sub", "c/s*/b.jsonl"},
			[]string{"deep/b.jsonl < c/sub/deep/b.jsonl", "sub/b.jsonl < c/sub/b.jsonl"},
		},
		{
			"same names",
			[]string{"d", "c/sub/*.jsonl"},
			[]string{"c/sub/b.jsonl < c/sub/b.jsonl", "d/b.jsonl < d/b.jsonl"},
		},
		{
			"a path that is another's name",
			[]string{"e", "f", "h"},
			[]string{"e/f/g.jsonl < e/f/g.jsonl", "f/g.jsonl < f/g.jsonl", "h/g.jsonl < h/g.jsonl"},
		},
	} {
		t.Run(test.about, func(t *testing.T) {
			inputs := slices.Clone(test.inputs)
			for range 5 {
				files, err := list(t, inputs...)
				if _, isNoMatch := errors.AsType[*NoMatchError](err); err != nil && !(isNoMatch && test.want == nil) {
					t.Fatal(err)
				}
				got := namesAndPaths(files)
				slices.Sort(got) // the order of inputs is another one each time
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("List(%q), -want +got:\n%s", inputs, diff)
				}
				rand.Shuffle(len(inputs), func(i, j int) { inputs[i], inputs[j] = inputs[j], inputs[i] })
			}
		})
	}
}

func TestListInspects(t *testing.T) {
	// The content decides, not the name.
	plant(t, map[string]string{
		"a.jsonl.gz":  "{}\n",
		"b.jsonl":     "\x1f\x8brest",
		"c.jsonl":     "\x28\xb5\x2f\xfd",
		"d.jsonl.zst": "\x5e\x2a\x4d\x18\x00\x00\x00\x00",
		"e.jsonl":     "",
	})
	files, err := list(t, ".")
	if err != nil {
		t.Fatal(err)
	}
	want := []File{
		{Path: "a.jsonl.gz", Name: "a.jsonl", Size: 3, Compression: None},
		{Path: "b.jsonl", Name: "b.jsonl", Size: 6, Compression: Gzip},
		{Path: "c.jsonl", Name: "c.jsonl", Size: 4, Compression: Zstd},
		{Path: "d.jsonl.zst", Name: "d.jsonl", Size: 8, Compression: Zstd},
		{Path: "e.jsonl", Name: "e.jsonl", Size: 0, Compression: None},
	}
	for i, file := range files {
		info, err := os.Stat(file.Path)
		if err != nil || file.Generation != fmt.Sprint(info.ModTime().UnixNano()) {
			t.Errorf("%s is of generation %s, %v (%v)", file.Path, file.Generation, info, err)
		}
		files[i].Generation = ""
		files[i].Identity = Identity{}
		files[i].Below = 0
		files[i].Short = ""
		files[i].Long = ""
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestListRecalls: a file that has the size and the generation of a known one is taken for it, in any storage and
// whatever leads to it. Any other file is opened.
func TestListRecalls(t *testing.T) {
	m, stored := storagetest.NewMemory(t)
	local := t.TempDir()
	var opened atomic.Int64 // List opens several files at once
	m.Ask = func(operation, name string) error {
		if operation == "open" {
			opened.Add(1)
		}
		return nil
	}
	for _, folder := range []string{local, stored} {
		for name, content := range map[string]string{
			"a.jsonl":     "{}\n",
			"b.jsonl.gz":  string(gzipped(t, []byte("{}\n"))),
			"c.csv":       "text\rone\r",
			"empty.jsonl": "",
		} {
			if err := storage.WriteFile(folder+"/"+name, []byte(content)); err != nil {
				t.Fatal(err)
			}
		}
		list := func(known map[string]File, inputs ...string) (files []File) {
			t.Helper()
			opened.Store(0)
			listing, err := List(t.Context(), inputs, Options{Known: known})
			if err != nil {
				t.Fatal(err)
			}
			return listing.Files
		}
		first, known := list(nil, folder), map[string]File{}
		for _, file := range first {
			known[file.Path] = file
		}
		again := list(known, folder)
		if opened.Load() > 0 || len(again) != 4 {
			t.Errorf("%s: %d of %d files are opened", folder, opened.Load(), len(again))
		}
		for i, file := range again {
			isRecalled := file.Recalled
			file.Recalled = false
			if !isRecalled || !reflect.DeepEqual(file, first[i]) {
				t.Errorf("recalled is %+v, want %+v", file, first[i])
			}
		}
		if named := list(known, folder+"/a.jsonl"); opened.Load() > 0 || !named[0].Recalled {
			t.Errorf("%s: a file that is named is opened", folder)
		}
		for path, change := range map[string]func(*File){
			"a.jsonl":     func(f *File) { f.Size++ },
			"b.jsonl.gz":  func(f *File) { f.Generation += "0" },
			"c.csv":       func(f *File) { f.Generation = "" },
			"empty.jsonl": func(f *File) { f.Size = 1 },
		} {
			changed := maps.Clone(known)
			file := changed[folder+"/"+path]
			change(&file)
			file.Format, file.Compression = Text, Zstd
			changed[folder+"/"+path] = file
			for i, file := range list(changed, folder) {
				if file.Recalled == strings.HasSuffix(file.Path, path) || file.Format != first[i].Format ||
					file.Compression != first[i].Compression {
					t.Errorf("%s is not as it is known, and the list has %+v", path, file)
				}
			}
		}
	}
	// Only the path says which file is known.
	link := filepath.Join(local, "link.jsonl")
	if err := os.Symlink(filepath.Join(local, "a.jsonl"), link); err != nil {
		t.Fatal(err)
	}
	listing, err := List(t.Context(), []string{link},
		Options{Known: map[string]File{filepath.Join(local, "a.jsonl"): {Format: Text}}})
	if err != nil || listing.Files[0].Recalled || listing.Files[0].Format != JSONLines {
		t.Errorf("a link: %+v, %v", listing.Files, err)
	}
}

func TestListFollowsLinks(t *testing.T) {
	dir := plant(t, map[string]string{"blobs/1": "{}", "c/real.jsonl": "{}", "other/x.jsonl": "{}"})
	for link, target := range map[string]string{
		"c/link.jsonl": "../blobs/1", "c/more": "../other", "c/loop": "..", "c/self": ".",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	for _, inputs := range [][]string{{"c"}, {"c/**/*.jsonl"}} {
		files, err := list(t, inputs...)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, file := range files {
			names = append(names, file.Name)
		}
		for _, name := range []string{"link.jsonl", "more/x.jsonl", "real.jsonl"} {
			if !slices.Contains(names, name) {
				t.Errorf("List(%q) = %q, want %q in it", inputs, names, name)
			}
		}
		if slices.Contains(names, "self/real.jsonl") {
			t.Errorf("List(%q) = %q: it followed a link to its own directory", inputs, names)
		}
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "c/lost.jsonl")); err != nil {
		t.Fatal(err)
	}
	for _, input := range []string{"c", "c/*.jsonl"} {
		listing, err := List(t.Context(), []string{input}, Options{})
		if err != nil || len(listing.Unread) != 1 || listing.Unread[0].Path != "c/lost.jsonl" ||
			!strings.Contains(listing.Unread[0].Fault, "link is broken") {
			t.Errorf("a dangling link: %v, %v", listing.Unread, err)
		}
	}
}

func TestListErrors(t *testing.T) {
	plant(t, map[string]string{
		"b.jsonl": "LZIP\x01", "x.jsonl": "7z\xbc\xaf\x27\x1c", "l.jsonl": "%PDF-1.7", "empty/.z.bin": "",
	})
	for _, test := range []struct {
		inputs []string
		want   string
	}{
		{nil, "no input is given"},
		{[]string{""}, "empty"},
		{[]string{"-"}, "standard input"},
		{[]string{"gs://bucket/a.jsonl"}, "reads and writes no gs://: download"},
		{[]string{"s3://bucket/*.jsonl"}, "reads and writes no s3://: download"},
		{[]string{"/dev/null"}, "not a regular file"},
		{[]string{"[a"}, "close the bracket"},
		{[]string{"b.jsonl"}, "lzip"},
		{[]string{"x.jsonl"}, "7z"},
		{[]string{"l.jsonl"}, "PDF"},
		{[]string{"*.jsonl"}, "(further unreadable files: 2)"},
	} {
		if _, err := list(t, test.inputs...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("List(%q): error %v, want one with %q", test.inputs, err, test.want)
		}
	}

	_, err := list(t, []string{"gone/*.jsonl", "b.jsonl", "gone.jsonl", "empty", "empty/.z.bin/x*", "gone.jsonl"}...)
	noMatch, ok := errors.AsType[*NoMatchError](err)
	if !ok {
		t.Fatalf("error %v, want a NoMatchError", err)
	}
	if diff := cmp.Diff(
		[]string{"gone/*.jsonl", "gone.jsonl", "empty", "empty/.z.bin/x*"}, noMatch.Inputs,
	); diff != "" {
		t.Errorf("inputs without a match, -want +got:\n%s", diff)
	}
	for _, input := range noMatch.Inputs {
		if !strings.Contains(noMatch.Error(), input) {
			t.Errorf("message %q does not name %q", noMatch.Error(), input)
		}
	}
}

func TestListUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	plant(t, map[string]string{"a.jsonl": "{}", "b.jsonl": "{}"})
	if err := os.Chmod("b.jsonl", 0); err != nil {
		t.Fatal(err)
	}
	listing, err := List(t.Context(), []string{"."}, Options{})
	if err != nil || len(listing.Files) != 1 || len(listing.Unread) != 1 ||
		listing.Unread[0].Fault != "permission denied: make the file readable, or leave it out" {
		t.Errorf("%v, %v, %v", listing.Files, listing.Unread, err)
	}
	plant(t, map[string]string{"a.jsonl": "{}", "locked/b.jsonl": "{}"})
	if err := os.Chmod("locked", 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod("locked", 0o700) // so that it can be removed
	const advice = ": make the folder readable, or leave it out"
	for _, input := range []string{"locked", "locked/b.jsonl"} {
		_, err := list(t, input)
		if !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "locked") ||
			!strings.HasSuffix(err.Error(), advice) {
			t.Errorf("input %s: error %v, want one that says what to do about the folder locked", input, err)
		}
	}
	listing, err = List(t.Context(), []string{"."}, Options{})
	if err != nil || len(listing.Unread) != 1 || listing.Unread[0].Path != "locked" ||
		!strings.HasSuffix(listing.Unread[0].Fault, advice) {
		t.Errorf("%v, %v", listing.Unread, err)
	}
}

// TestWithReference: the reference comes first, whatever it is called, and names
// stay unique.
func TestWithReference(t *testing.T) {
	plant(t,
		map[string]string{"in/a.jsonl": "{}\n", "in/b.jsonl": "{}\n", "ref/b.jsonl": "{}\n", "ref/z.jsonl": "{}\n"})
	list := func(inputs ...string) []File {
		files, err := list(t, inputs...)
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	files, err := WithReference(list("ref"), list("in"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		files[i].Generation = ""
		files[i].Identity = Identity{}
		files[i].Below = 0
		files[i].Short = ""
		files[i].Long = ""
	}
	want := []File{
		{Path: "ref/b.jsonl", Name: "ref/b.jsonl", Size: 3, Reference: true},
		{Path: "ref/z.jsonl", Name: "z.jsonl", Size: 3, Reference: true},
		{Path: "in/a.jsonl", Name: "a.jsonl", Size: 3},
		{Path: "in/b.jsonl", Name: "in/b.jsonl", Size: 3},
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := WithReference(list("ref"), list("ref/b.jsonl", "in")); err == nil ||
		!strings.Contains(err.Error(), "ref/b.jsonl of input and ref/b.jsonl of reference are one file") {
		t.Errorf("error %v, want one that names the file in both", err)
	}
}
