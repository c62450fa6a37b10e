package evaluation

import "mirrorbeam/internal/ground/graphs"

// Agreement says how alike two partitions of the same documents are: the true
// one and the one that was found.
type Agreement struct {
	// Documents that were compared.
	Documents int64 `json:"documents"`
	// Pairwise is the score of the pairs of documents that share a cluster: of
	// those found together, the share that belong together, and the other way
	// round; either is 1 where there is no such pair.
	Pairwise Score `json:"pairwise"`
	// BCubed is B-cubed by Bagga and Baldwin (Algorithms for scoring coreference
	// chains, LREC 1998), all documents of equal weight: precision is the mean
	// over documents of the share of a document's found cluster that is of its
	// true cluster, recall the mean of the share of its true cluster that is in its
	// found one. Each document is in both. Amigó et al. (A comparison of extrinsic
	// clustering evaluation metrics based on formal constraints, Information
	// Retrieval 12, 2009) show which demands on such a measure it meets.
	BCubed Score `json:"bcubed"`
	// BCubedClustered is the same mean over the documents that are not alone in
	// both partitions; those that are score 1 and make up most of a corpus. 1
	// where all are alone.
	BCubedClustered Score `json:"bcubed_clustered"`
	// AdjustedRand is the adjusted Rand index by Hubert and Arabie (Comparing
	// partitions, Journal of Classification 2, 1985): 1 for equal partitions, 0 on
	// average for random ones with clusters of the same sizes, below 0 for worse.
	AdjustedRand float64 `json:"adjusted_rand"`
}

// Compare compares two partitions. Each has a label for every document that all
// of its cluster share: the number of one of them. To these come documents that
// are alone in both.
func Compare(truth, found []Document, alone int64) Agreement {
	trueSizes, foundSizes := sizes(truth), sizes(found)
	var overlaps graphs.Numbering[uint32] // of a true and a found cluster
	var common []int64                    // documents in both, by number in overlaps
	clustered := int64(0)                 // documents not alone in both
	for i := range truth {
		at, isNew := overlaps.Add(key(truth[i], found[i]))
		if isNew {
			common = append(common, 0)
		}
		common[at]++
		if trueSizes[truth[i]] > 1 || foundSizes[found[i]] > 1 {
			clustered++
		}
	}
	var precision, recall float64 // sums over the documents in clusters
	together := int64(0)          // pairs of documents together in both
	for at, key := range overlaps.Keys {
		trueSize, foundSize, n := trueSizes[key>>32], foundSizes[uint32(key)], common[at]
		together += pairsOf(n)
		if trueSize > 1 || foundSize > 1 {
			precision += float64(n) * float64(n) / float64(foundSize)
			recall += float64(n) * float64(n) / float64(trueSize)
		}
	}
	inTruth, inFound := sumPairs(trueSizes), sumPairs(foundSizes)
	documents := int64(len(truth)) + alone
	others := documents - clustered
	return Agreement{
		Documents:       documents,
		Pairwise:        newScore(share(together, inFound), share(together, inTruth)),
		BCubed:          newScore(mean(precision+float64(others), documents), mean(recall+float64(others), documents)),
		BCubedClustered: newScore(mean(precision, clustered), mean(recall, clustered)),
		AdjustedRand:    adjustedRand(float64(together), float64(inTruth), float64(inFound), float64(pairsOf(documents))),
	}
}

// adjustedRand is the index of Hubert and Arabie, their equation 5, of the pairs
// together in both partitions, in each, and of all pairs.
func adjustedRand(together, inTruth, inFound, all float64) float64 {
	if inTruth == inFound && (inTruth == 0 || inTruth == all) {
		return 1 // both have all documents alone, or all in one cluster
	}
	expected := inTruth / all * inFound
	return (together - expected) / ((inTruth+inFound)/2 - expected)
}

func mean(sum float64, n int64) float64 {
	if n == 0 {
		return 1
	}
	return sum / float64(n)
}

func sizes(labels []Document) []int64 {
	largest := Document(0)
	for _, label := range labels {
		largest = max(largest, label)
	}
	counts := make([]int64, int(largest)+1)
	for _, label := range labels {
		counts[label]++
	}
	return counts
}

// pairsOf returns how many pairs n documents make.
func pairsOf(n int64) int64 { return n * (n - 1) / 2 }

func sumPairs(sizes []int64) int64 {
	sum := int64(0)
	for _, size := range sizes {
		sum += pairsOf(size)
	}
	return sum
}
