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

// TestWatchedNights: an enemy who floods the crawl with copies, an original that is out of order for a night and a suspect that was not
// crawled neither silence a known alert nor hide a new one.
func TestWatchedNights(t *testing.T) {
	w := newWriter(91)
	texts := make([]string, 14)
	for i := range texts {
		texts[i] = strings.Join(w.text(60), " ")
	}
	var crawled strings.Builder
	add := func(site, path, text string) {
		fmt.Fprintf(&crawled, "{\"id\":\"https://%s/%s\",\"url\":\"https://%s/%s\",\"text\":%q}\n", site, path, site, path, text)
	}
	bank := func(text func(i int) string) {
		for i := range 10 {
			add("bank.example", fmt.Sprint("p", i), text(i))
		}
	}
	own := func(i int) string { return texts[i] }
	copies := func() {
		for i := range 4 {
			add("copy.test", fmt.Sprint("c", i), texts[i])
		}
		add("bank-login.test", "in", texts[0])
	}
	flood := func() {
		for i := range 110 {
			add(fmt.Sprintf("s%d.evil.test", i), "in", texts[0])
		}
	}
	config := testConfig(t, t.TempDir())
	config.State, config.FailOn = filepath.Join(t.TempDir(), "state"), []string{"new-suspects", "gone-suspects", "protected-changed"}
	config.AllowRemoval, config.Threshold, config.MirrorPages = true, 0.5, 1
	config.Emit = []string{output.Suspects}
	config.Protected = put(t, filepath.Join(t.TempDir(), "protected"), []byte("bank.example\n"), plain)
	for night, c := range []struct {
		crawl   []func()
		changes []string // of suspects and protected sites
		failing string
	}{
		{[]func(){func() { bank(own) }, copies}, []string{"new bank-login.test 1", "new copy.test 4"}, "new-suspects"},
		{[]func(){func() { bank(own) }, copies, flood}, []string{"new https://bank.example/p0 110"}, "new-suspects"},
		{[]func(){func() { bank(own) }, copies, flood, func() { add("bank.example.login.test", "x", texts[0]) }, func() { add("portal.test", "in", texts[0]) }}, []string{
			"grown https://bank.example/p0 111", "new bank.example.login.test 1", "new portal.test 1",
		}, "new-suspects"},
		{[]func(){func() { bank(func(int) string { return texts[10] }) }, copies, flood}, []string{
			"changed bank.example 1", "unseen bank-login.test 1", "unseen bank.example.login.test 1", "unseen copy.test 4", "unseen https://bank.example/p0 111", "unseen portal.test 1",
		}, "protected-changed"},
		{[]func(){func() { bank(own) }, copies, flood}, []string{"shrunk https://bank.example/p0 110"}, ""},
		{[]func(){func() { bank(own) }, flood, func() { add("bank-login.test", "in", texts[11]) }}, []string{"gone bank-login.test 0", "unseen copy.test 4"}, "gone-suspects"},
		{[]func(){func() { bank(own) }, func() { add("copy.test", "c0", texts[12]) }}, []string{"gone copy.test 0", "unseen https://bank.example/p0 110"}, "gone-suspects"},
		{[]func(){copies}, []string{"changed bank.example 0"}, "protected-changed"},
	} {
		crawled.Reset()
		for _, crawl := range c.crawl {
			crawl()
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
		if !slices.Equal(got, c.changes) || strings.Join(s.Failing(), " ") != c.failing {
			t.Errorf("night %d: %q and %v, want %q and %s", night+1, got, s.Failing(), c.changes, c.failing)
		}
		if isWarned := slices.ContainsFunc(s.Warnings, func(w warnings.Warning) bool { return w.Kind == warnings.ProtectedChanged }); isWarned != strings.Contains(c.failing, "protected") {
			t.Errorf("night %d: warnings %v", night+1, s.Warnings)
		}
	}
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
