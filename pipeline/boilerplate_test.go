package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
)

// TestBoilerplate checks the passages of jobs by what brute force knows of the shingles in them. They do not depend on how the
// job runs, nor on whether common shingles are left out.
func TestBoilerplate(t *testing.T) {
	lines := templated(91)
	truth := naiveCommon(lines, 10, 0.5)
	counts, firsts, at := map[string]int64{}, map[string]int{}, map[string]int{}
	for i, set := range truth.sets {
		at[lines[i].id] = i
		for shingle := range set {
			if counts[shingle]++; counts[shingle] == 1 {
				firsts[shingle] = i
			}
		}
	}
	var want []output.Passage
	for _, c := range []struct {
		common, memory string
		files, lanes   int
	}{{"10", "", 1, 1}, {"10", "100MiB", 4, 3}, {"off", "", 3, 2}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			config := testConfig(t, putCorpus(t, plain, cut(lines, c.files)...))
			config.Emit, config.Lanes, config.Common = []string{output.Clusters, output.Boilerplate}, c.lanes, c.common
			if c.memory != "" {
				config.Memory = 100 << 20
			}
			summary := runJob(t, config)
			rows := readRows[output.Passage](t, config.Output, output.Boilerplate)
			limit := int64(10)
			if c.common == "off" {
				limit = 16 // that of auto
			}
			if summary.Common == nil || summary.Common.Above != limit || int(summary.Counts.Boilerplate) != len(rows) {
				t.Errorf("%d rows of %d passages; common shingles: %+v", len(rows), summary.Counts.Boilerplate, summary.Common)
			}
			seen := map[string]bool{}
			for _, row := range rows {
				document := at[row.ID]
				if row.Text != lines[document].text[row.Begin:row.End] {
					t.Errorf("%+v: the text there is %q", row, lines[document].text[row.Begin:row.End])
				}
				least, shingles := int64(len(lines)), shinglesInOrder(row.Text)
				for _, shingle := range shingles {
					if !truth.common[shingle] {
						t.Errorf("%+v: %s is not common", row, shingle)
					}
					if firsts[shingle] == document && !seen[shingle] {
						seen[shingle], least = true, min(least, counts[shingle])
					}
				}
				if row.Documents != least || row.Tokens != int64(len(shingles))+2 {
					t.Errorf("%+v: in %d documents by brute force, %d tokens", row, least, len(shingles)+2)
				}
			}
			if c.common == "off" {
				if len(rows) == 0 || rows[0].LeftOut != "" {
					t.Errorf("%d rows, the first is %+v", len(rows), rows)
				}
				return
			}
			if len(seen) < len(truth.common)*9/10 || summary.Common.Shingles != int64(len(truth.common)) {
				t.Errorf("%d of %d common shingles are in passages, %+v", len(seen), len(truth.common), summary.Common)
			}
			for i := range rows {
				rows[i].Ref = "" // it names the file
			}
			if want == nil {
				want = rows
			}
			if !slices.Equal(rows, want) {
				t.Errorf("%+v\nof one file %+v", rows, want)
			}
		})
	}
}

// TestBoilerplateOfBaseTexts: a base text is found as it stands in a document, whatever characters it holds, and in how many. The
// job is otherwise what it is without the report.
func TestBoilerplateOfBaseTexts(t *testing.T) {
	const base = "Be it \x1b[31mknown\u009b to all who read\u2028this \"text\" that <b>nobody</b> may take it for his own or her own"
	w := newWriter(7)
	for i := range 12 {
		text := strings.Join(w.text(30), " ")
		if i%3 == 0 {
			text = base + " " + text + " " + base
		}
		w.add(text)
	}
	licence := filepath.Join(t.TempDir(), "LICENSE")
	if err := os.WriteFile(licence, []byte(base), 0o666); err != nil {
		t.Fatal(err)
	}
	config := testConfig(t, putCorpus(t, plain, cut(w.lines, 2)...))
	config.Ignore, config.Emit = []string{licence}, []string{output.Clusters, output.Pairs, output.Boilerplate}
	for _, format := range []output.Format{output.JSONL, output.Parquet} {
		config.OutputFormat, config.Output = format, filepath.Join(t.TempDir(), "out")
		if summary := runJob(t, config); summary.Counts.Boilerplate != 1 || summary.Counts.IgnoredIn != 4 {
			t.Errorf("%s: %+v", format, summary.Counts)
		}
	}
	config.OutputFormat, config.Output = output.JSONL, filepath.Join(t.TempDir(), "out")
	runJob(t, config)
	rows := readRows[output.Passage](t, config.Output, output.Boilerplate)
	if len(rows) != 1 || rows[0].Documents != 4 || rows[0].LeftOut != "ignore" || rows[0].ID != "doc-001" || rows[0].Text != base || rows[0].Tokens != 22 {
		t.Errorf("%+v", rows)
	}
	if raw := string(readOutput(t, config.Output, output.Boilerplate)); strings.ContainsAny(raw, "\x1b\u009b\u2028") {
		t.Errorf("characters that a terminal obeys: %q", raw)
	}
}
