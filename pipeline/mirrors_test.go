package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/result/warnings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// decodeLoose reads rows with fields that no test looks at.
func decodeLoose[Row any](t testing.TB, b []byte) (rows []Row) {
	t.Helper()
	for line := range bytes.Lines(b) {
		var row Row
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// ofSites returns documents as pages of some sites. One in twenty has no address, one in three no date.
func ofSites(lines []line, many int, seed uint64) []line {
	random := newWriter(seed).random
	lines = slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return l.kind == rejectLine })
	return marked(lines, func(i int, _ *line) map[string]string {
		fields := map[string]string{"password_input": fmt.Sprint(i%9 == 0)}
		if i%20 != 7 {
			fields["url"] = fmt.Sprintf(`"http://www.site%c.example/%d.html?utm_source=%d"`, 'a'+random.IntN(many),
				random.IntN(30), i)
		}
		if i%3 != 1 {
			fields["date"] = fmt.Sprintf(`"20%02d-%02d-11"`, 10+random.IntN(12), 1+random.IntN(12))
		}
		return fields
	})
}

// TestMirrorsKeep: the pages that are kept of two mirrors are the primary site's.
func TestMirrorsKeep(t *testing.T) {
	w := newWriter(86)
	for i := range 40 {
		text := w.set(w.text(60))
		for _, site := range []string{"copy", "original"} {
			w.addRaw(fmt.Sprintf(`{"id":"%s-%d","url":"https://www.%s.example/%d","text":%q}`, site, i, site, i, text),
				fmt.Sprint(site, i), text)
		}
	}
	config := testConfig(t, putCorpus(t, plain, file{"a.jsonl", w.lines}))
	config.Emit = []string{output.Mirrors, output.Sites, output.Suspects, output.Removed}
	config.Rank = put(t, filepath.Join(t.TempDir(), "rank.csv"),
		[]byte("rank,domain\n3,original.example\n7,copy.example\n"), plain)
	config.Keep = preference.Preference("rank:" + config.Rank)
	summary := runJob(t, config)
	if summary.Counts.Removed != 40 || summary.Counts.Unranked != 0 {
		t.Errorf("counts %+v", summary.Counts)
	}
	for _, row := range readRows[removedRow](t, config.Output, output.Removed) {
		if !strings.HasPrefix(row.ID, "copy-") || !strings.HasPrefix(row.KeptID, "original-") {
			t.Errorf("%s goes for %s", row.ID, row.KeptID)
		}
	}
	rows := string(readOutput(t, config.Output, output.Sites))
	want := `{"site":"copy.example","pages":40,"duplicates":0,"rank":7,"protected":false,"group":"original.example","primary":false,"group_sites":2,"cohesion":1}
{"site":"original.example","pages":40,"duplicates":0,"rank":3,"protected":false,"group":"original.example","primary":true,"group_sites":2,"cohesion":1}
`
	sameText(t, "sites", rows, want)
}

// TestIncrementalMirrors: sites, mirrors and suspects are as in a run over everything, whatever files come and go. What
// changes is told, and it is the same however the job is cut.
func TestIncrementalMirrors(t *testing.T) {
	n := newIncrementalJob(t, 17)
	cut := filepath.Join(t.TempDir(), "state") // of the same job in other parts
	told := map[string]int64{}                 // pages of each suspect, as the changes tell
	config := testConfig(t, n.folder)
	config.Emit, config.Threshold = []string{output.Clusters, output.Mirrors, output.Sites, output.Suspects}, 0.5
	config.MirrorThreshold, config.MirrorPages = 0.25, 2 // so that groups come and go
	config.Protected = put(t, filepath.Join(t.TempDir(), "protected"), []byte("s1.example\n"), plain)
	found := 0
	n.runSteps(t, config, []string{"m:60", "z:60", "a:60", "q:60", "m:60", "z:60", ""}, func(run int, s Summary) {
		if s.Mirrors == nil {
			t.Fatal("the summary knows no sites")
		}
		other := config
		other.State, other.Lanes, other.Memory = cut, 3, 128<<20
		checkFollowed(t, s, other, told)
		found += int(s.Mirrors.Pairs) + int(s.Mirrors.Suspects)
	})
	if found == 0 {
		t.Error("no mirrors and no suspects were found")
	}
}

