package documents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/formats"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/util/checksum"
	"mirrorbeam.dev/internal/util/panics"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/sketch"
)

// portionBytes is about how much of the input goes into one portion, and so into one sketch block. It is
// large enough to be worth a read and small enough for a core's cache.
const portionBytes = 512 << 10

// splitReader reads the stretches of a split in order, in parts of about portionBytes. Not for concurrent use.
type splitReader struct {
	ctx     context.Context // context of the current call of fill: its end stops the wait for a long line
	files   []corpus.File
	rest    corpus.Split
	holds   bool // the right to hold a long line, which is in buffer
	windows Windows
	ahead   *corpus.Ahead
	waiting *corpus.Batch // a long line, for the next portion
	reader  *formats.Reader
	alone   bool // a part is of one stretch only
	reading bool // the reader is within rest[0]
	buffer  []byte
	rejects []corpus.Reject // rejects of the stretch that come after what was read
	sum     Checksum        // checksum of the stretch, up to where it was read
	sums    []Checksum      // checksums of the earlier stretches

	total        *expansion // of the job; nil: nobody counts
	mostExpanded int64      // see [Reading]
	expanded     int64      // decoded bytes of the stretch, if it is compressed
	expanding    []int64    // for each earlier stretch, 1 if its file has become very long
	decoded      []int64    // for each earlier stretch, its bytes if its file is compressed
}

// newSplitReader returns a reader of a split, which must be closed. It reads up to ahead bytes of small files early.
func newSplitReader(r Reading, files []corpus.File, split corpus.Split, ahead int64) *splitReader {
	reader := &splitReader{
		files:        files,
		rest:         split,
		mostExpanded: r.MaxExpanded,
		ahead:        corpus.NewAhead(files, split, ahead),
	}
	limits := r.Limits(reader.hold, func() (func(), error) { return reader.windows.Hold(reader.ctx) })
	limits.Expand, limits.Ahead = reader.expand, reader.ahead
	reader.reader = formats.NewReader(limits, r.Wanted())
	return reader
}

func (r *splitReader) hold() error {
	err := HoldLongLine(r.ctx)
	r.holds = err == nil
	return err
}

// isUncut reports whether the split holds a file that is not cut into splits, so that it may be large.
func (r *splitReader) isUncut() bool {
	return slices.ContainsFunc(r.rest, func(s corpus.Stretch) bool { return !r.files[s.File].IsCut() })
}

// fill empties the portion and reads about portionBytes into it: a batch of a large file, or several small ones. It
// returns io.EOF when nothing is left.
func (r *splitReader) fill(ctx context.Context, l *part) error {
	r.ctx = ctx
	l.reset()
	if r.waiting != nil {
		r.passOn(l, *r.waiting)
		r.waiting = nil
		return nil
	}
	for len(l.text) < portionBytes && len(r.rest) > 0 {
		if err := r.open(); err != nil {
			return work.NewInputError(err)
		}
		batch, err := r.reader.Next(r.buffer)
		if err == io.EOF {
			if r.endStretch(l); r.alone && len(l.batches) > 0 {
				return nil
			}
			continue
		} else if err != nil {
			return work.NewInputError(err)
		}
		r.buffer = batch.Data
		r.sum.Add(batch)
		r.order(&batch)
		switch {
		case len(l.batches) == 0 && len(batch.Data) >= portionBytes/2:
			r.passOn(l, batch)
			return nil
		case r.holds:
			r.waiting = &batch
			return nil
		}
		start := len(l.text)
		l.text = append(l.text, batch.Data...)
		batch.Data = l.text[start:len(l.text):len(l.text)]
		l.batches = append(l.batches, batch)
	}
	if len(l.batches) == 0 {
		return io.EOF
	}
	return nil
}

// passOn gives a large batch to an empty portion, together with the right to hold it. This saves a copy.
func (r *splitReader) passOn(l *part, batch corpus.Batch) {
	r.buffer, l.text = l.text, batch.Data
	l.batches = append(l.batches, batch)
	r.holds, l.holds = false, r.holds
}

func (r *splitReader) endStretch(l *part) {
	if len(r.rejects) > 0 {
		l.batches = append(l.batches, corpus.Batch{File: r.rest[0].File, Rejects: r.rejects})
	}
	r.sums = append(r.sums, r.sum)
	r.expanding = append(r.expanding, expanding(&r.files[r.rest[0].File], r.expanded))
	r.decoded = append(r.decoded, r.expanded)
	r.expanded = 0
	r.rest, r.reading, r.rejects, r.sum = r.rest[1:], false, nil, Checksum{}
}

