package documents

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work/worktest"
)

// TestPages: a document with an address is a page of a site and is counted there. Others are counted as such.
func TestPages(t *testing.T) {
	marking := Marking{Pages: Paging{Rule: "host", URL: "url", Date: "date"}}
	m, err := newMarker(marking, nil, 5)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, field := range marking.fields() {
		at[field] = i
	}
	long := "http://a.org/" + strings.Repeat("x", 3000)
	b := newBlock(0, 0)
	for i, d := range []struct{ url, date, login, language, canonical string }{
		{"http://www.a.org/1", "2020-01-03", "", "en-GB", "https://b.org/"},
		{"https://a.org/1?sid=8", "2020-01-02T00:00:00Z", "true", "eng", "https://www.a.org/1"},
		{"", "2020-01-01", "", "", ""},
		{"mailto:x@a.org", "", "", "", ""},
		{"http://b.org/index.html", "soon", "false", "Swiss German", "/relative"},
		{long, "", "", "gsw", ""},
		{"123", "", "", "", ""},
		{"http://a.org:99999/", "", "", "", ""},
	} {
		r := &Record{Content: corpus.Record{Others: make([][]byte, len(at))}}
		for field, value := range map[string]string{
			"url":            d.url,
			"date":           d.date,
			"password_input": d.login,
			"language":       d.language,
			"canonical":      d.canonical,
		} {
			if value != "" {
				r.Content.Others[at[field]] = []byte(value)
			}
		}
		m.pages.add(b, docref.Ref(10*i), r, &corpus.File{Format: corpus.JSONLines}, make([]uint64, 100+i))
	}
	if b.Counts.Unsited != 4 || len(b.sites.pages) != 2 {
		t.Errorf("%d documents without a site, %d sites", b.Counts.Unsited, len(b.sites.pages))
	}
	if rejects := string(b.rejects); b.Counts.Rejected != 2 ||
		!strings.Contains(rejects, `url is no address of a page: \"123\"`) || !strings.Contains(rejects, ":99999") {
		t.Errorf("%d rejects: %s", b.Counts.Rejected, rejects)
	}
	// the same pages in another file
	pages := Pages{slices.Concat(b.pages, b.pages), []pagePiece{{len(b.pages), 0}, {len(b.pages), 1 << 40}}}
	var got []records.Page
	for ref := docref.Ref(0); ref < 60; ref += 5 {
		if page, is := pages.Of(ref); is {
			got = append(got, page)
		}
	}
	moved, isMoved := pages.Of(1<<40 + 10)
	if len(got) != 4 || !isMoved || !reflect.DeepEqual(moved, got[1]) {
		t.Fatalf("pages %+v; in the other file %+v", got, moved)
	}
	one, same, other := got[0], got[1], got[2]
	if one.Site != same.Site || one.Path != same.Path || one.Login || !same.Login ||
		string(one.Address) != "http://www.a.org/1" {
		t.Errorf("pages %+v and %+v", one, same)
	}
	if other.Site == one.Site || other.Path == one.Path || !other.Start || one.Start || one.Original != other.Site ||
		same.Original != 0 || other.Login || len(got[3].Address) != mostAddressBytes {
		t.Errorf("pages %+v and %+v", other, got[3])
	}
	if en := [3]byte{'e', 'n'}; one.Language != en || same.Language != en || other.Language != [3]byte{} ||
		got[3].Language != [3]byte{'g', 's', 'w'} {
		t.Errorf("languages %q, %q, %q and %q", one.Language, same.Language, other.Language, got[3].Language)
	}
	if count := *b.sites.pages[one.Site]; count != (records.SiteCount{
		Site:   one.Site,
		Pages:  3,
		Text:   306,
		Logins: 1,
		First:  1577923200,
		Name:   "a.org",
	}) {
		t.Errorf("count %+v", count)
	}
	if count := *b.sites.pages[other.Site]; count.First != records.NoDate || count.Pages != 1 {
		t.Errorf("count %+v", count)
	}
}

