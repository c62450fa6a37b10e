package main

import (
	"context"
	"io"
	"slices"

	"mirrorbeam/internal/carry/findings"
	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/preference"
	"mirrorbeam/internal/read/webtext"
	"mirrorbeam/job"
	"mirrorbeam/sketch"
)

// mirrorsCommand is the main job with defaults of its own, for those who look for mirrors of sites.
type mirrorsCommand struct {
	runCommand
}

// mirrorsThreshold is the least similarity of two pages: a mirror may have another template, or words replaced.
const mirrorsThreshold = 0.5

func newMirrorsCommand() mirrorsCommand {
	config := job.Default()
	config.HTMLText, config.Normalize = webtext.Main, sketch.Normalization{Skeleton: true}
	config.Threshold, config.Emit = mirrorsThreshold, []string{output.Mirrors, output.Sites, output.Suspects}
	return mirrorsCommand{runCommand{Config: config}}
}

// Validate checks the settings. Features have no letters to fold.
func (c *mirrorsCommand) Validate() error {
	if c.Features != "" && c.FeatureWeight == 0 && !slices.Contains(c.Given, "normalize") {
		c.Normalize = sketch.Normalization{}
	}
	return c.Config.Validate()
}

// Run runs the job and prints the outcome. The best ranked site keeps its copy of a page, unless the user
// wants another one.
func (c *mirrorsCommand) Run(ctx context.Context, out io.Writer) error {
	if c.Rank != "" && !slices.Contains(c.Given, "keep") {
		c.Keep = preference.Preference("rank:" + c.Rank)
	}
	if c.Scorer().IsDistance && !slices.Contains(c.Given, "threshold") {
		c.Threshold = job.Default().Threshold // it is of no use
	}
	return c.runCommand.Run(ctx, out)
}

func printMirrors(w io.Writer, found *findings.Mirrors) {
	if found == nil {
		return
	}
	say(w, "%s: %s of mirrors in %s, %s\n", counted(found.Sites, "site"),
		counted(found.Pairs, "pair"), counted(found.Groups, "group"), counted(found.Suspects, "suspect"))
	for _, m := range found.TopMirrors {
		say(w, "  mirror   %s of %s: %s, score %.2f, %s in common\n", m.Site, m.Of, m.Kind, m.Score, counted(m.Pages, "page"))
	}
	for _, s := range found.TopSuspects {
		if s.Sites > 0 {
			say(w, "  campaign %s: %s copy %s: %s, score %.2f\n", s.Site, counted(s.Sites, "site"), s.Of, s.Kind, s.Score)
			continue
		}
		say(w, "  suspect  %s copies %s: %s, score %.2f, %s\n", s.Site, s.Of, s.Kind, s.Score, counted(s.Pages, "page"))
	}
}
