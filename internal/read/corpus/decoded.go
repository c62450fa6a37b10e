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
	head, err := firstBytes(buffered)
	if err != nil {
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
	d := &decoded{decoder: decoder, buffered: bufio.NewReaderSize(decoder, headBytes), compression: compression}
	head, err = firstBytes(d.buffered)
	if err == nil {
		err = checkDecoded(compression, head)
	} else {
		err = fmt.Errorf("%v stream: %w", compression, err)
	}
	if err != nil {
		d.Close() // at best it says the same
		return nil, err
	}
	return d, nil
}

// firstBytes returns the first bytes of a stream, as many as are there when the first few have come.
func firstBytes(stream *bufio.Reader) ([]byte, error) {
	if head, err := stream.Peek(sniffed); err != nil {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return head, err
	}
	return stream.Peek(min(stream.Buffered(), headBytes))
}

// decoded adds the format to the errors of a decoder.
type decoded struct {
	decoder     io.Closer
	buffered    *bufio.Reader
	compression Compression
}

// Close frees the decoder.
func (d *decoded) Close() error { return d.decoder.Close() }

// Read decodes.
func (d *decoded) Read(p []byte) (int, error) {
	n, err := d.buffered.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%v stream: %w", d.compression, err)
	}
	return n, err
}
