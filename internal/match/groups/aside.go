package groups

import (
	"encoding/binary"

	"mirrorbeam/internal/carry/candidates"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/digest"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/graphs"
)

const (
	// LargeShard is the usual size of a large shard, in bytes of packed records: its records take some 70 MB.
	LargeShard = 32 << 20
	// largePart is the usual size of a large part. A task holds the nodes of a part.
	largePart = 1 << 20
)

// large says what of a shard is large. Only tests have a value other than 0, which stands for what is usual.
type large struct {
	bytes int64 // of packed key records of a shard, from which on equal documents are put aside
	nodes int   // of a part of the graph of equal documents
	// records is how many key records a task sorts at a time.
	records int
}

// aside puts equal documents aside while the key records of a shard are read: a document becomes an edge from the first of its
// class, and no task holds its record. All documents of a corpus may be equal, and they have one key. The first time that records are
// read, a vote finds the classes of very many documents. Only these matter.
type aside struct {
	stars      *stars
	firstInput docref.Ref
	votes      graphs.Votes
	classes    map[uint64]*asideClass // by the first word of the digest; nil before the vote is over
}

// asideClass is a class of equal documents. It is known when its first record is read.
type asideClass struct {
	digest digest.Digest
	key    uint64
	first  Center
	// hasInput says that a document of the input was read. Where the reference begins a class, that document stands for it in pairs
	// with documents of the reference.
	hasInput bool
}

// vote takes in a packed record.
func (a *aside) vote(packed []byte) {
	if records.IsFirstKey(packed) {
		a.votes.Add(digest.Get(packed[16:])[0])
	}
}

// begin lets the records be read from the beginning. It reports whether some of them are put aside.
func (a *aside) begin() bool {
	a.classes = map[uint64]*asideClass{}
	for hash := range a.votes.Frequent() {
		a.classes[hash] = &asideClass{}
	}
	return len(a.classes) > 0
}

// takes reports whether a packed record is put aside, and the class. Only the first record of a document is, and none of documents
// with sides: two of these may be needed for pairs. Records come in document order: the first one of a class is not, nor is the first
// one of the input.
func (a *aside) takes(packed []byte) (*asideClass, bool) {
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
		*class = asideClass{digest: d, key: key, first: Center{Ref: ref, isKnown: true}, hasInput: ref >= a.firstInput}
		return nil, false
	}
	if d != class.digest || key != class.key || ref <= class.first.Ref {
		return nil, false
	}
	if ref >= a.firstInput && !class.hasInput {
		class.hasInput = true
		return nil, false
	}
	return class, true
}

// put writes the edge of a packed record that is put aside.
func (a *aside) put(class *asideClass, packed []byte) error {
	var r candidates.Record
	records.GetKey(packed, &r)
	return a.stars.join(&class.first, &r, sameSet(&r))
}
