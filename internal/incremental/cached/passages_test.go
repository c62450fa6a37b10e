package cached

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
	"mirrorbeam.dev/sketch"
)

// TestPassages: a pair of the last run is an edge with its spans if one of its documents has no keys, and both are
// still there. They have the names that they have now.
func TestPassages(t *testing.T) {
	runs := worktest.Runs(t)
	ref := func(file int, at int64) docref.Ref {
		r, err := docref.New(file, at)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	inputs := filepath.Join(t.TempDir(), "inputs")
	// File 0 of the last run is behind the others now, and its file 1 has gone.
	if err := documents.WriteInputs(inputs,
		documents.Inputs{Past: documents.Past{Numbers: []int{5, documents.IsGone, 3}}}); err != nil {
		t.Fatal(err)
	}
	spans := []sketch.Span{{StartA: 1, EndA: 20, StartB: 300, EndB: 321, Words: 9}, {
		StartA: 30,
		EndA:   40,
		StartB: 7,
		EndB:   17,
		Words:  4,
	}}
	pairs := worktest.Write(t, runs, func(run *runfile.Writer) error {
		for _, p := range []records.KeptPair{
			{A: ref(0, 1), B: ref(2, 7), Spans: spans, More: 2},
			{A: ref(0, 2), B: ref(2, 7)},               // both have keys
			{A: ref(0, 1), B: ref(1, 1), Spans: spans}, // the file has gone
			{A: ref(0, 1), B: ref(2, 9)},               // was in no pair, for all that the stage before knows
			{A: ref(0, 1), B: ref(0, 3)},
		} {
			p.Score = records.NewScore(8, 17, false)
			if err := records.Write(run, records.KeptPairs, 0, &p); err != nil {
				return err
			}
		}
		return nil
	})
	known := worktest.Write(t, runs, func(run *runfile.Writer) error {
		for _, d := range []records.KnownDocument{
			{Ref: ref(3, 7), Size: 14, Keyed: true},
			{Ref: ref(5, 1), Size: 11},
			{Ref: ref(5, 2), Size: 12, Keyed: true},
			{
				Ref:  ref(5, 3),
				Size: 13,
			},
		} {
			if err := records.WriteFixed(run, records.Known, 0, d); err != nil {
				return err
			}
		}
		return nil
	})
	k := Passages{Inputs: work.Path(inputs), Pairs: work.Path(pairs), Shards: 3}
	if err := k.Setup(); err != nil {
		t.Fatal(err)
	}
	all := worktest.Do(t, runs, worktest.Tasks(t, runs, Delivery(), known), k.Task)
	want := map[pair]int{pairOf(ref(5, 1), ref(3, 7)): 1, pairOf(ref(5, 1), ref(5, 3)): 1}
	if got := joined(t, all); !maps.Equal(got, want) {
		t.Errorf("edges %v, want %v", got, want)
	}
	part := 2 * k.Shards
	nodes := records.DecodePart(graphs.Part{}, worktest.Read(t, records.EdgeNodes, work.RunsOf(all)...)[part])
	if !slices.Equal(nodes.Refs, []docref.Ref{ref(5, 1), ref(3, 7), ref(5, 3)}) ||
		!slices.Equal(nodes.Weights, []uint32{11, 14, 13}) {
		t.Errorf("nodes %v of sizes %v", nodes.Refs, nodes.Weights)
	}
	var got []sketch.Span
	for packed := worktest.Read(
		t, records.Spans, work.RunsOf(all)...,
	)[part]; len(packed) > 0; packed = packed[records.SpanSize:] {
		s := records.Get[records.Span[graphs.Node]](packed)
		if s.A != 0 || s.B != 1 || s.More != 2 {
			t.Errorf("span %+v", s)
		}
		got = append(got, s.Span)
	}
	if !slices.Equal(got, spans) {
		t.Errorf("spans %v, want %v", got, spans)
	}
}
