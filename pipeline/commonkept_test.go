package pipeline

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/job"
)

// menus adds pages of a site. Each has the texts of a menu around its own, which nearly two others have.
func menus(w *writer, menu []string, pages int) {
	own := w.text(40)
	for range pages {
		w.add(w.set(slices.Concat(menu[:30], own, menu[30:])))
		if own = w.change(own, 0.04); w.made%3 == 0 {
			own = w.text(40)
		}
	}
}

// TestCommonNights: the first night counts, later ones leave out the same shingles, and --rebuild counts anew.
func TestCommonNights(t *testing.T) {
	folder := t.TempDir()
	template := newWriter(91).text(60)
	put(t, filepath.Join(folder, "a.jsonl"), file{"a.jsonl", templated(91)}.content(), plain)
	menu := newWriter(1)
	menu.add(strings.Join(template[:30], " "))
	menu.add(strings.Join(template[30:], " "))
	base := putCorpus(t, plain, cut(menu.lines, 1)...)

	night := testConfig(t, folder)
	night.Threshold, night.Common, night.State, night.Overwrite = 0.5, "10", filepath.Join(t.TempDir(), "state"), true
	night.Emit = []string{output.Clusters, output.Pairs}
	whole := testConfig(t, folder)
	whole.Threshold, whole.Common, whole.Overwrite, whole.Emit = night.Threshold, night.Common, true, night.Emit
	compare := func(what string, with job.Config, outputs ...string) {
		t.Helper()
		runJob(t, night)
		runJob(t, with)
		for _, name := range outputs {
			sameText(t, what+": "+name, string(readOutput(t, night.Output, name)), string(readOutput(t, with.Output, name)))
		}
	}
	compare("the first night", whole, output.Clusters, output.Pairs)

	other := newWriter(92)
	menus(other, other.text(60), 40)
	put(t, filepath.Join(folder, "b.jsonl"), file{"b.jsonl", other.lines}.content(), plain)
	ignoring := whole
	ignoring.Common, ignoring.Ignore, ignoring.Output = "", []string{base}, filepath.Join(t.TempDir(), "out")
	compare("the second night", ignoring, output.Clusters)
	frozen := string(readOutput(t, night.Output, output.Clusters))

	night.Rebuild = true
	compare("a night that counts anew", whole, output.Clusters, output.Pairs)
	if string(readOutput(t, night.Output, output.Clusters)) == frozen {
		t.Error("new common shingles change nothing")
	}
	night.Rebuild = false
	compare("the night after", whole, output.Clusters, output.Pairs)

	night.Common = "20"
	if _, err := Run(context.Background(), night); err == nil || !strings.Contains(err.Error(), "other settings ([common])") {
		t.Errorf("another law: %v", err)
	}
}
