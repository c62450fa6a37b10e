package inflate

import (
	"io"
	"slices"
)

// mostlyRead is how much is allocated at a time to read ahead.
const mostlyRead = 1 << 20

// readAhead reads a stored file after some bytes were read.
type readAhead struct {
	file  io.Reader
	bytes []byte // read from the file, but not used
	err   error  // of the file, behind the bytes
}

// Read reads the bytes that were read ahead, then the file.
func (a *readAhead) Read(p []byte) (int, error) {
	if len(a.bytes) > 0 {
		n := copy(p, a.bytes)
		a.bytes = a.bytes[n:]
		return n, nil
	}
	if a.err != nil {
		err := a.err
		a.err = nil
		return 0, err
	}
	return a.file.Read(p)
}

// putBack makes bytes the next ones.
func (a *readAhead) putBack(stored []byte) {
	a.bytes = slices.Concat(stored, a.bytes)
}

// fill reads ahead until n bytes are there, or the file has no more.
func (a *readAhead) fill(n int) {
	have := len(a.bytes)
	if have >= n || a.err != nil {
		return
	}
	if cap(a.bytes) < n {
		a.bytes = append(make([]byte, 0, max(n, mostlyRead)), a.bytes...)
	}
	more, err := io.ReadFull(a.file, a.bytes[have:n])
	a.bytes = a.bytes[:have+more]
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	a.err = err
}

// cut takes a chunk of least to most bytes. It is nil if none can be found. If takesRest, the rest of the file is a
// chunk.
func (a *readAhead) cut(least, most int, takesRest bool) []byte {
	for n := min(least+least/4, most); ; n = min(2*n, most) {
		a.fill(n)
		isEnd := len(a.bytes) < n
		end := gzipChunk(a.bytes[:min(len(a.bytes), most)], least)
		if isEnd && end == 0 && takesRest && a.err == io.EOF {
			end = len(a.bytes)
		}
		if end > 0 {
			chunk := a.bytes[:end:end]
			a.bytes = a.bytes[end:]
			return chunk
		}
		if isEnd || n == most {
			return nil
		}
	}
}
