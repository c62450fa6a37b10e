package pipeline

import (
	"slices"

	"mirrorbeam/internal/clusters"
	"mirrorbeam/internal/keep"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/output"
	"mirrorbeam/sketch"
	"mirrorbeam/transforms"
)

const (
	// defaultExcerpt is what --excerpt is unless given.
	defaultExcerpt = 50
	// autoEmit stands for the output that the similarity is looked for by.
	autoEmit = "auto"
	// passageKeyBytes is about how many bytes the keys of a byte of text take where
	// they are sorted.
	passageKeyBytes = 4
)

// checkSimilarity checks what the similarity is, and what goes with it.
func (c *Config) checkSimilarity(check func(ok bool, format string, args ...any)) {
	if c.Similarity != methods.Containment {
		check(c.Similarity == methods.Resemblance, "--similarity %s: must be jaccard or containment", c.Similarity)
		check(c.Excerpt == defaultExcerpt, "--excerpt %d: is for --similarity containment", c.Excerpt)
		check(!c.NoQuotations, "--no-quotations: is for --similarity containment")
		return
	}
	check(c.Excerpt == 0 || c.Excerpt >= sketch.LeastSpan, "--excerpt %d: must be at least %d words, or 0 for none", c.Excerpt, sketch.LeastSpan)
	for _, name := range c.emit() {
		check(name == output.Pairs, "--emit %s: with --similarity containment there are pairs only: one that has a passage of another is no copy of it", name)
	}
	check(c.Keys == methods.Auto && c.Bands == 0 && c.Rows == 0,
		"--keys, --bands and --rows are for --similarity jaccard: with containment documents are brought together by passages")
	check(c.Recall == 0, "--recall %g: is for --similarity jaccard; docs/containment.md says which passages are found", c.Recall)
	check(c.Keep == keep.First && c.Split == clusters.Component, "--keep and --split are about clusters, which --similarity containment has none of")
	check(c.Score == methods.AutoScoring, "--score %s: is for --similarity jaccard", c.Score)
	check(c.Verify == methods.VerifyExact, "--verify %s: --similarity containment needs the whole texts of exact", c.Verify)
	check(c.Audit == "auto" || c.Audit == "off", "--audit %s: is for --similarity jaccard", c.Audit)
	check(c.Features == "", "--features: with --similarity containment passages are looked for in texts; name a field with --text-field")
	check(len(c.Weight) == 0, "--weight: with --similarity containment a passage has a place in one text; name its field with --text-field")
	check(c.StopWords == "" || c.StopWordUse == sketch.RemoveStopWords,
		"--stopwords-use %s: leaves holes in passages; with --similarity containment only remove can be used", c.StopWordUse)
}

// emit returns the outputs to be written, each once.
func (c *Config) emit() []string {
	if !slices.Equal(c.Emit, []string{autoEmit}) {
		return distinct(c.Emit)
	}
	if c.Similarity == methods.Containment {
		return []string{output.Pairs}
	}
	return []string{output.Clusters}
}

// fitContainment changes a job to one that looks for passages, which takes more
// records for each document, and some 40 bytes of memory for each shingle where sets
// take 8.
func (c *Config) fitContainment(job *transforms.Job) {
	job.Excerpt, job.ExcludeQuotations = c.Excerpt, c.NoQuotations
	job.PlaceBytes = max(job.PlaceBytes/5, 1)
}
