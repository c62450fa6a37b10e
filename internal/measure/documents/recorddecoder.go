package documents

import (
	"errors"
	"iter"

	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/read/formats"
)

// part is a part of the input on its way from the reader of a split to the goroutine that takes the records out of it.
type part struct {
	batches []corpus.Batch
	text    []byte // text of the batches
	holds   bool   // the right to hold a long line
}

// keepBytes is the largest text whose memory is reused.
const keepBytes = 8 << 20

// reset empties the portion and keeps its memory.
func (l *part) reset() {
	if cap(l.text) > keepBytes {
		l.text = nil
	}
	l.text, l.batches = l.text[:0], l.batches[:0]
}

// release frees the text if it holds a long line. The caller calls it when the records are done, or when
// nobody will ask for them.
func (l *part) release() {
	if !l.holds {
		return
	}
	l.text, l.batches, l.holds = nil, nil, false
	ReleaseLongLine()
}

// recordDecoder takes the records out of parts of the input. It is not for concurrent use.
type recordDecoder struct {
	files   []corpus.File
	decoder *formats.Decoder
	record  Record
}

// newRecordDecoder returns a decoder of the records of these files.
func newRecordDecoder(files []corpus.File, wanted corpus.Wanted) *recordDecoder {
	return &recordDecoder{files: files, decoder: formats.NewDecoder(wanted)}
}

// records yields the records of a portion, and the rejects between them, in the order of the input.
func (d *recordDecoder) records(l *part) iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		for _, batch := range l.batches {
			rejects := batch.Rejects // in the order of the file, as the records are
			for position, record := range batch.Records() {
				for ; len(rejects) > 0 && rejects[0].Position < position; rejects = rejects[1:] {
					if !yield(d.unread(batch.File, rejects[0])) {
						return
					}
				}
				if !yield(d.read(&batch, position, record)) {
					return
				}
			}
			for _, reject := range rejects {
				if !yield(d.unread(batch.File, reject)) {
					return
				}
			}
		}
	}
}

func (d *recordDecoder) read(batch *corpus.Batch, position int64, raw []byte) *Record {
	d.record = Record{File: batch.File, Position: position, Bytes: int64(len(raw)), Raw: raw}
	if d.record.IsBlank = batch.IsBlank(raw); d.record.IsBlank {
		return &d.record
	}
	content, err := d.decoder.Decode(&d.files[batch.File], batch, position, raw)
	d.record.Content = content
	if reason, is := errors.AsType[corpus.PassedOver](err); is {
		d.record.PassedOver = string(reason)
	} else if err != nil && batch.IsCut {
		d.record.IsBlank = true
	} else if err != nil {
		d.record.Fault, d.record.IsEmpty = err.Error(), isEmpty(err)
	}
	return &d.record
}

// isEmpty reports whether a record is no document since it has no text.
func isEmpty(err error) bool {
	return errors.As(err, new(corpus.MissingField)) || errors.As(err, new(corpus.NoText))
}

// unread returns the record that stands for a reject, a part of a file that the reader could not use.
func (d *recordDecoder) unread(file int, reject corpus.Reject) *Record {
	d.record = Record{File: file, Position: reject.Position, Fault: reject.Message}
	return &d.record
}

// Record is one record of the input, as a source gives it: a document, or a reject or a blank in its place. It is valid
// until the source gives the next.
type Record struct {
	// File is the number of its file. Position tells the records of a file apart, and
	// ascends in it: in a file of lines it is where the line begins.
	File     int
	Position int64
	// Bytes is how much of the input the record takes; 0 if it was not read.
	Bytes int64
	// Raw is the record as it stands in the file.
	Raw []byte
	// Content is the id, and the texts or features.
	Content corpus.Record
	// Fault says why the record is no document; empty for a document.
	Fault string
	// IsEmpty says that the fault is a text that is null or missing.
	IsEmpty bool
	// IsBlank says that the record is neither a document nor a fault: a blank line, or the beginning of a line whose rest
	// a damaged stream has lost. The fault of the stream stands for that.
	IsBlank bool
	// PassedOver says why the record is no document where none was to be expected, such as "request" in a web archive; empty
	// otherwise.
	PassedOver string
}

// contentLength returns the length of the texts of a record in bytes, or the number of its
// features.
func contentLength(content corpus.Record) int64 {
	length := int64(len(content.Features))
	for _, text := range content.Texts {
		length += int64(len(text))
	}
	return length
}
