package corpus

import (
	"bytes"
	"io"
	"iter"
)

// Batch is a run of whole lines of one file, in the order of the file.
type Batch struct {
	// File is the number of the file.
	File int
	// Offset is the position of Data[0] in the decoded stream.
	Offset int64
	// Data holds whole lines with their newlines; the last line of a file may
	// lack its own. It is in the buffer that was given to Next, or in a larger
	// one. It is empty where there are only rejects.
	Data []byte
	// Rejects are the parts of the stream that could not be used and were met
	// since the batch before. Lines of this or of the next batch may lie
	// before or behind them.
	Rejects []Reject
}

// Reject is a part of a file that could not be used.
type Reject struct {
	// Position in the decoded stream: the start of the line, or where the
	// stream could not be read on.
	Position int64
	// Message is the reason, without file and position.
	Message string
	// Warning is set where no document is lost.
	Warning bool
}

// Lines gives the lines of the batch with their positions: without "\n" and
// without one "\r" before it. Blank lines are included. A line is part of
// Data and must not be written to.
func (b Batch) Lines() iter.Seq2[int64, []byte] {
	return func(yield func(int64, []byte) bool) {
		for start := 0; start < len(b.Data); {
			end, next := len(b.Data), len(b.Data)
			if n := bytes.IndexByte(b.Data[start:], '\n'); n >= 0 {
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

// IsBlank reports whether the line has nothing but white space (that of JSON:
// space, tab, newline, carriage return). Such a line is no document.
func IsBlank(line []byte) bool {
	for _, c := range line {
		if !isSpace(c) {
			return false
		}
	}
	return true
}

// Batches gives the batches of a whole file, which is the one of that number in the input. The
// last pair is an error where the file cannot be read to its end.
func Batches(file File, number int, limits Limits) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		reader, err := Open(file, Stretch{File: number, End: file.Size}, limits)
		if err != nil {
			yield(Batch{}, err)
			return
		}
		defer reader.Close()
		for {
			batch, err := reader.Next(nil)
			if err == io.EOF || !yield(batch, err) || err != nil {
				return
			}
		}
	}
}
