// Package audit estimates the recall of a job: the share of all similar pairs that the job has found. It
// samples documents without regard to their content. For each sampled document it looks for partners among a
// share of all documents, which it chooses in the same way. So every pair has the same chance to be seen. The
// share of found pairs among the seen ones estimates the recall.
package audit

import (
	"cmp"
	"math"
	"slices"

	"mirrorbeam.dev/internal/records/docref"
)

// UsualSample is how many documents an audit samples at most unless told otherwise. It bounds the memory and
// the work of an audit. Both grow in proportion to a larger sample.
const UsualSample = 5000

const hashBits = 63

// Hash spreads numbers evenly over 63 bits, whatever they are.
func Hash(x uint64) uint64 {
	// Without the sum 0 would stay 0.
	x = (x + 1) * 0x9e3779b97f4a7c15
	x ^= x >> 32
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 29
	x *= 0x94d049bb133111eb
	return (x ^ x>>32) >> (64 - hashBits)
}

// Limit returns the limit that a share of all hashes is below. The share is from 0 to 1.
func Limit(share float64) uint64 {
	return uint64(math.Ldexp(min(max(share, 0), 1), hashBits))
}

// Class is a class of equal documents that are similar to sampled ones, of the documents that the audit looked at.
type Class struct {
	Digest             uint64
	Inputs, References int64
	// First and Last are documents of the input. Reference is the first document of the reference. Each is
	// valid only if its count is above 0.
	First, Last, Reference docref.Ref
	// Partners are the sampled classes that are similar to this one.
	Partners []Partner
	// Apart counts, for each partner, the documents of the input that are no pairs with it, since they are of its side.
	// It is nil if documents have no sides. Then all are pairs with the partner, except the partner itself.
	Apart []int64
}

// SampledClass is the number of a class of equal sampled documents, from 0, below 2^31.
type SampledClass uint32

// AuditedClass is the number of a [Class] among all that tasks have seen, from 0.
type AuditedClass uint32

// Partner is a sampled class. Its highest bit says that it is the very class whose partner it is.
type Partner uint32

const sameClass = 1 << 31

// NewPartner returns a sampled class as a partner. IsSame says that it is the very class whose partner it is.
func NewPartner(class SampledClass, isSame bool) Partner {
	if isSame {
		class |= sameClass
	}
	return Partner(class)
}

// Class returns the sampled class.
func (p Partner) Class() SampledClass { return SampledClass(p) &^ sameClass }

func (p Partner) isSame() bool { return p&sameClass != 0 }

// Count takes in one more document of the class.
func (c *Class) Count(ref docref.Ref, isReference bool) {
	one := Class{Inputs: 1, First: ref, Last: ref}
	if isReference {
		one = Class{References: 1, Reference: ref}
	}
	c.merge(one)
}

func (c *Class) merge(other Class) {
	if other.Inputs > 0 {
		if c.Inputs == 0 {
			c.First, c.Last = other.First, other.Last
		}
		c.First, c.Last = min(c.First, other.First), max(c.Last, other.Last)
		c.Inputs += other.Inputs
	}
	for i, n := range other.Apart {
		c.Apart[i] += n
	}
	if other.References > 0 {
		if c.References == 0 {
			c.Reference = other.Reference
		}
		c.Reference = min(c.Reference, other.Reference)
		c.References += other.References
	}
}

// Classes collects what many tasks saw. The zero Classes is empty.
type Classes struct {
	list     []Class                 // by audited class
	byDigest map[uint64]AuditedClass // audited class of each digest
	samples  []sample
	own      map[SampledClass]AuditedClass // the audited class that equals a sampled class, if it is known
}

type sample struct {
	class SampledClass
	group uint32 // the documents of a group are drawn together in the bootstrap
}

// AddSample takes in a document of a sampled class, given the hash that has chosen it.
func (c *Classes) AddSample(class SampledClass, hash uint64) {
	c.samples = append(c.samples, sample{class, uint32(hash % groups)})
}

// Add takes in a class. Other tasks may have seen other documents of the same class.
func (c *Classes) Add(class Class) {
	if c.byDigest == nil {
		c.byDigest, c.own = map[uint64]AuditedClass{}, map[SampledClass]AuditedClass{}
	}
	if at, known := c.byDigest[class.Digest]; known {
		c.list[at].merge(class)
		return
	}
	at := AuditedClass(len(c.list))
	c.byDigest[class.Digest] = at
	class.Partners, class.Apart = slices.Clone(class.Partners), slices.Clone(class.Apart)
	c.list = append(c.list, class)
	for _, partner := range class.Partners {
		if partner.isSame() {
			c.own[partner.Class()] = at
		}
	}
}

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

// Add takes in a document and its hash. Set returns its elements in ascending order, for the first of equal documents.
func (d *Drawing) Add(hash uint64, ref docref.Ref, equals Equals, set func() []uint64) {
	one := drawn{hash, ref, equals}
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
	// Documents are the sampled documents, ordered by Hashes, and Classes the classes of equal ones that they are in.
	Documents []docref.Ref
	Hashes    []uint64
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
		s.Documents, s.Hashes = append(s.Documents, one.ref), append(s.Hashes, one.hash)
		s.Classes = append(s.Classes, class)
	}
	return s
}

// Has reports whether a document of the input is in the sample, given its hash.
func (s *Sample) Has(hash uint64, ref docref.Ref) bool {
	n := len(s.Documents)
	return n > 0 && inOrder(drawn{hash: hash, ref: ref}, drawn{hash: s.Hashes[n-1], ref: s.Documents[n-1]}) <= 0
}

func (s *Sample) halve() {
	s.Documents = s.Documents[:(len(s.Documents)+1)/2]
	s.Hashes, s.Classes = s.Hashes[:len(s.Documents)], s.Classes[:len(s.Documents)]
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
	for ; needs > 1 && len(s.Documents) > 1; needs /= 2 {
		// The audit always looks at the sample itself.
		if s.ProbedBelow/2 > s.Hashes[len(s.Hashes)-1] {
			s.ProbedBelow /= 2
		} else {
			s.halve()
		}
	}
}

func share(limit uint64) float64 { return float64(limit) / (1 << hashBits) }
