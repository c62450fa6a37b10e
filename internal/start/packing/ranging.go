package packing

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
)

const (
	// rangeBytes is about how many bytes of documents a range of ids has, as long as there are at most mostRanges.
	rangeBytes = 64 << 20
	mostRanges = 4096
	// dividedBytes is how many bytes of documents a task of Dividing reads. A runner may make small bundles: their run
	// files are read together, so that ranges do not have too many pieces.
	dividedBytes = 256 << 20
)

// Ranging cuts the ids into ranges, and makes the tasks of [Dividing].
type Ranging struct{}

// Plan sees the outcomes of all packers. Without a document there is no task.
func (Ranging) Plan(_ context.Context, p *work.Planning) error {
	runs := work.RunsOf(p.Outcomes)
	if len(runs) == 0 {
		return nil
	}
	var marks []string
	err := work.EachRecordOf(p.Outcomes, work.Pack, records.TextMarks, p.Memory, func(packed []byte) error {
		for len(packed) > 0 {
			var mark records.Text
			mark, packed = records.NextText(packed)
			marks = append(marks, string(mark.ID))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read marked ids: %w", err)
	}
	p.Runs.Begin(&p.Run)
	defer p.Run.Abort()
	tasks, err := linkTexts(&p.Run, runs)
	if err != nil {
		return err
	}
	for _, first := range firstIDs(marks) {
		for task := range tasks {
			if err := records.WriteText(&p.Run, records.TextRange, task, first, ""); err != nil {
				return err
			}
		}
	}
	path, err := p.Run.Close()
	if err != nil {
		return err
	}
	return p.Deliver(work.Delivery{Needed: []runfile.Kind{records.Texts}, Extra: []runfile.Kind{records.TextRange}}, []string{path})
}

// linkTexts spreads the documents of the runs over tasks, whose number it returns. The documents stay where they are.
func linkTexts(run *runfile.Writer, runs []string) (tasks int, err error) {
	left := int64(0)
	for _, path := range runs {
		pieces, err := runfile.Pieces(path)
		if err != nil {
			return 0, err
		}
		for _, piece := range pieces {
			if piece.Kind != records.Texts {
				continue
			}
			if left < piece.Length {
				tasks, left = tasks+1, dividedBytes
			}
			left -= piece.Length
			if err := run.Link(records.Texts, tasks-1, piece, 0); err != nil {
				return 0, err
			}
		}
	}
	return tasks, nil
}

// firstIDs returns the first ids of all ranges but the first, in ascending order. It changes the order of the marks.
func firstIDs(marks []string) []string {
	slices.Sort(marks)
	ranges := min(len(marks)*markBytes/rangeBytes, mostRanges)
	var firsts []string
	for number := 1; number < ranges; number++ {
		firsts = append(firsts, marks[number*len(marks)/ranges])
	}
	return slices.Compact(firsts)
}

// Dividing sends the documents of some run files to the ranges of their ids.
type Dividing struct{}

// Task sends the documents of one task.
func (Dividing) Task(ctx context.Context, _ work.Task, w *work.Desk) error {
	packed, err := w.Read(1, records.TextRange)
	if err != nil {
		return err
	}
	var firsts []string
	for len(packed) > 0 {
		var first records.Text
		first, packed = records.NextText(packed)
		firsts = append(firsts, string(first.ID))
	}
	for _, piece := range w.Pieces {
		if piece.Kind != records.Texts {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		packed, err := w.ReadPiece(0, piece)
		if err != nil {
			return err
		}
		for len(packed) > 0 {
			var one records.Text
			one, packed = records.NextText(packed)
			w.Figures.Records++
			number := sort.Search(len(firsts), func(i int) bool { return firsts[i] > string(one.ID) })
			if err := records.WriteText(&w.Run, records.Texts, number, one.ID, one.Text); err != nil {
				return err
			}
		}
	}
	return nil
}
