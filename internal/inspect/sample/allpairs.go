package sample

import (
	"math"
	"slices"
	"sort"

	"mirrorbeam.dev/internal/records/docref"
)

// AllPairs estimates the pairs that are compared if each document is compared with all others whose sizes allow the
// threshold, but for pairs within the reference. It is given all documents of a sample and its share of the corpus.
func AllPairs(documents []Document, share, threshold float64, firstInput docref.Ref) Estimate {
	estimate := Estimate{Share: share, Keys: 1} // the key by which equal documents meet
	var inputs, references []float64            // their sizes, ascending
	for i := range documents {
		size := float64(len(documents[i].Set))
		if documents[i].Ref < firstInput {
			references = append(references, size)
		} else {
			inputs = append(inputs, size)
		}
		estimate.DocumentElements += size / share
	}
	slices.Sort(inputs)
	slices.Sort(references)
	least := func(size float64) float64 { return threshold * size * (1 - 1e-9) }
	partners := func(sizes []float64, size float64) float64 {
		first := sort.SearchFloat64s(sizes, least(size))
		end := sort.Search(len(sizes), func(i int) bool { return least(sizes[i]) > size })
		return float64(end - first)
	}
	var degrees []float64
	for _, size := range inputs {
		degrees = append(degrees, partners(inputs, size)-1+partners(references, size))
	}
	for _, size := range references {
		degrees = append(degrees, partners(inputs, size))
	}
	for _, degree := range degrees {
		estimate.Candidates += degree / 2 / (share * share)
	}
	estimate.Error = math.Sqrt(varianceOf(degrees, share))
	estimate.Low, estimate.High = interval(estimate.Candidates, estimate.Error, share)
	return estimate
}
