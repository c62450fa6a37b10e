package documents

import (
	"mirrorbeam/internal/docref"
)

// Repeats knows the documents of a split that a task has seen last. Equal documents share
// all keys, and the first stands for them under each. So the first sends its keys, and
// the others one that joins them to it. The first of the input sends its keys, too, if it
// is equal to one of the reference: some pairs are known by it. A document that repeats
// has forgotten sends its keys again, which changes nothing but the work.
type Repeats struct {
	FirstInput docref.Ref
	seen       [4096]seenDocument
}

// seenDocument is what a document is known again by: its digest, and what else it has in
// common with equal ones.
type seenDocument struct {
	digest, mark uint64
	isReference  bool
	isThere      bool
}

// Has reports whether the document is equal to one before it, and notes it.
func (r *Repeats) Has(ref docref.Ref, digest, mark uint64) bool {
	d := seenDocument{digest, mark, ref < r.FirstInput, true}
	at := digest % uint64(len(r.seen))
	if d.isReference {
		at ^= 1 // so that the two do not replace each other
	}
	has := r.seen[at] == d
	r.seen[at] = d
	return has
}
