// Package lshbands turns sketches into keys, so that similar documents meet under a common key. It has MinHash bands
// and the plan that picks them. It has prefixes of permuted SimHash fingerprints, and finds the pairs within a Hamming
// distance among fingerprints that share a prefix. It has tables that keep keys compressed and searchable.
//
// A signature of MinHash components is cut into bands of rows. Two documents of Jaccard similarity J agree in one
// component with probability J, in a band of r rows with J^r, and in at least one of b bands with 1-(1-J^r)^b. That is
// the S-curve of the plan (Broder 1997; Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, chapter 3).
package lshbands

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mirrorbeam.dev/asmkernels"
)

// mostRows is the largest number of rows in a band of a ranking. More make records longer and candidates hardly fewer.
const mostRows = 8

// Schemes returns one scheme for each number of rows from one to eight. It has the fewest bands that find a
// pair at the threshold with the probability recall. Schemes of more than 256 bands are left out.
func Schemes(threshold, recall float64) []Scheme {
	var schemes []Scheme
	for rows := 1; rows <= mostRows; rows++ {
		if bands := bandsFor(threshold, recall, rows); bands <= expensiveBands {
			schemes = append(schemes, Scheme{int(bands), rows})
		}
	}
	return schemes
}

// mostRankedTables is the largest number of tables in a ranked choice.
const mostRankedTables = 256

// TableSchemes returns the useful tables of one and of two levels for fingerprints of that many bits within a
// distance: more tables always have longer prefixes. None has more than 256 tables. The error comes from
// [NewPermuted] for the fewest blocks.
func TableSchemes(bits, distance int) ([]*Permuted, error) {
	fewest := []int{distance + 1}
	if err := checkBlocks(bits, distance, fewest); err != nil {
		return nil, err
	}
	all := [][]int{fewest}
	add := func(blocks ...int) bool {
		if tablesOf(distance, blocks) > mostRankedTables || checkBlocks(bits, distance, blocks) != nil {
			return false
		}
		all = append(all, blocks)
		return true
	}
	for first := distance + 2; add(first); first++ {
	}
	for first := distance + 1; add(first, distance+1); first++ {
		for second := distance + 2; add(first, second); second++ {
		}
	}
	slices.SortStableFunc(all, func(a, b []int) int {
		return cmp.Or(cmp.Compare(tablesOf(distance, a), tablesOf(distance, b)),
			cmp.Compare(shortestPrefix(bits, distance, b), shortestPrefix(bits, distance, a)))
	})
	var useful []*Permuted
	longest := -1
	for _, blocks := range all {
		shortest := shortestPrefix(bits, distance, blocks)
		if shortest <= longest {
			continue
		}
		p, err := NewPermuted(bits, distance, blocks...)
		if err != nil {
			return nil, err
		}
		longest = shortest
		useful = append(useful, p)
	}
	return useful, nil
}

func tablesOf(distance int, blocks []int) float64 {
	tables := 1.
	for _, count := range blocks {
		tables *= choices(count, distance)
	}
	return tables
}

// UsualDocuments is how many documents [PlanTables] plans for. Other tables would be cheaper for many more documents,
// but none finds more.
const UsualDocuments = 10e6

// PlanTables picks the tables for fingerprints of that many bits within a distance: the fewest tables whose prefixes
// are long enough for some ten million documents. The choice depends on nothing else, least of all on the data. Blocks,
// if there are any, make the choice instead, as for [NewPermuted]. The error comes from there.
func PlanTables(bits, distance int, blocks ...int) (*Permuted, error) {
	if len(blocks) > 0 {
		return NewPermuted(bits, distance, blocks...)
	}
	return PlanTablesFor(bits, distance, UsualDocuments)
}

// PlanTablesFor picks the tables of [TableSchemes] that take the least CPU time for that many documents.
func PlanTablesFor(bits, distance int, documents float64) (*Permuted, error) {
	return cheapestTables(bits, distance, func(p *Permuted) float64 { return p.CPUSeconds(documents) })
}

func cheapestTables(bits, distance int, cost func(*Permuted) float64) (*Permuted, error) {
	schemes, err := TableSchemes(bits, distance)
	if err != nil {
		return nil, err
	}
	return slices.MinFunc(schemes, func(a, b *Permuted) int { return cmp.Compare(cost(a), cost(b)) }), nil
}

// CPU seconds of a key, to write its record, to bring it to its shard and to sort it there, and of a pair of documents
// that are compared where they meet.
const keySeconds, comparisonSeconds = 300e-9, 1e-9

