package sample

import (
	"math"
	"slices"
)

// addHotGroup adds the work of the documents that are compared with pivots. The more documents, the more pivots. How
// fast the comparisons grow is seen by comparing two halves of the sample alone.
func (e *Estimator) addHotGroup(t *thinned, hotGroup []number, result *Estimate) {
	if len(hotGroup) == 0 {
		return
	}
	all := e.compareWithPivots(t, hotGroup)
	ofHalves := 0.
	for half := range uint64(2) {
		ofHalves += e.compareWithPivots(t, slices.DeleteFunc(slices.Clone(hotGroup), func(n number) bool {
			return t.documents[n].Hash&1 != half
		})).pairs
	}
	growth := min(max(math.Log2(all.pairs/max(ofHalves/2, 1)), 1), 2)
	result.HotGroupDocuments = float64(len(hotGroup)) / t.share
	most := result.HotGroupDocuments * float64(e.Pivots(int(result.HotGroupDocuments)).Bound())
	pairs := func(growth float64) float64 { return min(all.pairs*math.Pow(t.share, -growth), most) }
	result.HotGroupCandidates = pairs(growth)
	result.Candidates += result.HotGroupCandidates
	result.Low += pairs(max(growth-growthError, 1))
	result.High += pairs(min(growth+growthError, 2))
	result.DocumentElements += all.sets / t.share
}

// growthError is by how much the growth of comparisons with pivots may differ from what a sample shows.
const growthError = 0.3

// compared is what comparing documents with pivots takes: pairs, and elements of the sets of all documents.
type compared struct{ pairs, sets float64 }

// compareWithPivots compares documents of a hot group with pivots, and counts what a job would.
func (e *Estimator) compareWithPivots(t *thinned, hotGroup []number) (c compared) {
	index := e.Pivots(int(float64(len(hotGroup)) / t.share))
	for _, document := range hotGroup {
		d := &t.documents[document]
		size := float64(len(d.Set))
		c.sets += size
		with, _ := index.Candidates(d.Set)
		isAlike := false
		for _, pivot := range with {
			other := &Document{Set: index.Set(pivot)}
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
