package pipeline

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/look/warnings"
	"mirrorbeam/internal/settle/state"
)

// crawl is what a night has crawled, as JSON lines.
type crawl struct{ strings.Builder }

func (c *crawl) add(site, path, text string) {
	fmt.Fprintf(c, "{\"id\":\"https://%s/%s\",\"url\":\"https://%s/%s\",\"text\":%q}\n", site, path, site, path, text)
}

// watchedNight is a night of a watch over bank.example.
type watchedNight struct {
	crawl   []func(*crawl)
	changes []string // of suspects and protected sites
	failing string
}

// watchNights runs a watch for some nights, and acknowledges the changes of each.
func watchNights(t *testing.T, nights []watchedNight) {
	t.Helper()
	config := testConfig(t, t.TempDir())
	config.State, config.FailOn = filepath.Join(t.TempDir(), "state"), []string{"new-suspects", "gone-suspects", "protected-changed"}
	config.AllowRemoval, config.Threshold, config.MirrorPages = true, 0.5, 1
	config.Emit = []string{output.Suspects}
	config.Protected = put(t, filepath.Join(t.TempDir(), "protected"), []byte("bank.example\n"), plain)
	for i, night := range nights {
		var crawled crawl
		for _, crawl := range night.crawl {
			crawl(&crawled)
		}
		put(t, filepath.Join(config.Input[0], "crawl.jsonl"), []byte(crawled.String()), plain)
		config.Output = filepath.Join(t.TempDir(), "out")
		s := runJob(t, config)
		acknowledge(t, config.State)
		var got []string
		for _, change := range decodeRows[output.Change](t, output.Changes, readOutput(t, config.Output, output.Changes)) {
			if change.Of == output.Suspects || change.Of == output.Protected {
				got = append(got, fmt.Sprintf("%s %s %d", change.Change, change.Name, change.Size))
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, night.changes) || strings.Join(s.Failing(), " ") != night.failing {
			t.Errorf("night %d: %q and %v, want %q and %s", i+1, got, s.Failing(), night.changes, night.failing)
		}
		if isWarned := slices.ContainsFunc(s.Warnings, func(w warnings.Warning) bool { return w.Kind == warnings.ProtectedChanged }); isWarned != strings.Contains(night.failing, "protected") {
			t.Errorf("night %d: warnings %v", i+1, s.Warnings)
		}
	}
}

// texts returns texts of sixty words each that have nothing in common.
func texts(n int) []string {
	w, all := newWriter(91), make([]string, n)
	for i := range all {
		all[i] = strings.Join(w.text(60), " ")
	}
	return all
}

// TestWatchedNights: an enemy who floods the crawl with copies, an original that is out of order for a night and a suspect that was not
// crawled neither silence a known alert nor hide a new one.
func TestWatchedNights(t *testing.T) {
	texts := texts(14)
	bank := func(text func(i int) string) func(*crawl) {
		return func(c *crawl) {
			for i := range 10 {
				c.add("bank.example", fmt.Sprint("p", i), text(i))
			}
		}
	}
	own := bank(func(i int) string { return texts[i] })
	copies := func(c *crawl) {
		for i := range 4 {
			c.add("copy.test", fmt.Sprint("c", i), texts[i])
		}
		c.add("bank-login.test", "in", texts[0])
	}
	flood := func(c *crawl) {
		for i := range 110 {
			c.add(fmt.Sprintf("s%d.evil.test", i), "in", texts[0])
		}
	}
	page := func(site, path string, text int) func(*crawl) {
		return func(c *crawl) { c.add(site, path, texts[text]) }
	}
	watchNights(t, []watchedNight{
		{[]func(*crawl){own, copies}, []string{"new bank-login.test 1", "new copy.test 4"}, "new-suspects"},
		{[]func(*crawl){own, copies, flood}, []string{"new https://bank.example/p0 110"}, "new-suspects"},
		{[]func(*crawl){own, copies, flood, page("bank.example.login.test", "x", 0), page("portal.test", "in", 0)}, []string{
			"grown https://bank.example/p0 111", "new bank.example.login.test 1", "new portal.test 1",
		}, "new-suspects"},
		{[]func(*crawl){bank(func(int) string { return texts[10] }), copies, flood}, []string{
			"changed bank.example 1", "unseen bank-login.test 1", "unseen bank.example.login.test 1", "unseen copy.test 4", "unseen https://bank.example/p0 111", "unseen portal.test 1",
		}, "protected-changed"},
		{[]func(*crawl){own, copies, flood}, []string{"shrunk https://bank.example/p0 110"}, ""},
		{[]func(*crawl){own, flood, page("bank-login.test", "in", 11)}, []string{"gone bank-login.test 0", "unseen copy.test 4"}, "gone-suspects"},
		{[]func(*crawl){own, page("copy.test", "c0", 12)}, []string{"gone copy.test 0", "unseen https://bank.example/p0 110"}, "gone-suspects"},
		{[]func(*crawl){copies}, []string{"changed bank.example 0"}, "protected-changed"},
	})
}

// TestGoneByContent: a suspect has gone only if what it had copied is still there. Else the original may be out of order, however many
// pages the protected site has.
func TestGoneByContent(t *testing.T) {
	texts := texts(14)
	// The bank has a number of pages, and some are others than they were: all of one error, or each of another.
	bank := func(pages int, other map[int]int) func(*crawl) {
		return func(c *crawl) {
			for i := range pages {
				text := i
				if of, is := other[i]; is {
					text = of
				}
				c.add("bank.example", fmt.Sprint("p", i), texts[text])
			}
		}
	}
	has := func(site string, text string) func(*crawl) { return func(c *crawl) { c.add(site, "in", text) } }
	copies, other := has("copy.test", texts[0]), has("copy.test", texts[13])
	lost := []string{"changed bank.example 1", "unseen copy.test 1"}
	for _, c := range []struct {
		name    string
		bank    func(*crawl)
		changed func(*crawl)
		pages   int
	}{
		{"the only page shows an error", bank(1, nil), bank(1, map[int]int{0: 10}), 1},
		{"the copied one of ten pages shows an error", bank(10, nil), bank(10, map[int]int{0: 10}), 10},
		{"the copied one of ten pages is a page of the others", bank(10, nil), bank(10, map[int]int{0: 3}), 9},
		{"two pages show different errors", bank(2, nil), bank(2, map[int]int{0: 10, 1: 11}), 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			lost[0] = fmt.Sprint("changed bank.example ", c.pages)
			watchNights(t, []watchedNight{
				{[]func(*crawl){c.bank, copies}, []string{"new copy.test 1"}, "new-suspects"},
				{[]func(*crawl){c.changed, copies}, lost, "protected-changed"},
				{[]func(*crawl){c.changed, other}, lost[:1], "protected-changed"},
				{[]func(*crawl){c.bank, copies}, nil, ""},
				{[]func(*crawl){c.bank, other}, []string{"gone copy.test 0"}, "gone-suspects"},
				{[]func(*crawl){c.changed, other}, nil, ""},
			})
		})
	}
	// A page with a few other words each night is still there.
	words := strings.Fields(texts[0])
	words[30] = "tuesday"
	watchNights(t, []watchedNight{
		{[]func(*crawl){bank(1, nil), copies}, []string{"new copy.test 1"}, "new-suspects"},
		{[]func(*crawl){has("bank.example", strings.Join(words, " ")), other}, []string{"gone copy.test 0"}, "gone-suspects"},
	})
}

// acknowledge takes note of all changes of a state.
func acknowledge(t *testing.T, folder string) {
	t.Helper()
	s, err := state.Open(folder, "a test")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Acknowledge(s.Last.Number); err != nil {
		t.Fatal(err)
	}
}