// TestRedirects: a redirect to another site is counted, and goes to the shards of both sites, once if these are one.
func TestRedirects(t *testing.T) {
	marking := Marking{Pages: Paging{Rule: "host", URL: "url"}}
	m, err := newMarker(marking, nil, 5)
	if err != nil {
		t.Fatal(err)
	}
	fields, b := marking.fields(), newBlock(0, 0)
	for _, d := range [][2]string{
		{"http://a.org/1", "http://b.org/"},
		{"http://www.a.org/2", "https://b.org/2"},
		{"http://a.org/3", "http://www.a.org/"},
		{"", "http://b.org/"},
		{"http://a.org/4", ""},
	} {
		r := &Record{Content: corpus.Record{Others: make([][]byte, len(fields))}}
		r.Content.Others[slices.Index(fields, "url")], r.Content.Others[slices.Index(fields,
			"canonical")] = []byte(d[0]), []byte(d[1])
		m.pages.redirect(b, r, &corpus.File{Format: corpus.WARC})
	}
	m.pages.redirect(b, &Record{}, &corpus.File{Format: corpus.WARC})
	if len(b.sites.redirects) != 1 || len(b.sites.pages) > 0 || len(b.pages) > 0 {
		t.Fatalf("counts %v", b.sites)
	}
	var sites [2]uint64
	for sites = range b.sites.redirects {
	}
	for shards, shardOf := range map[int]func(uint64) int{
		1: func(uint64) int { return 0 },
		2: func(site uint64) int { return slices.Index(sites[:], site) },
	} {
		counts := newSiteCounts()
		counts.addAll(b.sites)
		got := worktest.Read(t, records.Redirects, worktest.Write(t, worktest.Runs(t), func(run *runfile.Writer) error {
			return counts.write(run, shardOf)
		}))
		for shard := range shards {
			one, rest := records.Next[records.Redirect](got[shard])
			if want := (records.Redirect{Site: sites[0], Other: sites[1], Pages: 2}); one != want || len(rest) > 0 ||
				len(got) != shards {
				t.Errorf("shard %d of %d: %+v, want %+v", shard, len(got), one, want)
			}
		}
	}
}

// TestNoPages: without a rule no document is a page, and nothing is read for that.
func TestNoPages(t *testing.T) {
	m, err := newMarker(Marking{}, nil, 5)
	if err != nil {
		t.Fatal(err)
	}
	b := newBlock(0, 0)
	m.pages.add(b, 1, &Record{}, &corpus.File{}, nil)
	if _, _, ok := m.pages.address(&Record{}, &corpus.File{}); ok || len(b.pages) > 0 || len(b.sites.pages) > 0 ||
		!reflect.DeepEqual(b.Counts, findings.Counts{}) {
		t.Errorf("pages %x of %d sites, counts %+v", b.pages, len(b.sites.pages), b.Counts)
	}
}

// TestSiteNames: a long name is cut between characters.
func TestSiteNames(t *testing.T) {
	for name, want := range map[string]string{
		"a.org": "a.org", strings.Repeat("é", 500): strings.Repeat("é", 500),
		"x" + strings.Repeat("é", 500): "x" + strings.Repeat("é", 499) + "…",
	} {
		if got := shortText(name, mostSiteBytes); got != want {
			t.Errorf("%q is %q", name, got)
		}
	}
}

// TestAddressOfPath: the site of a page that is a file is the folder with the name of a host, wherever the input
// begins.
func TestAddressOfPath(t *testing.T) {
	for _, test := range []struct{ path, below, want string }{
		{"crawl/bakery.example/a/b.html", "bakery.example/a/b.html", "bakery.example/a/b.html"},
		{"crawl/bakery.example/b.html", "b.html", "bakery.example/b.html"},
		{"/data/crawl.io/bakery.example/a/b.html", "a/b.html", "bakery.example/a/b.html"},
		{
			"mirror/Project One/www.bakery.example/b.html", "Project One/www.bakery.example/b.html",
			"www.bakery.example/b.html",
		},
		{"mirror/Project One/index.html", "Project One/index.html", "Project One/index.html"},
		{"/data/sites/one/b.html", "b.html", "one/b.html"},
		{"/data/sites/one/b.html", "one/b.html", "one/b.html"},
		{
			"archive.org/web/bakery.example/b.html", "archive.org/web/bakery.example/b.html",
			"archive.org/web/bakery.example/b.html",
		},
		{"b.html", "b.html", "b.html"},
	} {
		if got := addressOfPath(&corpus.File{Path: test.path, Below: len(test.below)}); got != test.want {
			t.Errorf("%s of %s: %s, want %s", test.below, test.path, got, test.want)
		}
	}
	if got := addressOfPath(&corpus.File{
		Path:   "a.zip!/bakery.example/b.html",
		Below:  len("bakery.example/b.html"),
		Member: &corpus.Member{},
	}); got != "bakery.example/b.html" {
		t.Errorf("in an archive: %s", got)
	}
}
