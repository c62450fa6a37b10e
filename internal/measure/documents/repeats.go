package documents

import (
	"mirrorbeam/internal/ground/digest"
	"mirrorbeam/internal/ground/docref"
)

// Repeats remembers the last documents that a task has seen in its split. Equal documents share all keys, and
// under each key the first one stands for the others. So the first sends all its keys, and each of the others
// sends only one, which joins it to the first. The first document of the input sends all its keys even if it
// equals a document of the reference: some pairs are known by it. A document that Repeats has forgotten sends
// its keys again. That changes only the work.
type Repeats struct {
	FirstInput docref.Ref
	seen       [4096]seenDocument
}

// seenDocument is what identifies a document: its digest, and a mark that equal documents share.
type seenDocument struct {
	digest      digest.Digest
	mark        uint64
	isReference bool
	isThere     bool
}

// Has reports whether the document equals an earlier one, and remembers it.
func (r *Repeats) Has(ref docref.Ref, equal digest.Digest, mark uint64) bool {
	d := seenDocument{equal, mark, ref < r.FirstInput, true}
	at := equal[0] % uint64(len(r.seen))
	if d.isReference {
		at ^= 1 // keeps a document of the input and one of the reference from replacing each other
	}
	has := r.seen[at] == d
	r.seen[at] = d
	return has
}
