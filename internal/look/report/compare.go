package report

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/zeebo/xxh3"

	"mirrorbeam/internal/carry/findings"
	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/look/finished"
)

// Comparison is what a page shows of two runs. The page holds it as JSON, in the element with the id "figures".
type Comparison struct {
	A, B *Figures `json:"-"`
	// Runs are the two runs.
	Runs [2]Run `json:"runs"`
	// Settings are the settings that differ.
	Settings []Difference `json:"settings"`
	Rows     []Row        `json:"rows"`
	// Agreement is nil unless both runs have written clusters.
	Agreement *Agreement `json:"agreement,omitempty"`
	Stages    []Row      `json:"stages"`
	Notes     []string   `json:"notes"`
}

// Difference is a setting with its values, which are empty where the setting is not there.
type Difference struct {
	Name string `json:"name"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// Row is a figure of both runs.
type Row struct {
	Name string  `json:"name"`
	A    float64 `json:"a"`
	B    float64 `json:"b"`
	// Unit says how the figure is written.
	Unit RowUnit `json:"unit,omitempty"`
}

// RowUnit is the unit of a figure. The zero value is a number.
type RowUnit string

// The units of figures.
const (
	Bytes   RowUnit = "bytes"
	Seconds RowUnit = "seconds"
	Share   RowUnit = "share"
)

// Compare compares the results of two runs.
func Compare(ctx context.Context, a, b *finished.Folder, options Options) (*Comparison, error) {
	hide := options.HideIDs
	options.Texts, options.HideIDs = NoTexts, false
	c := &Comparison{Settings: []Difference{}, Notes: []string{}}
	for _, side := range []struct {
		folder  *finished.Folder
		figures **Figures
	}{{a, &c.A}, {b, &c.B}} {
		figures, err := Build(ctx, side.folder, options)
		if err != nil {
			return nil, err
		}
		*side.figures = figures
	}
	c.Settings = differences(a, b, hide)
	c.Rows = c.rows()
	c.Stages = c.stages()
	if !a.Has(output.Clusters) || !b.Has(output.Clusters) {
		c.Notes = append(c.Notes, "Clusters are not compared: both runs have to write them.")
	} else if err := c.agree(ctx, a, b); err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", a.Path, b.Path, err)
	}
	if hide {
		c.hide()
	}
	c.Runs = [2]Run{c.A.Run, c.B.Run}
	return c, nil
}

// hide replaces the names of documents, and leaves out the names of folders.
func (c *Comparison) hide() {
	documents := aliases{"document", map[string]string{}}
	for _, f := range []*Figures{c.A, c.B} {
		f.Run.hide()
		f.Run.Command = ""
	}
	if c.Agreement == nil {
		return
	}
	for _, list := range [][]Member{c.Agreement.RemovedOnlyInA, c.Agreement.RemovedOnlyInB} {
		for i := range list {
			list[i].ID = documents.of(list[i].ID)
		}
	}
}

// differences returns the settings that differ. Where the results lie is no difference.
func differences(a, b *finished.Folder, hide bool) []Difference {
	of, others := a.Summary.Config.Settings(), b.Summary.Config.Settings()
	all := maps.Clone(of)
	maps.Copy(all, others)
	found := []Difference{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if bytes.Equal(of[name], others[name]) || name == "output" || name == "temp" || name == "overwrite" {
			continue
		}
		d := Difference{Name: name, A: string(of[name]), B: string(others[name])}
		if _, isPath := placeholders[name]; hide && (isPath || name == "keep") {
			d.A, d.B = "hidden", "hidden"
		}
		found = append(found, d)
	}
	return found
}

// rows returns the figures of both runs.
func (c *Comparison) rows() []Row {
	all := []Row{}
	add := func(row Row) {
		if row.A != 0 || row.B != 0 {
			all = append(all, row)
		}
	}
	others := findings.Figures(c.B.Counts)
	for i, figure := range findings.Figures(c.A.Counts) {
		row := Row{Name: figure.Label, A: float64(figure.Value), B: float64(others[i].Value)}
		if figure.IsBytes {
			row.Unit = Bytes
		}
		add(row)
	}
	for _, figure := range []struct {
		name string
		unit RowUnit
		of   func(*Figures) float64
	}{
		{"expected recall at the threshold", Share, func(f *Figures) float64 { return f.Method.ExpectedRecall }},
		{"pairs listed, as measured", Share, func(f *Figures) float64 {
			if f.Method.Audit == nil {
				return 0
			}
			return f.Method.Audit.Listed
		}},
		{"sites", "", ofSites(func(s *SiteFindings) int64 { return s.Sites })},
		{"pairs of mirrors", "", ofSites(func(s *SiteFindings) int64 { return s.Pairs })},
		{"groups of mirrors", "", ofSites(func(s *SiteFindings) int64 { return s.Groups })},
		{"suspects", "", ofSites(func(s *SiteFindings) int64 { return s.Suspicious })},
		{"time", Seconds, func(f *Figures) float64 { return f.Totals.Seconds }},
		{"CPU time", Seconds, func(f *Figures) float64 { return f.Totals.CPUSeconds }},
		{"memory", Bytes, func(f *Figures) float64 { return float64(f.Totals.PeakMemoryBytes) }},
		{"temporary files", Bytes, func(f *Figures) float64 { return float64(f.Totals.TempBytes) }},
	} {
		add(Row{figure.name, figure.of(c.A), figure.of(c.B), figure.unit})
	}
	return all
}

// ofSites returns a figure about sites, 0 if there is none.
func ofSites(figure func(*SiteFindings) int64) func(*Figures) float64 {
	return func(f *Figures) float64 {
		if f.Sites == nil {
			return 0
		}
		return float64(figure(f.Sites))
	}
}

// stages returns the times of the stages of both runs.
func (c *Comparison) stages() []Row {
	all := []Row{}
	at := map[string]int{}
	for side, f := range []*Figures{c.A, c.B} {
		for _, stage := range f.Stages {
			i, known := at[stage.Name]
			if !known {
				i = len(all)
				at[stage.Name] = i
				all = append(all, Row{Name: stage.Name, Unit: Seconds})
			}
			if side == 0 {
				all[i].A = stage.Seconds
			} else {
				all[i].B = stage.Seconds
			}
		}
	}
	return all
}

// WriteComparison writes the page of two runs.
func WriteComparison(w io.Writer, c *Comparison) error {
	frame, err := newFrame(c)
	if err == nil {
		err = fill(w, "compare.html", comparisonView{c, frame, histograms(c)})
	}
	if err != nil {
		return fmt.Errorf("write a comparison: %w", err)
	}
	return nil
}

type comparisonView struct {
	*Comparison
	frame
	Histograms []labelledChart
}

type labelledChart struct {
	Label string
	*Chart
}

// histograms draws the histograms of both runs, nil if they have no common axis.
func histograms(c *Comparison) []labelledChart {
	if c.A.Nearest == nil || c.B.Nearest == nil || c.A.Run.Unit != c.B.Run.Unit || c.A.Nearest.Of != c.B.Nearest.Of {
		return nil
	}
	a, b := &view{Figures: c.A}, &view{Figures: c.B}
	a.drawNearest()
	b.drawNearest()
	if a.Chart == nil || b.Chart == nil || a.Chart.First != b.Chart.First {
		return nil
	}
	return []labelledChart{{"A", a.Chart}, {"B", b.Chart}}
}

// Agreement says how far two runs have found the same. Documents are told apart by their names.
type Agreement struct {
	// Sampled is the share of documents and of clusters that were looked at.
	Sampled float64 `json:"sampled"`
	// Clustered, Removed and Clusters count documents in clusters, removed documents, and clusters of the same documents.
	Clustered Overlap `json:"clustered"`
	Removed   Overlap `json:"removed"`
	Clusters  Overlap `json:"clusters"`
	// RemovedOnlyInA and RemovedOnlyInB are examples.
	RemovedOnlyInA []Member `json:"removed_only_in_a"`
	RemovedOnlyInB []Member `json:"removed_only_in_b"`
}

// Overlap counts what both runs have, and what one of them has.
type Overlap struct {
	Both  int64 `json:"both"`
	OnlyA int64 `json:"only_a"`
	OnlyB int64 `json:"only_b"`
}

// mostDisputed is the number of documents that are named for each run.
const mostDisputed = 100

// found is what a run has made of some documents.
type found struct {
	kept map[uint64]bool // of the documents in clusters
	sets map[uint64]bool // of the clusters, hashes of their documents
}

// agree compares the clusters.
func (c *Comparison) agree(ctx context.Context, a, b *finished.Folder) error {
	s := newSampler(max(c.A.Counts.Clustered, c.B.Counts.Clustered))
	first, err := foundIn(ctx, a, s)
	if err != nil {
		return err
	}
	second, err := foundIn(ctx, b, s)
	if err != nil {
		return err
	}
	g := &Agreement{Sampled: s.share}
	g.Clusters = overlap(first.sets, second.sets, func(bool) bool { return true })
	g.Clustered = overlap(first.kept, second.kept, func(bool) bool { return true })
	g.Removed = overlap(first.kept, second.kept, func(kept bool) bool { return !kept })
	if g.RemovedOnlyInA, err = disputed(ctx, a, s, second); err == nil {
		g.RemovedOnlyInB, err = disputed(ctx, b, s, first)
	}
	if !s.isAll() {
		c.Notes = append(c.Notes, fmt.Sprintf("Documents and clusters are compared on a sample: one in %.0f.", 1/s.share))
	}
	c.Agreement = g
	return err
}

func foundIn(ctx context.Context, f *finished.Folder, s sampler) (found, error) {
	all := found{map[uint64]bool{}, map[uint64]bool{}}
	sum := uint64(0) // of the documents of a cluster, so that their order does not matter
	see := func(row *output.Member) {
		key, chosen := s.choose(row.ID)
		if chosen {
			all.kept[key] = row.Kept
		}
		sum += key
	}
	for _, err := range f.Clusters(ctx, see) {
		if err != nil {
			return all, err
		}
		all.addCluster(s, sum)
		sum = 0
	}
	return all, nil
}

// addCluster adds a cluster by the sum of its documents. Clusters are drawn by lot as documents are.
func (f *found) addCluster(s sampler, sum uint64) {
	if xxh3.Hash(binary.LittleEndian.AppendUint64(nil, sum)) <= s.limit {
		f.sets[sum] = true
	}
}

// overlap counts the keys of two maps whose values are wanted.
func overlap(a, b map[uint64]bool, wanted func(bool) bool) (o Overlap) {
	for key, value := range a {
		other, inB := b[key]
		switch {
		case !wanted(value):
		case inB && wanted(other):
			o.Both++
		default:
			o.OnlyA++
		}
	}
	for key, value := range b {
		if other, inA := a[key]; wanted(value) && !(inA && wanted(other)) {
			o.OnlyB++
		}
	}
	return o
}

// disputed returns documents that one run removes and the other one does not.
func disputed(ctx context.Context, f *finished.Folder, s sampler, other found) ([]Member, error) {
	list := []Member{}
	for row, err := range f.Members(ctx) {
		if err != nil || len(list) == mostDisputed {
			return list, err
		}
		key, chosen := s.choose(row.ID)
		kept, clustered := other.kept[key]
		if chosen && !row.Kept && (kept || !clustered) {
			list = append(list, Member{ID: row.ID, Similarity: row.Similarity})
		}
	}
	return list, nil
}
