package corpus

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Decoded returns the decoded content of a stream, such as a pipe, which may be plain, gzip or zstd like a
// file. Damage is an error: the rest of a stream, unlike that of a file, cannot be used. A format that is not
// read is an error too. Decoded waits for the first bytes. Reads return as soon as there are any bytes. Close
// must be called. It leaves the stream open.
func Decoded(stream io.Reader) (io.ReadCloser, error) {
	buffered := bufio.NewReaderSize(stream, BatchBytes)
	head, err := buffered.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	compression, err := sniff(head)
	if err != nil {
		return nil, err
	}
	var decoder io.ReadCloser
	switch compression {
	case Gzip:
		decoder, err = gzip.NewReader(buffered)
	case Zstd:
		if isCutIn(magicZstd, head) {
			err = io.ErrUnexpectedEOF // the decoder would take it for the end
			break
		}
		var z *zstd.Decoder
		if z, err = zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(DefaultWindow)); err == nil {
			decoder = z.IOReadCloser()
		}
	default:
		return io.NopCloser(buffered), nil
	}
	if err != nil {
		return nil, fmt.Errorf("%v stream: %w", compression, err)
	}
	return &decoded{decoder, compression}, nil
}

// decoded adds the format to the errors of a decoder.
type decoded struct {
	io.ReadCloser
	compression Compression
}

// Read decodes.
func (d *decoded) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%v stream: %w", d.compression, err)
	}
	return n, err
}
