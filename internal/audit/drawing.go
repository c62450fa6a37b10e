package audit

import (
	"cmp"
	"slices"

	"mirrorbeam/internal/docref"
)

// Drawing draws a sample of documents: those of the smallest hashes that fit.
type Drawing struct {
	mostDocuments, mostElements int

	documents []drawn
	sets      map[uint64][]uint64 // by digest
	elements  int                 // of the sets
	isCut     bool
}

// drawn is a document of the sample.
type drawn struct {
	hash   uint64
	ref    docref.Ref
	digest uint64
}

func inOrder(a, b drawn) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.ref, b.ref)) }

// NewDrawing returns an empty Drawing of at most so many documents, and of at most
// so many elements in the sets of different documents. One document always fits.
func NewDrawing(mostDocuments, mostElements int) *Drawing {
	return &Drawing{mostDocuments: mostDocuments, mostElements: mostElements, sets: map[uint64][]uint64{}}
}

// Add takes in a document. Set returns its elements, which ascend; it is called for
// the first of equal documents.
func (d *Drawing) Add(ref docref.Ref, digest uint64, set func() []uint64) {
	one := drawn{Hash(uint64(ref)), ref, digest}
	if n := len(d.documents); d.isCut && n > 0 && inOrder(one, d.documents[0]) > 0 {
		return
	}
	if _, known := d.sets[digest]; !known {
		d.sets[digest] = set()
		d.elements += len(d.sets[digest])
	}
	d.documents = append(d.documents, one)
	if len(d.documents) > 2*d.mostDocuments || d.elements > 2*d.mostElements {
		d.cut(d.mostDocuments)
	}
}

// cut drops what does not fit, and all but the first most documents. The last one
// that stays is the first of the list then.
func (d *Drawing) cut(most int) {
	slices.SortFunc(d.documents, inOrder)
	sets, elements, n := map[uint64][]uint64{}, 0, 0
	for _, one := range d.documents {
		size := 0
		if _, known := sets[one.digest]; !known {
			size = len(d.sets[one.digest])
		}
		if n == most || n > 0 && elements+size > d.mostElements {
			d.isCut = true
			break
		}
		sets[one.digest] = d.sets[one.digest]
		elements += size
		n++
	}
	d.documents, d.sets, d.elements = d.documents[:n], sets, elements
	if n > 0 {
		d.documents[0], d.documents[n-1] = d.documents[n-1], d.documents[0]
	}
}

// Sample is a finished Drawing.
type Sample struct {
	// Documents are the refs of the sampled documents, in the order of their hashes. Classes are their classes of equal
	// documents.
	Documents []docref.Ref
	Classes   []SampledClass
	// Digests and Sets are those of the classes, by class.
	Digests []uint64
	Sets    [][]uint64
	// ProbedBelow is the limit of the hashes of documents that are looked at.
	ProbedBelow uint64
	// Cut says that not all documents did fit.
	Cut bool
}

// Finish returns the sample.
func (d *Drawing) Finish() Sample {
	d.cut(d.mostDocuments)
	slices.SortFunc(d.documents, inOrder)
	s := Sample{Cut: d.isCut, ProbedBelow: Limit(1)}
	classes := map[uint64]SampledClass{}
	for _, one := range d.documents {
		class, known := classes[one.digest]
		if !known {
			class = SampledClass(len(s.Sets))
			classes[one.digest] = class
			s.Digests = append(s.Digests, one.digest)
			s.Sets = append(s.Sets, d.sets[one.digest])
		}
		s.Documents = append(s.Documents, one.ref)
		s.Classes = append(s.Classes, class)
	}
	return s
}

// Has reports whether a document of the input is in the sample.
func (s *Sample) Has(ref docref.Ref) bool {
	n := len(s.Documents)
	if n == 0 {
		return false
	}
	last := s.Documents[n-1]
	return inOrder(drawn{hash: Hash(uint64(ref)), ref: ref}, drawn{hash: Hash(uint64(last)), ref: last}) <= 0
}

// halve drops half of the documents.
func (s *Sample) halve() {
	s.Documents = s.Documents[:(len(s.Documents)+1)/2]
	s.Classes = s.Classes[:len(s.Documents)]
	// Classes are numbered as they come.
	classes := slices.Max(s.Classes) + 1
	s.Digests, s.Sets, s.Cut = s.Digests[:classes], s.Sets[:classes], true
}

// Budget bounds the comparisons of pairs of classes.
type Budget struct {
	Pairs    float64
	Elements float64 // of the sampled class in each pair
}

// pilotClasses is how many classes of a sample are compared with each other to tell
// what the comparison with other documents takes.
const pilotClasses = 256

// pilot compares classes with each other. It returns how many pairs would have to be
// compared for one class and one other, and how many elements.
func (s *Sample) pilot(threshold float64) (pairs, elements float64) {
	sets := s.Sets[:min(len(s.Sets), pilotClasses)]
	p := NewIndex(threshold, sets).NewProbe()
	for i, set := range sets {
		for _, other := range p.Candidates(set) {
			if int(other) != i {
				pairs++
				elements += float64(len(sets[other]))
			}
		}
	}
	n := float64(len(sets))
	return pairs / (n * n), elements / (n * n)
}

// Fit halves the sample, or the share of the documents that it is compared with,
// until the comparisons are within the budget. Documents is how many there are in
// all, ProbedBelow says which share of them is looked at. Which pairs are compared
// depends on hashes only, so each has the same chance as before.
func (s *Sample) Fit(threshold, documents float64, budget Budget) {
	if len(s.Documents) == 0 {
		return
	}
	pairs, elements := s.pilot(threshold)
	classes := float64(len(s.Sets))
	others := documents * share(s.ProbedBelow) * classes / float64(len(s.Documents))
	needs := classes * others * max(pairs/budget.Pairs, elements/budget.Elements)
	last := func() uint64 { return Hash(uint64(s.Documents[len(s.Documents)-1])) }
	for ; needs > 1 && len(s.Documents) > 1; needs /= 2 {
		// The sample itself is always looked at.
		if s.ProbedBelow/2 > last() {
			s.ProbedBelow /= 2
		} else {
			s.halve()
		}
	}
}

// share returns the share of all hashes below the limit.
func share(limit uint64) float64 { return float64(limit) / (1 << hashBits) }
