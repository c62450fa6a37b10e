package sketch

// Estimate is what the fingerprints of two sets A and B tell of the sets. A
// share of nothing is 0.
type Estimate struct {
	// Jaccard estimates |A and B| / |A or B|.
	Jaccard float64

	// ContainmentA estimates |A and B| / |A|, the share of A that is in B, and
	// ContainmentB |A and B| / |B|.
	ContainmentA, ContainmentB float64

	// Exact says that the fingerprints are the whole sets, and the figures
	// exact.
	Exact bool
}

// EstimateFingerprints compares sets of random hashes by their fingerprints a
// and b: the size smallest elements of each, or all if there are fewer, in
// ascending order. Those of [SingleHash] and [BottomK] are such.
//
// It looks at the size smallest elements of the union (Broder, On the
// resemblance and containment of documents, 1997), a random sample of it whose
// every element is known to belong to A, B or both. The shares of that sample
// estimate the Jaccard similarity J without bias and with a variance below
// J(1-J)/size, and the containments without bias unless the sample has no
// element of the set. Where the sizes of the sets are known, [Overlap] says that a
// figure is exact more often. Compare [FingerprintJaccard].
func EstimateFingerprints[T uint32 | uint64](a, b []T, size int) Estimate {
	exact := len(a) < size && len(b) < size
	union, common, onlyA, onlyB := 0, 0, 0, 0
	for i, j := 0, 0; (exact || union < size) && (i < len(a) || j < len(b)); union++ {
		switch {
		case j == len(b) || i < len(a) && a[i] < b[j]:
			onlyA++
			i++
		case i == len(a) || b[j] < a[i]:
			onlyB++
			j++
		default:
			common++
			i++
			j++
		}
	}
	return Estimate{
		Jaccard:      share(common, union),
		ContainmentA: share(common, common+onlyA),
		ContainmentB: share(common, common+onlyB),
		Exact:        exact,
	}
}

// FingerprintJaccard is the article's own score of two fingerprints, both in
// ascending order: their Jaccard similarity, as if they were the sets. It is
// that of the sets if the fingerprints are whole. Otherwise it is biased, above
// all where the sets differ in size: the fingerprint of the larger set reaches
// less far, and what lies beyond it in the other counts as different. That of
// two empty fingerprints is 0. Prefer [EstimateFingerprints].
func FingerprintJaccard[T uint32 | uint64](a, b []T) float64 {
	common := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case b[j] < a[i]:
			j++
		default:
			common++
			i++
			j++
		}
	}
	return share(common, len(a)+len(b)-common)
}

// share returns the quotient, 0 for a share of nothing.
func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
