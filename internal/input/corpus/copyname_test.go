package corpus

import (
	"strings"
	"testing"
)

// TestCopyName: a copy has the name and the folders of its input, wherever these would lead.
func TestCopyName(t *testing.T) {
	for _, test := range []struct {
		file File
		want string
	}{
		{
			File{Name: "lang=de/date=2024%2F01/part-0.jsonl", Path: "in/lang=de/date=2024%2F01/part-0.jsonl"},
			"lang=de/date=2024%2F01/part-0.jsonl",
		},
		{File{Name: "train/a.jsonl", Path: "/in/train/a.jsonl.gz", Compression: Gzip}, "train/a.jsonl.gz"},
		{File{Name: "a.csv", Path: "/in/a.csv.ZST", Compression: Zstd, Format: CSV}, "a.csv.ZST"},
		{File{Name: "a.jsonl", Path: "/in/a.jsonl.bz2", Compression: Bzip2}, "a.jsonl.zst"},
		{File{Name: "a", Path: "/in/a", Compression: XZ}, "a.zst"},
		{File{Name: "in/a.jsonl.gz", Path: "/home/in/a.jsonl.gz", Compression: Gzip}, "in/a.jsonl.gz"},
		{File{Name: "a.gz", Path: "/in/a.gz.gz", Compression: Gzip}, "a.gz.gz"},
		{
			File{Name: "all.tar/b/a.jsonl", Path: "/in/all.tar.gz!/b/a.jsonl.gz", Compression: Gzip},
			"all.tar/b/a.jsonl.gz",
		},
		{File{Name: "/home/in/a.jsonl", Path: "/home/in/a.jsonl"}, "home/in/a.jsonl"},
		{File{Name: "s3://corpora/in/a.jsonl", Path: "s3://corpora/in/a.jsonl"}, "s3:/corpora/in/a.jsonl"},
		{File{Name: "../../in/./..a.jsonl", Path: "/in/..a.jsonl"}, "%2E%2E/%2E%2E/in/..a.jsonl"},
		{File{Name: "b\xff\n\\ü\uFFFD.jsonl", Path: "b\xff\n\\ü\uFFFD.jsonl"}, "b%FF%0A%5Cü\uFFFD.jsonl"},
		{File{Name: "a.jsonl", Path: "https://host/a.jsonl.gz?token=x", Compression: Gzip}, "a.jsonl.gz"},
		{File{Name: Stdin, Path: "/tmp/copy", Compression: Gzip, Format: JSONLines}, "-.jsonl.gz"},
	} {
		if got := test.file.CopyName(); got != test.want {
			t.Errorf("%q is copied as %q, want %q", test.file.Path, got, test.want)
		}
	}
}

// TestCheckCopyNames: copies that cannot lie in one tree are refused.
func TestCheckCopyNames(t *testing.T) {
	named := func(names ...string) (files []File) {
		for _, name := range names {
			files = append(files, File{Name: name, Path: "/in/" + name})
		}
		return files
	}
	reference := named("a/b")
	reference[0].Reference = true
	group := File{Members: named("a", "b")}
	for _, test := range []struct {
		files []File
		want  string
	}{
		{named("a/b", "a/c", "A/b", "summary.json", "ab"), ""},
		{append(reference, named("a/b")...), ""},
		{named("x", "../y", "%2E%2E/y"), "../y and /in/%2E%2E/y would both be called %2E%2E/y"},
		{append(named("a/b"), group), "the copy of /in/a would have the name of the folder of /in/a/b: a"},
		{append(named("b"), group), "the copies of /in/b and /in/b would both be called b"},
		{named("x/" + strings.Repeat("\xff", 100)), "a name of 300 bytes"},
	} {
		err := CheckCopyNames(test.files)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}
