package corpus

import (
	"bytes"
	"fmt"
	"iter"
)

// Batch is a series of whole records of one file, in the order of the file.
type Batch struct {
	// File is the number of the file.
	File int
	// Format is the format of the file.
	Format Format
	// Offset is the position of Data[0] in the decoded stream, if records are lines.
	Offset int64
	// Data holds whole records. Lines have their newlines, except perhaps the last line of a file. Data is in
	// the buffer that was given to Next, or in a larger one. It is empty if the batch has only rejects.
	Data []byte
	// Frames are the records in Data, if these are not lines.
	Frames []Frame
	// CR says that lines end with a carriage return alone, and not with a newline.
	CR bool
	// Header is the record that names the fields, if the file has one.
	Header []byte
	// Rejects are the parts of the stream that could not be used. They were met after the batch before. Lines
	// of this batch or of the next one may lie before or behind them.
	Rejects []Reject
	// IsCut says that Data is what a damaged stream has left of a line. If it is no document, the reject of the stream
	// stands for it.
	IsCut bool
}

// Frame is a record in the Data of a batch.
type Frame struct {
	// Position identifies a record in its file. Positions ascend.
	Position int64
	// Start and End are where the record is in Data.
	Start, End int
}

// Records yields the records of the batch with their positions. An empty line is no record. A record is part of Data and must not
// be written to.
func (b Batch) Records() iter.Seq2[int64, []byte] {
	if b.Format.IsLines() {
		return b.lines(b.emptyLines)
	}
	return func(yield func(int64, []byte) bool) {
		for _, frame := range b.Frames {
			if !yield(frame.Position, b.Data[frame.Start:frame.End:frame.End]) {
				return
			}
		}
	}
}

// End returns a position behind all records of the batch, and before the records of any later batch.
func (b Batch) End() int64 {
	if b.Format.IsLines() {
		return b.Offset + int64(len(b.Data))
	}
	if len(b.Frames) == 0 {
		return 0
	}
	return b.Frames[len(b.Frames)-1].Position + 1
}

// IsBlank reports whether a record is a line that holds no document.
func (b Batch) IsBlank(record []byte) bool { return b.Format.IsLines() && IsBlank(record) }

// Reject is a part of a file that could not be used.
type Reject struct {
	// Position is a position in the decoded stream: the start of the line, or where the stream could not be
	// read on.
	Position int64
	// Message is the reason, without file and position.
	Message string
	// Warning says that no document is lost.
	Warning bool
}

// TooLong returns the message for a reject that is longer than the limit of a setting. What says what is too long: a line or a
// text. Both lengths are in bytes.
func TooLong(what string, length, limit int64, setting string) string {
	return fmt.Sprintf("%s of %d bytes is longer than the limit of %d bytes set by %s", what, length, limit, setting)
}

// Line returns the line at a position, with its line end.
func (b Batch) Line(position int64) []byte {
	line := b.Data[position-b.Offset:]
	if n := bytes.IndexByte(line, lineEnd(b.CR)); n >= 0 {
		line = line[:n+1]
	}
	return line
}

// Lines yields the lines of the batch with their positions. It strips the line end, and one "\r" before "\n". It
// includes blank lines. A line is part of Data and must not be written to.
func (b Batch) Lines() iter.Seq2[int64, []byte] {
	return b.lines(func([]byte) int { return 0 })
}

// emptyLines returns the length of the empty lines that data begins with.
func (b Batch) emptyLines(data []byte) int {
	newline, n := lineEnd(b.CR), 0
	for {
		switch {
		case n < len(data) && data[n] == newline:
			n++
		case n+1 < len(data) && data[n] == '\r' && data[n+1] == '\n':
			n += 2
		default:
			return n
		}
	}
}

// lines is Lines without what pass passes over. Pass gets what begins with a line, and returns the length of whole lines.
func (b Batch) lines(pass func(data []byte) int) iter.Seq2[int64, []byte] {
	return func(yield func(int64, []byte) bool) {
		newline := lineEnd(b.CR)
		for start := pass(b.Data); start < len(b.Data); start += pass(b.Data[start:]) {
			end, next := len(b.Data), len(b.Data)
			if n := bytes.IndexByte(b.Data[start:], newline); n >= 0 {
				end = start + n
				next = end + 1
			}
			if end > start && b.Data[end-1] == '\r' {
				end--
			}
			if !yield(b.Offset+int64(start), b.Data[start:end:end]) {
				return
			}
			start = next
		}
	}
}

// IsBlank reports whether the line has nothing but the white space of JSON: space, tab, newline, carriage
// return. Such a line is not a document.
func IsBlank(line []byte) bool {
	for _, c := range line {
		if !isSpace(c) {
			return false
		}
	}
	return true
}
