package groups

import (
	"encoding/binary"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
)

const (
	// LargeShard is the usual size of a large shard, in bytes of packed records: its records take some 70 MB.
	LargeShard = 32 << 20
	// largePart is the usual size of a large part. A task holds the nodes of a part.
	largePart = 1 << 20
)

// large says what of a shard is large. Only tests have a value other than 0, which stands for what is usual.
type large struct {
	bytes int64 // of packed key records of a shard, from which on equal documents are merged early
	nodes int   // of a part of the graph of equal documents
	// records is how many key records a task sorts at a time.
	records int
}

// premerger merges equal documents early while the key records of a shard are read: a document becomes an edge from the
// first of its class, and no task holds its record. All documents of a corpus may be equal, and they have one key. The
// first time that records are read, a vote finds the classes of very many documents. Only these matter.
type premerger struct {
	stars      *Stars
	firstInput docref.Ref
	votes      graphs.Votes
	classes    map[uint64]*premergedClass // by the first word of the digest; nil before the vote is over
}

// premergedClass is a class of equal documents. It is known when its first record is read.
type premergedClass struct {
	digest digest.Digest
	key    uint64
	first  Center
	side   uint64 // of the first document
	// other is the first document of another side. Documents of the side of the first one are joined to it; see
	// [candidates.Grouper]. It is known once all records were read.
	other Center
	// hasInput and hasOther say that a document of the input, and one of another side, was read. The first of these
	// stands for the class in pairs that its first document cannot make.
	hasInput, hasOther bool
	isTold             bool // to the next run
}

func (a *premerger) vote(packed []byte) {
	if records.IsFirstKey(packed) {
		a.votes.Add(digest.Get(packed[16:])[0])
	}
}

// begin lets the records be read from the beginning. It reports whether some of them are merged early.
func (a *premerger) begin() bool {
	before := a.classes
	a.classes = map[uint64]*premergedClass{}
	for hash := range a.votes.Frequent() {
		a.classes[hash] = &premergedClass{}
		if class := before[hash]; class != nil {
			a.classes[hash].other = Center{Ref: class.other.Ref, isKnown: class.other.isKnown}
		}
	}
	return len(a.classes) > 0
}

// takes reports whether a packed record is merged early, and the class. Only the first record of a document is. Records
// come in document order: the first one of a class is not, nor are the first one of the input and the first one of
// another side.
func (a *premerger) takes(packed []byte) (*premergedClass, bool) {
	if a == nil || !records.IsFirstKey(packed) {
		return nil, false
	}
	d := digest.Get(packed[16:])
	class := a.classes[d[0]]
	if class == nil {
		return nil, false
	}
	ref, key := records.GetRef(packed[8:]), binary.LittleEndian.Uint64(packed)
	if !class.first.isKnown {
		*class = premergedClass{
			digest:   d,
			key:      key,
			first:    Center{Ref: ref, isKnown: true},
			side:     records.SideOf(packed),
			other:    class.other,
			hasInput: ref >= a.firstInput,
		}
		return nil, false
	}
	if d != class.digest || key != class.key || ref <= class.first.Ref {
		return nil, false
	}
	isInput, isOther := ref >= a.firstInput, records.SideOf(packed) != class.side
	if isOther && !class.other.isKnown {
		class.other = Center{Ref: ref, isKnown: true}
	}
	isFirst := isInput && !class.hasInput || isOther && !class.hasOther
	class.hasInput, class.hasOther = class.hasInput || isInput, class.hasOther || isOther
	return class, !isFirst
}

func (a *premerger) put(class *premergedClass, packed []byte) error {
	var r candidates.Record
	records.GetKey(packed, &r)
	if !class.isTold {
		class.isTold = true
		if err := a.stars.tellLasting(class.key); err != nil {
			return err
		}
	}
	center := &class.first
	if class.side != 0 && r.Side == class.side && class.other.isKnown {
		center = &class.other
	}
	return a.stars.Join(center, &r, sameSet(&r))
}
