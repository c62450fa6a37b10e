package pipeline

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/settle/state"
	"mirrorbeam/job"
)

// siteNight makes a crawl of many small families of copies, on a few sites.
type siteNight struct {
	*night
	isArchive bool // files are web archives, whose pages ask for passwords, have languages and say where they belong
}

// page writes a page. Some are the first of their site, and some have the address or the id of another one.
func (n *siteNight) page(to *bytes.Buffer, text string) {
	path := fmt.Sprint("p", n.random.IntN(40))
	if n.random.IntN(12) == 0 {
		path = ""
	}
	site := fmt.Sprintf("s%d.of%d.example", n.random.IntN(8), n.random.IntN(6))
	n.next++
	if !n.isArchive {
		id := n.next
		if n.random.IntN(15) == 0 {
			id = n.random.IntN(n.next)
		}
		fmt.Fprintf(to, "{\"id\":\"d%d\",\"text\":%q,\"url\":\"http://%s/%s\",\"date\":\"2026-11-%02d\"}\n", id, text, site, path, 1+n.random.IntN(28))
		return
	}
	head := ""
	if n.random.IntN(6) == 0 {
		head = fmt.Sprintf("<link rel=canonical href='http://s%d.of%d.example/'>", n.random.IntN(8), n.random.IntN(6))
	}
	body := fmt.Sprintf("<html lang=%s><head>%s</head><body><p>%s</p></body></html>", []string{"de", "en"}[n.random.IntN(2)], head, text)
	if n.random.IntN(6) == 0 {
		body = strings.Replace(body, "</body>", "<form><input type=password></form></body>", 1)
	}
	to.Write(answered(fmt.Sprintf("http://%s/%s", site, path), "200 OK", body))
}

// families writes a file of families of one to four pages: copies, and nearly copies. The first ones belong to families of other files.
func (n *siteNight) families(t *testing.T, name string, families, others int) {
	t.Helper()
	var b bytes.Buffer
	for family := range families {
		var words []string
		if family < others && len(n.texts) > 0 {
			words = strings.Fields(n.texts[n.random.IntN(len(n.texts))])
		} else {
			for range 30 + n.random.IntN(30) {
				words = append(words, fmt.Sprintf("%s%d", n.words[n.random.IntN(len(n.words))], n.random.IntN(1000)))
			}
		}
		for range 1 + n.random.IntN(4) {
			if n.random.IntN(2) == 0 {
				words[n.random.IntN(len(words))] = fmt.Sprint("v", n.next)
			}
			n.page(&b, strings.Join(words, " "))
		}
		n.texts = append(n.texts, strings.Join(words, " "))
	}
	ending := ".jsonl"
	if n.isArchive {
		ending = ".warc"
	}
	n.put(t, name+ending, b.Bytes())
}

// newSiteNight returns a crawl, and a job that finds mirrors in it.
func newSiteNight(t *testing.T, seed uint64, isArchive bool) (*siteNight, job.Config) {
	n := &siteNight{newNight(t, seed), isArchive}
	for file := range 4 {
		n.families(t, fmt.Sprint("m", file), 30, 0)
	}
	config := testConfig(t, n.folder)
	config.Emit, config.Threshold = []string{output.Mirrors, output.Sites}, 0.5
	config.MirrorThreshold, config.MirrorPages, config.Audit = 0.05, 2, "off"
	config.State, config.AllowRemoval = filepath.Join(t.TempDir(), "state"), true
	return n, config
}

// change lets some files come, change or go. Some bring nothing that is like old pages.
func (n *siteNight) change(t *testing.T) {
	t.Helper()
	names := n.names(t)
	for range 1 + n.random.IntN(2) {
		name, _, _ := strings.Cut(names[n.random.IntN(len(names))], ".")
		switch n.random.IntN(5) {
		case 0:
			for _, ending := range []string{".jsonl", ".warc"} {
				_ = os.Remove(filepath.Join(n.folder, name+ending)) // one of them is there
			}
		case 1:
			n.families(t, name, 5+n.random.IntN(25), n.random.IntN(4))
		default:
			n.families(t, fmt.Sprintf("%c%d", 'a'+n.random.IntN(26), n.random.IntN(3)), 1+n.random.IntN(8), n.random.IntN(4))
		}
	}
	n.put(t, "last.jsonl", fmt.Appendf(nil, "{\"id\":\"last%d\",\"text\":\"the last page of a night\",\"url\":\"http://last.example\"}\n", n.files))
}

