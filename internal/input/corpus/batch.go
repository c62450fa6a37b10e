// Package corpus lists the files of a corpus, cuts them into splits and reads records from them. It reads a split as
// batches of whole lines, and takes the id and the text out of each line.
//
// # Nothing is lost in silence
//
// Each byte of a corpus is either in a line that a [Reader] hands out, or in a [Reject] that says why it is
// not. Faults of the data are rejects: a line that is too long, or a compressed stream that is cut short.
// Reading goes on wherever it can. Faults of the machine are errors: a file that vanished, a read error, or a
// file that shrank while the job ran. An answer from whatever happened to be readable would be wrong.
//
// # Positions
//
// A position is the offset of the first byte of a line in the decoded stream of its file, from 0. It is the same for
// compressed copies of a file and does not depend on how files are cut into stretches.
package corpus

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"

	"mirrorbeam.dev/internal/storage"
)

// Batch is a series of whole records of one file, in the order of the file.
type Batch struct {
	File   int
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
	// IsCut says that Data is what a damaged stream has left of a line. The stream's reject stands for it.
	IsCut bool
}

// Frame is a record in the Data of a batch.
type Frame struct {
	// Position identifies a record in its file. Positions ascend.
	Position   int64
	Start, End int
}

// Records yields the records of the batch with their positions. An empty line is no record. A record is part of Data
// and must not be written to.
func (b Batch) Records() iter.Seq2[int64, []byte] {
	if b.Format.IsLines() {
		return b.lines(false)
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
	// Position is a position in the decoded stream: the start of the line, or where reading failed.
	Position int64
	// Message is the reason, without file and position.
	Message string
	// Warning says that what was read is whole, Damage that a damaged or cut file may have lost later documents.
	Warning, Damage bool
}

// TooLong returns the message for a reject that is longer than the limit of a setting. What says what is too long: a
// line or a text. Both lengths are in bytes.
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
	return b.lines(true)
}

func (b Batch) lines(withEmpty bool) iter.Seq2[int64, []byte] {
	return func(yield func(int64, []byte) bool) {
		newline := lineEnd(b.CR)
		for start := 0; start < len(b.Data); {
			end, next := len(b.Data), len(b.Data)
			if n := bytes.IndexByte(b.Data[start:], newline); n >= 0 {
				end = start + n
				next = end + 1
			}
			if end > start && b.Data[end-1] == '\r' {
				end--
			}
			if (withEmpty || end > start) && !yield(b.Offset+int64(start), b.Data[start:end:end]) {
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

// Source reads the records of one stretch at a time as batches. It is not for concurrent use.
type Source interface {
	// Reset goes on to another stretch, perhaps of another file of the same format. It keeps buffers and
	// decoders: then small files cost little.
	Reset(file File, s Stretch) error

	// Next reads the next batch into the buffer, or into a larger one if the buffer is too small. Give it the
	// Data of an earlier batch that is no longer used. The batch is never empty. The error is io.EOF at the
	// end of the stretch. Any other error is a failure to read the file.
	Next(buffer []byte) (Batch, error)

	// Close closes the file and frees the decoders. The source cannot be used again. It may be called twice.
	Close() error
}

// Decoder takes documents out of the records of one format. It is not for concurrent use.
type Decoder interface {
	// Decode reads one record of a batch with the given header. The error says in a few words why the record
	// is not a document. Its reader knows the file and position already. The error is a [PassedOver] if no
	// document was to be expected there; the Record may have Others then. It is valid until the next call.
	Decode(header, record []byte) (Record, error)
}

// MissingField is the error of a record that does not have the wanted fields.
type MissingField string

func (m MissingField) Error() string { return string(m) }

// NoText is the error of a record that has the wanted field, and null in it.
type NoText string

func (n NoText) Error() string { return string(n) }

// PassedOver says why a record is neither a document nor a fault, such as "request" in a web archive.
type PassedOver string

func (p PassedOver) Error() string { return string(p) }

// longestLine bounds the lines of [Lines]. Longer ones are not lines of text.
const longestLine = 1 << 30

// Lines yields the lines of one file without their line ends. The file may be plain, gzip or zstd, whatever
// its name. A line is valid until the next. An error comes last, with a nil line. It may be a fault of the
// file, a failure to read it, or the end of the context. A fault is an error because the rest of such a file,
// unlike a line of a corpus, cannot be used.
func Lines(ctx context.Context, path string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		more := true
		err := eachLine(ctx, path, func(line []byte) bool {
			more = yield(line, nil)
			return more
		})
		if err != nil && more {
			yield(nil, fmt.Errorf("read %s: %w", path, err))
		}
	}
}

func eachLine(ctx context.Context, path string, visit func(line []byte) bool) error {
	file := File{Path: storage.Clean(path)}
	if err := inspect(&file, Options{Format: JSONLines.String()}); err != nil {
		return err
	}
	reader, err := Open(file, Stretch{End: file.Size}, Limits{Line: longestLine})
	if err != nil {
		return err
	}
	defer reader.Close()
	var batch Batch
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if batch, err = reader.Next(batch.Data); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		for _, reject := range batch.Rejects {
			if !reject.Warning {
				return fmt.Errorf("at byte %d: %s", reject.Position, reject.Message)
			}
		}
		for _, line := range batch.Lines() {
			if !visit(line) {
				return nil
			}
		}
	}
}

func lineEnd(cr bool) byte {
	if cr {
		return '\r'
	}
	return '\n'
}

// endsWithCR reports whether the lines of a text end with a carriage return alone, as old programs write them. The text
// is the beginning of a file; isEnd says that it is all of it. It is unknown if the text holds no line end yet. In
// lines of JSON a carriage return is white space, too. There it counts only between two objects.
func endsWithCR(text []byte, isEnd bool) (cr, known bool) {
	text = bytes.TrimPrefix(text, []byte(ByteOrderMark))
	isJSON := bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{"))
	newline := bytes.IndexByte(text, '\n')
	if known = newline >= 0; known {
		text = text[:newline+1]
	}
	for at := 0; ; at++ {
		n := bytes.IndexByte(text[at:], '\r')
		if n < 0 {
			return false, known || isEnd
		}
		at += n
		switch before, after := bytes.TrimRight(text[:at], " \t\r"), bytes.TrimLeft(text[at+1:], " \t\r"); {
		case len(after) == 0:
			return !isJSON && isEnd, isEnd
		case after[0] == '\n' && len(after) == 1:
			return false, true
		case !isJSON, bytes.HasSuffix(before, []byte("}")) && after[0] == '{':
			return true, true
		default:
			at = len(text) - len(after) - 1 // behind the white space
		}
	}
}
