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
	"mirrorbeam/internal/look/warnings"
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

// TestDrawnMirrorNights: where components stand, mirrors, sites and suspects are as a run over everything makes them, and changes as in a job that makes
// all anew each night. CASES and CASES_SEED are as in TestDrawnNights.
func TestDrawnMirrorNights(t *testing.T) {
	few := 8
	if testing.Short() {
		few = 3
	}
	first, cases := drawnCases(t, few)
	var stood, clustered int64
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
			anew := filepath.Join(t.TempDir(), "anew")
			for night := range 5 {
				if night > 0 {
					n.change(t)
				}
				n.draw(t, &config)
				s := n.run(t, config)
				stood, clustered = stood+s.Counts.Clustered-made(s), clustered+s.Counts.Clustered
				other := config
				other.State, other.Output, other.Republish = anew, filepath.Join(t.TempDir(), "out"), true
				isChanged := func(w warnings.Warning) bool { return w.Kind == warnings.ProtectedChanged }
				if again := runJob(t, other); slices.ContainsFunc(again.Warnings, isChanged) != slices.ContainsFunc(s.Warnings, isChanged) {
					t.Errorf("night %d: warnings %v, want %v", night, s.Warnings, again.Warnings)
				}
				if !bytes.Equal(readOutput(t, other.Output, output.Changes), readOutput(t, n.output, output.Changes)) {
					t.Errorf("night %d: the changes are not those of a job that makes all anew", night)
				}
				if _, err := state.Verify(t.Context(), config.State); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if !testing.Short() && stood < clustered/10 {
		t.Errorf("only %d of %d documents stood", stood, clustered)
	}
}

// TestMirrorsStand: components stand in a job about sites, wherever the last results are, and also where documents share ids. Where what they add to
// sites may be another thing, all are made anew.
func TestMirrorsStand(t *testing.T) {
	for _, isArchive := range []bool{false, true} {
		n, config := newSiteNight(t, 41, isArchive)
		whole := made(n.run(t, config))
		for night, c := range []struct {
			change func(c *job.Config)
			stands bool
		}{
			{func(*job.Config) {}, true},
			{func(*job.Config) { n.output = "" }, true},
			{func(c *job.Config) { c.MirrorThreshold, c.MirrorPages = .2, 3 }, true},
			{func(c *job.Config) {
				c.Rank = put(t, filepath.Join(t.TempDir(), "rank"), []byte("s1.of1.example\n"), plain)
			}, true},
			{func(c *job.Config) {
				c.Protected = put(t, filepath.Join(t.TempDir(), "protected"), []byte("s1.of1.example\ns2.of2.example\n"), plain)
			}, false},
			{func(c *job.Config) { c.Emit = append(c.Emit, output.Suspects) }, true},
			{func(c *job.Config) { c.MirrorSites = 3 }, false},
			{func(c *job.Config) { c.Emit = append(c.Emit, output.Clusters) }, false}, // whose rows are not there
			{func(*job.Config) {}, true},
			{func(*job.Config) { _ = os.Remove(filepath.Join(n.folder, n.names(t)[0])) }, true},
			{func(c *job.Config) { c.Republish = true }, false},
		} {
			n.families(t, fmt.Sprint([]string{"a", "m15", "z"}[night%3], night), 3, 1)
			c.change(&config)
			s := n.run(t, config)
			if stands := made(s) < whole/2; stands != c.stands {
				t.Errorf("night %d: %d of %d documents were labelled, at first %d", night, made(s), s.Counts.Clustered, whole)
			}
		}
	}
}
