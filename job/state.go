package job

import (
	"slices"
	"strings"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/read/corpus"
)

// FailCondition returns the condition of [Config.FailOn] that there is a change of a kind, such as "new-clusters". Of is one of
// [output.Followed]. Of protected sites it is "protected-changed".
func FailCondition(kind, of string) string {
	if of == output.Protected {
		return of + "-" + kind
	}
	return kind + "-" + of
}

// FailConditions returns the conditions that [Config.FailOn] may hold.
func FailConditions() []string {
	var conditions []string
	for _, of := range output.Followed {
		for _, kind := range output.ChangeKindsOf(of) {
			conditions = append(conditions, FailCondition(kind, of))
		}
	}
	return conditions
}

// checkFailOn checks the conditions of FailOn.
func (c *Config) checkFailOn(check checker) {
	check(len(c.FailOn) == 0 || c.Scorer().HasClusters, "{fail_on}: is about clusters, which {similarity} containment has none of")
	for _, condition := range c.FailOn {
		check(slices.Contains(FailConditions(), condition), "{fail_on} %s: must be one of %v", condition, FailConditions())
		_, of, _ := strings.Cut(condition, "-")
		isOfSuspects := of == output.Suspects || condition == FailCondition(output.Changed, output.Protected)
		isOfSites := of == output.Mirrors || isOfSuspects
		check(!isOfSites || c.HasSites(), "{fail_on} %s: is for {emit} mirrors, sites and suspects", condition)
		check(!isOfSuspects || !c.HasSites() || c.Protected != "", "{fail_on} %s: suspects are copies of {protected} sites; give a list of these", condition)
	}
}

// checkState checks the settings of scheduled runs.
func (c *Config) checkState(check checker) {
	if c.State == "" {
		for _, only := range []struct {
			setting string
			isGiven bool
		}{{"add", c.Add}, {"rebuild", c.Rebuild}, {"republish", c.Republish}, {"allow_removal", c.AllowRemoval}, {"fail_on", len(c.FailOn) > 0}} {
			check(!only.isGiven, "{"+only.setting+"} is about a {state}: give one, or leave it out")
		}
		return
	}
	if err := CheckPlace("state", c.State); err != nil {
		check(false, "%w", err)
	}
	for _, other := range []struct{ setting, folder string }{{"output", c.Output}, {"temp", c.TempFolder()}} {
		check(!storage.Contains(c.State, other.folder), "{"+other.setting+"} %s: lies in the {state}, a folder that holds nothing else: name one outside of it", other.folder)
	}
	c.checkFailOn(check)
	check(!c.Resume, "{resume}: the next run with a {state} removes what a dead one has left there, so nothing could be resumed; leave {resume} out")
	check(!slices.Contains(c.Input, corpus.Stdin) && !slices.Contains(c.Reference, corpus.Stdin),
		"{input} -: a {state} knows files by their names; write the standard input to a file first")
}