// checkFollowed checks that a job of the same input as a run tells of the same changes, and that these make the
// suspects of the last run those of this one.
func checkFollowed(t *testing.T, s Summary, config job.Config, told map[string]int64) {
	t.Helper()
	config.Output = filepath.Join(t.TempDir(), "out")
	runJob(t, config)
	changes := readOutput(t, config.Output, output.Changes)
	if !bytes.Equal(changes, readOutput(t, s.Config.Output, output.Changes)) {
		t.Error("in other parts the job tells of other changes")
	}
	counts := map[string]map[string]int64{
		output.Clusters:  {},
		output.Mirrors:   {},
		output.Suspects:  {},
		output.Protected: {},
	}
	for _, c := range decodeRows[output.Change](t, output.Changes, changes) {
		if c.Generation < int64(s.State.Generation) {
			continue // told again, since nobody acknowledges it
		}
		counts[c.Of][c.Change]++
		if c.Of != output.Suspects {
			continue
		}
		told[c.Lineage] = c.Size
		if c.Change == output.Gone {
			delete(told, c.Lineage)
		}
	}
	if !reflect.DeepEqual(s.State.Changes, counts) {
		t.Errorf("the summary counts %v, the changes are %v", s.State.Changes, counts)
	}
	suspects := map[string]int64{}
	for _, row := range decodeLoose[output.Suspect](t, readOutput(t, config.Output, output.Suspects)) {
		if row.Severity == output.LowSeverity {
			continue
		}
		if suspects[row.ID] = row.Common; row.Sites > 0 {
			suspects[row.ID] = row.Sites
		}
	}
	if !maps.Equal(told, suspects) {
		t.Errorf("the changes make the suspects %v, the rows are %v", told, suspects)
	}
	for _, open := range s.State.Suspects {
		if _, is := suspects[open.ID]; !is || open.Generation < 1 || open.Generation > int64(s.State.Generation) ||
			open.Seen == "" {
			t.Errorf("the summary dates %+v", open)
		}
	}
	if len(s.State.Suspects) != len(suspects) {
		t.Errorf("the summary dates %d of %d suspects", len(s.State.Suspects), len(suspects))
	}
}

// answered is what a server answers, as a record of a web archive.
func answered(address, head, body string) []byte {
	block := "HTTP/1.1 " + head + "\r\nContent-Type: text/html\r\n\r\n" + body
	return fmt.Appendf(nil,
		"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", address, len(block), block)
}

