// Package formats reads the documents of a corpus from files of all known formats.
//
// A format is a [corpus.Source], which cuts a file into records, and a [corpus.Decoder], which takes the
// document out of a record. One goroutine reads a file, and many decode. So slow work belongs in the decoder.
package formats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"golang.org/x/sync/errgroup"

	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/read/webtext"
)

// Wanted says what to take from a record.
type Wanted struct {
	Fields corpus.Fields
	// PageText says which text of a web page is wanted.
	PageText webtext.Mode
	// MaxDocument is the length of the longest document in bytes. Content that decompresses or decodes to
	// more is a fault.
	MaxDocument int64
	// MaxFeatures is how many features a document may have; 0: any number. More are a fault.
	MaxFeatures int
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
			func(w Wanted) corpus.Decoder {
				lines := corpus.NewJSONDecoder(w.Fields)
				lines.LimitFeatures(w.MaxFeatures)
				return jsonDecoder{lines}
			},
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

// Prepare prepares the files of a listing for the cut into splits. It joins files that are one document each
// into groups, and looks up the row groups of Parquet. It returns an error if a Parquet file does not have
// the wanted fields.
func Prepare(ctx context.Context, files []corpus.File, wanted Wanted) ([]corpus.File, error) {
	files = corpus.Group(files)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(opened)
	for i := range files {
		file := &files[i]
		if file.Format != corpus.Parquet || file.Unlisted {
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

// opened is how many files are opened at a time. Each waits for the disk or the network.
const opened = 16

// Reader reads stretches of files of any format. It is a [corpus.Source], except that its files may differ in
// their formats.
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
	name     []byte // name of a file that is a document
}

// NewDecoder returns a decoder of records.
func NewDecoder(wanted Wanted) *Decoder {
	return &Decoder{wanted: wanted, decoders: map[corpus.Format]corpus.Decoder{}}
}

// Decode reads the record at a position of a batch, as [corpus.Decoder] says. A file that is one document has
// its name as its id. For a stream of lines, File may be nil.
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

// jsonDecoder decodes lines of JSON, which have no header.
type jsonDecoder struct{ lines *corpus.JSONDecoder }

func (d jsonDecoder) Decode(_, line []byte) (corpus.Record, error) { return d.lines.Decode(line) }
