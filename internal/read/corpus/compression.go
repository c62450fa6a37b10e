package corpus

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"mirrorbeam/internal/read/inflate"
)

const (
	// MaxWindow is the largest possible zstd window in bytes.
	MaxWindow = inflate.MaxWindow
	// DefaultWindow is the largest zstd window that is held unless more is allowed, in bytes.
	DefaultWindow = inflate.DefaultWindow
)

// Fault is damage in the data of a compressed file.
type Fault = inflate.Fault

// Compression is how the content of a file is stored.
type Compression uint8

const (
	// None is plain text.
	None Compression = iota
	// Gzip is one or more gzip members (RFC 1952).
	Gzip
	// Zstd is one or more Zstandard frames (RFC 8878).
	Zstd
)

// String returns "plain", "gzip" or "zstd".
func (c Compression) String() string {
	switch c {
	case None:
		return "plain"
	case Gzip:
		return "gzip"
	case Zstd:
		return "zstd"
	}
	return fmt.Sprintf("compression %d", uint8(c))
}

// The first bytes of the compressions, and of texts in UTF-16.
const (
	magicGzip    = "\x1f\x8b"
	magicZstd    = "\x28\xb5\x2f\xfd"
	magicUTF16LE = "\xff\xfe"
	magicUTF16BE = "\xfe\xff"
)

// sniffed is how many bytes show the compression. An archive of tar needs 512.
const sniffed = 10

// sniff tells the compression from the first bytes of a file. A format that this package does not read is an
// error, which says what to do.
func sniff(head []byte) (Compression, error) {
	starts := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	switch {
	case starts(magicGzip):
		return Gzip, nil
	case starts(magicZstd), inflate.IsSkippable(head), len(head) > 1 && isCutIn(magicZstd, head):
		return Zstd, nil
	case starts(magicUTF16LE), starts(magicUTF16BE):
		return None, unread("the text is UTF-16: convert the file to UTF-8")
	}
	return None, CheckText(head)
}

// isCutIn reports whether a file ends within the first bytes of a format.
func isCutIn(magic string, head []byte) bool {
	return len(head) > 0 && len(head) < len(magic) && strings.HasPrefix(magic, string(head))
}

// cutCompression returns the compression that the name of a file tells, if the file ends before its content does.
func cutCompression(name string, head []byte) Compression {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".gz":
		if isCutIn(magicGzip, head) {
			return Gzip
		}
	case ".zst":
		if isCutIn(magicZstd, head) {
			return Zstd
		}
	}
	return None
}

// Decoded returns the decoded content of a stream, such as a pipe, which may be plain, gzip or zstd like a
// file. Damage is an error: the rest of a stream, unlike the rest of a file, cannot be used. A format that is not
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
		err = streamFault(compression, err)
	}
	if err != nil {
		d.Close() // at best it says the same
		return nil, err
	}
	return d, nil
}

// streamFault says what is wrong with a compressed stream.
func streamFault(c Compression, err error) error {
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return fmt.Errorf("%v stream: %w of %d MiB: recompress it with zstd --long=%d, or decode it with zstd --long=31 -dc", c, err, DefaultWindow>>20, bits.Len64(DefaultWindow)-1)
	}
	return fmt.Errorf("%v stream: %w", c, err)
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
		err = streamFault(d.compression, err)
	}
	return n, err
}