// CPUSeconds returns the CPU time to find the pairs of that many documents with random fingerprints.
func (p *Permuted) CPUSeconds(documents float64) float64 {
	return documents*float64(p.Tables())*keySeconds + p.ExpectedPairs(documents)*comparisonSeconds
}

// ExpectedPairs returns how many pairs of that many random fingerprints share a prefix, added up over all tables.
func (p *Permuted) ExpectedPairs(documents float64) float64 {
	perProbe := 0.
	for table := range p.Tables() {
		perProbe += p.ExpectedCandidates(table, documents)
	}
	return documents * perProbe / 2
}

// Scheme is a number of bands and a number of rows in each band. Both are at least 1.
type Scheme struct {
	// Bands is the number of bands.
	Bands int `json:"bands"`
	// Rows is the number of rows in each.
	Rows int `json:"rows"`
}

// MaxBands is the largest number of bands a scheme may have.
const MaxBands = 1024

// preferredRows is where the planner starts. Three rows a band cost the least CPU at every threshold from 0.5
// to 0.9: fewer rows bring more false candidates, and more rows need more bands.
const preferredRows = 3

// expensiveBands is the number of bands beyond which fewer rows are cheaper, in spite of their false candidates.
const expensiveBands = 256

// Components returns the length of the signature that the scheme cuts.
func (s Scheme) Components() int { return s.Bands * s.Rows }

// Probability returns the probability that two documents of the given Jaccard similarity share at least one
// band. This is the S-curve.
func (s Scheme) Probability(jaccard float64) float64 {
	return 1 - math.Pow(1-math.Pow(jaccard, float64(s.Rows)), float64(s.Bands))
}

// Plan picks bands and rows. With them, a pair whose similarity is exactly the threshold shares a key with a
// probability of at least recall. More similar pairs share one more surely. The threshold is above 0 and at
// most 1, the recall above 0 and below 1. The plan depends on nothing else, least of all on the data. If
// bands or rows are given (above 0), Plan keeps them and picks only the other. If no scheme of at most
// MaxBands will do, the error says what to change.
func Plan(threshold, recall float64, given Scheme) (Scheme, error) {
	if given.Bands > 0 && given.Rows > 0 {
		return given, nil
	}
	if given.Bands > 0 {
		// The most rows that still reach the recall give the fewest candidates.
		rows := 1
		for rows < 64 && (Scheme{given.Bands, rows + 1}).Probability(threshold) >= recall {
			rows++
		}
		if s := (Scheme{given.Bands, rows}); s.Probability(threshold) >= recall {
			return s, nil
		}
		return Scheme{}, fmt.Errorf(
			"%d bands of one row find a pair at the threshold %g with probability %.4f, below the recall of %g: "+
				"give more bands or leave them to the planner",
			given.Bands, threshold, Scheme{given.Bands, 1}.Probability(threshold), recall)
	}
	rows := given.Rows
	if rows == 0 {
		for rows = preferredRows; rows > 1 && bandsFor(threshold, recall, rows) > expensiveBands; {
			rows--
		}
	}
	if bands := bandsFor(threshold, recall, rows); bands <= MaxBands {
		return Scheme{int(bands), rows}, nil
	}
	return Scheme{}, fmt.Errorf(
		"a recall of %g at the threshold %g with %d rows a band needs more than %d bands: raise the threshold, "+
			"lower the recall or the rows",
		recall, threshold, rows, MaxBands)
}

// bandsFor returns the fewest bands that reach the recall. It returns a float, since the number can be too
// large for an integer.
func bandsFor(threshold, recall float64, rows int) float64 {
	hit := math.Pow(threshold, float64(rows))
	if hit >= 1 {
		return 1
	}
	bands := math.Ceil(math.Log1p(-recall) / math.Log1p(-hit))
	for bands < MaxBands && (Scheme{int(bands), rows}).Probability(threshold) < recall {
		bands++
	}
	return max(bands, 1)
}

// AppendKeys appends a 64-bit key for each band to keys. The signature has at least Components values. Keys
// of different bands agree only by chance, with a probability of 1 in 2^64.
func (s Scheme) AppendKeys(keys []uint64, signature []uint32) []uint64 {
	for band := range s.Bands {
		key := mix(uint64(band) + 1)
		for _, component := range signature[band*s.Rows : (band+1)*s.Rows] {
			key = mix(key ^ uint64(component))
		}
		keys = append(keys, key)
	}
	return keys
}

// mix is a permutation of the numbers of 64 bits. The step keeps 0 from staying 0.
func mix(x uint64) uint64 { return asmkernels.SplitMix(x + asmkernels.SplitMixStep) }
