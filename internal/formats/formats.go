// Package formats reads the documents of a corpus, in whatever formats its files are.
//
// A format is a [corpus.Source], which cuts a file into records, and a
// [corpus.Decoder], which takes the document out of a record. One goroutine reads a file, and
// many decode, so what takes time belongs into the decoder.
package formats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"golang.org/x/sync/errgroup"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/webtext"
)

// Wanted says what is wanted of a record.
type Wanted struct {
	Fields corpus.Fields
	// PageText says which text of a web page is wanted.
	PageText webtext.Mode
	// MaxDocument is the length of the longest document in bytes: what is decompressed or decoded to more is a fault.
	MaxDocument int64
}

// format is how one format is read.
type format struct {
	source  func(corpus.Limits, Wanted) corpus.Source
	decoder func(Wanted) corpus.Decoder
}

// of returns how a format is read.
func of(f corpus.Format) (format, error) {
	switch f {
	case corpus.JSONLines:
		return format{
			func(l corpus.Limits, _ Wanted) corpus.Source { return corpus.NewReader(l) },
			func(w Wanted) corpus.Decoder { return jsonDecoder{corpus.NewJSONDecoder(w.Fields)} },
		}, nil
	case corpus.CSV:
		return separated(','), nil
	case corpus.TSV:
		return separated('\t'), nil
	case corpus.WARC:
		return webArchive(), nil
	case corpus.Parquet:
		return columnar(), nil
	case corpus.Text, corpus.HTML:
		return whole(f), nil
	}
	return format{}, fmt.Errorf("the format %v is not read in this version", f)
}

// Prepare makes files of a listing ready to be cut into splits: files that are one document each are joined to groups,
// and the row groups of Parquet are looked up. It is an error if a file of Parquet has not the wanted fields.
func Prepare(ctx context.Context, files []corpus.File, wanted Wanted) ([]corpus.File, error) {
	files = corpus.Group(files)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(opened)
	for i := range files {
		file := &files[i]
		if file.Format != corpus.Parquet {
			continue
		}
		group.Go(func() (err error) {
			if ctx.Err() == nil {
				file.Parts, err = parquetParts(file, wanted)
			}
			return err
		})
	}
	return files, group.Wait()
}

// opened is how many files are opened at a time: opening waits for the disk or the network.
const opened = 16

// Reader reads stretches of files of any format. It is a [corpus.Source] but that its files may
// differ in their formats.
type Reader struct {
	limits  corpus.Limits
	wanted  Wanted
	sources map[corpus.Format]corpus.Source
	current corpus.Source
}

// NewReader returns a reader without a file.
func NewReader(limits corpus.Limits, wanted Wanted) *Reader {
	return &Reader{limits: limits, wanted: wanted, sources: map[corpus.Format]corpus.Source{}}
}

// Reset goes on to another stretch.
func (r *Reader) Reset(file corpus.File, s corpus.Stretch) error {
	source, known := r.sources[file.Format]
	if !known {
		f, err := of(file.Format)
		if err != nil {
			return fmt.Errorf("open input %s: %w", file.Path, err)
		}
		source = f.source(r.limits, r.wanted)
		r.sources[file.Format] = source
	}
	r.current = source
	return source.Reset(file, s)
}

// Next reads the next batch of the stretch.
func (r *Reader) Next(buffer []byte) (corpus.Batch, error) { return r.current.Next(buffer) }

// Close closes the file at hand and frees the decoders.
func (r *Reader) Close() error {
	var faults []error
	for _, source := range r.sources {
		faults = append(faults, source.Close())
	}
	return errors.Join(faults...)
}

// Batches gives the batches of a whole file, which is the one of that number in the input. The
// last pair is an error where the file cannot be read to its end.
func Batches(file corpus.File, number int, limits corpus.Limits, wanted Wanted) iter.Seq2[corpus.Batch, error] {
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
	wanted   Wanted
	decoders map[corpus.Format]corpus.Decoder
	name     []byte // of the file that is a document
}

// NewDecoder returns a decoder of records.
func NewDecoder(wanted Wanted) *Decoder {
	return &Decoder{wanted: wanted, decoders: map[corpus.Format]corpus.Decoder{}}
}

// Decode reads the record at a position of a batch, as [corpus.Decoder] says. A file that is one document has its name
// as its id. File may be nil where there is no file but a stream of lines.
func (d *Decoder) Decode(file *corpus.File, batch *corpus.Batch, position int64, record []byte) (corpus.Record, error) {
	decoder, known := d.decoders[batch.Format]
	if !known {
		f, err := of(batch.Format)
		if err != nil {
			return corpus.Record{}, err
		}
		decoder = f.decoder(d.wanted)
		d.decoders[batch.Format] = decoder
	}
	content, err := decoder.Decode(batch.Header, record)
	if err == nil && batch.Format.IsWhole() {
		name, _ := file.Place(position)
		content.ID, content.HasID = append(d.name[:0], name...), true
		d.name = content.ID
	}
	return content, err
}

// jsonDecoder decodes lines of JSON, which have no header.
type jsonDecoder struct{ lines *corpus.JSONDecoder }

func (d jsonDecoder) Decode(_, line []byte) (corpus.Record, error) { return d.lines.Decode(line) }
