package corpus

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
)

// put writes a file of one line to a folder of any storage.
func putFile(t *testing.T, folder, name, content string) {
	t.Helper()
	path := storage.Join(folder, name)
	if storage.Scheme(folder) == "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := storage.WriteFile(path, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

// TestPassedFiles: the files of a folder that are no documents are counted by the reason, with an example, in every
// storage.
func TestPassedFiles(t *testing.T) {
	local := t.TempDir()
	_, stored := storagetest.NewMemory(t)
	for _, folder := range []string{local, stored} {
		for _, name := range []string{
			"a.jsonl", "b.csv.gz", "notes.txt", "x/p.pdf", "x/Q.PDF", "x/r.docx", "README", "x/y/s.pdf.gz",
			".hidden.pdf", "_private.jsonl", "z.a b", "w.",
			"_year=2024/c.jsonl", "_SUCCESS", "_temporary/0/part.jsonl", "_committed_77", ".git/config.jsonl",
			".gitattributes", "README.md", "dataset_infos.json",
		} {
			putFile(t, folder, name, "")
		}
		for input, want := range map[string]PassedFiles{
			folder: {
				Counts: map[string]int64{
					".txt":      1,
					".pdf":      3,
					".docx":     1,
					noEnding:    2,
					otherEnding: 1,
					hidden:      2,
					marker:      3,
					sideFile:    3,
				},
				Examples: map[string]string{
					".txt":      "notes.txt",
					".pdf":      "x/Q.PDF",
					".docx":     "x/r.docx",
					noEnding:    "README",
					otherEnding: "z.a b",
					hidden:      ".git/config.jsonl",
					marker:      "_SUCCESS",
					sideFile:    ".gitattributes",
				},
			},
			storage.Join(folder, "*.txt"):  {},
			storage.Join(folder, "README"): {},
		} {
			listing, err := List(t.Context(), []string{input}, Options{})
			if diff := cmp.Diff(want, listing.Passed); err != nil || diff != "" {
				t.Errorf("%s: %v, -want +got:\n%s", input, err, diff)
			}
			if input == folder && (len(listing.Files) != 4 || len(listing.Sides) != 3) {
				t.Errorf("%s: %v, %v", input, namesAndPaths(listing.Files), namesAndPaths(listing.Sides))
			}
		}
		listing, err := List(t.Context(), []string{folder}, Options{Format: Text.String()})
		if err != nil || listing.Passed.Counts["(none)"]+listing.Passed.Counts[".pdf"] > 0 {
			t.Errorf("texts are all files: %v, %v", listing.Passed, err)
		}
	}
}

// TestEarlierMembers: of files of one name in an archive the last is read, and the others are passed over. So are all
// whose name is hidden.
func TestEarlierMembers(t *testing.T) {
	var content bytes.Buffer
	w := tar.NewWriter(&content)
	for _, name := range []string{"a.jsonl", "./a.jsonl", "b.jsonl", "a.jsonl", ".c"} {
		text := fmt.Sprintf("{\"text\":\"%d\"}\n", content.Len())
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text)) // to memory
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.tar")
	if err := os.WriteFile(path, content.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	listing, err := List(t.Context(), []string{path}, Options{})
	want := PassedFiles{
		Counts:   map[string]int64{replaced: 2, hidden: 1},
		Examples: map[string]string{replaced: "a.jsonl", hidden: ".c"},
	}
	if diff := cmp.Diff(want, listing.Passed); err != nil || diff != "" || len(listing.Files) != 2 {
		t.Errorf("%v, %v, -want +got:\n%s", namesAndPaths(listing.Files), err, diff)
	}
}

// TestManyEndings: no number of endings takes much memory.
func TestManyEndings(t *testing.T) {
	l := lister{passed: map[string]passed{}}
	for i := range 10 * mostEndings {
		name := fmt.Sprintf("file.%d", i)
		l.pass(&candidate{File: File{Path: name}}, "")
	}
	if sum := l.passedFiles(); len(sum.Counts) != mostEndings+1 || sum.Counts[otherEnding] != 9*mostEndings {
		t.Errorf("%d endings, %d others", len(sum.Counts), sum.Counts[otherEnding])
	}
}

// TestFilesAddUp: of generated folders, with links, damage, hidden names and patterns, each file is read, cannot be
// read or is passed over.
func TestFilesAddUp(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	one := func(of ...string) string { return of[random.IntN(len(of))] }
	for round := range 60 {
		folder := t.TempDir()
		for range 1 + random.IntN(25) {
			name := one("", "", "_a/", ".git/", "b/c/", "_temporary/", "x=1/", "archive/") + one("_", "", "", ".") +
				one("a", "b1", "SUCCESS", "state", "run-AAAAAAAAAAAAAAAAAAAAAAAAAA") +
				one(".jsonl", ".txt", ".pdf", "", ".py", ".tar", ".json", ".html", ".csv", ".b1 z")
			path := filepath.Join(folder, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			var err error
			switch random.IntN(8) {
			case 0:
				err = os.Symlink("nowhere", path)
			case 1:
				err = os.Symlink(filepath.Join(folder, "b", "c"), path+"-more")
			case 2:
				err = os.Link(filepath.Join(folder, "zz.jsonl"), path)
			default:
				err = os.WriteFile(path, []byte(one("", "{}\n", "7z\xbc\xaf\x27\x1c", "\x02\x21\x4c\x18")), 0o600)
			}
			if err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
		putFile(t, folder, "zz.jsonl", "{}\n")
		options := Options{Format: one("", "text", "jsonl"), PrefersTexts: round%2 == 0}
		if round%3 == 0 {
			options.Exclude = []string{one("*.txt", "b/**", "_a", "c")}
		}
		if round%5 == 0 {
			options.Include = []string{one("*.txt", "b/*", "*.jsonl"), "zz.*"}
		}
		listing, err := List(t.Context(), []string{folder}, options)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		var all []string
		_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			info, _ := os.Stat(path)
			if err != nil || !entry.IsDir() && (info == nil || !info.IsDir()) {
				all = append(all, path)
			}
			return nil
		})
		sum := len(listing.Files) + len(listing.Unread)
		for _, files := range listing.Passed.Counts {
			sum += int(files)
		}
		if sum != len(all) {
			t.Errorf("round %d, %+v: %d files are read, %d cannot be, passed over: %v, of %d:\n%s", round, options,
				len(listing.Files), len(listing.Unread), listing.Passed.Counts,
				len(all), strings.Join(all, "\n"))
		}
	}
}

// TestUnreadOfFolders: a file that its name says to be of a known format, in a compression that is not read, and one in
// UTF-16 without a mark, are rejects that say what to do. Text is read whatever its name says of its compression.
func TestUnreadOfFolders(t *testing.T) {
	const packed, text = "\x1b\x07\x00\xf8\x25\x00\xa2\x98", "{\"text\":\"some words\"}\n"
	for name, test := range map[string]struct{ content, want string }{
		"a.jsonl.br":     {packed, "recompress it with zstd or gzip"},
		"a.csv.DEFLATE":  {packed, "recompress it with zstd or gzip"},
		"a.jsonl.lzma":   {"\x5d\x00\x00\x80\x00\xff\xff", "recompress it with xz"},
		"a.jsonl.snappy": {text, ""},
		"a.b.br":         {packed, ""}, // passed over
		"a.jsonl":        {"\x00" + strings.Join(strings.Split(text, ""), "\x00"), "give --encoding utf-16be"},
		"a.csv":          {strings.Join(strings.Split(text, ""), "\x00") + "\x00", "give --encoding utf-16le"},
	} {
		folder := t.TempDir()
		putFile(t, folder, name, test.content)
		putFile(t, folder, "z.jsonl", text)
		listing, err := List(t.Context(), []string{folder}, Options{})
		fault := ""
		for _, file := range listing.Unread {
			fault = file.Fault
		}
		if err != nil || (fault != "") != (test.want != "") || !strings.Contains(fault, test.want) {
			t.Errorf("%s: %q, want %q; %v", name, fault, test.want, err)
		}
		if listing, err := List(t.Context(), []string{folder}, Options{Charset: "utf-16le"}); err != nil ||
			strings.Contains(test.want, "--encoding") && len(listing.Unread) > 0 {
			t.Errorf("%s with an encoding: %v, %v", name, listing.Unread, err)
		}
	}
}

// TestLinksOfArchives: links in an archive are passed over and counted, unless a file of the same name follows.
func TestLinksOfArchives(t *testing.T) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, header := range []tar.Header{
		{Name: "a.jsonl", Typeflag: tar.TypeReg, Size: 3},
		{Name: "folder", Typeflag: tar.TypeDir},
		{Name: "folder/symbolic.jsonl", Typeflag: tar.TypeSymlink, Linkname: "a.jsonl"},
		{Name: "hard.jsonl", Typeflag: tar.TypeLink, Linkname: "a.jsonl"},
		{Name: "replaced.jsonl", Typeflag: tar.TypeLink, Linkname: "a.jsonl"},
		{Name: "replaced.jsonl", Typeflag: tar.TypeReg, Size: 3},
	} {
		if err := w.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("{}\n")[:header.Size]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	putFile(t, folder, "all.tar", archive.String())
	listing, err := List(t.Context(), []string{folder}, Options{})
	if err != nil || len(listing.Files) != 2 || listing.Passed.Counts[noFile] != 2 {
		t.Errorf("%d files, %v, %v", len(listing.Files), listing.Passed, err)
	}
}

// TestIncludeExclude: patterns choose among the files of folders, patterns and names, in every storage.
func TestIncludeExclude(t *testing.T) {
	local := t.TempDir()
	_, stored := storagetest.NewMemory(t)
	for _, folder := range []string{local, stored} {
		for _, name := range []string{"a.jsonl", "old/b.jsonl", "new/old/c.jsonl", "new/d.csv", "e.dat"} {
			putFile(t, folder, name, "{}\n")
		}
		for _, test := range []struct {
			input            string
			include, exclude []string
			want             string
		}{
			{"", nil, []string{"old"}, "a.jsonl new/d.csv"},
			{"", nil, []string{"old/*"}, "a.jsonl new/d.csv new/old/c.jsonl"},
			{"", nil, []string{"**/old/*"}, "a.jsonl new/d.csv"},
			{"", nil, []string{"*.jsonl"}, "new/d.csv"},
			{"", []string{"new/**"}, nil, "new/d.csv new/old/c.jsonl"},
			{"", []string{"*.dat"}, nil, "e.dat"},
			{"", []string{"*.jsonl"}, []string{"a.*", "new"}, "old/b.jsonl"},
			{"**", nil, []string{"*.dat", "old"}, "a.jsonl new/d.csv"},
			{"a.jsonl", nil, []string{"a.csv"}, "a.jsonl"},
		} {
			input := folder
			if test.input != "" {
				input = folder + "/" + test.input
			}
			listing, err := List(t.Context(), []string{input}, Options{Include: test.include, Exclude: test.exclude})
			var got []string
			for _, file := range listing.Files {
				got = append(got, file.Name)
			}
			slices.Sort(got)
			if err != nil || strings.Join(got, " ") != test.want {
				t.Errorf("%+v: %v, %v", test, got, err)
			}
			for _, pattern := range slices.Concat(test.include, test.exclude) {
				if listing.Passed.Matched[pattern] == (pattern == "a.csv") {
					t.Errorf("%+v: matched: %v", test, listing.Passed.Matched)
				}
			}
		}
		_, err := List(t.Context(), []string{folder}, Options{Include: []string{"d/*"}})
		if want := "5 files are not included, such as a.jsonl: patterns of --include and --exclude"; err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
		if _, err := List(t.Context(), []string{folder + "/a.jsonl"}, Options{Exclude: []string{"a.*"}}); err == nil ||
			!strings.Contains(err.Error(), "leave no file") {
			t.Errorf("error %v of a file that is named and excluded", err)
		}
	}
}

// TestTables: a folder whose log says which of its files are still part of a table is refused, with the command that
// exports them. So is a pattern in it, and a partition. Files that are named are read.
func TestTables(t *testing.T) {
	local := t.TempDir()
	_, stored := storagetest.NewMemory(t)
	for _, folder := range []string{local, stored} {
		for _, name := range []string{
			"delta/_delta_log/00000000000000000000.json", "delta/day=1/part.jsonl", "hudi/.hoodie/hoodie.properties",
			"hudi/part.jsonl",
			"ice/metadata/00001-a.metadata.json", "ice/data/part.jsonl", "plain/metadata/about.json",
			"plain/part.jsonl",
		} {
			putFile(t, folder, name, "{}\n")
		}
		for input, want := range map[string]string{
			"delta":                  "delta_scan(",
			"delta/day=1":            "delta_scan(",
			"delta/*/*.jsonl":        "delta_scan(",
			"delta/day=1/part.jsonl": "",
			"hudi":                   "USING hudi",
			"hudi/*.jsonl":           "USING hudi",
			"ice":                    "iceberg_scan(",
			"ice/data":               "iceberg_scan(",
			"plain":                  "",
		} {
			_, err := List(t.Context(), []string{folder + "/" + input}, Options{})
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s in %s: %v", input, folder, err)
			}
		}
	}
}

