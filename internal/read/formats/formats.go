// Package formats reads the documents of a corpus from files of all known formats.
//
// A format is a [corpus.Definition], in a file of its own. It has a [corpus.Source], which cuts a file into records, and a
// [corpus.Decoder], which takes the document out of a record. One goroutine reads a file, and many decode. So slow work
// belongs in the decoder.
package formats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"golang.org/x/sync/errgroup"

	"mirrorbeam/internal/read/corpus"
)

// Prepare prepares the files of a listing for the cut into splits. It joins files that are one document each
// into groups, and looks up where others can be cut. It returns an error if one of these does not have the
// wanted fields.
func Prepare(ctx context.Context, files []corpus.File, wanted corpus.Wanted) ([]corpus.File, error) {
	files = corpus.Group(files)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(opened)
	for i := range files {
		file := &files[i]
		parts := file.Format.Definition().Parts
		if parts == nil || file.Unlisted {
			continue
		}
		group.Go(func() (err error) {
			if ctx.Err() == nil {
				file.Parts, err = parts(file, wanted)
			}
			return err
		})
	}
	return files, group.Wait()
}

// opened is how many files are opened at a time. Each waits for the disk or the network.
const opened = 16

// Reader reads stretches of files of any format. It is a [corpus.Source], except that its files may differ in
// their formats.
type Reader struct {
	limits  corpus.Limits
	wanted  corpus.Wanted
	sources map[corpus.Format]corpus.Source
	current corpus.Source
}

// NewReader returns a reader without a file.
func NewReader(limits corpus.Limits, wanted corpus.Wanted) *Reader {
	return &Reader{limits: limits, wanted: wanted, sources: map[corpus.Format]corpus.Source{}}
}

// Reset goes on to another stretch.
func (r *Reader) Reset(file corpus.File, s corpus.Stretch) error {
	source, known := r.sources[file.Format]
	if !known {
		definition := file.Format.Definition()
		if definition.Source == nil {
			return fmt.Errorf("open input %s: the %v is not read in this version", file.Path, file.Format)
		}
		source = definition.Source(r.limits, r.wanted)
		r.sources[file.Format] = source
	}
	r.current = source
	return source.Reset(file, s)
}

// Next reads the next batch of the stretch.
func (r *Reader) Next(buffer []byte) (corpus.Batch, error) { return r.current.Next(buffer) }

// Close closes the current file and frees the decoders.
func (r *Reader) Close() error {
	var faults []error
	for _, source := range r.sources {
		faults = append(faults, source.Close())
	}
	return errors.Join(faults...)
}

// Batches yields the batches of a whole file. Number is the number of the file in the input. If the file
// cannot be read to its end, the last pair is an error.
func Batches(file corpus.File, number int, limits corpus.Limits, wanted corpus.Wanted) iter.Seq2[corpus.Batch, error] {
	return func(yield func(corpus.Batch, error) bool) {
		reader := NewReader(limits, wanted)
		defer reader.Close()
		if err := reader.Reset(file, file.Whole(number)); err != nil {
			yield(corpus.Batch{}, err)
			return
		}
		for {
			batch, err := reader.Next(nil)
			if err == io.EOF || !yield(batch, err) || err != nil {
				return
			}
		}
	}
}

// Decoder takes documents out of records of any format. It is not for concurrent use.
type Decoder struct {
	wanted   corpus.Wanted
	decoders map[corpus.Format]corpus.Decoder
	name     []byte // name of a file that is a document
}

// NewDecoder returns a decoder of records.
func NewDecoder(wanted corpus.Wanted) *Decoder {
	return &Decoder{wanted: wanted, decoders: map[corpus.Format]corpus.Decoder{}}
}

// Decode reads the record at a position of a batch, as [corpus.Decoder] says. A file that is one document has
// its name as its id. For a stream of lines, File may be nil.
func (d *Decoder) Decode(file *corpus.File, batch *corpus.Batch, position int64, record []byte) (corpus.Record, error) {
	decoder, known := d.decoders[batch.Format]
	if !known {
		decoder = batch.Format.Definition().Decoder(d.wanted)
		d.decoders[batch.Format] = decoder
	}
	content, err := decoder.Decode(batch.Header, record)
	if err == nil && !d.wanted.Fields.HasTexts() && !batch.Format.HasFields() {
		return corpus.Record{}, fmt.Errorf("the format %v has no fields, so there is no field %.64q of features", batch.Format, d.wanted.Fields.Features)
	}
	if err == nil && batch.Format.IsWhole() {
		name, _ := file.Place(position)
		content.ID, content.HasID = append(d.name[:0], name...), true
		d.name = content.ID
	}
	return content, err
}
