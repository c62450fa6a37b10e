package methods

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
)

// identicals are documents of a large shard that are identical under one key. Of very many of them the task holds the
// first one, and the first one of the input. The others become edges while they are read: all documents of a corpus may
// be equal. With sides two further documents may be needed for pairs, so none become edges then.
type identicals struct {
	first    []byte // the packed record
	center   groups.Center
	hasInput bool
}

// read reads the records of a shard. In a large one, a vote finds the classes of very many identical documents first.
func (g *simhashGroups) read(w *work.TaskContext, shard int) (err error) {
	size := runfile.SizeOf(w.Pieces, records.Fingerprints)
	w.Figures.Bytes += size
	w.Figures.Records += size / int64(g.recordSize)
	if g.HasSides || size < cmp.Or(g.large, groups.LargeShard) {
		g.packed, err = w.Read(0, records.Fingerprints)
		return err
	}
	var votes graphs.Votes
	if err := g.eachPacked(w, func(b []byte) error { votes.Add(g.identity(b)); return nil }); err != nil {
		return err
	}
	classes := map[uint64]*identicals{}
	for hash := range votes.Frequent() {
		classes[hash] = &identicals{}
	}
	stars := groups.NewStars(&w.Run, shard, g.Shards)
	return g.eachPacked(w, func(b []byte) error {
		class := classes[g.identity(b)]
		if class == nil || !class.takes(g, b) {
			g.packed = append(g.packed, b...)
			return nil
		}
		if r := g.record(b); r.table == 0 {
			return stars.Join(&class.center, &r.Record, g.same(&r.Record))
		}
		return nil
	})
}

// eachPacked visits the packed records of a shard, in document order.
func (g *simhashGroups) eachPacked(w *work.TaskContext, visit func(b []byte) error) error {
	for _, piece := range w.Pieces {
		if piece.Kind != records.Fingerprints {
			continue
		}
		packed, err := w.ReadPiece(0, piece)
		for ; err == nil && len(packed) > 0; packed = packed[g.recordSize:] {
			err = visit(packed[:g.recordSize])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// identity returns a hash of what is the same in the packed records of identical documents under one key.
func (g *simhashGroups) identity(b []byte) uint64 {
	key := binary.LittleEndian.Uint64(b) ^ uint64(binary.LittleEndian.Uint32(b[36:]))
	hash := xxh3.HashSeed(b[records.KeySize:], key)
	if g.Scoring == Hamming && !isEmpty(b) {
		return hash
	}
	return xxh3.HashSeed(b[16:32], hash)
}

func isEmpty(b []byte) bool { return binary.LittleEndian.Uint32(b[32:]) == 0 }

// takes reports whether a document becomes an edge. It is one of those with the identity of the class.
func (c *identicals) takes(g *simhashGroups, b []byte) bool {
	ref := records.GetRef(b[8:])
	isInput := ref >= g.layout.FirstInput
	if c.first == nil {
		*c = identicals{first: bytes.Clone(b), center: groups.Center{Ref: ref}, hasInput: isInput}
		return false
	}
	first := c.first
	same := bytes.Equal(b[:8], first[:8]) && bytes.Equal(b[36:40], first[36:40]) &&
		bytes.Equal(b[records.KeySize:], first[records.KeySize:]) &&
		isEmpty(b) == isEmpty(first) && (g.Scoring == Hamming && !isEmpty(b) || bytes.Equal(b[16:32], first[16:32]))
	if !same || ref <= c.center.Ref {
		return false
	}
	if isInput && !c.hasInput {
		c.hasInput = true
		return false
	}
	return true
}
