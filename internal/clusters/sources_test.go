package clusters

import (
	"reflect"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/records"
)

// TestCountSources counts two documents of the reference, two of a source that are equal to each other and like one of
// another source, and more sources.
func TestCountSources(t *testing.T) {
	layout := &documents.Layout{
		FirstInput: at(1, 0),
		Inputs:     &documents.Inputs{Files: make([]corpus.File, 4)},
	}
	s := shardOf(layout, []records.Member{
		{Ref: at(0, 7), First: 0, Source: 0},
		{Ref: at(0, 9), First: 0, Source: 0},
		{Ref: at(1, 0), First: 0, Source: 1},
		{Ref: at(1, 5), First: 0, Source: 1},
		{Ref: at(2, 1), First: 0, Source: 2},
		{Ref: at(3, 0), First: 0, Source: 3},
	}, []records.Edge[records.Number]{
		edge(0, 1, 8, 8), edge(1, 3, 8, 10), edge(2, 3, 8, 8), edge(3, 4, 8, 10), edge(4, 5, 8, 10),
	})
	var c sources.Counts
	s.countSources(&c)
	want := sources.Counts{
		Elsewhere: sources.Tally{2, 2, 1, 1},
		Shared: []sources.Tally{
			{0, 2},       // not in itself
			{2, 2, 2},    // equal ones
			{0, 1, 0, 1}, // not in the reference, by no edge
			{0, 0, 1},
		},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("undecided: %+v, want %+v", c, want)
	}
	if err := s.Decide(keep.Rule{Split: keep.Component}, nil); err != nil {
		t.Fatal(err)
	}
	want.Removed = sources.Tally{0, 2, 0, 1}
	c = sources.Counts{}
	s.countSources(&c)
	if !reflect.DeepEqual(c, want) {
		t.Errorf("decided: %+v, want %+v", c, want)
	}
}
