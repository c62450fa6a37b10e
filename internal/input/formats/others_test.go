package formats

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/webtext"
)

// archived is an archive of two texts. One has an address.
const archived = "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: https://Example.org:80/a?b\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\none\r\n\r\n" +
	"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Identified-Content-Language: eng,deu\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\ntwo\r\n\r\n"

// redirect returns an archive of one redirect.
func redirect(location string) string {
	block := "HTTP/1.1 302 Found\r\nContent-Type: text/html\r\nLocation: " + location +
		"\r\n\r\n<link rel=canonical href=http://c.org/>"
	return fmt.Sprintf(
		"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.org/v1/x\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", len(block), block)
}

// TestOthers: formats other than lines tell a value apart from the lack of one. A cell that is empty is a value.
func TestOthers(t *testing.T) {
	w := wanted(corpus.Fields{ID: "id", Texts: []string{"text"}, Others: []string{"a", "b", "text"}})
	var rows bytes.Buffer
	type row struct {
		Text string   `parquet:"text"`
		A    *float64 `parquet:"a,optional"`
		B    *string  `parquet:"b,optional"`
	}
	half, empty := -.5, ""
	if err := parquet.Write(&rows, []row{{"one", &half, nil}, {"two", nil, &empty}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, content string
		want          []string
	}{
		{"a.csv", "b,text\n,one\n\"x, y\",two\n", []string{`<nil> "" "one"`, `<nil> "x, y" "two"`}},
		{"a.tsv", "a\ttext\tb\n1\tone\t\n", []string{`"1" "" "one"`}},
		{"a.txt", "one", []string{`<nil> <nil> <nil>`}},
		{"a.jsonl", `{"text":"one","a":"x"}` + "\n", []string{`"x" <nil> "one"`}},
		{
			"a.warc", archived,
			[]string{`"https://Example.org:80/a?b" "example.org" <nil> <nil> <nil>`, `<nil> <nil> <nil> "en" <nil>`},
		},
		{
			"b.warc", redirect("http://b.org/a?to=http://c.org/"),
			[]string{`"https://a.org/v1/x" "a.org" <nil> <nil> "http://b.org/a?to=http://c.org/"`},
		},
		{"c.warc", redirect("//b.org/a b"), []string{`"https://a.org/v1/x" "a.org" <nil> <nil> "https://b.org/a%20b"`}},
		{
			"d.warc", redirect("../v2/x?to=http://c.org/"),
			[]string{`"https://a.org/v1/x" "a.org" <nil> <nil> "https://a.org/v2/x?to=http://c.org/"`},
		},
		{"e.warc", redirect("http://b.org:x/%"), []string{`"https://a.org/v1/x" "a.org" <nil> <nil> <nil>`}},
		{"f.warc", redirect(""), []string{""}},
		{"a.parquet", rows.String(), []string{`"-0.5" <nil> "one"`, `<nil> "" "two"`}},
	} {
		files := list(t, map[string]string{c.name: c.content})
		w := w
		if files[0].Format == corpus.WARC {
			w.Fields.Others = []string{"url", "site", "text", "language", Canonical}
		}
		decoder := NewDecoder(w)
		var got []string
		for batch, err := range Batches(files[0], 0, corpus.Limits{Line: 1000}, w) {
			if err != nil {
				t.Fatal(err)
			}
			for position, record := range batch.Records() {
				content, err := decoder.Decode(&files[0], &batch, position, record)
				if _, is := errors.AsType[corpus.PassedOver](err); err != nil && !is {
					t.Fatal(err)
				}
				shown := ""
				for i, value := range content.Others {
					if i > 0 {
						shown += " "
					}
					if value == nil {
						shown += "<nil>"
					} else {
						shown += fmt.Sprintf("%q", value)
					}
				}
				got = append(got, shown)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestPagesInFields: pages in the fields of records of any format give their text, and values of their own where the
// record has none.
func TestPagesInFields(t *testing.T) {
	w := wanted(corpus.Fields{Texts: []string{"text", "more"}, Others: []string{TitleWords, Language}})
	w.TextForm, w.PageText = webtext.HTML, webtext.Main
	type row struct {
		Text string `parquet:"text"`
		More string `parquet:"more"`
	}
	const first, second = "<html lang=de><title>Ä 1.0</title><nav>menu</nav><p>one &amp;\ntwo</p><p>three</p>", "<p>x</p>\n"
	for name, content := range map[string]string{
		"a.jsonl":   `{"text":"<html lang=de><title>\u00c4 1.0</title><nav>menu</nav><p>one &amp;\ntwo</p><p>three</p>","more":"<p>x</p>\n"}` + "\n" + `{"more":"plain","text":"","title_words":"own"}`,
		"a.csv":     "text,more,title_words\n\"" + first + "\",\"" + second + "\",\n,plain,own\n",
		"a.parquet": parquetOf(t, row{first, second}, row{"", "plain"}),
	} {
		files, decoder := list(t, map[string]string{name: content}), NewDecoder(w)
		var got []string
		for batch, err := range Batches(files[0], 0, corpus.Limits{Line: 1000}, w) {
			if err != nil {
				t.Fatal(err)
			}
			for position, record := range batch.Records() {
				r, err := decoder.Decode(&files[0], &batch, position, record)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprintf("%q %q", r.Texts, r.Others))
			}
		}
		title, own := "Ä", "own"
		switch name {
		case "a.csv":
			title = "" // an empty cell is a value
		case "a.parquet":
			own = ""
		}
		if want := []string{
			fmt.Sprintf(`["Ä 1.0\none & two\nthree\n" "x\n"] [%q "de"]`, title),
			fmt.Sprintf(`["" "plain\n"] [%q ""]`, own),
		}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
