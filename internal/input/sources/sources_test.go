package sources

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
)

func TestDivide(t *testing.T) {
	text := func(path string) File { return File{Path: path, Bytes: 1, IsDocument: true} }
	lines := func(path string) File { return File{Path: path, Bytes: 1} }
	many := func(format string, n int, file func(string) File) (files []File) {
		for i := range n {
			files = append(files, file(fmt.Sprintf(format, i)))
		}
		return files
	}
	for _, test := range []struct {
		name  string
		files []File
		want  []Source
	}{
		{"none", nil, nil},
		{"one file", []File{lines("/a/b/x.jsonl")}, []Source{{Name: "x.jsonl", Files: 1}}},
		{
			"few files",
			[]File{lines("/a/b/x.jsonl"), lines("/a/b/y/x.jsonl"), lines("/a/bc.jsonl")},
			[]Source{{Name: "b/x.jsonl", Files: 1}, {Name: "b/y/x.jsonl", Files: 1}, {Name: "bc.jsonl", Files: 1}},
		},
		{
			"many files in two folders",
			append(many("/a/x/%d.jsonl", 4, lines), many("/a/y/1/2/%d.jsonl", 2, lines)...),
			[]Source{{Name: "x", Files: 4}, {Name: "y", Files: 2}},
		},
		{
			"folders at the second level",
			append(many("/a/x/1/%d.jsonl", 3, lines), many("/a/x/2/%d.jsonl", 2, lines)...),
			[]Source{{Name: "1", Files: 3}, {Name: "2", Files: 2}},
		},
		{"texts are no sources", many("/a/b/%d.txt", 7, text), []Source{{Name: ".", Files: 7}}},
		{
			"texts beside lines", append(many("/a/b/%d.txt", 7, text), lines("/a/x.jsonl")),
			[]Source{{Name: "b", Files: 7}, {Name: "x.jsonl", Files: 1}},
		},
		{
			"too many files",
			append(many("/a/%d.jsonl", 5, lines), File{Path: "/a/z.jsonl", Bytes: 9}),
			[]Source{{Name: "0.jsonl", Files: 1}, {Name: "1.jsonl", Files: 1}, {Name: "z.jsonl", Files: 1}, {
				Name:  "(3 others)",
				Files: 3,
			}},
		},
		{
			"a bucket and a disk",
			[]File{lines("gs://bucket/x.jsonl"), lines("/a/x.jsonl")},
			[]Source{{Name: "/a/x.jsonl", Files: 1}, {Name: "gs://bucket/x.jsonl", Files: 1}},
		},
		{
			"a folder whose name begins another",
			append(many("/data/%d.jsonl", 1, lines), many("/data2/%d.jsonl", 1, lines)...),
			[]Source{{Name: "data/0.jsonl", Files: 1}, {Name: "data2/0.jsonl", Files: 1}},
		},
	} {
		d := Divide(slices.Values(test.files), 4)
		if !reflect.DeepEqual(d.Sources, test.want) {
			t.Errorf("%s: sources %v, want %v", test.name, d.Sources, test.want)
		}
		var files Tally
		for _, file := range test.files {
			files.Add(d.Number(file), 1)
		}
		for i, source := range d.Sources {
			if files.Of(Number(i)) != int64(source.Files) {
				t.Errorf("%s: %d files are of %s, which has %d", test.name, files.Of(Number(i)), source.Name,
					source.Files)
			}
		}
	}
}

func TestSet(t *testing.T) {
	var s Set
	for _, n := range []Number{0, 63, 64, Most - 1} {
		s.Put(n)
		s.Put(n)
	}
	s.Remove(63)
	s.Remove(1)
	if got := slices.Collect(s.All); !slices.Equal(got, []Number{0, 64, Most - 1}) || s.Has(63) || !s.Has(64) {
		t.Errorf("the set is %v", got)
	}
	other := Set{1 << 5, 1}
	s.PutAll(other)
	if got := slices.Collect(s.All); !slices.Equal(got, []Number{0, 5, 64, Most - 1}) {
		t.Errorf("with %v the set is %v", slices.Collect(other.All), got)
	}
	s.RemoveAll(other)
	if got := slices.Collect(s.All); !slices.Equal(got, []Number{0, Most - 1}) {
		t.Errorf("without %v the set is %v", slices.Collect(other.All), got)
	}
	for range s.All {
		break // it must end here
	}
}

func TestTable(t *testing.T) {
	all := []Source{{Name: "a", Files: 2}, {Name: "b", Files: 1}, {Name: "empty", Files: 1}, {
		Name:      "ref",
		Files:     1,
		Reference: true,
	}}
	var c Counts
	c.Documents.Add(0, 10)
	c.Documents.Add(1, 5)
	c.Documents.Add(1, 6)
	c.Documents.Add(3, 1)
	c.Removed.Add(1, 3)
	c.Share(1, Set{1<<0 | 1<<1})
	c.Share(1, Set{1 << 1})
	c.Share(1, Set{1 << 1})
	c.Share(0, Set{1 << 3})
	c.Share(0, Set{})
	want := []Row{
		{
			Source:    "b",
			Files:     1,
			Documents: 11,
			Removed:   3,
			Elsewhere: 1,
			In:        []Share{{Source: "b", Documents: 3}, {Source: "a", Documents: 1}},
		},
		{
			Source:    "a",
			Files:     2,
			Documents: 10,
			Elsewhere: 1,
			In:        []Share{{Source: "ref", Reference: true, Documents: 1}},
		},
		{Source: "ref", Reference: true, Files: 1, Documents: 1, In: []Share{}},
	}
	if got := Table(all, c); !reflect.DeepEqual(got, want) {
		t.Errorf("the table is %+v, want %+v", got, want)
	}
}

// TestTableIsBounded fills a table with more shares than it holds.
func TestTableIsBounded(t *testing.T) {
	var all []Source
	var c Counts
	for a := range Number(50) {
		all = append(all, Source{Name: fmt.Sprintf("%02d", a)})
		c.Documents.Add(a, 100)
		for b := range Number(50) {
			c.shared(a).Add(b, 1+int64(a+b)%3)
		}
	}
	listed, more := 0, 0
	for _, row := range Table(all, c) {
		listed += len(row.In)
		more += row.MoreIn
		for _, share := range row.In {
			if share.Documents < 2 {
				t.Errorf("%s is in %s with %d: the larger shares come first", row.Source, share.Source, share.Documents)
			}
		}
	}
	if listed != mostShares || listed+more != 2500 {
		t.Errorf("%d shares are listed and %d are not", listed, more)
	}
}
