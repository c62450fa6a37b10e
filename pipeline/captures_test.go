package pipeline

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/schema/output"
)

// visit is a record of a web archive: a page, and where and when it was fetched.
type visit struct{ id, url, date, text string }

func archiveOf(visits ...visit) []byte {
	var b bytes.Buffer
	for _, v := range visits {
		fmt.Fprintf(&b,
			"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <%s>\r\nWARC-Target-URI: %s\r\nWARC-Date: %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
			v.id, v.url, v.date, len(v.text), v.text)
	}
	return b.Bytes()
}

const (
	foxText  = "the quick brown fox jumps over the lazy dog and runs away from the angry farmer at night"
	crowText = "a crow having stolen a bit of cheese perched in a tree and held it in her beak for long"
)

// visits are two captures of a page, one of another page with the same text, and a page that nothing is like. One URL
// is too long, and one is no UTF-8.
func visits() []visit {
	return []visit{
		{"urn:1", "https://a.org/fox", "2024-01-01T00:00:00Z", foxText},
		{"urn:2", "https://a.org/fox", "2025-01-01T00:00:00Z", foxText + " again"},
		{"urn:3", "https://b.org/caf\xe9", "2025-01-02T00:00:00Z", foxText},
		{"urn:4", "https://c.org/" + strings.Repeat("x", 3000), "2025-01-03T00:00:00Z", crowText},
		{"urn:5", "", "2025-01-04T00:00:00Z", crowText},
	}
}

// TestCaptures: each row about a document of a web archive says from where and when it was fetched.
func TestCaptures(t *testing.T) {
	config := testConfig(t, put(t, filepath.Join(t.TempDir(), "crawl.warc"), archiveOf(visits()...), gzipped))
	config.Emit = []string{output.Clusters, output.Pairs, output.Removed, output.Sketches}
	config.Threshold = .7
	runJob(t, config)
	long := "https://c.org/" + strings.Repeat("x", 2048-len("https://c.org/"))
	want := map[string][2]string{
		"urn:1": {"https://a.org/fox", "2024-01-01T00:00:00Z"},
		"urn:2": {"https://a.org/fox", "2025-01-01T00:00:00Z"},
		"urn:3": {"https://b.org/caf\ufffde9", "2025-01-02T00:00:00Z"},
		"urn:4": {long, "2025-01-03T00:00:00Z"},
		"urn:5": {"", "2025-01-04T00:00:00Z"},
	}
	found := map[string][2]string{}
	for _, m := range readRows[output.Member](t, config.Output, output.Clusters) {
		found[m.ID] = [2]string{m.URL, m.Date}
	}
	if !maps.Equal(found, want) {
		t.Errorf("clusters: %v, want %v", found, want)
	}
	for _, s := range readRows[output.Sketch](t, config.Output, output.Sketches) {
		if got := [2]string{s.URL, s.Date}; got != want[s.ID] {
			t.Errorf("sketches: %v of %s, want %v", got, s.ID, want[s.ID])
		}
	}
	for _, r := range readRows[output.Removal](t, config.Output, output.Removed) {
		if got, kept := [2]string{r.URL, r.Date},
			[2]string{r.KeptURL, r.KeptDate}; got != want[r.ID] || kept != want[r.KeptID] {
			t.Errorf("removed: %v of %s for %v of %s", got, r.ID, kept, r.KeptID)
		}
	}
	pairs := readRows[output.Pair](t, config.Output, output.Pairs)
	for _, p := range pairs {
		if a, b := [2]string{p.URLA, p.DateA}, [2]string{p.URLB, p.DateB}; a != want[p.A] || b != want[p.B] {
			t.Errorf("pairs: %v of %s and %v of %s", a, p.A, b, p.B)
		}
	}
	if len(pairs) < 3 {
		t.Errorf("%d pairs", len(pairs))
	}
}

// TestCapturesElsewhere: a run with a state, one that leaves out common shingles and one that writes tables say the
// same. A job without web archives has no columns for it.
func TestCapturesElsewhere(t *testing.T) {
	dir := t.TempDir()
	archive := put(t, filepath.Join(dir, "crawl.warc"), archiveOf(visits()...), plain)
	config := testConfig(t, archive)
	config.Emit, config.Threshold = config.Emit[:2], .7
	runJob(t, config)
	want := readOutput(t, config.Output, output.Clusters)

	common := config
	common.Common, common.Output = "1000", filepath.Join(dir, "common")
	runJob(t, common)
	if got := readOutput(t, common.Output, output.Clusters); !bytes.Equal(got, want) {
		t.Errorf("with common shingles: %s, want %s", got, want)
	}

	config.State, config.Output = filepath.Join(dir, "state"), filepath.Join(dir, "nights")
	for range 2 { // the second one reads no text
		config.Overwrite, config.Republish = true, true
		runJob(t, config)
		if got := readOutput(t, config.Output, output.Clusters); !bytes.Equal(got, want) {
			t.Errorf("with a state: %s, want %s", got, want)
		}
	}

	config.State = ""
	config.OutputFormat = output.Parquet
	config.Output = filepath.Join(dir, "tables")
	config.Republish = false
	runJob(t, config)
	var rows []output.Member
	for row, err := range output.Read[output.Member](t.Context(),
		filepath.Join(config.Output, "clusters-00000-of-00001.parquet"), output.Clusters, nil) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if lines := decodeRows[output.Member](t, output.Clusters, want); !slices.Equal(rows, lines) {
		t.Errorf("tables: %+v, want %+v", rows, lines)
	}
	config.Input, config.Output = []string{put(t, filepath.Join(dir, "in.jsonl"),
		[]byte(`{"id":"1","text":"a b c","url":"https://a.org/"}`+"\n"), plain)}, filepath.Join(dir, "others")
	runJob(t, config)
	if table := readFile(t, filepath.Join(config.Output, "clusters-00000-of-00001.parquet")); bytes.Contains(table,
		[]byte("url")) {
		t.Error("a job without web archives writes URLs")
	}
}
