package fingerprints

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/util/checksum"
	"mirrorbeam.dev/sketch"
)

// passageWindow is the number of adjacent passages from which winnowing selects the least as a key.
const passageWindow = 4

// PassageRun returns how many shingles in a row two sequences must share so that they are sure to share a key, given
// the number of shingles in a passage.
func PassageRun(combined int) int { return passageWindow + combined - 1 }

// Passages makes the keys of sequences: hashes of the passages that winnowing selects. It is not for concurrent use.
type Passages struct {
	combined int // shingles in a passage
	hashes   []uint64
	selected []uint32
	seen     map[uint64]struct{}
	sequence sketchblock.Sequence // the last one that was read
}

// NewPassages returns a maker of keys for passages of a number of shingles.
func NewPassages(combined int) *Passages {
	return &Passages{combined: combined, seen: map[uint64]struct{}{}}
}

// AppendKeys appends the keys of a sequence, each once, in the order of the text.
func (p *Passages) AppendKeys(keys []uint64, s *sketch.Sequence) []uint64 {
	clear(p.seen)
	for key := range p.each(s) {
		if _, repeated := p.seen[key]; !repeated {
			p.seen[key] = struct{}{}
			keys = append(keys, key)
		}
	}
	return keys
}

func (p *Passages) each(s *sketch.Sequence) iter.Seq[uint64] {
	p.hashes = s.Passages(p.hashes[:0], p.combined)
	p.selected = sketch.Winnow(p.selected[:0], p.hashes, passageWindow)
	return func(yield func(uint64) bool) {
		for _, at := range p.selected {
			if !yield(candidates.KeyOf(asmkernels.SplitMix(p.hashes[at]), 1)) {
				return
			}
		}
	}
}

// ShortKey returns the bits of a key by which [candidates.Grouper.KeyID] tells keys without bands apart. The key is the
// one of a document of that scope.
func ShortKey(key, scope uint64) uint32 {
	r := candidates.Record{Key: key}
	if scope != 0 {
		r.InScope(scope, false)
	}
	return candidates.PreviousOf(r.Key)
}

// ShortKeys appends the short keys of the packed sequence of a document of that scope, repeated ones repeatedly.
func (p *Passages) ShortKeys(short []uint32, packed []byte, scope uint64) (_ []uint32, err error) {
	if p.sequence, err = sketchblock.ParseSequence(p.sequence, packed); err != nil {
		return nil, err
	}
	sequence := sketch.Sequence(p.sequence)
	for key := range p.each(&sequence) {
		short = append(short, ShortKey(key, scope))
	}
	return short, nil
}

// Heads returns the short keys of the documents that a builder has collected, whose content are sequences. So a later
// job need not read the sequences to know whether a document shares a key with another one.
//
// Heads are the number of shingles in a passage, 4 bytes, and for each document the check sum of its sequence and the
// number of its keys, 4 bytes each, and these.
func (p *Passages) Heads(b *sketchblock.Builder) ([]byte, error) {
	packed := binary.LittleEndian.AppendUint32(nil, uint32(p.combined))
	var short []uint32
	for scope, sequence := range b.Each {
		var err error
		if short, err = p.ShortKeys(short[:0], sequence, scope); err != nil {
			return nil, fmt.Errorf("find the passages of a document: %w", err)
		}
		packed = binary.LittleEndian.AppendUint32(packed, checksum.Of(sequence))
		packed = binary.LittleEndian.AppendUint32(packed, uint32(len(short)))
		for _, key := range short {
			packed = binary.LittleEndian.AppendUint32(packed, key)
		}
	}
	return packed, nil
}

// PassageHead has the short keys of a document, 4 bytes each.
type PassageHead struct {
	Keys []byte
	sum  uint32
}

// IsOf reports whether the head is the one of a packed sequence.
func (h PassageHead) IsOf(sequence []byte) bool { return checksum.Of(sequence) == h.sum }

// ReadHeads appends the heads of a block of n documents. They alias packed. It reports false if they are of passages of
// another number of shingles.
func (p *Passages) ReadHeads(heads []PassageHead, packed []byte, n int) (_ []PassageHead, isSame bool, err error) {
	damaged := errors.New("heads of sequences are damaged")
	if len(packed) < 4 {
		return nil, false, damaged
	}
	if binary.LittleEndian.Uint32(packed) != uint32(p.combined) {
		return heads, false, nil
	}
	packed = packed[4:]
	for range n {
		if len(packed) < 8 {
			return nil, false, damaged
		}
		sum, size := binary.LittleEndian.Uint32(packed), 4*int64(binary.LittleEndian.Uint32(packed[4:]))
		if packed = packed[8:]; int64(len(packed)) < size {
			return nil, false, damaged
		}
		heads = append(heads, PassageHead{packed[:size], sum})
		packed = packed[size:]
	}
	if len(packed) > 0 {
		return nil, false, damaged
	}
	return heads, true, nil
}
