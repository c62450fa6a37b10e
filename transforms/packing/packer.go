// Package packing connects the stages of a job with a user's own pipeline, in which each document is an element.
//
// At the entrance a [Packer] writes the documents of a bundle into a run file. [Ranging] cuts the ids into ranges,
// [Dividing] sends each document to the range of its id, and [Arranging] writes the documents of a range to a file, in
// the order of their ids. [Listing] makes these files the inputs of a job. So document order is the order of ids,
// whatever bundles a runner makes, and a document crosses no shuffle as an element. At the exit the functions Each read
// the rows of the job back.
package packing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/listing"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
)

const (
	mostID = 64 << 10
	// markBytes is how many bytes of documents there are about for each id that is marked, to cut the ids into ranges.
	markBytes = 256 << 10
)

// Packer writes the documents of a bundle into a run file. It is not for concurrent use.
type Packer struct {
	Runs work.Runs
	// MaxDocument is the length of the longest text, in bytes.
	MaxDocument int64

	run       runfile.Writer
	isBegun   bool
	since     int64 // bytes since the last mark
	documents int64
}

// Refuse says why a document cannot be compared; empty: it can.
func (p *Packer) Refuse(id, text string) string {
	switch {
	case id == "":
		return "the id is empty"
	case len(id) > mostID:
		return fmt.Sprintf("the id has %d bytes, and at most %d are read", len(id), mostID)
	case int64(len(text)) > p.MaxDocument:
		return fmt.Sprintf("the text has %d bytes, and at most %d are read", len(text), p.MaxDocument)
	}
	return ""
}

// Add writes a document.
func (p *Packer) Add(id, text string) error {
	if !p.isBegun {
		p.Runs.Begin(&p.run)
		p.isBegun, p.since, p.documents = true, 0, 0
	}
	p.documents++
	if p.since += int64(len(id) + len(text)); p.since >= markBytes {
		p.since = 0
		if err := records.Write(&p.run, records.TextMarks, 0, &records.Text{ID: id}); err != nil {
			return err
		}
	}
	return records.Write(&p.run, records.Texts, 0, &records.Text{ID: id, Text: text})
}

// Close finishes the run file and returns what was written, and how many documents and bytes these are. Without a
// document the outcome names no run file.
func (p *Packer) Close() (o work.Outcome, f work.Figures, err error) {
	o.Stage = work.Pack
	if !p.isBegun {
		return o, f, nil
	}
	p.isBegun = false
	if o.Run, err = p.run.Close(); err != nil {
		return o, f, fmt.Errorf("pack documents: %w", err)
	}
	f.Records, f.Written = p.documents, p.run.Written()
	return o, f, nil
}

// Abort drops a run file that is not finished.
func (p *Packer) Abort() {
	p.isBegun = false
	p.run.Abort()
}

// Listing makes the files of [Arranging] the inputs of a job, and a task for each split of them.
type Listing struct {
	// Inputs is the path of the list of inputs, which it writes.
	Inputs    work.Path
	StopWords string
	// MaxDocument is the length of the longest text, in bytes.
	MaxDocument job.ByteSize
}

// Plan writes the list of inputs. The files of an earlier attempt stay: other tasks may read them already.
func (l *Listing) Plan(ctx context.Context, p *work.Planning) error {
	inputs, err := documents.OpenInputs(string(l.Inputs))
	if errors.Is(err, fs.ErrNotExist) {
		inputs, err = l.list(ctx, p)
	}
	if err != nil {
		return err
	}
	for number := range inputs.Splits {
		p.Emit(work.Task{Number: number})
	}
	return nil
}

func (l *Listing) list(ctx context.Context, p *work.Planning) (*documents.Inputs, error) {
	var files []output.File
	for _, o := range p.Outcomes {
		files = append(files, o.Files...)
	}
	files = slices.DeleteFunc(files, func(file output.File) bool { return file.Output != arranged })
	if len(files) == 0 {
		empty, err := (&Arranging{Folder: p.Runs.Folder}).write(0, nil)
		if err != nil {
			return nil, fmt.Errorf("list no documents: %w", err)
		}
		files = append(files, empty)
	}
	slices.SortFunc(files, func(a, b output.File) int { return cmp.Compare(a.Name, b.Name) })
	config := job.Default()
	config.Format, config.MaxDocument = "jsonl", l.MaxDocument
	for _, file := range files {
		config.Input = append(config.Input, storage.Join(string(p.Runs.Folder), file.Name))
	}
	inputs, _, err := listing.Inputs(ctx, &config)
	if err != nil {
		return nil, err
	}
	inputs.StopWords = l.StopWords
	return &inputs, documents.WriteInputs(string(l.Inputs), inputs)
}

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
		for mark := range records.All[records.Text](packed) {
			marks = append(marks, mark.ID)
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
			if err := records.Write(&p.Run, records.TextRange, task, &records.Text{ID: first}); err != nil {
				return err
			}
		}
	}
	path, err := p.Run.Close()
	if err != nil {
		return err
	}
	return p.Deliver(work.Delivery{Needed: []runfile.Kind{records.Texts}, Extra: []runfile.Kind{records.TextRange}},
		[]string{path})
}

// linkTexts spreads the documents of the runs over tasks, whose number it returns. The documents stay where they are.
func linkTexts(run *runfile.Writer, runs []string) (tasks int, err error) {
	left := int64(0)
	for _, path := range runs {
		pieces, err := runfile.Pieces(path)
		if err != nil {
			return 0, err
		}
		for piece := range records.Texts.Of(pieces) {
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
func (Dividing) Task(ctx context.Context, _ work.Task, w *work.TaskContext) error {
	packed, err := w.Read(1, records.TextRange)
	if err != nil {
		return err
	}
	var firsts []string
	for first := range records.All[records.Text](packed) {
		firsts = append(firsts, first.ID)
	}
	for piece := range records.Texts.Of(w.Pieces) {
		if err := ctx.Err(); err != nil {
			return err
		}
		packed, err := w.ReadPiece(0, piece)
		if err != nil {
			return err
		}
		for one := range records.All[records.Text](packed) {
			w.Figures.Records++
			number := sort.Search(len(firsts), func(i int) bool { return firsts[i] > one.ID })
			if err := records.Write(&w.Run, records.Texts, number, &one); err != nil {
				return err
			}
		}
	}
	return nil
}
