package transforms

import (
	"io"

	"mirrorbeam/internal/corpus"
)

// splitReader reads the stretches of a split one after the other.
type splitReader struct {
	files   []corpus.File
	rest    corpus.Split
	maxLine int64
	reader  *corpus.Reader // nil before the first stretch
	reading bool           // the reader is within rest[0]
	buffer  []byte
	rejects []corpus.Reject // of the stretch, that come after what was read
	sum     stretchSum      // of the stretch, as far as it was read
	sums    []stretchSum    // of the stretches before
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
	for len(b.text) < blockBytes && len(r.rest) > 0 {
		if err := r.open(); err != nil {
			return inputError{err}
		}
		batch, err := r.reader.Next(r.buffer)
		if err == io.EOF {
			if len(r.rejects) > 0 {
				b.batches = append(b.batches, corpus.Batch{File: r.rest[0].File, Rejects: r.rejects})
			}
			r.sums = append(r.sums, r.sum)
			r.rest, r.reading, r.rejects, r.sum = r.rest[1:], false, nil, stretchSum{}
			continue
		} else if err != nil {
			return inputError{err}
		}
		r.buffer = batch.Data
		r.sum.add(batch)
		r.order(&batch)
		if len(b.batches) == 0 && len(batch.Data) >= blockBytes/2 {
			// A large batch changes hands, which spares a copy.
			r.buffer, b.text = b.text, batch.Data
			b.batches = append(b.batches, batch)
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
		r.reader, err = corpus.Open(r.files[stretch.File], stretch, r.maxLine)
		return err
	}
	return r.reader.Reset(r.files[stretch.File], stretch)
}

func (r *splitReader) close() {
	if r.reader != nil {
		r.reader.Close() // a file that was only read
	}
}

// lineLimit is the longest line that may hold a document of the largest size:
// JSON takes up to six bytes for one.
func lineLimit(maxDocument int64) int64 { return 6*maxDocument + 1<<20 }
