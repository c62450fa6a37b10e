package documents

import (
	"context"
	"io"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/work"
)

// portionBytes is about how much of the input goes into one portion, and so into one sketch block. It is large enough
// to be worth a read, and small enough to stay in a core's cache.
const portionBytes = 512 << 10

// lineReader reads the stretches of a split, one after the other, as portions of lines. It is not for concurrent use.
type lineReader struct {
	ctx     context.Context // context of the current call of fill: its end stops the wait for a long line
	files   []corpus.File
	rest    corpus.Split
	limits  corpus.Limits
	holds   bool           // the right to hold a long line, which is in buffer
	waiting *corpus.Batch  // a long line, for the next portion
	reader  *corpus.Reader // nil before the first stretch
	reading bool           // the reader is within rest[0]
	buffer  []byte
	rejects []corpus.Reject // rejects of the stretch that come after what was read
	sum     Checksum        // checksum of the stretch, up to where it was read
	sums    []Checksum      // checksums of the earlier stretches
}

// newLineReader returns a reader of the stretches of a split. It must be closed.
func newLineReader(r Reading, files []corpus.File, split corpus.Split) *lineReader {
	reader := &lineReader{files: files, rest: split}
	reader.limits = corpus.Limits{Line: r.LineLimit(), Window: r.WindowBytes, Hold: reader.hold}
	return reader
}

// hold waits for the right to hold a long line.
func (r *lineReader) hold() error {
	err := HoldLongLine(r.ctx)
	r.holds = err == nil
	return err
}

// isCompressed reports whether the split holds compressed files.
func (r *lineReader) isCompressed() bool {
	for _, stretch := range r.rest {
		if r.files[stretch.File].Compression != corpus.None {
			return true
		}
	}
	return false
}

// fill empties the portion and reads about portionBytes into it: a batch of a large file, or several small ones. It
// returns io.EOF when nothing is left.
func (r *lineReader) fill(ctx context.Context, l *lines) error {
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
			r.endStretch(l)
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
func (r *lineReader) handOver(l *lines, batch corpus.Batch) {
	r.buffer, l.text = l.text, batch.Data
	l.batches = append(l.batches, batch)
	r.holds, l.holds = false, r.holds
}

// endStretch goes on to the next stretch.
func (r *lineReader) endStretch(l *lines) {
	if len(r.rejects) > 0 {
		l.batches = append(l.batches, corpus.Batch{File: r.rest[0].File, Rejects: r.rejects})
	}
	r.sums = append(r.sums, r.sum)
	r.rest, r.reading, r.rejects, r.sum = r.rest[1:], false, nil, Checksum{}
}

// order holds back rejects that come after the lines of the batch: a stream may break in the middle of a line.
func (r *lineReader) order(batch *corpus.Batch) {
	all := append(r.rejects, batch.Rejects...)
	end, n := batch.Offset+int64(len(batch.Data)), 0
	for n < len(all) && all[n].Position < end {
		n++
	}
	batch.Rejects, r.rejects = all[:n:n], all[n:]
}

// open opens the next stretch unless one is open.
func (r *lineReader) open() (err error) {
	if r.reading {
		return nil
	}
	r.reading = true
	stretch := r.rest[0]
	if r.reader == nil {
		r.reader, err = corpus.Open(r.files[stretch.File], stretch, r.limits)
		return err
	}
	return r.reader.Reset(r.files[stretch.File], stretch)
}

func (r *lineReader) close() {
	if r.holds {
		ReleaseLongLine()
	}
	if r.reader != nil {
		r.reader.Close() // closing a file that was only read cannot lose data
	}
}
