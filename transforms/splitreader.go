package transforms

import (
	"context"
	"io"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/work"
)

// splitReader reads the stretches of a split one after the other.
type splitReader struct {
	ctx     context.Context // ends the wait for the right to hold a long line
	files   []corpus.File
	rest    corpus.Split
	limits  corpus.Limits
	holds   bool           // the right to hold a long line, which is in buffer
	waiting *corpus.Batch  // of such a line, for the next block
	reader  *corpus.Reader // nil before the first stretch
	reading bool           // the reader is within rest[0]
	buffer  []byte
	rejects []corpus.Reject      // of the stretch, that come after what was read
	sum     documents.Checksum   // of the stretch, as far as it was read
	sums    []documents.Checksum // of the stretches before
}

// newSplitReader returns a reader of the stretches.
func newSplitReader(ctx context.Context, job Job, files []corpus.File, split corpus.Split) *splitReader {
	r := &splitReader{ctx: ctx, files: files, rest: split}
	r.limits = corpus.Limits{Line: lineLimit(job.MaxDocument), Window: job.WindowBytes, Hold: r.hold}
	return r
}

// hold waits for the right to hold a long line.
func (r *splitReader) hold() error {
	err := documents.HoldLongLine(r.ctx)
	r.holds = err == nil
	return err
}

// compressed reports whether the split holds compressed files.
func (r *splitReader) compressed() bool {
	for _, stretch := range r.rest {
		if r.files[stretch.File].Compression != corpus.None {
			return true
		}
	}
	return false
}

// fill reads about blockBytes into the block, which it empties first: a batch
// of a large file, or several small ones. It returns io.EOF where nothing is
// left.
func (r *splitReader) fill(b *block) error {
	b.reset()
	if r.waiting != nil {
		r.handOver(b, *r.waiting)
		r.waiting = nil
		return nil
	}
	for len(b.text) < blockBytes && len(r.rest) > 0 {
		if err := r.open(); err != nil {
			return work.NewInputError(err)
		}
		batch, err := r.reader.Next(r.buffer)
		if err == io.EOF {
			if len(r.rejects) > 0 {
				b.batches = append(b.batches, corpus.Batch{File: r.rest[0].File, Rejects: r.rejects})
			}
			r.sums = append(r.sums, r.sum)
			r.rest, r.reading, r.rejects, r.sum = r.rest[1:], false, nil, documents.Checksum{}
			continue
		} else if err != nil {
			return work.NewInputError(err)
		}
		r.buffer = batch.Data
		r.sum.Add(batch)
		r.order(&batch)
		switch {
		case len(b.batches) == 0 && len(batch.Data) >= blockBytes/2:
			r.handOver(b, batch)
			return nil
		case r.holds:
			r.waiting = &batch
			return nil
		}
		start := len(b.text)
		b.text = append(b.text, batch.Data...)
		batch.Data = b.text[start:len(b.text):len(b.text)]
		b.batches = append(b.batches, batch)
	}
	if len(b.batches) == 0 {
		return io.EOF
	}
	return nil
}

// handOver gives a large batch to an empty block, which spares a copy, with the
// right to hold it.
func (r *splitReader) handOver(b *block, batch corpus.Batch) {
	r.buffer, b.text = b.text, batch.Data
	b.batches = append(b.batches, batch)
	r.holds, b.holds = false, r.holds
}

// order holds rejects back that come after the lines of the batch, since a
// stream may break in the middle of a line.
func (r *splitReader) order(batch *corpus.Batch) {
	all := append(r.rejects, batch.Rejects...)
	end, n := batch.Offset+int64(len(batch.Data)), 0
	for n < len(all) && all[n].Position < end {
		n++
	}
	batch.Rejects, r.rejects = all[:n:n], all[n:]
}

// open opens the next stretch unless one is open.
func (r *splitReader) open() (err error) {
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

func (r *splitReader) close() {
	if r.holds {
		documents.ReleaseLongLine()
	}
	if r.reader != nil {
		r.reader.Close() // a file that was only read
	}
}

// lineLimit is the longest line that may hold a document of the largest size:
// JSON takes up to six bytes for one.
func lineLimit(maxDocument int64) int64 { return 6*maxDocument + 1<<20 }
