package corpus

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestFilesWithoutEndings: of a folder of texts and pages, files whose names tell nothing are what their content says,
// in an archive as on the disk. What is no text is passed over, and counted. A folder of data has no such files, and
// with a format all files are of it.
func TestFilesWithoutEndings(t *testing.T) {
	const page, line = "<!DOCTYPE html><p>x", `{"text":"x"}` + "\n"
	plant(t, map[string]string{
		"site/index.html": page,
		"site/about":      page,
		"site/a.cgi?b=1":  page,
		"site/LICENSE":    "words",
		"site/part-00000": line,
		"site/logo.xyz":   "\x89PNG\r\n\x1a\n",
		"site/blob":       "a\x00b\x01",
		"site/paper":      "%PDF-1.7",
		"site/more.zip":   "x",
		"bare/about":      page,
		"bare/pic":        "\xff\xd8\xff\xe0",
		"data/a.jsonl":    line,
		"data/LICENSE":    "words",
		"data/part-0":     line,
		"data/README.md":  "words",
		"pics/a":          "GIF89a\x00\x00",
		"pics/b.png":      "\x89PNG\r\n\x1a\n",
	})
	for _, c := range []struct {
		folder, format string
		want           []string
		passed         map[string]int64
	}{
		{
			"site", "",
			[]string{"LICENSE text", "a.cgi?b=1 html", "about html", "index.html html", "part-00000 jsonl"},
			map[string]int64{
				"(none)": 2,
				".xyz":   1,
				".zip":   1,
			},
		},
		{"bare", "", []string{"about html"}, map[string]int64{"(none)": 1}},
		{"data", "", []string{"a.jsonl jsonl"}, map[string]int64{"(none)": 2, "(side file)": 1}},
		{"data", "jsonl", []string{"a.jsonl jsonl", "part-0 jsonl"}, map[string]int64{"(none)": 1, "(side file)": 1}},
		{"data", "csv", []string{"LICENSE csv", "a.jsonl csv", "part-0 csv"}, map[string]int64{"(side file)": 1}},
		{
			"site", "html",
			[]string{"LICENSE html", "a.cgi?b=1 html", "about html", "index.html html", "part-00000 html"},
			map[string]int64{
				"(none)": 2,
				".xyz":   1,
				".zip":   1,
			},
		},
		{"site", "parquet", nil, nil},
		{"pics", "", nil, nil},
	} {
		listing, err := List(t.Context(), []string{c.folder}, Options{Format: c.format})
		if _, isNoMatch := errors.AsType[*NoMatchError](err); err != nil && !(isNoMatch && c.want == nil) {
			t.Fatal(err)
		}
		var got []string
		for _, file := range listing.Files {
			got = append(got, fmt.Sprintf("%s %v", file.Name, file.Format))
		}
		if slices.Sort(got); !slices.Equal(got, c.want) || !maps.Equal(listing.Passed.Counts, c.passed) {
			t.Errorf("%s as %q: %q, passed over %v", c.folder, c.format, got, listing.Passed.Counts)
		}
	}
}

// TestFormatOf: what a file is, its content says; its name counts only where the content says nothing.
func TestFormatOf(t *testing.T) {
	const page = "<!DOCTYPE html><html><title>x</title>"
	for _, c := range []struct {
		names, content string
		want           Format
	}{
		{"a.php a.aspx a.jsp about index.html?p=3 index.php?id=1.5 index.html@p=3 a.txt a.cgi a.html.gz", page, HTML},
		{"a.php about", "\ufeff <!-- saved -->\n<?xml version='1.0'?>\n<!-- more --><HTML lang=de>", HTML},
		{"page", "<p>a part of a page", HTML},
		{"README.md a.txt a.vue", "<p align=center>words", Text},
		{"a.php", "<?php echo 1; ?>\n" + page, Text},
		{"a.jsp", "<%@ page language=java %>\n" + page, Text},
		{
			"items.jl a.txt a.log part-00000 x.jsonlines x.ldjson a.csv", `{"text":"a"}` + "\n" + `{"text":"b"}`,
			JSONLines,
		},
		{"a.txt part-00000", "{'text': 'a'}\n", JSONLines},
		{"a.txt", "{\\bf words of TeX}\n", Text},
		{"a.jl", "module A\nend\n", Text},
		{"a.json part a.jsonl a.txt", "[{\"text\":\"a\"}]", JSON},
		{"a.nix a.py a.md", "{ pkgs }: [\n", Text},
		{"inputrc.arrows a.parquet LICENSE a.po", "# words\nset x\n", Text},
		{"a.parquet", "words \x00\x15\x04", Parquet},
		{"a.csv", "id,text\n", CSV},
		{"a.csv", "", CSV},
		{"a[1]*?.csv why?.csv.gz a.html?b.csv", "id,text\n", CSV},
		{"a.csv?b=c.html", "id,text\n", CSV},
		{"a.srt a.vtt", "WEBVTT\n", Text},
		{"any", "PAR1\x15", Parquet},
	} {
		for name := range strings.FieldsSeq(c.names) {
			if got := formatOf("folder.csv/"+name, []byte(c.content), Text); got != c.want {
				t.Errorf("%s of %q is %v, want %v", name, c.content, got, c.want)
			}
		}
	}
	if got := formatOf("data", []byte("id,text\n"), JSONLines); got != JSONLines {
		t.Errorf("a file that is named, and tells nothing, is %v", got)
	}
}

// TestDumps: a file of many records of a kind that is not read is no text, unless its folder is searched or --format
// says so. A text in XML is one.
func TestDumps(t *testing.T) {
	row := "<row Id='1' Body='" + strings.Repeat("x", 5000) + "'/>\n"
	files := map[string]string{
		"Posts.xml": "\ufeff<?xml version='1.0' encoding='iso-8859-1'?>\n<posts>\n" + row + row + "</posts>",
		"wiki.xml":  "<mediawiki xmlns='x'><siteinfo/><page>",
		"a.sql":     "-- MySQL dump 10.13\n",
		"tweets.js": "window.YTD.tweets.part0 = [ {",
		"mbox":      "From a@b Mon\nDate: x\nSubject: y\n",
		"feed.xml":  "<rdf><item>a</item><item>b</item></rdf>",
	}
	texts := map[string]string{
		"b.xml":     "<?xml version='1.0'?><book><title>a</title><chapter>b</chapter></book>",
		"b.sql":     "select 1;",
		"b.js":      "window.x = 1;",
		"b.xhtml":   "<html><p>a</p><p>b</p></html>",
		"b.svg.txt": "<svg><path/><path/></svg>",
	}
	plant(t, files)
	for name := range files {
		_, err := list(t, name)
		if err == nil || !strings.Contains(err.Error(), "--format text") {
			t.Errorf("%s: error %v", name, err)
		}
		listing, err := List(t.Context(), []string{name}, Options{Format: Text.String()})
		if err != nil || len(listing.Files) != 1 {
			t.Errorf("%s as a text: %v", name, err)
		}
	}
	plant(t, texts)
	for name := range texts {
		if _, err := list(t, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
