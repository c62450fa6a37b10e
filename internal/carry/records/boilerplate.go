package records

import (
	"encoding/binary"

	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/runfile"
)

// Cause says why a shingle is boilerplate.
type Cause byte

// The causes.
const (
	OfBaseText Cause = iota // a base text has it
	OfCorpus                // very many documents have it
)

// Sighting says that documents of a part of a split have a shingle which is boilerplate.
type Sighting struct {
	Shingle uint64
	// First is the first of these documents, and Split the split.
	First docref.Ref
	Split int
	// Documents is their number.
	Documents uint32
	Cause     Cause
}

const sightingSize = sketchblock.HashSize + 8 + 4 + 4 + 1

// mostSightings bounds the shingles that [Sightings] hold, some 6 MB of memory.
const mostSightings = 1 << 17

// Sightings counts, for shingles that are boilerplate, the documents of a part of a split that have each.
type Sightings map[uint64]sighted

// sighted is the first document that has a shingle, and the number of all.
type sighted struct {
	first     docref.Ref
	documents uint32
}

// Add counts a document that has a shingle. Documents come in their order.
func (s Sightings) Add(shingle uint64, ref docref.Ref) {
	seen, is := s[shingle]
	if !is {
		seen.first = ref
	}
	seen.documents++
	s[shingle] = seen
}

// IsFull reports whether the sightings are to be written before others are added.
func (s Sightings) IsFull() bool { return len(s) >= mostSightings }

// Write writes the sightings of a part of a split, by ranges of hashes, and forgets them.
func (s Sightings) Write(run *runfile.Writer, cause Cause, split, shards int) error {
	for shingle, seen := range s {
		b, err := run.Record(BoilerplateSeen, ShardOf(shingle<<16, shards), sightingSize)
		if err != nil {
			return err
		}
		putSighting(b, Sighting{shingle, seen.first, split, seen.documents, cause})
	}
	clear(s)
	return nil
}

func putSighting(b []byte, s Sighting) {
	put48(b, s.Shingle)
	binary.LittleEndian.PutUint64(b[6:], uint64(s.First))
	binary.LittleEndian.PutUint32(b[14:], uint32(s.Split))
	binary.LittleEndian.PutUint32(b[18:], s.Documents)
	b[22] = byte(s.Cause)
}

// AppendSightings reads records.
func AppendSightings(all []Sighting, packed []byte) []Sighting {
	for ; len(packed) > 0; packed = packed[sightingSize:] {
		all = append(all, Sighting{
			Shingle: get48(packed), First: docref.Ref(binary.LittleEndian.Uint64(packed[6:])),
			Split:     int(binary.LittleEndian.Uint32(packed[14:])),
			Documents: binary.LittleEndian.Uint32(packed[18:]), Cause: Cause(packed[22]),
		})
	}
	return all
}

// Holder says which document is the first that has a shingle.
type Holder struct {
	Ref     docref.Ref
	Shingle uint64
	// Documents is the number of documents of the corpus that have it.
	Documents int64
	Cause     Cause
}

const holderSize = 8 + sketchblock.HashSize + 8 + 1

// WriteHolder writes a holder, by split of the document.
func WriteHolder(run *runfile.Writer, split int, h Holder) error {
	b, err := run.Record(FirstHolders, split, holderSize)
	if err == nil {
		binary.LittleEndian.PutUint64(b, uint64(h.Ref))
		put48(b[8:], h.Shingle)
		binary.LittleEndian.PutUint64(b[14:], uint64(h.Documents))
		b[22] = byte(h.Cause)
	}
	return err
}

// AppendHolders reads records.
func AppendHolders(all []Holder, packed []byte) []Holder {
	for ; len(packed) > 0; packed = packed[holderSize:] {
		all = append(all, Holder{
			Ref: docref.Ref(binary.LittleEndian.Uint64(packed)), Shingle: get48(packed[8:]),
			Documents: int64(binary.LittleEndian.Uint64(packed[14:])), Cause: Cause(packed[22]),
		})
	}
	return all
}
