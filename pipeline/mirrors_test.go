package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/preference"
	"mirrorbeam/internal/ground/corporatest"
	"mirrorbeam/internal/read/site"
)

// mirrorRow and siteRow are the parts of rows of mirrors and sites that tests look at.
type (
	mirrorRow struct{ A, B, Kind, Group string }
	siteRow   struct {
		Site, Group       string
		Pages, Duplicates int64
		Primary           bool
	}
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
			fields["url"] = fmt.Sprintf(`"http://www.site%c.example/%d.html?utm_source=%d"`, 'a'+random.IntN(many), random.IntN(30), i)
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
			w.addRaw(fmt.Sprintf(`{"id":"%s-%d","url":"https://www.%s.example/%d","text":%q}`, site, i, site, i, text), fmt.Sprint(site, i), text)
		}
	}
	config := testConfig(t, putCorpus(t, plain, file{"a.jsonl", w.lines}))
	config.Emit = []string{output.Mirrors, output.Sites, output.Suspects, output.Removed}
	config.Rank = put(t, filepath.Join(t.TempDir(), "rank.csv"), []byte("rank,domain\n3,original.example\n7,copy.example\n"), plain)
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

// TestMirrorCorpora compares the mirrors among versions and translations of real sites with what is known from the names of
// their files: two sites are mirrors if at least half of the pages of the one with fewer pages have a page at the same path
// on the other, and a Jaccard similarity of at least .5 to it.
func TestMirrorCorpora(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		corpus string
		rule   site.Rule
	}{
		{"installguide_text", site.Host},
		{"etcd_docs", "prefix:4"},
		{"powershell_docs", "prefix:2"},
		{"react_l10n", site.Host},
		{"clang_text", site.Host},
	} {
		t.Run(c.corpus, func(t *testing.T) {
			config := testConfig(t, corporatest.Path(t, "mirrors/"+c.corpus+".jsonl.zst"))
			config.Emit, config.Threshold, config.URLField, config.Site = []string{output.Mirrors, output.Sites}, 0.5, "id", c.rule
			summary := runJob(t, config)
			siteOf := func(id string) string {
				address, _ := site.Parse(id)
				name, _ := c.rule.Of(address)
				return name
			}
			pages, aligned := map[string]int{}, map[[2]string]int{}
			for _, row := range decodeLoose[siteRow](t, readOutput(t, config.Output, output.Sites)) {
				pages[row.Site] = int(row.Pages)
			}
			for _, pair := range readTruePairs(t, corporatest.Path(t, "mirrors/"+c.corpus+".aligned_sim.tsv.zst")) {
				if pair.jaccard >= 0.5 {
					a, b := siteOf(pair.a), siteOf(pair.b)
					aligned[[2]string{min(a, b), max(a, b)}]++
				}
			}
			truth := map[[2]string]bool{}
			for pair, n := range aligned {
				if n >= 3 && 2*n >= min(pages[pair[0]], pages[pair[1]]) {
					truth[pair] = true
				}
			}
			rows, right := decodeLoose[mirrorRow](t, readOutput(t, config.Output, output.Mirrors)), 0
			for _, row := range rows {
				if pair := [2]string{row.A, row.B}; truth[pair] {
					right++
				} else {
					t.Logf("%v has %d aligned pages of %d and %d", pair, aligned[pair], pages[row.A], pages[row.B])
				}
				delete(truth, [2]string{row.A, row.B})
			}
			for pair := range truth {
				t.Logf("%v is missed: %d aligned pages of %d and %d", pair, aligned[pair], pages[pair[0]], pages[pair[1]])
			}
			precision, recall := float64(right)/float64(max(len(rows), 1)), float64(right)/float64(max(right+len(truth), 1))
			t.Logf("%d pages, %d sites, %d mirrors, precision %.3f, recall %.3f", summary.Counts.Documents, summary.Mirrors.Sites, len(rows), precision, recall)
			// Pages that have moved make mirrors of sites that have a little less than half of their pages at the same paths.
			if precision < 0.85 || recall < 1 {
				t.Errorf("precision %.3f, recall %.3f", precision, recall)
			}
		})
	}
}
