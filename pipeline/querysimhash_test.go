package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/look/query"
	"mirrorbeam/internal/match/methods"
)

// TestQueryBySimHash looks for all documents of a corpus in an index of their fingerprints. It compares with brute
// force over the fingerprints that the job writes.
func TestQueryBySimHash(t *testing.T) {
	files := cut(oddities(87), 3)
	input := putCorpus(t, plain, files...)
	tr := naiveTruth(3, true, files...)
	for _, distance := range []int{0, 3, 12} {
		config := testConfig(t, input)
		config.Keys, config.Hamming = methods.SimHash, distance
		config.Emit = []string{output.Sketches, output.Index}
		runJob(t, config)
		x, err := query.Open(config.Output)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { x.Close() })
		sketches := readRows[sketchRow](t, config.Output, output.Sketches)
		var want []string
		near := 0
		for i, a := range sketches {
			var rows []string
			for within := range distance + 1 {
				for j, b := range sketches {
					apart := hammingDistance(fingerprintOf(t, a.SimHash), fingerprintOf(t, b.SimHash))
					if a.Shingles == 0 || b.Shingles == 0 {
						apart = distance + 1
						if a.Shingles == b.Shingles && tr.documents[i].text == tr.documents[j].text {
							apart = 0
						}
					}
					if apart == within {
						rows = append(rows, fmt.Sprint(a.ID, a.Ref, b.ID, b.Ref, apart, apart == 0))
					}
					if apart == within && apart > 0 {
						near++
					}
				}
			}
			want = append(want, rows...)
		}
		var got []string
		rows, _ := runQuery(t, x, query.Request{Input: []string{input}})
		for _, row := range rows {
			got = append(got, fmt.Sprint(row.ID, row.Ref, row.Match, row.MatchRef, row.Hamming, row.Identical))
		}
		if !slices.Equal(got, want) {
			t.Errorf("distance %d: %d matches, want %d", distance, len(got), len(want))
		}
		if near == 0 && distance > 0 {
			t.Errorf("distance %d: no match but of equal fingerprints", distance)
		}
		_, err = x.Answer(context.Background(), query.Request{Input: []string{input}, Threshold: 0.9}, io.Discard)
		if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "SimHash fingerprints within") {
			t.Errorf("with a threshold: %v", err)
		}
	}
}

// TestQueryOfCandidatesBySimHash: if fingerprints only find candidates, the index is one of sets.
func TestQueryOfCandidatesBySimHash(t *testing.T) {
	files := cut(synthetic(88), 2)
	config := testConfig(t, putCorpus(t, plain, files...))
	config = byKeys(config, methods.SimHash)
	config.Score, config.Hamming = methods.Jaccard, 2
	rows, _ := runQuery(t, runIndex(t, config), query.Request{Input: config.Input})
	sameRows(t, "matches", rows, naiveTruth(3, true, files...).matchRows(0.8))
}
