package records

import (
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
		one := Sighting{shingle, seen.first, split, seen.documents, cause}
		if err := Write(run, BoilerplateSeen, ShardOf(shingle<<16, shards), &one); err != nil {
			return err
		}
	}
	clear(s)
	return nil
}

func (s *Sighting) fields(c *codec) {
	c.hash48(&s.Shingle)
	numbers(c, &s.First)
	small(c, 4, &s.Split)
	small(c, 4, &s.Documents)
	small(c, 1, &s.Cause)
}

// Holder says which document is the first that has a shingle.
type Holder struct {
	Ref     docref.Ref
	Shingle uint64
	// Documents is the number of documents of the corpus that have it.
	Documents int64
	Cause     Cause
}

func (h *Holder) fields(c *codec) {
	numbers(c, &h.Ref)
	c.hash48(&h.Shingle)
	numbers(c, &h.Documents)
	small(c, 1, &h.Cause)
}
