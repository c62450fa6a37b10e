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
