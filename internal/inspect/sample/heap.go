package sample

import (
	"math"
	"slices"
)

// addHeap adds the work of the documents that are compared with leaders. The more documents, the more leaders. How fast the
// comparisons grow is seen by comparing two halves of the sample alone.
func (e *Estimator) addHeap(t *thinned, heap []number, result *Estimate) {
	if len(heap) == 0 {
		return
	}
	all := e.compareWithLeaders(t, heap)
	ofHalves := 0.
	for half := range uint64(2) {
		ofHalves += e.compareWithLeaders(t, slices.DeleteFunc(slices.Clone(heap), func(n number) bool { return t.documents[n].Hash&1 != half })).pairs
	}
	growth := min(max(math.Log2(all.pairs/max(ofHalves/2, 1)), 1), 2)
	result.HeapDocuments = float64(len(heap)) / t.share
	most := result.HeapDocuments * float64(e.Leaders(int(result.HeapDocuments)).Bound())
	pairs := func(growth float64) float64 { return min(all.pairs*math.Pow(t.share, -growth), most) }
	result.HeapCandidates = pairs(growth)
	result.Candidates += result.HeapCandidates
	result.Low += pairs(max(growth-growthError, 1))
	result.High += pairs(min(growth+growthError, 2))
	result.DocumentElements += all.sets / t.share
}

// growthError is by how much the growth of comparisons with leaders may differ from what a sample shows.
const growthError = 0.3

// compared is what comparing documents with leaders takes: pairs, and elements of the sets of all documents.
type compared struct{ pairs, sets float64 }

// compareWithLeaders compares documents of a heap with leaders, and counts what a job would.
func (e *Estimator) compareWithLeaders(t *thinned, heap []number) (c compared) {
	index := e.Leaders(int(float64(len(heap)) / t.share))
	for _, document := range heap {
		d := &t.documents[document]
		size := float64(len(d.Set))
		c.sets += size
		with, _ := index.Candidates(d.Set)
		isAlike := false
		for _, leader := range with {
			other := &Document{Set: index.Set(leader)}
			if others := float64(len(other.Set)); min(size, others) >= e.Threshold*max(size, others) {
				c.pairs++
				isAlike = isAlike || e.Compare(d, other) >= e.Threshold
			}
		}
		if !isAlike {
			index.Add(d.Set)
		}
	}
	return c
}
