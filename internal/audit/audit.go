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

// Index finds the sampled documents that are similar to another one, exactly. It is
// an inverted index of their sets, so that a document costs as much as its set is
// large, however many are sampled. The zero Index is empty.
type Index struct {
	elements numbering.Set
	lists    [][]uint32 // the samples with each element
	sizes    []int      // of the samples
	filter   []uint64   // a bit for each element, by its lower bits

	common  []int32 // of the document at hand with each sample
	touched []uint32
}

// filterBits is the length of the filter, 512 KiB: most elements of most documents
// are in no sample, and end there.
const filterBits = 1 << 22

// Add adds the set of a sampled document, whose number is the count of those
// before.
func (x *Index) Add(set []uint64) {
	if x.filter == nil {
		x.filter = make([]uint64, filterBits/64)
	}
	sample := uint32(len(x.sizes))
	x.sizes = append(x.sizes, len(set))
	x.common = append(x.common, 0)
	for _, element := range set {
		number, isNew := x.elements.Add(element)
		if isNew {
			x.lists = append(x.lists, nil)
		}
		x.lists[number] = append(x.lists[number], sample)
		x.filter[element%filterBits/64] |= 1 << (element % 64)
	}
}

// Partners calls visit for each sample whose Jaccard similarity to a set is at
// least the threshold, in no order.
//
// A partner has at least a share of threshold of the set's elements. So it has one
// of any that are more than the rest; if none of these is in a sample, the others
// need not be looked at.
func (x *Index) Partners(set []uint64, threshold float64, visit func(sample int)) {
	if len(x.sizes) == 0 || len(set) == 0 {
		return
	}
	// A little less than the share: rounding must not lose a partner.
	least := int(math.Ceil(threshold * float64(len(set)) * (1 - 1e-9)))
	x.touched = x.touched[:0]
	x.count(set[:len(set)-least+1])
	if len(x.touched) == 0 {
		return
	}
	x.count(set[len(set)-least+1:])
	for _, sample := range x.touched {
		common := int(x.common[sample])
		x.common[sample] = 0
		if union := len(set) + x.sizes[sample] - common; float64(common)/float64(union) >= threshold {
			visit(int(sample))
		}
	}
}

// count counts the elements that are in samples.
func (x *Index) count(elements []uint64) {
	for _, element := range elements {
		if x.filter[element%filterBits/64]>>(element%64)&1 == 0 {
			continue
		}
		number, found := x.elements.Find(element)
		if !found {
			continue
		}
		for _, sample := range x.lists[number] {
			if x.common[sample] == 0 {
				x.touched = append(x.touched, sample)
			}
			x.common[sample]++
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
