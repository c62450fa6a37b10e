package main

import (
	"strings"
	"testing"

	"mirrorbeam/pipeline"
	"mirrorbeam/transforms"
)

// TestPlanTextOfSkippedPairs: keys that miss nothing by construction are said to
// miss what a job skipped, if it did.
func TestPlanTextOfSkippedPairs(t *testing.T) {
	for _, keys := range []transforms.Keys{transforms.ExactKeys, transforms.SimHash} {
		summary := pipeline.Summary{Plan: pipeline.Plan{Keys: keys, ExpectedRecall: 1}}
		for _, groups := range []int64{0, 1} {
			summary.Skipped.Groups = groups
			if text := planText(summary); strings.Contains(text, "but for what was skipped") != (groups > 0) {
				t.Errorf("%s, %d groups skipped: %s", keys, groups, text)
			}
		}
	}
}
