package transforms

import (
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/work"
)

// sendSpans sends the spans of a part to the output shards of their edges.
func sendSpans(w *work.Place, positions []byte) error {
	packed, err := w.Read(1, records.Spans)
	if err != nil {
		return err
	}
	for ; len(packed) > 0; packed = packed[records.SpanSize:] {
		s := records.GetSpan(packed)
		a, b := records.GetPosition(positions[s.A*records.PositionSize:]), records.GetPosition(positions[s.B*records.PositionSize:])
		if a.Number > b.Number {
			a, b = b, a
			s.Span = s.Swap()
		}
		s.A, s.B = a.Number, b.Number
		record, err := w.Run.Record(records.ShardSpans, int(a.Shard), records.SpanSize)
		if err != nil {
			return err
		}
		records.PutSpan(record, s)
	}
	return nil
}

// takeSpans takes the spans of an edge from the front of those of a shard.
func takeSpans(rows []output.Span, spans []records.Span, e records.Edge) (of []output.Span, more int, rest []records.Span) {
	rows = rows[:0]
	for len(spans) > 0 && spans[0].A == e.A && spans[0].B == e.B {
		s := spans[0]
		rows = append(rows, output.Span{A: [2]uint32{s.StartA, s.EndA}, B: [2]uint32{s.StartB, s.EndB}, Words: s.Words})
		more, spans = int(s.More), spans[1:]
	}
	return rows, more, spans
}
