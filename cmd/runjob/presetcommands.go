package main

import (
	"context"
	"io"
	"slices"

	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/sketch"
)

// mirrorsCommand is the main job with defaults of its own, for users who look for mirrors of sites.
type mirrorsCommand struct {
	runCommand
}

func newMirrorsCommand() mirrorsCommand {
	return mirrorsCommand{runCommand{Config: defaultsOf("mirrors")}}
}

func defaultsOf(preset string) job.Config {
	of, _ := job.PresetNamed(preset)
	config := of.Config()
	config.Preset = ""
	return config
}

// decontaminateCommand is the main job with defaults of its own, for users who look for items of benchmarks.
type decontaminateCommand struct {
	runCommand
}

func newDecontaminateCommand() decontaminateCommand {
	return decontaminateCommand{runCommand{Config: defaultsOf("decontaminate")}}
}

// Validate checks the settings. Features and fingerprints have no letters to fold.
func (c *mirrorsCommand) Validate() error {
	if !c.HasTexts() && !slices.Contains(c.Given, "normalize") {
		c.Normalize = sketch.Normalization{}
	}
	return c.Config.Validate()
}

// Run runs the job and prints the outcome. By default the best ranked site keeps its copy of a page.
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
		say(w, "  mirror   %s of %s: %s, score %.2f, %s in common\n", m.Site, m.Of, m.Kind, m.Score,
			counted(m.Pages, "page"))
	}
	for _, s := range found.TopSuspects {
		if s.Sites > 0 {
			say(w, "  campaign %s: %s copy %s: %s, score %.2f\n", s.Site, counted(s.Sites, "site"), s.Of, s.Kind,
				s.Score)
			continue
		}
		say(w, "  suspect  %s copies %s: %s, score %.2f, %s\n", s.Site, s.Of, s.Kind, s.Score, counted(s.Pages, "page"))
	}
}
