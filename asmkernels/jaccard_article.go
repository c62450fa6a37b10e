package asmkernels

import "math"

// JaccardClassical is the article's JaccardClassical (Gudkov, MinHash, 2019): the Jaccard similarity of two
// fingerprints, both in strictly ascending order, by a merge. Two empty ones give NaN. It is what the
// kernels are measured against; take [Intersect] or [Fingerprints].
func JaccardClassical(a, b []uint32) float64 {
	return articleQuotient(a, b, articleMerge(a, b))
}

func articleMerge(a, b []uint32) (common int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			common++
			i++
			j++
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return common
}

// JaccardFast is the article's JaccardFast: JaccardClassical that gives up, and
// returns 0, once the similarity cannot reach alpha.
func JaccardFast(a, b []uint32, alpha float64) float64 {
	most := articleMost(a, b, alpha)
	common, different := 0, 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			common++
			i++
			j++
		case a[i] < b[j]:
			i++
			different++
		default:
			j++
			different++
		}
		if different > most {
			return 0
		}
	}
	return articleQuotient(a, b, common)
}

// JaccardTurbo is the article's JaccardTurbo, which first looks for halves of elements that four of a and four of b
// have in common, with PCMPESTRM where there is one. It looks at alpha less often than JaccardFast, and may so return
// more than 0 where that does not.
func JaccardTurbo(a, b []uint32, alpha float64) float64 {
	i, j, common, aborted := turbo(a, b, articleMost(a, b, alpha))
	if aborted {
		return 0
	}
	return articleQuotient(a, b, common+articleMerge(a[i:], b[j:]))
}

// articleMost returns how many elements may be in one set only.
func articleMost(a, b []uint32, alpha float64) int {
	return int(math.Ceil((1 - alpha) / (1 + alpha) * float64(len(a)+len(b))))
}

func articleQuotient(a, b []uint32, common int) float64 {
	return float64(common) / float64(len(a)+len(b)-common)
}

// turboGo takes four elements of a and b at a time, as long as there are so many
// and no more than most were found in one set only.
func turboGo(a, b []uint32, most int) (i, j, common int, aborted bool) {
	different := 0
	for i+4 <= len(a) && j+4 <= len(b) {
		if haveEqualHalves((*[4]uint32)(a[i:]), (*[4]uint32)(b[j:])) {
			for range 4 {
				switch {
				case a[i] == b[j]:
					common++
					i++
					j++
				case a[i] < b[j]:
					i++
					different++
				default:
					j++
					different++
				}
			}
		} else {
			if a[i+3] < b[j+3] {
				i += 4
			} else {
				j += 4
			}
			different += 4
		}
		if different > most {
			return i, j, common, true
		}
	}
	return i, j, common, false
}

// haveEqualHalves reports whether any half of an element of a is one of b.
func haveEqualHalves(a, b *[4]uint32) bool {
	for _, x := range a {
		for _, y := range b {
			lower, upper := uint16(x), uint16(x>>16)
			if lower == uint16(y) || lower == uint16(y>>16) || upper == uint16(y) || upper == uint16(y>>16) {
				return true
			}
		}
	}
	return false
}
