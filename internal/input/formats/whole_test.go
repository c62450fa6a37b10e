package formats

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/util/corporatest"
)

// gzipped returns the content compressed.
func gzipped(t *testing.T, content string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestWhole: each text of a folder is a document, which has the name of the file.
func TestWhole(t *testing.T) {
	cut := gzipped(t, strings.Repeat("some text", 99))
	files := list(t, map[string]string{
		"b.txt":    "two\nlines",
		"a.md":     "",
		"c.go.gz":  gzipped(t, "package c"),
		"d.txt":    "zero\x00byte",
		"e.txt.gz": cut[:len(cut)-9],
		"f.txt":    strings.Repeat("x", 2000),
	})
	if len(files) != 1 || len(files[0].Members) != 6 {
		t.Fatalf("groups %+v", files)
	}
	got := documentsIn(t, files[0], idAndText, 1000)
	for i, want := range []document{
		{0, "a.md", "", ""},
		{1, "b.txt", "two\nlines", ""},
		{2, "c.go", "package c", ""},
		{3, "", "", "zero byte"},
		{4, "", "", "cut short"},
		{5, "", "", "more than the 1000 bytes"},
	} {
		if i < len(got) && want.fault != "" && strings.Contains(got[i].fault, want.fault) {
			got[i].fault = want.fault
		}
		if i >= len(got) || got[i] != want {
			t.Errorf("document %d of %+v, want %+v", i, got, want)
		}
	}
	all := documentsIn(t, files[0], corpus.Fields{Texts: []string{"title", "text"}}, 1<<20)
	if len(all) != 6 || all[1].texts != "|two\nlines" || all[5].fault != "" {
		t.Errorf("documents %.300v", all)
	}
}

// TestWholeSplits: a group is read in any parts.
func TestWholeSplits(t *testing.T) {
	contents := map[string]string{}
	for i := range 100 {
		contents[fmt.Sprintf("%03d.txt", i)] = strings.Repeat("x", i)
	}
	files := list(t, contents)
	for _, target := range []int64{1, 50, 1000, 1 << 20} {
		reader := NewReader(corpus.Limits{Line: 1000}, wanted(idAndText))
		next := int64(0)
		for _, split := range corpus.Splits(files, target) {
			for _, stretch := range split {
				if err := reader.Reset(files[stretch.File], stretch); err != nil {
					t.Fatal(err)
				}
				for batch, err := reader.Next(nil); err == nil; batch, err = reader.Next(nil) {
					for position, content := range batch.Records() {
						if position != next || len(content) != int(position) {
							t.Fatalf("target %d: %d bytes at %d, want %d", target, len(content), position, next)
						}
						next++
					}
				}
			}
		}
		if next != 100 {
			t.Errorf("target %d: %d documents", target, next)
		}
		reader.Close()
	}
}

// TestWholeChanged: a file that was written to after it was listed stops the job.
func TestWholeChanged(t *testing.T) {
	files := list(t, map[string]string{"a.txt": "one"})
	if err := os.WriteFile(files[0].Members[0].Path, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, err := range Batches(files[0], 0, corpus.Limits{Line: 100}, wanted(idAndText)) {
		if err == nil || !strings.Contains(err.Error(), "changed") {
			t.Errorf("error %v", err)
		}
	}
}

// TestProbe: the error for a missing field names the fields that exist.
func TestProbe(t *testing.T) {
	for _, test := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"a.jsonl": `{"text":"x"}`}, ""},
		{map[string]string{"a.jsonl": "{\"body\":\"x\"}\n\n{\"text\":\"x\"}"}, ""},
		{
			map[string]string{"a.jsonl": "{\"body\":\"x\"}\n\n{\"c\":{\"t\":1}}"},
			`no field "text" in the first 2 records; there are "body", "c", "c.t"`,
		},
		{
			map[string]string{"a.jsonl": strings.Repeat("{\"body\":\"x\"}\n", 2000)},
			`no field "text" in the first 1000 records; there are "body"`,
		},
		{map[string]string{"a.jsonl": "{\"body\":\"x\"}\n", "b.jsonl": "{\"text\":\"x\"}\n"}, ""},
		{map[string]string{"a.jsonl": "{\"body\":\"x\"}\n", "b.csv": "a,b\n1,2\n"}, `a.jsonl: no field "text"`},
		{map[string]string{"b.csv": "a,b\n1,2\n"}, `no field "text" in the first record; there are "a", "b"`},
		{map[string]string{"a.jsonl": "{}"}, `nor any other`},
		{map[string]string{"a.jsonl": "x\n"}, ""},
		{map[string]string{"a.jsonl": ""}, ""},
		{map[string]string{"a.txt": "x\n"}, ""},
		{
			map[string]string{"a.json": `{"v":1,"data":[{"text":"a"}],"n":[1]}`},
			`"data" is a list of objects; if these are the records, give --records data`,
		},
		{map[string]string{"a.json": `{"took":1,"hits":{"total":1,"hits":[ {"text":"a"}]}}`}, `--records hits.hits`},
		{map[string]string{"a.csv": "Export of today,x\nmore\n\nid,text,lang\n1,a,b\n"}, "give --skip-lines 2"},
		{map[string]string{"a.csv": "id,text,text\n1,a,b\n"}, `a.csv: the header names two columns "text": rename one`},
	} {
		err := Probe(list(t, test.files), wanted(idAndText), corpus.Limits{Line: 1000})
		if got := fmt.Sprint(err); err == nil && test.want != "" ||
			err != nil && (test.want == "" || !strings.Contains(got, test.want)) {
			t.Errorf("%v: error %v, want %q", test.files, err, test.want)
		}
	}
	if err := Probe(nil, wanted(idAndText), corpus.Limits{}); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"a.jsonl", "a.csv"} {
		content := map[string]string{"a.jsonl": `{"text":"x","title":"y"}`, "a.csv": "text,title\nx,y\n"}[name]
		for texts, want := range map[string]bool{"text,title": true, "text,titel": false, "titel,text": false} {
			fields := corpus.Fields{Texts: strings.Split(texts, ",")}
			err := Probe(list(t, map[string]string{name: content}), wanted(fields), corpus.Limits{Line: 1000})
			if (err == nil) != want {
				t.Errorf("%s, fields %s: error %v", name, texts, err)
			}
		}
	}
}