// draw draws what may be another thing each night.
func (n *siteNight) draw(t *testing.T, config *job.Config) {
	t.Helper()
	list := func(name string) string {
		var b strings.Builder
		for range 1 + n.random.IntN(3) {
			fmt.Fprintf(&b, "s%d.of%d.example\n", n.random.IntN(8), n.random.IntN(6))
		}
		return put(t, filepath.Join(t.TempDir(), name), []byte(b.String()), plain)
	}
	if n.random.IntN(5) == 0 {
		config.Protected = list("protected")
	}
	if n.random.IntN(3) == 0 {
		config.Rank = list("rank")
	}
	if n.random.IntN(6) == 0 {
		config.MirrorSites = []int{3, 4, 100}[n.random.IntN(3)]
	}
	config.MirrorThreshold, config.MirrorPages = []float64{0.02, 0.05, 0.2}[n.random.IntN(3)], 1+n.random.Int64N(2)
	if n.random.IntN(4) == 0 {
		config.Emit = [][]string{
			{output.Mirrors, output.Sites, output.Suspects},
			{output.Suspects},
			{output.Mirrors, output.Sites},
			{output.Clusters, output.Pairs, output.Removed, output.Mirrors, output.Sites, output.Suspects},
			{output.Sites, output.Clusters},
		}[n.random.IntN(5)]
	}
	config.Republish = n.random.IntN(12) == 0
	if n.random.IntN(5) == 0 {
		n.output = "" // the last results are elsewhere
	}
}

// TestDrawnMirrorNights: mirrors, sites and suspects are as a run over everything makes them. CASES and CASES_SEED are as in TestDrawnNights.
func TestDrawnMirrorNights(t *testing.T) {
	few := 8
	if testing.Short() {
		few = 3
	}
	first, cases := drawnCases(t, few)
	for seed := first; seed < first+cases; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			n, config := newSiteNight(t, 9000+uint64(seed), seed%3 == 2)
			config.Keys = []methods.Name{methods.Exact, methods.MinHash, methods.SimHash}[n.random.IntN(3)]
			if config.Keys == methods.SimHash {
				config.Threshold, config.Hamming = job.Default().Threshold, 6
			}
			if config.Keys == methods.MinHash && n.random.IntN(2) == 0 {
				config.Audit = "50"
			}
			for night := range 5 {
				if night > 0 {
					n.change(t)
				}
				n.draw(t, &config)
				n.run(t, config)
				if _, err := state.Verify(t.Context(), config.State); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestPhishingKitGrows: a kit on very many sites keeps all of its suspects as one more site comes, and as pages come that have nothing to do with it.
func TestPhishingKitGrows(t *testing.T) {
	n := newNight(t, 43)
	page := func(to *bytes.Buffer, site, text string) {
		fmt.Fprintf(to, "{\"id\":%q,\"text\":%q,\"url\":\"http://%s/\"}\n", site, text, site)
	}
	words := make([]string, 60)
	for i := range words {
		words[i] = fmt.Sprint("word", i)
	}
	kits := func(name string, first, sites, others int) {
		var b bytes.Buffer
		for i := range sites {
			words := slices.Clone(words)
			words[n.random.IntN(60)] = fmt.Sprint("x", first+i)
			page(&b, fmt.Sprintf("kit%d.example", first+i), strings.Join(words, " "))
		}
		for i := range others {
			page(&b, fmt.Sprintf("other%d-%d.example", first, i), fmt.Sprint("a page like no other ", n.random.Uint64(), " ", n.random.Uint64(), " ", n.random.Uint64()))
		}
		n.put(t, name, b.Bytes())
	}
	var original bytes.Buffer
	page(&original, "bank.example", strings.Join(words, " "))
	n.put(t, "bank.jsonl", original.Bytes())
	kits("m.jsonl", 0, 200, 4000)
	config := testConfig(t, n.folder)
	config.Emit, config.Audit = []string{output.Mirrors, output.Suspects}, "off"
	config.Protected = put(t, filepath.Join(t.TempDir(), "protected"), []byte("bank.example\n"), plain)
	config.State = filepath.Join(t.TempDir(), "state")
	for run, more := range []func(){func() {}, func() { kits("a.jsonl", 1000, 1, 0) }, func() { kits("z.jsonl", 2000, 0, 1) }} {
		more()
		s := n.run(t, config)
		if want := int64(200 + min(run, 1)); s.Mirrors.Suspects != want || s.State.Changes[output.Suspects][output.Gone] > 0 {
			t.Errorf("run %d: %d suspects, want %d; changes %v", run, s.Mirrors.Suspects, want, s.State.Changes)
		}
	}
}