// TestRedirects: of two mirrors without rank and dates, the one to which the other redirects is the original, in each
// run and in every cut. Strangers, a site's own pages and answers that are no redirects do not vote.
func TestRedirects(t *testing.T) {
	n := newIncrementalJob(t, 29)
	var a, b, z, strangers, moved bytes.Buffer
	for i := range 4 {
		page := fmt.Sprintf("<p>%s</p>", n.text())
		a.Write(answered(fmt.Sprintf("http://a.example/%d", i), "200 OK", page))
		b.Write(answered(fmt.Sprintf("https://b.example/%d", i), "200 OK", page))
		if i == 0 {
			z.Write(answered("http://z.example/quoted", "200 OK", page))
		}
		z.Write(answered(fmt.Sprintf("http://z.example/%d", i), "200 OK", "<p>"+n.text()+"</p>"))
	}
	n.put(t, "a.warc", a.Bytes())
	n.put(t, "b.warc", b.Bytes())
	n.put(t, "z.warc", z.Bytes())
	for i := range 20 {
		for _, site := range []string{"y", "z"} {
			strangers.Write(answered(fmt.Sprintf("http://%s.example/old/%d", site, i),
				"301 Moved\r\nLocation: http://a.example/", ""))
		}
		strangers.Write(answered(fmt.Sprintf("http://b.example/gone/%d", i),
			"404 Not Found\r\nLocation: http://a.example/", ""))
		strangers.Write(answered(fmt.Sprintf("http://a.example/old/%d", i), "301 Moved\r\nLocation: /", ""))
	}
	n.put(t, "strangers.warc", strangers.Bytes())

	config := testConfig(t, n.folder)
	config.Emit, config.Threshold = []string{output.Mirrors, output.Sites}, 0.5
	config.State, config.AllowRemoval = filepath.Join(t.TempDir(), "state"), true
	check := func(primary string, passed int64) {
		t.Helper()
		s := n.run(t, config)
		rows := decodeLoose[output.Mirror](t, readOutput(t, s.Config.Output, output.Mirrors))
		if len(rows) != 1 || rows[0].A != "a.example" || rows[0].B != "b.example" || rows[0].Group != primary {
			t.Errorf("mirrors %+v, want the group of %s", rows, primary)
		}
		if s.PassedOver["other status"] != passed || s.Counts.Documents != 13 {
			t.Errorf("%d documents, passed over %v, want %d", s.Counts.Documents, s.PassedOver, passed)
		}
		other := config
		other.State, other.Output, other.Lanes, other.Memory = "", filepath.Join(t.TempDir(), "out"), 3, 128<<20
		other.AllowRemoval = false
		runJob(t, other)
		for _, name := range config.Emit {
			if !bytes.Equal(readOutput(t, other.Output, name), readOutput(t, s.Config.Output, name)) {
				t.Errorf("in other parts the job has other %s", name)
			}
		}
	}
	check("a.example", 80) // by its name
	moved.Write(answered("http://a.example/moved/1", "301 Moved\r\nLocation: https://b.example/1", ""))
	moved.Write(answered("http://a.example/moved/2", "302 Found\r\nLocation: //www.b.example/2", ""))
	moved.Write(answered("http://b.example/moved", "308 Permanent Redirect\r\nLocation: http://a.example/", ""))
	n.put(t, "moved.warc", moved.Bytes())
	check("b.example", 83)
	check("b.example", 83) // all files are unchanged
}

// crawl is what was crawled before a run, as JSON lines.
type crawl struct{ strings.Builder }

func (c *crawl) add(site, path, text string) {
	fmt.Fprintf(c, "{\"id\":\"https://%s/%s\",\"url\":\"https://%s/%s\",\"text\":%q}\n", site, path, site, path, text)
}

// watchedRun is a run of a watch over bank.example.
type watchedRun struct {
	crawl   []func(*crawl)
	changes []string // of suspects and protected sites
	failing string
}

