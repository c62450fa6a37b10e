package explain

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/sketch"
)

// TestPath: of all paths between two documents, the one that is found has the strongest weakest row, and the fewest
// rows among those. Both are compared with what a table of all nodes gives.
func TestPath(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		n := 2 + random.IntN(9)
		x := &explainer{}
		x.A.ID, x.B.ID = "0", "1"
		for i := range n {
			x.members.names = append(x.members.names, fmt.Sprint(i))
		}
		for range random.IntN(2 * n) {
			a, b := random.IntN(n), random.IntN(n)
			if a != b {
				x.members.edges = append(x.members.edges, edge{
					a:        uint32(a),
					b:        uint32(b),
					strength: float64(1+random.IntN(5)) / 5,
					exact:    true,
				})
			}
		}
		weakest, rows := bestPath(x.members.edges, n)
		got := x.path()
		if rows == math.MaxInt {
			if got != nil {
				t.Fatalf("%v: a path where none is: %+v", x.members.edges, got)
			}
			continue
		}
		if got == nil || len(got.Steps) != rows || got.Steps[got.Weakest].Score != weakest {
			t.Fatalf("%v: %+v, want %d rows, the weakest %g", x.members.edges, got, rows, weakest)
		}
		at := "0"
		for _, step := range got.Steps {
			if step.A != at || step.Score < weakest {
				t.Fatalf("%v: %+v is no path", x.members.edges, got)
			}
			at = step.B
		}
		if at != "1" {
			t.Fatalf("%v: %+v ends at %s", x.members.edges, got, at)
		}
	}
}

// bestPath returns the strength of the weakest edge of the best path from node 0 to node 1, and the number of its
// edges.
func bestPath(edges []edge, n int) (weakest float64, rows int) {
	rows = math.MaxInt
	for strength := 5; strength > 0 && rows == math.MaxInt; strength-- {
		weakest = float64(strength) / 5
		hops := make([]int, n)
		for i := range hops {
			hops[i] = math.MaxInt
		}
		hops[0] = 0
		for range n {
			for _, e := range edges {
				if e.strength < weakest {
					continue
				}
				if hops[e.a] < math.MaxInt {
					hops[e.b] = min(hops[e.b], hops[e.a]+1)
				}
				if hops[e.b] < math.MaxInt {
					hops[e.a] = min(hops[e.a], hops[e.b]+1)
				}
			}
		}
		rows = hops[1]
	}
	return weakest, rows
}

// TestNeeded: documents with the needed number of common shingles reach the threshold, and with one less they do not.
func TestNeeded(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		config := job.Default()
		config.Threshold = float64(1+random.IntN(100)) / 100
		a, b := &text{digest: sketch.Digest{1}}, &text{digest: sketch.Digest{2}}
		common := random.IntN(30)
		for i := range common + random.IntN(20) {
			a.set = append(a.set, uint64(i))
		}
		for i := range common {
			b.set = append(b.set, uint64(i))
		}
		for i := range random.IntN(20) {
			b.set = append(b.set, uint64(100+i))
		}
		x := newExplainer(&finished.Folder{Summary: finished.Summary{Config: config}}, false)
		x.a, x.b = a, b
		x.compare()
		s := x.Similarity
		if s.Union > 0 && (s.Jaccard >= config.Threshold) != (s.Common >= s.Needed) {
			t.Fatalf("threshold %g: %+v", config.Threshold, s)
		}
	}
}
