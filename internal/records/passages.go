package records

import (
	"encoding/binary"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/sketch"
)

// Place is where a passage begins: its document and unit there, a word, line, paragraph or sentence.
type Place struct {
	Ref docref.Ref
	At  int64
}

// ClearOf reports whether passages of that many units at two places, the later one first, share no unit.
func (p Place) ClearOf(earlier Place, units int64) bool {
	return p.Ref != earlier.Ref || p.At >= earlier.At+units
}

// Places packs or reads ascending places, each as its distance from the place before. Each kind and shard has its own.
type Places struct{ last Place }

// Append packs the next place.
func (p *Places) Append(b []byte, next Place) []byte {
	if next.Ref == p.last.Ref && next.At > p.last.At {
		b = binary.AppendUvarint(b, uint64(next.At-p.last.At))
	} else {
		b = binary.AppendUvarint(append(b, 0), uint64(next.Ref-p.last.Ref))
		b = binary.AppendUvarint(b, uint64(next.At))
	}
	p.last = next
	return b
}

// Next reads the next place, and returns the bytes behind it.
func (p *Places) Next(b []byte) (Place, []byte) {
	step, size := binary.Uvarint(b)
	b = b[size:]
	if step > 0 {
		p.last.At += int64(step)
		return p.last, b
	}
	step, size = binary.Uvarint(b)
	p.last.Ref += docref.Ref(step)
	b = b[size:]
	at, size := binary.Uvarint(b)
	p.last.At = int64(at)
	return p.last, b[size:]
}

// Windows packs passages with their hashes, in the order of a split, or reads them.
type Windows struct{ places Places }

const mostWindow = 3*binary.MaxVarintLen64 + 12

func (w *Windows) Write(run *runfile.Writer, shard int, at Place, passage sketch.Run) error {
	var packed [mostWindow]byte
	b := binary.LittleEndian.AppendUint64(w.places.Append(packed[:0], at), passage.Hash)
	b = binary.LittleEndian.AppendUint32(b, passage.Check)
	return WritePacked(run, PassageHashes, shard, b)
}

// Next reads the next passage, and returns the bytes behind it.
func (w *Windows) Next(b []byte) (at Place, passage sketch.Run, rest []byte) {
	at, b = w.places.Next(b)
	return at, sketch.Run{Hash: binary.LittleEndian.Uint64(b), Check: binary.LittleEndian.Uint32(b[8:])}, b[12:]
}

// Repeat is a passage that occurs earlier, and where it occurs first.
type Repeat struct{ At, First Place }

// Repeats packs repeats in the order of a split, or reads them. The first occurrences of passages that follow each
// other often do so, too: then a byte says so.
type Repeats struct {
	places Places
	last   Repeat
}

// follows reports whether a repeat is as far from its first occurrence as the one before, in the same document.
func (r *Repeats) follows(next Repeat) bool {
	return next.First.Ref == r.last.First.Ref && next.At.Ref == r.last.At.Ref &&
		next.At.At-next.First.At == r.last.At.At-r.last.First.At
}

func (r *Repeats) Write(run *runfile.Writer, split int, next Repeat) error {
	var packed [2 * mostWindow]byte
	b := r.places.Append(packed[:0], next.At)
	if r.follows(next) {
		b = append(b, 1)
	} else {
		b = binary.AppendUvarint(append(b, 0), uint64(next.First.Ref))
		b = binary.AppendUvarint(b, uint64(next.First.At))
	}
	r.last = next
	return WritePacked(run, PassageRepeats, split, b)
}

// Next reads the next repeat, and returns the bytes behind it.
func (r *Repeats) Next(b []byte) (Repeat, []byte) {
	var next Repeat
	next.At, b = r.places.Next(b)
	isNear := b[0] == 1
	b = b[1:]
	if isNear {
		next.First = Place{r.last.First.Ref, next.At.At - r.last.At.At + r.last.First.At}
	} else {
		ref, size := binary.Uvarint(b)
		at, more := binary.Uvarint(b[size:])
		next.First, b = Place{docref.Ref(ref), int64(at)}, b[size+more:]
	}
	r.last = next
	return next, b
}

// Trim says what is cut from the text of a document.
type Trim struct {
	Ref   docref.Ref
	Whole bool
	// Cuts are in the order of the text.
	Cuts []corpus.Cut
}

// LastingKeySize is the size of the record of a short key, in bytes.
const LastingKeySize = 4

// KeptPair is a pair with the passages that its documents have in common, for the next run of a scheduled job.
type KeptPair struct {
	// A and B are the documents by the numbers that their files have in the run that found the pair.
	A, B docref.Ref
	Score
	// Spans are the listed passages, and More is the number of others.
	Spans []sketch.Span
	More  uint32
}