// TestPackagedCrawl: of a crawl that is saved as WACZ the archives are read, and not its lists of pages.
func TestPackagedCrawl(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{
		"datapackage.json", "datapackage-digest.json", "pages/pages.jsonl",
		"indexes/index.json", "archive/a.warc",
	} {
		putFile(t, folder, "crawl/"+name, "WARC/1.0\r\n")
	}
	for _, input := range []string{folder, filepath.Join(folder, "crawl")} {
		listing, err := List(t.Context(), []string{input}, Options{})
		if err != nil || len(listing.Files) != 1 || listing.Passed.Counts[sideFile] != 4 {
			t.Errorf("%v, %v, %v", namesAndPaths(listing.Files), listing.Passed, err)
		}
	}
}

// TestFewData: a folder of many texts is one of texts, whatever few files of data it has.
func TestFewData(t *testing.T) {
	folder := t.TempDir()
	putFile(t, folder, "options.json", "{}")
	for i := range 12 {
		putFile(t, folder, fmt.Sprint(i, ".txt"), "one two three")
		if listing, err := List(t.Context(), []string{folder}, Options{}); err != nil ||
			(listing.Files[0].Format == Text) != (i >= fewData-1) {
			t.Errorf("%d texts: %v, %v", i+1, namesAndPaths(listing.Files), err)
		}
	}
	if listing, err := List(t.Context(), []string{folder}, Options{PrefersTexts: true}); err != nil ||
		len(listing.Files) != 12 {
		t.Errorf("%v, %v", listing.Files, err)
	}
	putFile(t, folder, "large.json", strings.Repeat(" ", 1000))
	if listing, err := List(t.Context(), []string{folder}, Options{}); err != nil || listing.Files[0].Format == Text {
		t.Errorf("with a large file: %v, %v", namesAndPaths(listing.Files), err)
	}
}

