package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"mirrorbeam/internal/look/difference"
	"mirrorbeam/internal/look/explain"
	"mirrorbeam/internal/look/finished"
)

type showCommand struct {
	Folder  string `arg:"" name:"dir" help:"Folder with the results of an earlier run that has emitted clusters."`
	Cluster string `arg:"" optional:"" name:"cluster" help:"A cluster, or the id or path:position of a document in it; without one, clusters are listed."`
	Sort    string `enum:"auto,size,similarity,id" default:"auto" placeholder:"ORDER" help:"What comes first: size (the largest), similarity (the least), id, or auto: the largest cluster, the first document."`
	Limit   int    `default:"20" placeholder:"N" help:"How many to list."`
	Offset  int    `default:"0" placeholder:"N" help:"How many to leave out before these."`
	Texts   string `enum:"auto,yes,no" default:"auto" placeholder:"WHEN" help:"Whether to read the input of the run again, for sizes and beginnings of texts: yes, no, or auto (up to 1 GB)."`
	JSON    bool   `name:"json" help:"Print one JSON object."`
}

// Validate checks the flags.
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

// Run lists.
func (c *showCommand) Run(ctx context.Context, out io.Writer) error {
	folder, err := finished.Open(c.Folder)
	if err != nil {
		return unusable{err}
	}
	page := explain.Page{Order: explain.Order(c.Sort), Offset: c.Offset, Limit: c.Limit}
	w := bufio.NewWriter(out)
	if c.Cluster == "" {
		list, err := explain.ListClusters(ctx, folder, page)
		switch {
		case err != nil:
			return unusable{err}
		case c.JSON:
			return printJSON(out, list)
		}
		printClusters(w, list)
		return w.Flush()
	}
	var withTexts *bool
	if c.Texts != "auto" {
		isWanted := c.Texts == "yes"
		withTexts = &isWanted
	}
	list, err := explain.ListMembers(ctx, folder, c.Cluster, page, withTexts)
	switch {
	case err != nil:
		return unusable{fmt.Errorf("show %s: %w", c.Cluster, err)}
	case c.JSON:
		return printJSON(out, list)
	}
	printMembers(w, list)
	return w.Flush()
}

func printClusters(w io.Writer, list *explain.Clusters) {
	say(w, "documents    kept   least    mean  cluster\n")
	for _, c := range list.Clusters {
		say(w, "%9s %7s  %6.4f  %6.4f  %s\n", count(int64(c.Size)), count(int64(c.Kept)), c.Least, c.Mean, c.Name)
	}
	printRange(w, "cluster", list.Offset, len(list.Clusters), list.Of)
}

func printMembers(w io.Writer, list *explain.Members) {
	say(w, "cluster %s: %s, %s kept; similarities from %.4f, mean %.4f\n\n",
		list.Name, counted(int64(list.Size), "document"), count(int64(list.Kept)), list.Least, list.Mean)
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
		if m.Ref != m.ID {
			say(w, "  (%s)", m.Ref)
		}
		if m.Reference {
			say(w, "  of the reference")
		}
		say(w, "\n")
		if m.Text != "" {
			say(w, "        %s\n", excerpt(m.Text))
		}
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
		say(w, "\n%s to %s of %s; --offset %d goes on\n", count(int64(offset)+1), count(end), counted(of, thing), end)
	case offset > 0:
		say(w, "\n%s to %s of %s\n", count(int64(offset)+1), count(end), counted(of, thing))
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
			line += " [-" + shorten(a[c.FromA:c.ToA]) + "-]"
		}
		if c.ToB > c.FromB {
			line += " {+" + shorten(b[c.FromB:c.ToB]) + "+}"
		}
		lines = append(lines, line+" ...")
	}
	return lines
}

// shorten joins words. It leaves out the middle if there are many.
func shorten(words []string) string {
	if len(words) <= longestRun {
		return strings.Join(words, " ")
	}
	half := longestRun / 2
	return fmt.Sprintf("%s ... (%d words) ... %s", strings.Join(words[:half], " "), len(words)-2*half, strings.Join(words[len(words)-half:], " "))
}
