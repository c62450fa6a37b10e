package records

import (
	"cmp"
	"encoding/binary"
	"slices"

	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/sketch"
)

// SpanSize is the size of a span's record: its pair, its offsets in both documents, its number of words, the number of
// spans of the pair that are not listed, and the rarity of the pair.
const SpanSize = 36

// RarityUnit is the rarity of a shingle that only the two documents of a pair have, in the unit of [Span].
const RarityUnit = 1000

// Span is a passage that two documents have in common. N is how it names them, as in [Edge].
type Span[N graphs.Node | Number] struct {
	A, B N
	sketch.Span
	// More is the number of spans of the pair that are not listed.
	More uint32
	// Rarity says how rare it is what the pair shares, see [RarityUnit]; 0 where nobody asks.
	Rarity uint32
}

// PutSpan packs a span.
func PutSpan[N graphs.Node | Number](b []byte, s Span[N]) {
	for i, field := range []uint32{uint32(s.A), uint32(s.B), s.StartA, s.EndA, s.StartB, s.EndB, s.Words, s.More, s.Rarity} {
		binary.LittleEndian.PutUint32(b[4*i:], field)
	}
}

// GetSpan reads a span.
func GetSpan[N graphs.Node | Number](b []byte) Span[N] {
	field := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	return Span[N]{
		A: N(field(0)), B: N(field(1)), More: field(7), Rarity: field(8),
		Span: sketch.Span{StartA: field(2), EndA: field(3), StartB: field(4), EndB: field(5), Words: field(6)},
	}
}

// ReadSpans returns the spans of an output shard in the order of its edges. The spans of an edge come longest first.
func ReadSpans(reader *runfile.Reader, pieces []runfile.Piece) ([]Span[Number], error) {
	packed, err := reader.ReadKind(nil, pieces, ShardSpans)
	if err != nil {
		return nil, err
	}
	spans := make([]Span[Number], 0, len(packed)/SpanSize)
	for ; len(packed) > 0; packed = packed[SpanSize:] {
		spans = append(spans, GetSpan[Number](packed))
	}
	slices.SortFunc(spans, func(x, y Span[Number]) int {
		return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B), cmp.Compare(y.Words, x.Words),
			cmp.Compare(x.StartA, y.StartA), cmp.Compare(x.StartB, y.StartB))
	})
	return spans, nil
}
