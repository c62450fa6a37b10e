// Package audit estimates what share of the similar pairs of a corpus a job has
// found. It samples documents without regard to their content, and looks for the
// partners of each among a share of all documents, chosen in the same way. So every
// pair has the same chance to be seen, and the share of found pairs among those that
// were seen is an estimate of the recall.
package audit

import (
	"math"
	"slices"

	"mirrorbeam/internal/docref"
)

// UsualSample is how many documents an audit samples at most unless told otherwise. The
// memory and the work of an audit are bounded for that many. Where more are asked for,
// both grow in proportion.
const UsualSample = 5000

// hashBits is the length of [Hash].
const hashBits = 63

// Hash spreads numbers evenly over 63 bits, whatever they are.
func Hash(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x ^= x >> 32
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 29
	x *= 0x94d049bb133111eb
	return (x ^ x>>32) >> (64 - hashBits)
}

// Limit returns the limit that a share of all hashes is below, for shares from 0 to 1.
func Limit(share float64) uint64 {
	return uint64(math.Ldexp(min(max(share, 0), 1), hashBits))
}

// Class is a class of equal documents that are similar to sampled ones: those of
// its documents that were looked at.
type Class struct {
	Digest uint64
	// Inputs and References count documents of the input and of the reference.
	Inputs, References int64
	// First and Last are documents of the input, Reference is the first of the
	// reference. Each holds only where there is one.
	First, Last, Reference docref.Ref
	// Partners are the sampled classes that this one is similar to, by number.
	Partners []Partner
}

// Partner is the number of a class of equal sampled documents. Its highest bit says
// that the class at hand is the same class.
type Partner uint32

const sameClass = 1 << 31

// NewPartner returns the Partner of a class with that number below 2^31.
func NewPartner(class uint32, same bool) Partner {
	if same {
		class |= sameClass
	}
	return Partner(class)
}

// number returns the number of the class.
func (p Partner) number() uint32 { return uint32(p) &^ sameClass }

// isSame reports whether the class is the same as the one that has the partner.
func (p Partner) isSame() bool { return p&sameClass != 0 }

// Count takes in one more document of the class.
func (c *Class) Count(ref docref.Ref, isReference bool) {
	one := Class{Inputs: 1, First: ref, Last: ref}
	if isReference {
		one = Class{References: 1, Reference: ref}
	}
	c.merge(one)
}

// merge takes in other documents of the class.
func (c *Class) merge(other Class) {
	if other.Inputs > 0 {
		if c.Inputs == 0 {
			c.First, c.Last = other.First, other.Last
		}
		c.First, c.Last = min(c.First, other.First), max(c.Last, other.Last)
		c.Inputs += other.Inputs
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
	list    []Class
	byHash  map[uint64]int // number of a class by its digest
	samples []sample
	own     []int // the class of each sampled class, by number, plus 1
}

// sample is a sampled document.
type sample struct {
	class uint32 // number of the sampled class
	group uint32 // of the bootstrap
}

// AddSample takes in a sampled document of the sampled class with that number.
func (c *Classes) AddSample(class uint32, ref docref.Ref) {
	c.samples = append(c.samples, sample{class, uint32(Hash(uint64(ref)) % groups)})
}

// Add takes in a class. Other tasks may have seen other documents of it.
func (c *Classes) Add(class Class) {
	if c.byHash == nil {
		c.byHash = map[uint64]int{}
	}
	at, known := c.byHash[class.Digest]
	if known {
		c.list[at].merge(class)
		return
	}
	at = len(c.list)
	c.byHash[class.Digest] = at
	class.Partners = slices.Clone(class.Partners)
	c.list = append(c.list, class)
	for _, partner := range class.Partners {
		if !partner.isSame() {
			continue
		}
		for int(partner.number()) >= len(c.own) {
			c.own = append(c.own, 0)
		}
		c.own[partner.number()] = at + 1
	}
}

// classOf returns the number in list of the sampled class of a partner.
func (c *Classes) classOf(p Partner) (int, bool) {
	if number := int(p.number()); number < len(c.own) && c.own[number] > 0 {
		return c.own[number] - 1, true
	}
	return 0, false
}
