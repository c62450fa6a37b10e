// Package audit estimates what share of the similar pairs of a corpus a job has
// found: for some documents, chosen without regard to their content, it finds all
// partners among all documents, exactly, and sees which of them the job has.
package audit

import (
	"math"
	"math/rand/v2"
	"slices"

	"mirrorbeam/internal/numbering"
)

// Index finds the sampled documents that may be similar to another one: an inverted
// index with the prefix filter of set-similarity joins (Chaudhuri, Ganti and
// Kaushik, A primitive operator for similarity joins in data cleaning, 2006).
//
// A set with a Jaccard similarity of at least the threshold to one of n elements
// has at least a share of threshold of them. So the two have an element in common
// among the first n - threshold*n + 1 of each, in any order that is the same for
// all; the sets are in ascending order.
type Index struct {
	threshold float64
	elements  numbering.Set // in the prefixes of samples
	lists     [][]uint32    // the samples with each element
	sizes     []int         // of the samples
	filter    []uint64      // a bit for each element, by its lower bits

	seen    []bool // samples that the document at hand has met
	touched []uint32
}

// filterBits is the length of the filter, 128 KiB: most elements of most documents
// are in no sample, and end there.
const filterBits = 1 << 20

// NewIndex returns an empty index for a threshold above 0.
func NewIndex(threshold float64) *Index {
	return &Index{threshold: threshold, filter: make([]uint64, filterBits/64)}
}

// prefix returns the elements of which a partner has one.
func (x *Index) prefix(set []uint64) []uint64 {
	// A little less than the share: rounding must not lose a partner.
	least := int(math.Ceil(x.threshold * float64(len(set)) * (1 - 1e-9)))
	return set[:min(len(set)-least+1, len(set))]
}

// Add adds the set of a sampled document, in ascending order, whose number is the
// count of those before.
func (x *Index) Add(set []uint64) {
	sample := uint32(len(x.sizes))
	x.sizes = append(x.sizes, len(set))
	x.seen = append(x.seen, false)
	for _, element := range x.prefix(set) {
		number, isNew := x.elements.Add(element)
		if isNew {
			x.lists = append(x.lists, nil)
		}
		x.lists[number] = append(x.lists[number], sample)
		x.filter[element%filterBits/64] |= 1 << (element % 64)
	}
}

// Candidates calls visit once for each sample that may be similar to a set, in
// ascending order: for all that are, and few others.
func (x *Index) Candidates(set []uint64, visit func(sample int)) {
	x.touched = x.touched[:0]
	for _, element := range x.prefix(set) {
		if x.filter[element%filterBits/64]>>(element%64)&1 == 0 {
			continue
		}
		number, found := x.elements.Find(element)
		if !found {
			continue
		}
		for _, sample := range x.lists[number] {
			if !x.seen[sample] {
				x.seen[sample] = true
				x.touched = append(x.touched, sample)
			}
		}
	}
	slices.Sort(x.touched)
	for _, sample := range x.touched {
		x.seen[sample] = false
		low, high := min(len(set), x.sizes[sample]), max(len(set), x.sizes[sample])
		if float64(low)/float64(high) >= x.threshold {
			visit(int(sample))
		}
	}
}

// Result is what an audit says of a job.
type Result struct {
	// Sampled is how many documents were sampled, Partnered how many of them have
	// a partner, and Pairs how many partners they have.
	Sampled   int   `json:"sampled"`
	Partnered int   `json:"partnered"`
	Pairs     int64 `json:"pairs"`
	// Recall is the share of these pairs that the job has found, and from Low to
	// High is where that of all pairs is, with a confidence of 95 %; all three are
	// the same where every document was sampled.
	Recall float64 `json:"recall"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	// Recapture is a second estimate of the recall, of pairs that other keys have
	// in common: those of them that the job has found too. It is 0 where they have
	// none.
	Recapture float64 `json:"recapture"`
}

// Sample is what the audit saw of one sampled document.
type Sample struct {
	// Partners is how many documents are similar to it, Found how many of them
	// the job has found.
	Partners, Found int
	// Recaptured is how many partners other keys have found, BothFound how many
	// of these the job has too.
	Recaptured, BothFound int
}

// resamples is how often the samples are drawn anew for the interval.
const resamples = 2000

// Estimate sums up the samples. The interval is that of the bootstrap by document
// (Efron and Tibshirani, An introduction to the bootstrap, 1993): the pairs of one
// document are found or missed together. Where no pair was missed, nothing varies;
// then the lower end is where three documents in all that have a partner would be
// expected to show a miss (the rule of three). Where the samples are all documents
// that there are, the recall is known.
func Estimate(samples []Sample, all bool) Result {
	r := Result{Sampled: len(samples), Recall: 1, Low: 0, High: 1}
	var partnered []Sample
	found, recaptured, both := int64(0), 0, 0
	for _, s := range samples {
		if s.Partners == 0 {
			continue
		}
		partnered = append(partnered, s)
		r.Pairs += int64(s.Partners)
		found += int64(s.Found)
		recaptured += s.Recaptured
		both += s.BothFound
	}
	r.Partnered = len(partnered)
	if recaptured > 0 {
		r.Recapture = float64(both) / float64(recaptured)
	}
	if r.Pairs == 0 {
		return r
	}
	r.Recall = float64(found) / float64(r.Pairs)
	if all {
		r.Low, r.High = r.Recall, r.Recall
		return r
	}
	ruleOfThree := max(1-3/float64(len(partnered)), 0)
	if found == r.Pairs {
		r.Low = ruleOfThree
		return r
	}
	random := rand.New(rand.NewPCG(uint64(len(samples)), uint64(r.Pairs)))
	recalls := make([]float64, resamples)
	for i := range recalls {
		pairs, found := 0, 0
		for range partnered {
			s := partnered[random.IntN(len(partnered))]
			pairs += s.Partners
			found += s.Found
		}
		recalls[i] = float64(found) / float64(pairs)
	}
	slices.Sort(recalls)
	r.Low, r.High = recalls[resamples*25/1000], recalls[resamples*975/1000]
	if missed := countMissed(partnered); missed < 5 {
		// Too few to tell how they vary.
		r.Low, r.High = min(r.Low, ruleOfThree), 1
	}
	return r
}

// countMissed returns how many samples have a partner that was missed.
func countMissed(samples []Sample) int {
	n := 0
	for _, s := range samples {
		if s.Found < s.Partners {
			n++
		}
	}
	return n
}