// TestOrderOfInputs: files come in the order of the inputs, then of their paths, and belong to the first input that
// they are reached by.
func TestOrderOfInputs(t *testing.T) {
	plant(t, map[string]string{
		"z/a.jsonl": "{}\n",
		"z/c.jsonl": "{}\n",
		"a/b.jsonl": "{}\n",
		"a/a.jsonl": "{}\n",
		"m.jsonl":   "{}\n",
	})
	for want, inputs := range map[string][]string{
		"z/a.jsonl z/c.jsonl a/a.jsonl a/b.jsonl": {"z", "a"},
		"a/a.jsonl a/b.jsonl z/a.jsonl z/c.jsonl": {"a", "z"},
		"m.jsonl z/c.jsonl z/a.jsonl a/b.jsonl":   {"m.jsonl", "z/c.jsonl", "z", "a/b.jsonl"},
	} {
		files, err := list(t, inputs...)
		var paths []string
		for _, file := range files {
			paths = append(paths, file.Path)
		}
		if err != nil || strings.Join(paths, " ") != want {
			t.Errorf("%v: %v, %v", inputs, paths, err)
		}
	}
}

// TestPlainInput: addresses of other tools are understood.
func TestPlainInput(t *testing.T) {
	for input, want := range map[string]string{
		"s3a://b/x":          "s3://b/x",
		"s3n://b/x":          "s3://b/x",
		"gcs://b/x":          "gs://b/x",
		"file:///a%20b/c":    "/a b/c",
		"file://localhost/a": "/a",
		"file:/a":            "file:/a",
		"s3://b":             "s3://b",
		"a/b":                "a/b",
	} {
		if got := plainInput(input); got != want {
			t.Errorf("%s: %s, want %s", input, got, want)
		}
	}
}

// TestReaches: a file belongs to an input that stands for it.
func TestReaches(t *testing.T) {
	for _, test := range []struct {
		input, path string
		want        bool
	}{
		{"/in", "/in/a/b.jsonl", true},
		{"/in", "/inner/b.jsonl", false},
		{"/in/b.jsonl", "/in/b.jsonl", true},
		{"/in/*.jsonl", "/in/b.jsonl", true},
		{"/in/*.jsonl", "/in/a/b.jsonl", false},
		{"/in/**/b*", "/in/a/b.jsonl", true},
		{"s3://b/in/*", "s3://b/in/a", true},
		{"s3://b/in", "s3://b/in/a", true},
		{"s3://b/in", "s3://c/in/a", false},
	} {
		if got := Reaches(test.input, test.path); got != test.want {
			t.Errorf("%s of %s: %v", test.path, test.input, got)
		}
	}
}
