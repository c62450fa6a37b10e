package audit

import (
	"cmp"
	"slices"

	"mirrorbeam/internal/ground/docref"
)

// Drawing draws a sample of documents. It keeps the documents with the smallest hashes as long as they fit.
type Drawing struct {
	mostDocuments, mostElements int

	documents []drawn
	sets      map[Equals][]uint64
	elements  int // of the sets
	isCut     bool
}

type drawn struct {
	hash   uint64
	ref    docref.Ref
	equals Equals
}

// Equals is what equal documents have in common. Only documents of one scope are compared, and if they have sides, only
// documents of different ones. Documents of different scopes have different digests.
type Equals struct{ Digest, Scope, Side uint64 }

func inOrder(a, b drawn) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.ref, b.ref)) }

// NewDrawing returns an empty Drawing. It takes at most mostDocuments documents. The sets of its different
// documents have at most mostElements elements in all. One document always fits.
func NewDrawing(mostDocuments, mostElements int) *Drawing {
	return &Drawing{mostDocuments: mostDocuments, mostElements: mostElements, sets: map[Equals][]uint64{}}
}

// Add takes in a document. Set returns its elements in ascending order. Add calls it only for the first of equal
// documents.
func (d *Drawing) Add(ref docref.Ref, equals Equals, set func() []uint64) {
	one := drawn{Hash(uint64(ref)), ref, equals}
	if n := len(d.documents); d.isCut && n > 0 && inOrder(one, d.documents[0]) > 0 {
		return
	}
	if _, known := d.sets[equals]; !known {
		d.sets[equals] = set()
		d.elements += len(d.sets[equals])
	}
	d.documents = append(d.documents, one)
	if len(d.documents) > 2*d.mostDocuments || d.elements > 2*d.mostElements {
		d.cut(d.mostDocuments)
	}
}

// cut drops documents until the rest fits and at most the given number are left. Afterwards the list begins
// with the last document that stays.
func (d *Drawing) cut(most int) {
	slices.SortFunc(d.documents, inOrder)
	sets, elements, n := map[Equals][]uint64{}, 0, 0
	for _, one := range d.documents {
		size := 0
		if _, known := sets[one.equals]; !known {
			size = len(d.sets[one.equals])
		}
		if n == most || n > 0 && elements+size > d.mostElements {
			d.isCut = true
			break
		}
		sets[one.equals] = d.sets[one.equals]
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
	// Documents are the sampled documents, ordered by their hashes. Classes has the class of equal documents
	// that each of them belongs to.
	Documents []docref.Ref
	Classes   []SampledClass
	// Equals and Sets are what the documents of each class have in common, and their set.
	Equals []Equals
	Sets   [][]uint64
	// ProbedBelow is the limit for the hashes of the documents that the audit looks at.
	ProbedBelow uint64
	// Cut says that some documents did not fit.
	Cut bool
}

// Finish returns the sample.
func (d *Drawing) Finish() Sample {
	d.cut(d.mostDocuments)
	slices.SortFunc(d.documents, inOrder)
	s := Sample{Cut: d.isCut, ProbedBelow: Limit(1)}
	classes := map[Equals]SampledClass{}
	for _, one := range d.documents {
		class, known := classes[one.equals]
		if !known {
			class = SampledClass(len(s.Sets))
			classes[one.equals] = class
			s.Equals = append(s.Equals, one.equals)
			s.Sets = append(s.Sets, d.sets[one.equals])
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

func (s *Sample) halve() {
	s.Documents = s.Documents[:(len(s.Documents)+1)/2]
	s.Classes = s.Classes[:len(s.Documents)]
	// Classes are numbered in the order of their first documents.
	classes := slices.Max(s.Classes) + 1
	s.Equals, s.Sets, s.Cut = s.Equals[:classes], s.Sets[:classes], true
}

// Budget bounds the comparisons of pairs of classes.
type Budget struct {
	Pairs    float64
	Elements float64 // of the sampled class, summed over the pairs
}

// pilotClasses is how many classes of a sample are compared with each other. Their comparison shows what the
// comparison with other documents will take.
const pilotClasses = 256

// pilot compares classes with each other. It returns the mean number of comparisons for one class and one
// other, and the mean number of elements in them.
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

// Fit halves the sample, or the share of the documents that it is compared with, until the comparisons are
// within the budget. Documents is the number of documents in the corpus. ProbedBelow says which share of them
// the audit looks at. Only hashes decide which pairs are compared. So each pair keeps the same chance.
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
		// The audit always looks at the sample itself.
		if s.ProbedBelow/2 > last() {
			s.ProbedBelow /= 2
		} else {
			s.halve()
		}
	}
}

// share returns the share of all hashes below the limit.
func share(limit uint64) float64 { return float64(limit) / (1 << hashBits) }
