package job

import (
	"slices"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/measure/common"
	"mirrorbeam/sketch"
)

// checkCommon checks the settings of a job that leaves common shingles out.
func (c *Config) checkCommon(check checker) {
	law, err := common.ParseLaw(c.Common)
	if err != nil {
		check(false, "{common} %w", err)
		return
	}
	of, isReport := "{common}", slices.Contains(c.Outputs(), output.Boilerplate)
	if law.IsOff() {
		if of = "{emit} boilerplate"; !isReport {
			return
		}
	}
	name := c.Method()
	check(c.method().Kind().HasShingles, of+": compares sets of shingles; with {keys} %s leave it out", name)
	check(c.Scorer().IsExact, of+": needs the full sets of {verify} exact")
	check(c.Features == "", of+": is for texts in this version; with {features} leave it out")
	check(law.IsOff() || c.Rarity == 0, "{common}: cannot be used with {rarity} in this version")
	check(law.IsOff() || name != methods.SimHash || len(c.Weight) == 0,
		"{common}: cannot weigh what is left of several texts; with {keys} simhash leave {weight} out")
	if isReport {
		c.checkBoilerplate(check)
	}
	for _, name := range c.Outputs() {
		isAboutSites := name == output.Mirrors || name == output.Sites || name == output.Suspects
		check(law.IsOff() || !isAboutSites, "{emit} %s: cannot be written with {common} in this version", name)
	}
}

// checkBoilerplate checks the settings of a job that lists the passages which very many documents have.
func (c *Config) checkBoilerplate(check checker) {
	const of = "{emit} boilerplate"
	name := c.Method()
	check(c.Scorer().HasClusters, of+": is for {similarity} jaccard in this version")
	check(name != methods.SimHash, of+": compares sets of shingles; with {keys} %s leave it out", name)
	check(c.State == "", of+": depends on the whole corpus, and cannot be used with a {state} in this version")
	check(!c.Resume, "{resume}: cannot be used with "+of+" in this version")
	check(c.StopWords == "" || c.StopWordUse == sketch.RemoveStopWords,
		of+": {stopwords_use} %s leaves holes in passages; only remove can be used", c.StopWordUse)
}

// TakesCommon reports whether the job does not leave common shingles out, and could with its other settings as they are.
func (c *Config) TakesCommon() bool {
	with, takes := *c, c.CommonLaw().IsOff()
	with.Common = common.Auto
	with.checkCommon(func(ok bool, _ string, _ ...any) { takes = takes && ok })
	return takes && c.MakesShingles()
}

// HasTexts reports whether texts are compared, with features beside them or not.
func (c *Config) HasTexts() bool { return c.Features == "" || c.FeatureWeight > 0 }

// MakesShingles reports whether documents are compared by the shingles of their texts.
func (c *Config) MakesShingles() bool { return c.HasTexts() && c.method().Kind().HasShingles }
