package report

import (
	"fmt"
	"html/template"
	"slices"
	"time"

	"mirrorbeam.dev/internal/result/workspace"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/schemas"
)

// view is what the template shows: the figures, and what is drawn of them.
type view struct {
	*Figures
	// Mark tells the page from files of somebody else.
	Mark   template.HTML
	Policy string
	// Style and Script are files of the program. What is in JSON cannot end the element that it is in.
	Style  template.CSS
	Script template.JS
	JSON   template.JS

	Cards []card
	Parts []part
	// Has says which parts the page has, by their ids.
	Has map[string]bool

	Chart        *Chart
	Examples     []exampleCluster
	HasTexts     bool
	FirstTexts   int
	LongestStage float64
}

type card struct{ Name, Value, More string }

type part struct{ ID, Title string }

type exampleCluster struct {
	*Cluster
	Index, More int
	Open        bool
}

// Lead is the result of the run in a sentence, with the day.
func (v *view) Lead() string {
	c, day := v.Counts, ""
	if begun, err := time.Parse(time.RFC3339, v.Run.Begun); err == nil {
		day = "On " + begun.Format("2 January 2006") + ", "
	}
	switch {
	case v.Run.Passages && c.Pairs == 0:
		return capital(day + "no passages were found that documents share.")
	case v.Run.Passages:
		return capital(fmt.Sprintf("%spairs of documents with passages in common were found: %s.", day, count(c.Pairs)))
	case c.Clusters == 0:
		return capital(fmt.Sprintf("%sno near-duplicates were found among %s documents.", day,
			count(c.Documents+c.ReferenceDocuments)))
	}
	return capital(fmt.Sprintf("%s%s of %s documents (%s) are copies that can be removed, and %s stay.",
		day, count(c.Removed), count(c.Documents), percent(c.Removed, c.Documents), count(c.Kept)))
}

func (v *view) IsSimilarity() bool { return v.Run.Unit == Similarity }

func newView(f *Figures) (*view, error) {
	encoded, err := encode(f)
	v := &view{
		Figures: f,
		Mark:    workspace.PageMark,
		Policy:  policy,
		Style:   template.CSS(style),
		Script:  template.JS(script),
		JSON:    template.JS(encoded),
		Cards:   cards(f),
	}
	if f.Nearest != nil && len(f.Nearest.Bins) > 0 {
		v.Chart = chartOf(f.Nearest, f.Run.Unit)
	}
	for i := range f.Clusters {
		if c := &f.Clusters[i]; len(c.Documents) > 0 {
			v.Examples = append(v.Examples, exampleCluster{
				Cluster: c,
				Index:   i,
				More:    c.Size - len(c.Documents),
				Open:    i == 0,
			})
		}
	}
	v.FirstTexts = slices.IndexFunc(f.Pairs, func(p Pair) bool { return p.Texts != nil })
	v.HasTexts = v.FirstTexts >= 0
	for _, stage := range f.Stages {
		v.LongestStage = max(v.LongestStage, stage.Seconds)
	}
	v.list()
	return v, err
}

func (v *view) list() {
	v.Has = map[string]bool{}
	for _, p := range []struct {
		part
		is bool
	}{
		{part{"alerts", "Alerts"}, true},
		{part{"found", "Found"}, true},
		{part{"suspects", "Suspects"}, v.Sites != nil && len(v.Sites.Suspects) > 0},
		{part{"mirrors", "Mirrors"}, v.Sites != nil},
		{part{"changes", "Changes"}, v.Changes != nil},
		{part{"sizes", "Cluster sizes"}, v.Sizes != nil},
		{part{"nearest", "Similarity"}, v.Nearest != nil},
		{part{"method", "Recall"}, true},
		{part{"clusters", "Clusters"}, v.Clusters != nil},
		{part{"pairs", "Pairs"}, v.Pairs != nil},
		{part{"sources", "Sources"}, len(v.Sources) > 0},
		{part{"rejects", "Rejects"}, len(v.Rejects)+len(v.PassedOver) > 0},
		{part{"cost", "Cost"}, true},
		{part{"repeat", "Repeat"}, true},
	} {
		if p.is {
			v.Parts, v.Has[p.ID] = append(v.Parts, p.part), true
		}
	}
}

func cards(f *Figures) []card {
	c := f.Counts
	all := []card{{"documents", count(c.Documents), size(c.Bytes) + " read"}}
	if !f.Run.Passages {
		saved := int64(0)
		if c.Documents > 0 {
			saved = int64(float64(c.Bytes) * float64(c.Removed) / float64(c.Documents))
		}
		all = append(all,
			card{"duplicates removed", count(c.Removed), percent(c.Removed, c.Documents) + " of documents"},
			card{"documents kept", count(c.Kept), ""},
			card{"saved, about", size(saved), "at the mean size of a document"},
			card{"clusters", count(c.Clusters), count(c.Clustered) + " documents in them"},
		)
	}
	all = append(all,
		card{"pairs", count(c.Pairs), count(c.Identical) + " of identical documents"},
		card{"candidates compared", count(c.Candidates), ""},
		card{"rejects", count(c.Rejected), ""},
	)
	if c.InvalidUTF8 > 0 {
		all = append(all, card{"not valid UTF-8", count(c.InvalidUTF8), "documents, read all the same"})
	}
	if s := f.Sites; s != nil {
		all = append(all, card{"sites", count(s.Sites), fmt.Sprintf("%s of mirrors in %s, %s",
			numbered(int(s.Pairs), "pair", "pairs"), numbered(int(s.Groups), "group", "groups"),
			numbered(int(s.Suspicious), "suspect", "suspects"))})
	}
	for _, figure := range findings.Figures(findings.Totals{Counts: c}) {
		value := count(figure.Value)
		if figure.IsBytes {
			value = size(figure.Value)
		}
		if figure.IsRare && figure.Value > 0 {
			all = append(all, card{figure.Label, value, schemas.Description("summary", figure.Path...)})
		}
	}
	return all
}
