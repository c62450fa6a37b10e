package groups

import (
	"encoding/binary"

	"mirrorbeam/internal/carry/candidates"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/digest"
	"mirrorbeam/internal/ground/docref"
)

const (
	// largeShard is the usual size of a large shard: its records take some 70 MB.
	largeShard = 32 << 20
	// largePart is the usual size of a large part. A task holds the nodes of a part.
	largePart = 1 << 20
	// asideSlots is for how many classes a shard has room. They are those of many documents: of more than an asideShare-th of the records.
	asideSlots, asideShare = 1 << 10, 1 << 8
)

// large says what of a shard is large. Only tests have a value other than 0, which stands for what is usual.
type large struct {
	bytes int64 // of packed key records of a shard, from which on equal documents are put aside
	nodes int   // of a part of the graph of equal documents
	// records is how many key records a task sorts at a time.
	records int
}

// aside puts equal documents aside while the key records of a shard are read: a document becomes an edge from the first of its
// class, and no task holds its record. All documents of a corpus may be equal, and they have one key.
//
// The first time that records are read, the classes vote for their slots: of a class that has most records of a slot, some votes are
// left in the end (Boyer and Moore, MJRTY, 1991). All these classes are known then whose documents matter.
type aside struct {
	stars      *stars
	firstInput docref.Ref
	records    int // that have voted
	slots      []asideSlot
}

// asideSlot is a class of equal documents.
type asideSlot struct {
	digest digest.Digest
	votes  int
	first  center // of the class, once it is read
	key    uint64
}

// slotOf returns the slot of a packed record and the digest of its document. Only the first record of a document counts, and
// none of documents with sides: two of these may be needed for pairs.
func (a *aside) slotOf(packed []byte) (*asideSlot, digest.Digest) {
	if !records.IsFirstKey(packed) {
		return nil, digest.Digest{}
	}
	d := digest.Get(packed[16:])
	return &a.slots[d[1]%asideSlots], d
}

// vote takes in a packed record.
func (a *aside) vote(packed []byte) {
	if a.slots == nil {
		a.slots = make([]asideSlot, asideSlots)
	}
	slot, d := a.slotOf(packed)
	if slot == nil {
		return
	}
	a.records++
	switch {
	case slot.digest == d:
		slot.votes++
	case slot.votes == 0:
		slot.digest, slot.votes = d, 1
	default:
		slot.votes--
	}
}

// found reports whether there is a class of many documents. Others are forgotten.
func (a *aside) found() (has bool) {
	for i := range a.slots {
		if a.slots[i].votes <= a.records/asideShare {
			a.slots[i] = asideSlot{}
			continue
		}
		has = true
	}
	return has
}

// takes reports whether a packed record is put aside. Records come in document order: the first one of a class is not. A class that
// begins with a document of the reference may need another one for pairs, so nothing of it is.
func (a *aside) takes(packed []byte) (*asideSlot, bool) {
	slot, d := a.slotOf(packed)
	if slot == nil || slot.votes == 0 || slot.digest != d {
		return nil, false
	}
	ref, key := records.GetRef(packed[8:]), binary.LittleEndian.Uint64(packed)
	if !slot.first.isKnown {
		slot.first, slot.key = center{ref: ref, isKnown: true}, key
		return nil, false
	}
	return slot, key == slot.key && ref > slot.first.ref && slot.first.ref >= a.firstInput
}

// again lets the records be read from the beginning.
func (a *aside) again() {
	for i := range a.slots {
		a.slots[i].first = center{}
	}
}

// put writes the edge of a packed record that is put aside.
func (a *aside) put(slot *asideSlot, packed []byte) error {
	var r candidates.Record
	records.GetKey(packed, &r)
	return a.stars.join(&slot.first, &r)
}
