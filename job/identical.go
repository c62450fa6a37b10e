package job

import (
	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/measure/fingerprints"
	"mirrorbeam/sketch"
)

// checkIdentical checks the settings of a job that only joins documents that are the same: it makes no shingles.
func (c *Config) checkIdentical(check checker) {
	kind, usual := c.method().Kind(), Default()
	if kind.HasShingles {
		return
	}
	check(c.Features == "", "{keys} %s: compares texts; with {features} leave it out", c.Keys)
	check(!c.isGiven("threshold", c.Threshold != usual.Threshold), "{threshold} %g: with {keys} %s two texts are the same or not; leave it out", c.Threshold, c.Keys)
	check(!c.isGiven("shingle", c.Shingle != usual.Shingle), "{shingle} %d: {keys} %s makes no shingles; leave it out", c.Shingle, c.Keys)
	check(len(c.Ignore) == 0, "{ignore}: leaves shingles out, and {keys} %s makes none; leave it out", c.Keys)
	check(c.MinShingles == 0, "{min_shingles} %d: {keys} %s makes no shingles; leave it out", c.MinShingles, c.Keys)
	check(c.Verify == methods.VerifyExact, "{verify} %s: {keys} %s rests on the whole texts; leave it out", c.Verify, c.Keys)
	check(c.Audit == autoAudit || c.Audit == noAudit, "{audit} %s: with {keys} %s no pair can be missed; leave it out", c.Audit, c.Keys)
	for _, name := range c.Outputs() {
		check(name != output.Sketches, "{emit} %s: holds fingerprints of shingles, and {keys} %s makes none", name, c.Keys)
	}
	if kind.Name == fingerprints.Bytes {
		check(c.Code == sketch.Code{} && c.Normalize == sketch.Normalization{} && c.StopWords == "" && !c.isGiven("tokens", c.Tokens != usual.Tokens),
			"{code}, {normalize}, {stopwords} and {tokens} change words; {keys} %s compares bytes, {keys} %s words", c.Keys, methods.SameWords)
	}
	check(c.StopWords == "" || c.StopWordUse != sketch.RequireStopWords,
		"{stopwords_use} %s: is about shingles, and {keys} %s makes none; remove can be used", c.StopWordUse, c.Keys)
}
