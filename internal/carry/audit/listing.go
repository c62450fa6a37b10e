package audit

import (
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/graphs"
)

// Listing notes which audited pairs of classes are joined by a verified edge. Edges pass by one at a time and
// are not kept. An edge names only one document of a class of equal documents. The star that joins equal
// documents says which document that is.
type Listing struct {
	// HasSides says that documents have sides.
	HasSides bool

	refs    graphs.Numbering[uint32] // of documents of audited classes
	classes []AuditedClass           // by number of the ref
	filter  []uint64                 // a bit for the hash of each ref, since few documents are audited
	pairs   graphs.Numbering[uint32] // of different classes
	joined  []bool                   // by number of the pair
}

const filterBits = 1 << 20

// NewListing returns a Listing of the pairs that the classes form.
func NewListing(c *Classes) *Listing {
	l := &Listing{filter: make([]uint64, filterBits/64)}
	for at := range AuditedClass(len(c.list)) {
		class := &c.list[at]
		l.HasSides = l.HasSides || class.Apart != nil
		if class.Inputs > 0 {
			l.name(class.First, at)
			l.name(class.Last, at)
		}
		if class.References > 0 {
			l.name(class.Reference, at)
		}
		for _, partner := range class.Partners {
			if other, ok := c.classOf(partner); ok && !partner.isSame() {
				l.pairs.Add(pairKey(at, other))
			}
		}
	}
	l.joined = make([]bool, len(l.pairs.Keys))
	return l
}

func pairKey(a, b AuditedClass) uint64 { return uint64(min(a, b))<<32 | uint64(max(a, b)) }

func (l *Listing) name(ref docref.Ref, class AuditedClass) {
	if _, isNew := l.refs.Add(uint64(ref)); isNew {
		l.classes = append(l.classes, class)
		l.filter[Hash(uint64(ref))%filterBits/64] |= 1 << (Hash(uint64(ref)) % 64)
	}
}

// Class returns the audited class that a document is known to be in.
func (l *Listing) Class(ref docref.Ref) (class AuditedClass, known bool) {
	hash := Hash(uint64(ref))
	if l.filter[hash%filterBits/64]>>(hash%64)&1 == 0 {
		return 0, false
	}
	number, known := l.refs.Find(uint64(ref))
	if !known {
		return 0, false
	}
	return l.classes[number], true
}

// Star takes in documents of one class of equal documents: the representatives, which edges may name, and any
// others. It keeps only what concerns an audited class.
func (l *Listing) Star(representatives []docref.Ref, others []docref.Ref) {
	for _, refs := range [][]docref.Ref{representatives, others} {
		for _, ref := range refs {
			if class, known := l.Class(ref); known {
				for _, representative := range representatives {
					l.name(representative, class)
				}
				return
			}
		}
	}
}

// Edge takes in a verified edge between documents of two audited classes.
func (l *Listing) Edge(a, b AuditedClass) {
	if number, audited := l.pairs.Find(pairKey(a, b)); audited {
		l.joined[number] = true
	}
}

// isListed reports whether an edge has joined two classes of c.
func (l *Listing) isListed(a, b AuditedClass) bool {
	number, audited := l.pairs.Find(pairKey(a, b))
	return audited && l.joined[number]
}