// order holds back rejects that come after the lines of the batch: a stream may break in the middle of a line.
func (r *splitReader) order(batch *corpus.Batch) {
	all := append(r.rejects, batch.Rejects...)
	end, n := batch.End(), 0
	for n < len(all) && all[n].Position < end {
		n++
	}
	batch.Rejects, r.rejects = all[:n:n], all[n:]
}

func (r *splitReader) open() error {
	if r.reading {
		return nil
	}
	r.reading = true
	stretch := r.rest[0]
	return r.reader.Reset(r.files[stretch.File], stretch)
}

func (r *splitReader) close() {
	if r.holds {
		ReleaseLongLine()
	}
	r.reader.Close() // closing a file that was only read cannot lose data
	r.ahead.Close()
}

// EachAgain reads documents of a split that an earlier stage has read. It visits the documents of the given refs, which
// ascend. It is an input error if one of them is not there any more. A document over which the program panics is left
// out, and the task has found the panic: step says what visit does to documents.
func (l *Layout) EachAgain(ctx context.Context, r Reading, step string, w *work.TaskContext, split int,
	wanted []docref.Ref, visit func(docref.Ref, *Record) error,
) error {
	in := l.Inputs
	reader := newSplitReader(r, in.Files, in.Splits[split], w.Runs.Ahead)
	decoder := newRecordDecoder(in.Files, r.Wanted())
	defer reader.close()
	var p part
	defer p.release()
	for len(wanted) > 0 {
		p.release()
		if err := reader.fill(ctx, &p); err == io.EOF {
			return l.missing(wanted[0])
		} else if err != nil {
			return err
		}
		for _, batch := range p.batches {
			for position, raw := range batch.Records() {
				ref, err := docref.New(batch.File, position)
				if err != nil {
					return fmt.Errorf("file %s: %w", in.Files[batch.File].Path, err)
				}
				if len(wanted) == 0 || ref < wanted[0] {
					continue
				}
				record := decoder.read(&batch, position, raw)
				if ref > wanted[0] || record.Fault != "" && record.Panic == nil {
					return l.missing(wanted[0])
				}
				wanted = wanted[1:]
				fault := record.Panic
				if fault == nil {
					err = panics.Over(step, func() error { return visit(ref, record) })
					fault = panics.Of(err)
				}
				if fault != nil {
					w.Outcome.AddPanic(quoting.Text(in.Name(ref)), fault)
				} else if err != nil {
					return err
				}
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// EachOfReference reads the documents of the reference.
func (l *Layout) EachOfReference(ctx context.Context, r Reading, visit func(docref.Ref, *Record)) error {
	in := l.Inputs
	decoder := newRecordDecoder(in.Files, r.Wanted())
	for number, start := range l.Starts {
		if start >= l.FirstInput {
			break
		}
		reader, p := newSplitReader(r, in.Files, in.Splits[number], 0), part{}
		err := reader.fill(ctx, &p)
		for ; err == nil; err = reader.fill(ctx, &p) {
			for record := range decoder.records(&p) {
				ref, err := docref.New(record.File, record.Position)
				isDocument := record.Fault == "" && record.PassedOver == "" && !record.IsBlank && record.Panic == nil
				if err == nil && isDocument && ref < l.FirstInput {
					visit(ref, record)
				}
			}
			p.release()
		}
		p.release()
		reader.close()
		if err != io.EOF {
			return err
		}
	}
	return nil
}

// missing is the error of a document that was there when it was read first.
func (l *Layout) missing(ref docref.Ref) error {
	return work.NewInputError(
		fmt.Errorf(
			"read document %s again: it is not there any more: the file changed while the job ran: "+
				"run the job again when nobody writes to it", l.Inputs.Name(ref)))
}

// Checksum is the checksum of a stretch of the input. It covers the lines and the rejects between them. A
// second read of an unchanged stretch gives the same checksum. The zero Checksum belongs to an empty stretch.
type Checksum struct {
	Lines, Rejects uint32 // CRC-32C
}

// Add adds the next batch of the stretch.
func (s *Checksum) Add(batch corpus.Batch) {
	s.Lines = checksum.Add(s.Lines, batch.Data)
	for _, reject := range batch.Rejects {
		s.Rejects = checksum.Add(s.Rejects, fmt.Appendln(nil, reject.Position, reject.Message))
	}
}

// WriteChecksums writes the checksums of the stretches of a split, in their order.
func WriteChecksums(run *runfile.Writer, split int, sums []Checksum) error {
	for _, sum := range sums {
		if err := records.Write(run, records.Sums, split, &sum); err != nil {
			return err
		}
	}
	return nil
}

// ReadChecksums reads the checksums that WriteChecksums wrote for a split: one for each of its stretches, in order.
func ReadChecksums(reader *runfile.Reader, pieces []runfile.Piece) ([]Checksum, error) {
	packed, err := reader.ReadKind(nil, pieces, records.Sums)
	return slices.Collect(records.All[Checksum](packed)), err
}

const (
	// mostExpansion bounds how many times its length an ordinary compressed file decodes to: about gzip's limit.
	mostExpansion = 1000
	// leastExpanded is the least length of a decoded file that is worth a warning.
	leastExpanded = 16 << 20
)

// expansion counts what the compressed files of a job have become so far.
type expansion struct{ bytes atomic.Int64 }

var expansions work.Shared[expansion]

// expand counts decoded bytes of the current stretch. It fails beyond the limit of the job.
func (r *splitReader) expand(bytes int64) error {
	r.expanded += bytes
	return r.total.add(bytes, r.mostExpanded, r.files[r.rest[0].File].Path)
}

// add counts decoded bytes of a file. It fails beyond a limit, unless that is 0 or nobody counts.
func (e *expansion) add(bytes, limit int64, path string) error {
	if e == nil || limit == 0 || e.bytes.Add(bytes) <= limit {
		return nil
	}
	return fmt.Errorf(
		"read input %s: all compressed files together expand to more than %d bytes: raise --max-expanded, "+
			"or leave the file out", path, limit)
}

// expanding returns 1 if a file has become much longer than files do, else 0.
func expanding(file *corpus.File, decoded int64) int64 {
	if decoded >= leastExpanded && decoded/mostExpansion > file.StoredSize() {
		return 1
	}
	return 0
}

// longLines is the right to hold a line of more than corpus.LongLine bytes. One task has it at a time. It
// gives the right back when the documents of the line are fingerprinted or copied. Many such lines together
// would take too much memory.
var longLines = semaphore.NewWeighted(1)

// windows is the right to hold a zstd window of more than inflate.SmallWindow, and large pages of Parquet. One reader
// has it at a time, until the end of its file or row group. Who waits for longLines holds what it needs of it already.
var windows = semaphore.NewWeighted(1)

// Windows is the right of one reader to hold large windows, of all its open files. It is not for concurrent use.
type Windows struct{ held int }

// Hold waits until no other reader of the process holds a large window.
func (w *Windows) Hold(ctx context.Context) (release func(), err error) {
	if w.held == 0 {
		if err := windows.Acquire(ctx, 1); err != nil {
			return nil, err
		}
	}
	w.held++
	return func() {
		if w.held--; w.held == 0 {
			windows.Release(1)
		}
	}, nil
}

// HoldLongLine waits for the right to hold a long line.
func HoldLongLine(ctx context.Context) error { return longLines.Acquire(ctx, 1) }

// ReleaseLongLine gives the right back.
func ReleaseLongLine() { longLines.Release(1) }

// Portion is a part of a file. Its documents are sketched one after the other.
type Portion struct {
	// File is the file. For a stream it is a stand-in.
	File      *corpus.File
	Batch     corpus.Batch
	Documents int64
	// Rejected counts the records that could not be read. FirstReject names the first of them as
	// path:position, with its fault.
	Rejected    int64
	FirstReject string
}

// Sketched is a document of a portion. It is valid until the next one.
type Sketched struct {
	Position    int64
	Record      corpus.Record
	Fingerprint sketch.Fingerprint
}

// Sketch yields the documents of a portion. It counts them, and the records that cannot be read. Unreadable records
// before a document are counted when the document is yielded.
func (p *Portion) Sketch(sketcher *Sketcher) iter.Seq[Sketched] {
	return func(yield func(Sketched) bool) {
		defer sketcher.endLarge()
		for _, reject := range p.Batch.Rejects {
			p.reject(reject.Position, reject.Message)
		}
		for position, raw := range p.Batch.Records() {
			if p.Batch.IsBlank(raw) {
				continue
			}
			sketcher.endLarge()
			record, fingerprint, err := sketcher.Sketch(p, position, raw)
			if _, is := errors.AsType[corpus.PassedOver](err); is {
				continue
			}
			if err != nil && p.Batch.IsCut {
				continue // the reject of the stream stands for it
			}
			if err != nil {
				p.reject(position, err.Error())
				continue
			}
			p.Documents++
			if !yield(Sketched{position, record, fingerprint.Fingerprint}) {
				return
			}
		}
	}
}

func (p *Portion) reject(position int64, fault string) {
	if p.Rejected == 0 {
		name, inFile := p.File.Place(position)
		p.FirstReject = fmt.Sprintf("%s:%d: %s", name, inFile, fault)
	}
	p.Rejected++
}
