package common

import (
	"context"
	"slices"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/ground/runfile"
)

// SeenDelivery makes a task of [Counting] for each range of hashes that has shingles.
func SeenDelivery() work.Delivery { return work.Delivery{Needed: []runfile.Kind{records.SeenSets}} }

// Counting finds the shingles of a range of hashes that more distinct documents have than the law allows.
type Counting struct {
	Law Law
}

// Task counts the shingles of one range. It needs the number of documents of the input. Most shingles are rare: a sieve lets
// few of these through, and the others are counted one by one.
func (c *Counting) Task(ctx context.Context, t work.Task, w *work.Desk) error {
	limit, bytes := c.Law.Limit(t.Documents), int64(0)
	for _, piece := range w.Pieces {
		bytes += piece.Length
	}
	sieve := newSieve(bytes/sketchblock.HashSize, limit)
	var seen []records.Seen
	for _, visit := range []func(records.Seen){
		func(s records.Seen) {
			w.Figures.Records++
			sieve.add(s.Shingle)
		},
		func(s records.Seen) {
			if sieve.passes(s.Shingle) {
				seen = append(seen, s)
			}
		},
	} {
		for _, piece := range w.Pieces {
			packed, err := w.ReadPiece(0, piece)
			if err != nil {
				return err
			}
			if records.EachSeen(packed, visit); ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	seen = graphs.RadixSort(seen, make([]records.Seen, len(seen)), func(s *records.Seen) uint64 { return s.Shingle })
	for len(seen) > 0 {
		n := 1
		for n < len(seen) && seen[n].Shingle == seen[0].Shingle {
			n++
		}
		if int64(n) > limit {
			if documents := distinct(w.Hashes[:0], seen[:n]); documents > limit {
				f := records.Frequent{Shingle: seen[0].Shingle, Documents: documents}
				if err := records.WriteFrequent(&w.Run, f); err != nil {
					return err
				}
			}
		}
		seen = seen[n:]
	}
	return nil
}

func distinct(memory []uint64, seen []records.Seen) int64 {
	for _, s := range seen {
		memory = append(memory, s.Digest)
	}
	slices.Sort(memory)
	return int64(len(slices.Compact(memory)))
}
