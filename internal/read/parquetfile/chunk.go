package parquetfile

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// chunk is the part of a file that holds a column of a row group. It reads ahead, so that many small reads become few
// large ones. It belongs to one goroutine.
type chunk struct {
	file       io.ReaderAt
	begin, end int64

	window []byte
	at     int64 // of window in the file

	// fault is the error of the storage, if a read has failed. Nothing that follows says anything about the content.
	fault error
}

// peek returns the bytes at an offset: so many or more, fewer only at the end of the chunk. They are valid until the
// next call.
func (c *chunk) peek(offset int64, length int) ([]byte, error) {
	length = int(min(int64(length), c.end-offset))
	var seen []byte
	if offset >= c.at && offset < c.at+int64(len(c.window)) {
		seen = c.window[offset-c.at:]
	}
	if len(seen) >= length {
		return seen, nil
	}
	size := int(min(int64(max(length, readAhead)), c.end-offset))
	had := copy(c.window, seen)
	c.window = slices.Grow(c.window[:had], size-had)[:size]
	c.at = offset
	n, err := c.read(c.window[had:], offset+int64(had))
	c.window = c.window[:had+n]
	return c.window, err
}

// read fills p from the file.
func (c *chunk) read(p []byte, offset int64) (int, error) {
	n, err := c.file.ReadAt(p, offset)
	switch {
	case n == len(p):
		return n, nil
	case err == nil || errors.Is(err, io.EOF):
		err = fmt.Errorf("the file ends at byte %d: %w", offset+int64(n), io.ErrUnexpectedEOF)
	}
	if c.fault == nil {
		c.fault = err
	}
	return n, err
}
