package cached

import (
	"testing"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

type pair struct{ a, b docref.Ref }

func pairOf(a, b docref.Ref) pair { return pair{min(a, b), max(a, b)} }

// joined returns the pairs of the edges that some parts hold, and how often each was written.
func joined(t *testing.T, all []work.Outcome) map[pair]int {
	t.Helper()
	found := map[pair]int{}
	parts := worktest.Read(t, records.EdgeNodes, work.RunsOf(all)...)
	for part, packed := range worktest.Read(t, records.Edges, work.RunsOf(all)...) {
		refs := records.DecodePart(graphs.Part{}, parts[part]).Refs
		for ; len(packed) > 0; packed = packed[records.EdgeSize:] {
			pair := records.Get[records.NodePair](packed) // an edge begins with them
			found[pairOf(refs[pair.A], refs[pair.B])]++
		}
	}
	return found
}
