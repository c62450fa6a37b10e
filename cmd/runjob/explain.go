package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/inspect/difference"
	"mirrorbeam.dev/internal/inspect/explain"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
)

type explainCommand struct {
	Folder  string `arg:"" name:"dir"`
	A       string `arg:"" name:"a"`
	B       string `arg:"" name:"b"`
	NoInput bool
	Color   palette `enum:"auto,always,never" default:"auto" placeholder:"WHEN"`
	JSON    bool    `name:"json"`
}

func (c *explainCommand) Validate() error {
	err := checkArgument("dir", c.Folder)
	if c.A == "" || c.B == "" {
		err = errors.Join(err,
			errors.New(
				"give the folder of a run and two documents: a document is called by its id, by path:position, "+
					"or by the URL of a page"))
	} else if c.A == c.B {
		err = errors.Join(err, fmt.Errorf("%s and %s are one document: give two", c.A, c.B))
	}
	return err
}

func (c *explainCommand) Run(ctx context.Context, out io.Writer) error {
	folder, err := finished.Open(c.Folder)
	if err != nil {
		return failure.New(failure.Input, err)
	}
	if row, is, err := findSuspect(ctx, folder, c.A, c.B); err != nil {
		return failure.New(failure.Input, err)
	} else if is {
		return answer(out, c.JSON, row, printSuspect)
	}
	x, err := explain.Explain(ctx, folder, c.A, c.B, c.NoInput, difference.Brief())
	if err != nil {
		return failure.New(failure.Input, err)
	}
	return answer(out, c.JSON, x, func(w io.Writer, x *explain.Explanation) { printExplanation(w, x, c.Color.isOn()) })
}

func findSuspect(ctx context.Context, f *finished.Folder, a, b string) (row *output.Suspect, is bool, err error) {
	for row, err := range finished.Rows[output.Suspect](ctx, f, output.Suspects) {
		if isOf := (row.Site == a || row.ID == a) && row.Protected == b; isOf || err != nil {
			return &row, isOf, err
		}
	}
	return nil, false, nil
}

func printSuspect(w io.Writer, s *output.Suspect) {
	say(w, "%s  %s copies %s: %s, %s, by %s\n", s.ID, s.Site, s.Protected, s.Severity, s.Class, s.By)
	paragraph(w, 2, "because: "+strings.Join(s.Reasons, ", "))
	for _, page := range s.Examples {
		say(w, "\n%s\n  has %.4f of %s (%d of %d words, by its %s)\n", page.Page, page.Similarity, page.Original,
			page.Words, page.OfWords, page.Reading)
		for _, passage := range [][2]string{{"there", page.Passage}, {"original", page.OriginalPassage}} {
			if passage[1] != "" {
				paragraph(w, 4, passage[0]+": "+passage[1])
			}
		}
	}
}

func printExplanation(w io.Writer, x *explain.Explanation, isColoured bool) {
	printDocument(w, "A", &x.A)
	printDocument(w, "B", &x.B)
	title := "why:"
	if x.Together != nil {
		title = "together, because"
		if !*x.Together {
			title = "not together, because"
		}
	}
	say(w, "\n%s\n", title)
	for _, reason := range x.Reasons {
		paragraph(w, 2, reason)
	}
	printMeasures(w, x)
	printPath(w, x.Path)
	if len(x.Difference) > 0 {
		say(w, "\nthe texts as one, with [-what only A has-] and {+what only B has+}\n")
		printRuns(w, x.Difference, isColoured)
	}
	sayIf(w, len(x.Notes) > 0, "\n")
	for _, note := range x.Notes {
		say(w, "note: %s\n", note)
	}
}

