package methods

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/lshbands"
)

const (
	// Up to fewCounts tasks, pieces cost next to nothing. More tasks count some ranges each, usualRanges at the most,
	// since a task reads their shingles at once. But each split writes a piece for each task, and gets one back. So
	// above manyCounts tasks, which are enough for all workers, a task counts as many ranges as its memory allows.
	fewCounts   = 64
	usualRanges = 8
	manyCounts  = 512
	// heldInRange is the number of bytes of shingles that a task holds back for each range; heldStride is what they
	// take, with room for a byte that is too many.
	heldInRange = 676 * records.CountedSize
	heldStride  = 2 << 10
)

// CountTasks returns the number of tasks of [Count] for documents that have that many shingles in all. A task may hold
// bytes of shingles. It changes no result.
func CountTasks(shingles, bytes int64) int {
	ranges := lshbands.Ranges(shingles)
	each := min(ranges/fewCounts+1, usualRanges)
	if held := bytes / (shingles*records.CountedSize/int64(ranges) + 1); held > usualRanges {
		each = max(each, min((ranges-1)/manyCounts+1, int(min(held, int64(ranges)))))
	}
	return (ranges-1)/each + 1
}

// SpreadPlanning makes the tasks that spread shingles over ranges of hashes, for Ordered methods.
type SpreadPlanning struct {
	Parameters
}

// Plan makes a task for each split, unless all pairs of the corpus are compared.
func (s *SpreadPlanning) Plan(_ context.Context, p *work.Planning) error {
	if s.isSmall(p.Counts) {
		return nil
	}
	shingles := int64(0)
	for _, o := range p.Outcomes {
		shingles += o.Shingles
	}
	tasks := CountTasks(shingles, s.CountBytes)
	d := work.Delivery{Needed: []runfile.Kind{records.Sets}, Into: tasks, Enough: work.ManyTasks}
	err := d.Deliver(string(p.Runs.Folder), work.RunsOf(p.Outcomes), p.Counts, func(t work.Task) {
		t.Shingles, t.Shards = shingles, tasks
		p.Emit(t)
	})
	if err != nil {
		return fmt.Errorf("make tasks that spread shingles: %w", err)
	}
	return nil
}

// Spread writes the shingles of a split by ranges of hashes. Those of a range keep their order.
func Spread(ctx context.Context, t work.Task, w *work.TaskContext) error {
	s := newSpreading(t, w)
	for _, piece := range w.Pieces {
		if err := ctx.Err(); err != nil {
			return err
		}
		sets, err := w.ReadPiece(0, piece)
		if err != nil {
			return err
		}
		w.Figures.Bytes += int64(len(sets))
		w.Figures.Records += int64(len(sets) / sketchblock.HashSize)
		// The ends of sets do not matter here.
		w.Hashes = sketchblock.AppendSet(w.Hashes[:0], sets)
		if err := s.add(w.Hashes); err != nil {
			return err
		}
	}
	return s.close()
}

// spreading collects the shingles of a split in stretches.
type spreading struct {
	run    *runfile.Writer
	split  int
	each   int    // ranges that a task counts
	held   []byte // of each range, at most heldInRange bytes
	filled []int  // how many these are
}

func newSpreading(t work.Task, w *work.TaskContext) *spreading {
	ranges := lshbands.Ranges(t.Shingles)
	w.Buffers[1] = slices.Grow(w.Buffers[1][:0], ranges*heldStride)[:ranges*heldStride]
	return &spreading{
		run:    &w.Run,
		split:  t.Number,
		each:   (ranges-1)/max(t.Shards, 1) + 1,
		held:   w.Buffers[1],
		filled: make([]int, ranges),
	}
}

func (s *spreading) add(hashes []uint64) error {
	for _, hash := range hashes {
		in := lshbands.RangeOf(hash, len(s.filled))
		n := s.filled[in]
		binary.LittleEndian.PutUint32(s.held[in*heldStride+n:], uint32(hash))
		if s.filled[in] = n + records.CountedSize; n+records.CountedSize == heldInRange {
			if err := s.write(in); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *spreading) write(in int) error {
	packed := s.held[in*heldStride:][:s.filled[in]]
	s.filled[in] = 0
	return records.Write(s.run, records.Shingles, in/s.each, &records.Stretch{
		Range:  in,
		Ranges: len(s.filled),
		Split:  s.split,
		Packed: packed,
	})
}

func (s *spreading) close() error {
	for in, n := range s.filled {
		if n == 0 {
			continue
		}
		if err := s.write(in); err != nil {
			return err
		}
	}
	return nil
}

// CountNeeds returns which records the tasks of [Count] get.
func CountNeeds() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.Shingles}, Back: true, Enough: work.ManyTasks}
}

// Count counts the documents that have each shingle of some ranges of hashes. It writes the frequencies back to the
// splits: for each split by ascending ranges, and in a range in the order in which the split has its shingles.
func Count(ctx context.Context, _ work.Task, w *work.TaskContext) error {
	packed, err := w.Read(0, records.Shingles)
	if err != nil {
		return err
	}
	byRange := map[int][]records.Stretch{}
	for len(packed) > 0 {
		var s records.Stretch
		if s, packed, err = records.NextStretch(packed); err != nil {
			return err
		}
		byRange[s.Range] = append(byRange[s.Range], s)
	}
	var counter lshbands.Counter
	for _, in := range slices.Sorted(maps.Keys(byRange)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := countRange(w, &counter, byRange[in]); err != nil {
			return err
		}
	}
	return nil
}

func countRange(w *work.TaskContext, counter *lshbands.Counter, stretches []records.Stretch) error {
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
		if err := records.Write(&w.Run, records.Frequencies, s.Split, &s); err != nil {
			return err
		}
	}
	return nil
}