// watchRuns runs a watch a number of times, and acknowledges the changes of each.
func watchRuns(t *testing.T, runs []watchedRun) {
	t.Helper()
	config := testConfig(t, t.TempDir())
	config.State = filepath.Join(t.TempDir(), "state")
	config.FailOn = []string{"new-suspects", "gone-suspects", "protected-changed"}
	config.AllowRemoval, config.Threshold, config.MirrorPages = true, 0.5, 1
	config.Emit = []string{output.Suspects}
	config.Protected = put(t, filepath.Join(t.TempDir(), "protected"), []byte("bank.example\n"), plain)
	for i, run := range runs {
		var crawled crawl
		for _, crawl := range run.crawl {
			crawl(&crawled)
		}
		put(t, filepath.Join(config.Input[0], "crawl.jsonl"), []byte(crawled.String()), plain)
		config.Output = filepath.Join(t.TempDir(), "out")
		s := runJob(t, config)
		acknowledge(t, config.State)
		var got []string
		for _, change := range decodeRows[output.Change](t, output.Changes,
			readOutput(t, config.Output, output.Changes)) {
			if change.Of == output.Suspects || change.Of == output.Protected {
				got = append(got, fmt.Sprintf("%s %s %d", change.Change, change.Name, change.Size))
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, run.changes) || strings.Join(s.Failing(), " ") != run.failing {
			t.Errorf("run %d: %q and %v, want %q and %s", i+1, got, s.Failing(), run.changes, run.failing)
		}
		if isWarned := slices.ContainsFunc(s.Warnings, func(w warnings.Warning) bool {
			return w.Kind == warnings.ProtectedChanged
		}); isWarned != strings.Contains(run.failing, "protected") {
			t.Errorf("run %d: warnings %v", i+1, s.Warnings)
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

// TestWatchedRuns: an enemy who floods the crawl with copies, an original that is out of order for a run and a suspect
// that was not crawled neither silence a known alert nor hide a new one.
func TestWatchedRuns(t *testing.T) {
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
	watchRuns(t, []watchedRun{
		{[]func(*crawl){own, copies}, []string{"new bank-login.test 1", "new copy.test 4"}, "new-suspects"},
		{[]func(*crawl){own, copies, flood}, []string{"new https://bank.example/p0 111"}, "new-suspects"},
		{
			[]func(*crawl){own, copies, flood, page("bank.example.login.test", "x", 0), page("portal.test", "in", 0)},
			[]string{
				"grown https://bank.example/p0 112", "new bank.example.login.test 1", "new portal.test 1",
			},
			"new-suspects",
		},
		{[]func(*crawl){bank(func(int) string { return texts[10] }), copies, flood}, []string{
			"changed bank.example 1", "unseen bank-login.test 1", "unseen bank.example.login.test 1",
			"unseen copy.test 4", "unseen https://bank.example/p0 112", "unseen portal.test 1",
		}, "protected-changed"},
		{[]func(*crawl){own, copies, flood}, []string{"shrunk https://bank.example/p0 111"}, ""},
		{
			[]func(*crawl){own, flood, page("bank-login.test", "in", 11)},
			[]string{"gone bank-login.test 0", "shrunk https://bank.example/p0 110", "unseen copy.test 4"},
			"gone-suspects",
		},
		{[]func(*crawl){own, page("copy.test", "c0", 12)}, []string{"unseen https://bank.example/p0 110"}, ""},
		{[]func(*crawl){own, page("copy.test", "another", 12)}, nil, ""}, // no page that was a copy is there
		{[]func(*crawl){own, func(c *crawl) {
			for i := range 3 {
				c.add("www.copy.test", fmt.Sprint("c", i, "/"), texts[12])
			}
		}}, []string{"gone copy.test 0"}, "gone-suspects"},
		{[]func(*crawl){copies}, []string{"changed bank.example 0"}, "protected-changed"},
	})
}

// TestGoneByContent: a suspect has gone only if what it had copied is still there. Else the original may be out of
// order, however many pages the protected site has.
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
			watchRuns(t, []watchedRun{
				{[]func(*crawl){c.bank, copies}, []string{"new copy.test 1"}, "new-suspects"},
				{[]func(*crawl){c.changed, copies}, lost, "protected-changed"},
				{[]func(*crawl){c.changed, other}, lost[:1], "protected-changed"},
				{[]func(*crawl){c.bank, copies}, nil, ""},
				{[]func(*crawl){c.bank, other}, []string{"gone copy.test 0"}, "gone-suspects"},
				{[]func(*crawl){c.changed, other}, nil, ""},
			})
		})
	}
	// A page with a few other words in each run is still there.
	words := strings.Fields(texts[0])
	words[30] = "tuesday"
	watchRuns(t, []watchedRun{
		{[]func(*crawl){bank(1, nil), copies}, []string{"new copy.test 1"}, "new-suspects"},
		{
			[]func(*crawl){has("bank.example", strings.Join(words, " ")), other},
			[]string{"gone copy.test 0"},
			"gone-suspects",
		},
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
