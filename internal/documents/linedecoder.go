package documents

import (
	"iter"

	"mirrorbeam/internal/corpus"
)

// lines is a portion of lines on its way from the reader of a split to the goroutine that takes the records out of it.
type lines struct {
	batches []corpus.Batch
	text    []byte // text of the batches
	holds   bool   // the right to hold a long line
}

// keepBytes is the largest text whose memory is reused.
const keepBytes = 8 << 20

// reset empties the portion and keeps its memory.
func (l *lines) reset() {
	if cap(l.text) > keepBytes {
		l.text = nil
	}
	l.text, l.batches = l.text[:0], l.batches[:0]
}

// release frees the text if it holds a long line. The caller calls it when its records are done, or when nobody will
// ask for them.
func (l *lines) release() {
	if !l.holds {
		return
	}
	l.text, l.batches, l.holds = nil, nil, false
	ReleaseLongLine()
}

// lineDecoder takes the records out of lines. It is not for concurrent use.
type lineDecoder struct {
	decoder *corpus.Decoder
	record  Record
}

func newLineDecoder(fields corpus.Fields) *lineDecoder {
	return &lineDecoder{decoder: corpus.NewDecoder(fields)}
}

// records yields the records of a portion, and the rejects between them, in the order of the input.
func (d *lineDecoder) records(l *lines) iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		for _, batch := range l.batches {
			rejects := batch.Rejects // in the order of the file, as the lines are
			for position, line := range batch.Lines() {
				for ; len(rejects) > 0 && rejects[0].Position < position; rejects = rejects[1:] {
					if !yield(d.unread(batch.File, rejects[0])) {
						return
					}
				}
				if !yield(d.line(batch.File, position, line)) {
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

// line returns the record of a line.
func (d *lineDecoder) line(file int, position int64, line []byte) *Record {
	d.record = Record{File: file, Position: position, Bytes: int64(len(line)), Raw: line}
	if d.record.IsBlank = corpus.IsBlank(line); d.record.IsBlank {
		return &d.record
	}
	content, err := d.decoder.Decode(line)
	if d.record.Content = content; err != nil {
		d.record.Fault = err.Error()
	}
	return &d.record
}

// unread returns the record that stands for a reject, a part of a file that the reader could not use.
func (d *lineDecoder) unread(file int, reject corpus.Reject) *Record {
	d.record = Record{File: file, Position: reject.Position, Fault: reject.Message}
	return &d.record
}
