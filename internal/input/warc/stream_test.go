package warc

import (
	"bufio"
	"bytes"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// members decodes the gzip members of a file one after the other. No Read returns bytes of two.
type members struct {
	stored  *bytes.Reader
	input   *bufio.Reader
	decoder gzip.Reader
	begun   int64 // where the member at hand begins
	within  bool
}

func newMembers(file []byte) *members {
	stored := bytes.NewReader(file)
	return &members{stored: stored, input: bufio.NewReaderSize(stored, 128<<10)}
}

func (m *members) Member() int64 { return m.begun }

func (m *members) Read(p []byte) (int, error) {
	for {
		if !m.within {
			m.begun = m.stored.Size() - int64(m.stored.Len()+m.input.Buffered())
			if err := m.decoder.Reset(m.input); err != nil {
				return 0, err
			}
			m.decoder.Multistream(false)
			m.within = true
		}
		n, err := m.decoder.Read(p)
		if err == io.EOF {
			m.within, err = false, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// frames decodes zstd frames that were packed one after the other, of the given lengths.
type frames struct {
	file    []byte
	lengths []int
	decoder *zstd.Decoder
	decoded []byte
	begun   int64
	next    int64
}

func (f *frames) Member() int64 { return f.begun }

func (f *frames) Read(p []byte) (int, error) {
	for len(f.decoded) == 0 {
		if len(f.lengths) == 0 {
			return 0, io.EOF
		}
		var err error
		f.begun = f.next
		f.next += int64(f.lengths[0])
		if f.decoded, err = f.decoder.DecodeAll(f.file[f.begun:f.next], f.decoded); err != nil {
			return 0, err
		}
		f.lengths = f.lengths[1:]
	}
	n := copy(p, f.decoded)
	f.decoded = f.decoded[n:]
	return n, nil
}

// open returns the decoded stream of a stored archive, by its first bytes, and the source of its members.
func open(file []byte) (io.Reader, func() int64) {
	switch {
	case bytes.HasPrefix(file, []byte("\x1f\x8b")):
		m := newMembers(file)
		return m, m.Member
	case bytes.HasPrefix(file, []byte("\x04\x22\x4d\x18")):
		return lz4.NewReader(bytes.NewReader(file)), func() int64 { return 0 }
	}
	return bytes.NewReader(file), nil
}

// readAll returns the frames of a stream, with their own memory, and the error that ended it.
func readAll(t testing.TB, source io.Reader, options Options) (all []Frame, end error) {
	t.Helper()
	r := NewReader(source, options)
	for {
		f, err := r.Next()
		if err != nil {
			return all, err
		}
		f.Raw = bytes.Clone(f.Raw)
		all = append(all, f)
	}
}