// TestSameDocumentsOfCorpora: the real corpus as lines, as CSV and as a folder of texts gives the same documents.
func TestSameDocumentsOfCorpora(t *testing.T) {
	path := corporatest.Path(t, "mirrors/etcd_docs.jsonl.zst")
	listing, err := corpus.List(t.Context(), []string{path}, corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := documentsIn(t, listing.Files[0], idAndText, 1<<20)
	folder := t.TempDir()
	table := []byte("text,id\n")
	for i, d := range want {
		table = fmt.Appendf(table, "\"%s\",\"%s\"\n", strings.ReplaceAll(d.texts, `"`, `""`),
			strings.ReplaceAll(d.id, `"`, `""`))
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%05d.txt", i)), []byte(d.texts), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	asTable := documentsOf(t, "a.csv", string(table), idAndText)
	listing, err = corpus.List(t.Context(), []string{folder}, corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	asTexts := documentsIn(t, corpus.Group(listing.Files)[0], idAndText, 1<<20)
	if len(want) < 500 || len(asTable) != len(want) || len(asTexts) != len(want) {
		t.Fatalf("%d lines, %d records, %d texts", len(want), len(asTable), len(asTexts))
	}
	for i, d := range want {
		if asTable[i].id != d.id || asTable[i].texts != strings.ReplaceAll(d.texts, "\r\n", "\n") ||
			asTexts[i].texts != d.texts {
			t.Errorf("document %s differs", d.id)
		}
	}
}

// TestPageTexts: a web page has its title and its headings as texts of their own.
func TestPageTexts(t *testing.T) {
	files := list(t, map[string]string{
		"a.html": "<title>A title</title><body><h1>A <i>heading</i></h1><p>more</p>",
		"b.html": "<body><p>no title",
	})
	fields := corpus.Fields{Texts: []string{"headings", "other", "text", "title"}}
	all := documentsIn(t, files[0], fields, 1<<20)
	if len(all) != 2 || !strings.HasPrefix(all[0].texts, "A heading\n||A title\nA heading\nmore") ||
		!strings.HasSuffix(all[0].texts, "|A title\n") || all[1].texts != "||no title\n|" {
		t.Errorf("documents %v", all)
	}
}
