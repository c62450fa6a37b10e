package query

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/input/corpus"
)

// readStream reads lines from a stream, compressed or not. A batch ends where the stream pauses, so that a writer that
// waits after a line gets the answer.
func readStream(stream io.Reader, limits corpus.Limits, pass func(file *corpus.File, batch corpus.Batch) error) error {
	decoded, err := corpus.Decoded(stream)
	if err != nil {
		return failure.New(failure.Input, fmt.Errorf("read -: %w", err))
	}
	defer decoded.Close()
	reader := bufio.NewReaderSize(decoded, corpus.BatchBytes)
	file := &corpus.File{Name: "-"}
	var batch corpus.Batch
	// a later read returns the error again
	if mark, _ := reader.Peek(len(corpus.ByteOrderMark)); string(mark) == corpus.ByteOrderMark {
		skipped, _ := reader.Discard(len(mark))
		batch.Offset = int64(skipped)
	}
	for {
		start := len(batch.Data)
		data, length, err := appendLine(batch.Data, reader, limits)
		batch.Data = data
		isLong := length > limits.Line
		if isLong {
			batch.Rejects = append(batch.Rejects, corpus.Reject{
				Position: batch.Offset + int64(start),
				Message:  corpus.TooLong("line", length, limits.Line, limits.Setting()),
			})
		}
		switch isEnd := err == io.EOF; { // a wrapped one is a failure
		case err != nil && !isEnd:
			return failure.New(failure.Input, fmt.Errorf("read -: %w", err))
		case !isEnd && !isLong && reader.Buffered() > 0 && len(batch.Data) < corpus.BatchBytes:
			continue
		default:
			if err := pass(file, batch); err != nil || isEnd {
				return err
			}
			batch = corpus.Batch{Offset: batch.Offset + int64(len(batch.Data))}
			if isLong {
				batch.Offset += length + 1
			}
		}
	}
}

// appendLine appends the next line with its line feed. A line longer than the limit is skipped. It returns the length
// without the line feed.
func appendLine(data []byte, reader *bufio.Reader, limits corpus.Limits) (_ []byte, length int64, err error) {
	start, held := len(data), false
	for {
		if length > corpus.LongLine && !held && limits.Hold != nil {
			if err := limits.Hold(); err != nil {
				return data, length, err
			}
			held = true
		}
		var part []byte
		part, err = reader.ReadSlice('\n')
		length += int64(len(part))
		if err == nil {
			length--
		}
		if length > limits.Line {
			data = data[:start]
		} else {
			data = append(data, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return data, length, err
		}
	}
}
