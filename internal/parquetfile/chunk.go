package parquetfile

import (
	"errors"
	"fmt"
	"io"
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

// ReadAt reads from the chunk. The end of the chunk is io.EOF.
func (c *chunk) ReadAt(p []byte, offset int64) (int, error) {
	rest := max(0, c.end-offset)
	if int64(len(p)) > rest {
		n, err := c.ReadAt(p[:rest], offset)
		if err == nil {
			err = io.EOF
		}
		return n, err
	}
	n := copy(p, c.seen(offset))
	if n == len(p) {
		return n, nil
	}
	offset += int64(n)
	if len(p)-n >= readAhead {
		m, err := c.read(p[n:], offset)
		return n + m, err
	}
	ahead, err := c.peek(offset, len(p)-n)
	return n + copy(p[n:], ahead), err
}

// peek returns the bytes at an offset: so many or more, fewer only at the end of the chunk. They are valid until the
// next read.
func (c *chunk) peek(offset int64, length int) ([]byte, error) {
	length = int(min(int64(length), c.end-offset))
	seen := c.seen(offset)
	if len(seen) >= length {
		return seen, nil
	}
	size := int(min(int64(max(length, readAhead)), c.end-offset))
	if cap(c.window) < size {
		window := make([]byte, size)
		copy(window, seen)
		c.window = window
	} else {
		c.window = c.window[:size]
		copy(c.window, seen)
	}
	c.at = offset
	n, err := c.read(c.window[len(seen):], offset+int64(len(seen)))
	c.window = c.window[:len(seen)+n]
	return c.window, err
}

// seen returns what the window holds from an offset on.
func (c *chunk) seen(offset int64) []byte {
	if offset < c.at || offset >= c.at+int64(len(c.window)) {
		return nil
	}
	return c.window[offset-c.at:]
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
