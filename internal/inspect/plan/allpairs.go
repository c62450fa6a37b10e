package plan

import (
	"cmp"
	"math"
	"slices"

	"mirrorbeam.dev/internal/inspect/sample"
	"mirrorbeam.dev/internal/records/docref"
)

// allPairs counts the pairs that are compared if each document is compared with all others whose sizes allow the
// threshold. The sizes are known of sampled documents only. So of a larger corpus the pairs are counted by the lengths
// of texts. The sampled documents show how many pairs their sizes allow for each pair that the lengths of their texts
// allow.
func (m *survey) allPairs(c *census, firstInput docref.Ref) sample.Estimate {
	documents, share := c.documents.List()
	isReference := func(d *sample.Document) bool { return d.Ref < firstInput }
	lengths, perUnit, distinct, doubt := c.distinctLengths(), 1., 1., 0.
	if share == 1 {
		lengths = lengthsOf(documents, func(d *sample.Document) length {
			return length{int64(len(d.Set)), isReference(d)}
		})
	} else {
		total := int64(0)
		for i := range c.texts {
			total += c.texts[i].length.length
		}
		all := float64(len(c.texts))
		perUnit = m.facts.Shingles * all / float64(max(total, 1))
		_, others := sample.Identical(documents, share)
		texts := float64(len(lengths))
		distinct = max(1-others/texts-float64(m.facts.Wordless)/all, 0)
		// Of two identical documents with different texts the sample has both by the square of its share.
		doubt = (math.Sqrt(others) + unseenTexts) / share / texts
	}
	estimate := pairsOf(lengths, m.threshold)
	estimate.Keys = 1 // the key by which equal documents meet
	estimate.DocumentElements *= distinct * perUnit
	allowed, spread := m.allowed(documents, share, isReference)
	estimate.Candidates *= distinct * distinct * allowed
	estimate.Error = estimate.Candidates * math.Hypot(spread, 2*doubt)
	estimate.Low, estimate.High = sample.Interval(estimate.Candidates, estimate.Error, share)
	return estimate
}

// unseenTexts stands for texts that are identical to others under the measure, if the sample has none.
const unseenTexts = 2

// folds is the number of parts of a sample that are left out in turn to see how much depends on chance.
const folds = 16

// allowed returns how many pairs of the sampled documents their sizes allow for each pair that the lengths of their
// texts allow, and the standard error of that as a share of it.
func (m *survey) allowed(documents []sample.Document, share float64,
	isReference func(d *sample.Document) bool,
) (ratio, spread float64) {
	if share == 1 {
		return 1, 0
	}
	without := func(fold uint64) float64 {
		counted := func(unit func(d *sample.Document) int64) float64 {
			rest := slices.DeleteFunc(slices.Clone(documents), func(d sample.Document) bool {
				return d.Hash%folds == fold
			})
			return pairsOf(lengthsOf(rest, func(d *sample.Document) length {
				return length{unit(d), isReference(d)}
			}), m.threshold).Candidates
		}
		bySize := counted(func(d *sample.Document) int64 { return int64(len(d.Set)) })
		byLength := counted(func(d *sample.Document) int64 { return d.Length })
		return max(bySize, 1) / max(byLength, 1)
	}
	ratio = without(folds)
	squares := 0.
	for fold := range uint64(folds) {
		difference := without(fold) - ratio
		squares += difference * difference
	}
	return ratio, math.Sqrt(squares*(folds-1)/folds*(1-share)) / ratio
}

func lengthsOf(documents []sample.Document, of func(d *sample.Document) length) []length {
	lengths := make([]length, len(documents))
	for i := range documents {
		lengths[i] = of(&documents[i])
	}
	return lengths
}

// pairsOf counts the pairs of distinct documents of these lengths, without pairs within the reference.
func pairsOf(all []length, threshold float64) sample.Estimate {
	slices.SortFunc(all, func(a, b length) int { return cmp.Compare(a.length, b.length) })
	estimate := sample.Estimate{Share: 1}
	// Number of the documents from the first that is long enough on, of the input and of the reference.
	var counts [2]float64
	from := 0
	for _, longer := range all {
		for ; float64(all[from].length) < threshold*float64(longer.length)*(1-1e-9); from++ {
			counts[sideOf(all[from])]--
		}
		own := sideOf(longer)
		for side := range counts {
			if own == 0 || side == 0 {
				estimate.Candidates += counts[side]
			}
		}
		counts[own]++
		estimate.DocumentElements += float64(longer.length)
	}
	return estimate
}

func sideOf(l length) int {
	if l.isReference {
		return 1
	}
	return 0
}
