// Package audit estimates the recall of a job: the share of all similar pairs that the job has found. It
// samples documents without regard to their content. For each sampled document it looks for partners among a
// share of all documents, which it chooses in the same way. So every pair has the same chance to be seen. The
// share of found pairs among the seen ones estimates the recall.
package audit

import (
	"math"
	"slices"

	"mirrorbeam/internal/ground/docref"
)

// UsualSample is how many documents an audit samples at most unless told otherwise. It bounds the memory and
// the work of an audit. Both grow in proportion to a larger sample.
const UsualSample = 5000

// hashBits is the length of [Hash].
const hashBits = 63

// Hash spreads numbers evenly over 63 bits, whatever they are.
func Hash(x uint64) uint64 {
	// Without the sum 0 would stay 0. It is the first document of a corpus, so every sample would hold that one, and a
	// heap of much alike documents is compared with its first documents only.
	x = (x + 1) * 0x9e3779b97f4a7c15
	x ^= x >> 32
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 29
	x *= 0x94d049bb133111eb
	return (x ^ x>>32) >> (64 - hashBits)
}

// Limit returns the limit below which a share of all hashes lies. The share is from 0 to 1.
func Limit(share float64) uint64 {
	return uint64(math.Ldexp(min(max(share, 0), 1), hashBits))
}

// Class is a class of equal documents that are similar to sampled ones. It covers only those documents that
// the audit looked at.
type Class struct {
	Digest uint64
	// Inputs and References count documents of the input and of the reference.
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

// isSame reports whether the partner is the very class whose partner it is.
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
	own      []ownClass // by sampled class
}

// ownClass is the audited class that equals a sampled class, if it is known.
type ownClass struct {
	class   AuditedClass
	isKnown bool
}

type sample struct {
	class SampledClass
	group uint32 // the documents of a group are drawn together in the bootstrap
}

// AddSample takes in a document of a sampled class.
func (c *Classes) AddSample(class SampledClass, ref docref.Ref) {
	c.samples = append(c.samples, sample{class, uint32(Hash(uint64(ref)) % groups)})
}

// Add takes in a class. Other tasks may have seen other documents of the same class.
func (c *Classes) Add(class Class) {
	if c.byDigest == nil {
		c.byDigest = map[uint64]AuditedClass{}
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
		if !partner.isSame() {
			continue
		}
		for int(partner.Class()) >= len(c.own) {
			c.own = append(c.own, ownClass{})
		}
		c.own[partner.Class()] = ownClass{at, true}
	}
}

// classOf returns the audited class that equals a partner, if it is known.
func (c *Classes) classOf(p Partner) (class AuditedClass, isKnown bool) {
	if int(p.Class()) >= len(c.own) {
		return 0, false
	}
	own := c.own[p.Class()]
	return own.class, own.isKnown
}
