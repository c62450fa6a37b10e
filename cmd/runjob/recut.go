package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/inspect/recut"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/job"
)

type recutCommand struct {
	Folder       string `arg:"" name:"dir"`
	Output       string `required:"" short:"o" placeholder:"DIR"`
	Overwrite    bool
	Threshold    float64  `placeholder:"X"`
	Keep         string   `placeholder:"WHICH"`
	Split        string   `placeholder:"HOW"`
	Drop         string   `placeholder:"WHAT"`
	Emit         []string `placeholder:"WHAT"`
	OutputFormat string   `placeholder:"FORMAT"`
	Layout       string   `placeholder:"HOW"`
	Quiet        bool
}

func (c *recutCommand) Validate() error {
	err := errors.Join(checkArgument("dir", c.Folder), job.CheckPlace("output", c.Output))
	values := []string{"split", c.Split, "drop", c.Drop, "output_format", c.OutputFormat, "layout", c.Layout}
	for s := range slices.Chunk(values, 2) {
		if s[1] != "" {
			err = errors.Join(err, job.CheckValue(s[0], s[1]))
		}
	}
	return err
}

func (c *recutCommand) Run(ctx context.Context, _ io.Writer) error {
	folder, err := finished.Open(c.Folder)
	if err != nil {
		return failure.New(failure.Input, err)
	}
	summary, err := recut.Run(ctx, folder, c.options(folder))
	if err != nil {
		return fmt.Errorf("recut %s: %w", shellName(c.Folder), err)
	}
	if c.Quiet {
		return nil
	}
	n := summary.Counts
	say(os.Stderr, "found %s at the threshold %v: %s in %s; %s removed, %s kept\n", counted(n.Pairs, "pair"),
		summary.Config.Threshold,
		counted(n.Clustered, "document"), counted(n.Clusters, "cluster"), count(n.Removed), count(n.Kept))
	if summary.Plan.ExpectedRecall < 1 {
		say(os.Stderr,
			"note: pairs that the keys of the earlier run have missed are missing here, too; "+
				"a run at this threshold has keys of its own\n")
	}
	printWarnings(os.Stderr, summary.Warnings)
	say(os.Stderr, "results in %s: %s, summary.json\n", shellName(c.Output), strings.Join(summary.Config.Emit, ", "))
	printNext(os.Stderr, summary, true)
	return nil
}

// options returns the flags, with the settings of the run instead of those that were not given.
func (c *recutCommand) options(folder *finished.Folder) recut.Options {
	of := &folder.Summary.Config
	o := recut.Options{
		Threshold: cmp.Or(c.Threshold, of.Threshold),
		Keep:      preference.Preference(c.Keep),
		Split:     cmp.Or(keep.Split(c.Split), of.Split),
		Drop:      cmp.Or(keep.Drop(c.Drop), of.Drop),
		Format:    cmp.Or(output.Format(c.OutputFormat), of.OutputFormat),
		Output:    c.Output,
		Overwrite: c.Overwrite,
		Emit:      c.Emit,
		Layout:    output.Layout(c.Layout),
	}
	if !c.Quiet {
		o.Say = func(why error) {
			say(os.Stderr, "note: the input is read again: %s\n", setting.Text(why, setting.Flag))
		}
	}
	if len(o.Emit) == 0 {
		o.Emit = recut.OutputsOf(folder)
	}
	return o
}
