package methods

import (
	"context"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/lshbands"
)

// CountNeeds returns which records the tasks of [Count] get.
func CountNeeds() work.Delivery { return work.Delivery{Needed: []runfile.Kind{records.Shingles}} }

// Count counts the documents that have each shingle of some ranges of hashes. It writes the frequencies back to the
// splits: for each split by ascending ranges, and in a range in the order in which the split has its shingles.
func Count(ctx context.Context, _ work.Task, w *work.Desk) error {
	packed, err := w.Read(0, records.Shingles)
	if err != nil {
		return err
	}
	var byRange [mostRangesPerTask][]records.Stretch
	for len(packed) > 0 {
		var s records.Stretch
		if s, packed, err = records.NextStretch(packed); err != nil {
			return err
		}
		in := s.Range % rangesPerTask(s.Ranges)
		byRange[in] = append(byRange[in], s)
	}
	var counter lshbands.Counter
	for _, stretches := range byRange {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := countRange(w, &counter, stretches); err != nil {
			return err
		}
	}
	return nil
}

// countRange counts the shingles of one range, and writes their frequencies.
func countRange(w *work.Desk, counter *lshbands.Counter, stretches []records.Stretch) error {
	shingles := 0
	for _, s := range stretches {
		shingles += s.Len()
	}
	w.Figures.Records += int64(shingles)
	counter.Reset(shingles)
	for _, s := range stretches {
		counter.Add(s.Packed)
	}
	for _, s := range stretches {
		w.Buffers[1] = counter.AppendFrequencies(w.Buffers[1][:0], s.Packed)
		s.Packed = w.Buffers[1]
		if err := records.WriteFrequencies(&w.Run, s); err != nil {
			return err
		}
	}
	return nil
}
