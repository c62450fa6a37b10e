package report

import (
	"strings"
	"testing"

	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/job"
)

// TestLead: a page begins with the result in a sentence, and the day.
func TestLead(t *testing.T) {
	for _, c := range []struct {
		run    Run
		counts findings.Counts
		want   string
	}{
		{
			Run{Begun: "2026-11-25T21:40:00Z"},
			findings.Counts{Documents: 600, Removed: 252, Kept: 348, Clusters: 9},
			"On 25 November 2026, 252 of 600 documents (42.0 %) are copies that can be removed, and 348 stay.",
		},
		{
			Run{},
			findings.Counts{Documents: 600, Removed: 6, Kept: 594, Clusters: 2},
			"6 of 600 documents (1.0 %) are copies that can be removed, and 594 stay.",
		},
		{
			Run{},
			findings.Counts{Documents: 600, ReferenceDocuments: 2},
			"No near-duplicates were found among 602 documents.",
		},
		{
			Run{Passages: true},
			findings.Counts{Documents: 600, Pairs: 3},
			"Pairs of documents with passages in common were found: 3.",
		},
		{
			Run{Passages: true, Begun: "2026-01-02T00:00:00Z"},
			findings.Counts{},
			"On 2 January 2026, no passages were found that documents share.",
		},
	} {
		v := view{Figures: &Figures{Run: c.run, Counts: c.counts}}
		if got := v.Lead(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestAlertRemoved: a corpus that loses much, and clusters that keep much, are told of.
func TestAlertRemoved(t *testing.T) {
	summary := &finished.Summary{Config: job.Default()}
	cluster := func(size, kept int) Cluster { return Cluster{Cluster: finished.Cluster{Size: size, Kept: kept}} }
	for _, c := range []struct {
		removed  int64
		split    string
		clusters []Cluster
		want     []string
	}{
		{39, "component", []Cluster{cluster(7, 3), cluster(8, 1)}, nil},
		{42, "component", nil, []string{"42.0 % of the documents are removed"}},
		{
			1, "component",
			[]Cluster{cluster(8, 2), cluster(12, 1)},
			[]string{"1 listed cluster keeps a quarter of the documents or more, such as 2 of 8"},
		},
		{
			1, "component",
			[]Cluster{cluster(8, 2), cluster(12, 4)},
			[]string{"2 listed clusters keep a quarter of the documents or more, such as 4 of 12"},
		},
		{1, "star", []Cluster{cluster(8, 2)}, nil},
	} {
		b := builder{
			summary: summary,
			figures: Figures{
				Run:      Run{Split: c.split},
				Counts:   findings.Counts{Documents: 100, Removed: c.removed},
				Clusters: c.clusters,
			},
		}
		b.alertRemoved()
		if len(b.figures.Alerts) != len(c.want) {
			t.Fatalf("%+v, want %q", b.figures.Alerts, c.want)
		}
		for i, a := range b.figures.Alerts {
			if !strings.Contains(a.Text, c.want[i]) || a.Place != "clusters" {
				t.Errorf("%+v, want %q", a, c.want[i])
			}
		}
	}
}
