package pipeline

import (
	"testing"

	"mirrorbeam/internal/look/query"
	"mirrorbeam/internal/match/methods"
)

// TestQueryOfCandidatesBySimHash: if fingerprints only find candidates, the index is one of sets.
func TestQueryOfCandidatesBySimHash(t *testing.T) {
	files := cut(synthetic(88), 2)
	config := testConfig(t, putCorpus(t, plain, files...))
	config = byKeys(config, methods.SimHash)
	config.Score, config.Hamming = methods.Jaccard, 2
	rows, _ := runQuery(t, runIndex(t, config), query.Request{Input: config.Input})
	sameRows(t, "matches", rows, naiveTruth(3, true, files...).matchRows(0.8))
}