func printDocument(w io.Writer, label string, d *explain.Document) {
	say(w, "%s  %s", label, d.Name())
	sayIf(w, d.Ref != "" && d.Ref != d.Name(), "  (%s)", d.Ref)
	sayCapture(w, d.URL, d.Date)
	say(w, "\n")
	var facts []string
	if d.Bytes > 0 {
		facts = append(facts, counted(d.Bytes, "byte"))
	}
	if d.Words > 0 {
		facts = append(facts, counted(d.Words, "word"), counted(d.Shingles, "distinct shingle"))
	}
	if d.LeftOut > 0 {
		facts = append(facts, fmt.Sprintf("of which %s do not count", count(d.LeftOut)))
	}
	if d.Reference {
		facts = append(facts, "of the reference")
	}
	if d.Cluster != "" {
		facts = append(facts, fmt.Sprintf("in the cluster %s of %s", d.Cluster, counted(d.Size, "document")))
		fate := "kept"
		if d.Removed {
			fate = "removed"
		}
		if d.KeptID != "" {
			fate += " for " + d.KeptID
		}
		facts = append(facts, fate)
	}
	sayIf(w, len(facts) > 0, "   %s\n", strings.Join(facts, ", "))
}

// sayCapture says from where and when a web archive has fetched a document, if that is known.
func sayCapture(w io.Writer, url, date string) {
	for _, text := range []string{url, date} {
		sayIf(w, text != "", "  %s", text)
	}
}

func printMeasures(w io.Writer, x *explain.Explanation) {
	s := x.Similarity
	if s == nil {
		return
	}
	say(w, "\n")
	if !s.IsGiven {
		printSets(w, s)
	}
	if s.Hamming != nil {
		say(w, "SimHash         %d of %d bits differ\n", *s.Hamming, s.Bits)
	}
	sayIf(w, s.Words > 0, "passage         %s, the longest that both have\n", counted(s.Words, "word"))
	if k := x.Keys; k != nil {
		say(w, "keys            %s\n", keysText(k))
	}
}

func printSets(w io.Writer, s *explain.Similarity) {
	say(w, "similarity      %.4f   %s in common, %s in either", s.Jaccard, counted(s.Common, "shingle"),
		count(s.Union))
	sayIf(w, s.Needed > 0, "; a pair of these sizes has %s in common", count(s.Needed))
	say(w, "\n")
	if s.Whole != nil {
		say(w, "by all          %.4f   with the shingles that do not count\n", *s.Whole)
	}
	say(w, "of A in B       %.4f\nof B in A       %.4f\n", s.ContainmentA, s.ContainmentB)
}

func keysText(k *explain.Keys) string {
	switch {
	case k.AllPairs:
		return "none: the run has compared all pairs of documents of similar sizes"
	case k.Shared == nil:
		return fmt.Sprintf("%s: documents that are similar enough always share one", k.Method)
	}
	text := fmt.Sprintf("%s: %d shared, of %d of A and %d of B", k.Method, *k.Shared, k.A, k.B)
	if k.Probability > 0 {
		text += fmt.Sprintf("; a pair of this similarity shares one with a probability of %.4f", k.Probability)
	}
	return text
}

const mostSteps = 8

func printPath(w io.Writer, p *explain.Path) {
	if p == nil || len(p.Steps) < 2 {
		return // a single row is among the reasons
	}
	say(w, "\nthe strongest path, %s of pairs\n         %s\n", counted(len(p.Steps), "row"), p.Steps[0].A)
	for i, step := range p.Steps {
		isShown := i < mostSteps || i >= len(p.Steps)-mostSteps || i == p.Weakest
		if !isShown {
			sayIf(w, i == mostSteps || i == p.Weakest+1, "         ...\n")
			continue
		}
		say(w, "  %6s %s", scoreText(&step), step.B)
		sayIf(w, i == p.Weakest, "   <- the weakest")
		say(w, "\n")
	}
}

func scoreText(step *explain.Step) string {
	text := fmt.Sprintf("%.4f", step.Score)
	if step.Score > 1 || step.Score == 0 {
		text = fmt.Sprintf("%.0f", step.Score)
	}
	if step.Identical {
		text = "="
	}
	if !step.Exact {
		text = "~" + text
	}
	return text
}

type showCommand struct {
	Folder  string `arg:"" name:"dir"`
	Cluster string `arg:"" optional:"" name:"cluster"`
	Sort    string `enum:"auto,size,similarity,id" default:"auto" placeholder:"ORDER"`
	Limit   int    `default:"20" placeholder:"N"`
	Offset  int    `default:"0" placeholder:"N"`
	Texts   string `enum:"auto,yes,no" default:"auto" placeholder:"WHEN"`
	JSON    bool   `name:"json"`
}

