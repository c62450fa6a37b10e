package documents

import (
	"context"
	"io"
	"slices"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/read/formats"
)

// portionBytes is about how much of the input goes into one portion, and so into one sketch block. It is
// large enough to be worth a read and small enough for a core's cache.
const portionBytes = 512 << 10

// splitReader reads the stretches of a split, one after the other, in parts of about portionBytes. It is not for concurrent use.
type splitReader struct {
	ctx     context.Context // context of the current call of fill: its end stops the wait for a long line
	files   []corpus.File
	rest    corpus.Split
	holds   bool // the right to hold a long line, which is in buffer
	windows Windows
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
}

// newSplitReader returns a reader of the stretches of a split. It must be closed.
func newSplitReader(r Reading, files []corpus.File, split corpus.Split) *splitReader {
	reader := &splitReader{files: files, rest: split, mostExpanded: r.MaxExpanded}
	limits := r.Limits(reader.hold, func() (func(), error) { return reader.windows.Hold(reader.ctx) })
	limits.Expand = reader.expand
	reader.reader = formats.NewReader(limits, r.Wanted())
	return reader
}

// hold waits for the right to hold a long line.
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
		r.handOver(l, *r.waiting)
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
			r.handOver(l, batch)
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

// handOver gives a large batch to an empty portion, together with the right to hold it. This saves a copy.
func (r *splitReader) handOver(l *part, batch corpus.Batch) {
	r.buffer, l.text = l.text, batch.Data
	l.batches = append(l.batches, batch)
	r.holds, l.holds = false, r.holds
}

// endStretch goes on to the next stretch.
func (r *splitReader) endStretch(l *part) {
	if len(r.rejects) > 0 {
		l.batches = append(l.batches, corpus.Batch{File: r.rest[0].File, Rejects: r.rejects})
	}
	r.sums = append(r.sums, r.sum)
	r.expanding, r.expanded = append(r.expanding, expanding(&r.files[r.rest[0].File], r.expanded)), 0
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

// open opens the next stretch unless one is open.
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
}