func (c *showCommand) Validate() error {
	err := checkArgument("dir", c.Folder)
	if c.Limit < 1 {
		err = errors.Join(err, fmt.Errorf("--limit %d: must be 1 or more", c.Limit))
	}
	if c.Offset < 0 {
		err = errors.Join(err, fmt.Errorf("--offset %d: must be 0 or more", c.Offset))
	}
	return err
}

func (c *showCommand) Run(ctx context.Context, out io.Writer) error {
	folder, err := finished.Open(c.Folder)
	if err != nil {
		return failure.New(failure.Input, err)
	}
	page := explain.Page{Order: explain.Order(c.Sort), Offset: c.Offset, Limit: c.Limit}
	if c.Cluster == "" {
		list, err := explain.ListClusters(ctx, folder, page)
		if err != nil {
			return failure.New(failure.Input, err)
		}
		return answer(out, c.JSON, list, printClusters)
	}
	var withTexts *bool
	if c.Texts != "auto" {
		isWanted := c.Texts == "yes"
		withTexts = &isWanted
	}
	list, err := explain.ListMembers(ctx, folder, c.Cluster, page, withTexts)
	if err != nil {
		return failure.Errorf(failure.Input, "show %s: %w", c.Cluster, err)
	}
	return answer(out, c.JSON, list, printMembers)
}

func printClusters(w io.Writer, list *explain.Clusters) {
	say(w, "documents    kept   least    mean  cluster\n")
	for _, c := range list.Clusters {
		say(w, "%9s %7s  %6.4f  %6.4f  %s", count(c.Size), count(c.Kept), c.Least, c.Mean, c.Name)
		sayCapture(w, c.URL, c.Date)
		say(w, "\n")
	}
	printRange(w, "cluster", list.Offset, len(list.Clusters), list.Of)
}

func printMembers(w io.Writer, list *explain.Members) {
	say(w, "cluster %s: %s, %s kept; similarities from %.4f, mean %.4f\n\n",
		list.Name, counted(list.Size, "document"), count(list.Kept), list.Least, list.Mean)
	for _, m := range list.Documents {
		fate := fmt.Sprintf("%.4f", m.Similarity)
		if m.Kept {
			fate = "kept"
		}
		say(w, "%6s", fate)
		if m.Bytes != nil {
			say(w, "  %9s B", count(*m.Bytes))
		}
		say(w, "  %s", m.ID)
		sayIf(w, m.Ref != m.ID, "  (%s)", m.Ref)
		sayCapture(w, m.URL, m.Date)
		sayIf(w, m.Reference, "  of the reference")
		say(w, "\n")
		sayIf(w, m.Text != "", "        %s\n", excerpt(m.Text))
	}
	printRange(w, "document", list.Offset, len(list.Documents), int64(list.Size))
	for _, note := range list.Notes {
		say(w, "note: %s\n", note)
	}
}

func printRange(w io.Writer, thing string, offset, listed int, of int64) {
	switch end := int64(offset + listed); {
	case listed == 0:
		say(w, "none of %s\n", counted(of, thing))
	case end < of:
		say(w, "\n%s to %s of %s; --offset %d continues\n", count(offset+1), count(end), counted(of, thing), end)
	case offset > 0:
		say(w, "\n%s to %s of %s\n", count(offset+1), count(end), counted(of, thing))
	}
}

const (
	maxDifferences = 3
	contextWords   = 5
	longestRun     = 12 // words shown of a stretch that only one text has
)

// differenceLines describes the first places where two texts differ, one line for each: some words before the
// place, [-what only a has-] and {+what only b has+}.
func differenceLines(a, b []string) []string {
	var lines []string
	for c := range difference.Changes(a, b) {
		if len(lines) == maxDifferences {
			break
		}
		line := "... " + strings.Join(a[max(c.FromA-contextWords, 0):c.FromA], " ")
		if c.ToA > c.FromA {
			line += " [-" + strings.Join(shortened(a[c.FromA:c.ToA], longestRun), " ") + "-]"
		}
		if c.ToB > c.FromB {
			line += " {+" + strings.Join(shortened(b[c.FromB:c.ToB], longestRun), " ") + "+}"
		}
		lines = append(lines, line+" ...")
	}
	return lines
}
