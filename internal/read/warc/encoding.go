package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// maxEncodings is how many content encodings one after the other are undone. Pages have one, seldom two.
const maxEncodings = 4

// decoder undoes the encodings of HTTP. It keeps what it has made for the next page.
type decoder struct {
	chunks   []byte
	contents [2][]byte // of the encoding at hand, and of the one before
	source   bytes.Reader
	gzip     gzip.Reader
	flate    io.ReadCloser
	zlib     io.ReadCloser
	brotli   *brotli.Reader
	zstd     *zstd.Decoder
}

// decode returns a body without its transfer coding and its content encodings. What is not encoded as its head says is
// returned as it is: many crawlers keep the head and store the decoded body.
func (d *decoder) decode(body []byte, head httpHead, limit int64) ([]byte, error) {
	d.release()
	if head.isChunked() {
		if chunks, ok := dechunk(d.chunks[:0], body); ok {
			d.chunks, body = chunks, chunks
		}
	}
	encodings := head.encoding
	for n := range maxEncodings {
		if len(encodings) == 0 {
			break
		}
		last := bytes.LastIndexByte(encodings, ',')
		name := bytes.TrimSpace(encodings[last+1:])
		encodings = encodings[:max(last, 0)]
		decoded, ok, err := d.content(d.contents[n%2][:0], body, name, limit)
		if d.contents[n%2] = decoded; err != nil {
			return nil, err
		}
		if !ok {
			return body, nil
		}
		body = decoded
	}
	return body, nil
}

// release drops the buffers that a huge page left behind.
func (d *decoder) release() {
	for _, buffer := range []*[]byte{&d.chunks, &d.contents[0], &d.contents[1]} {
		if cap(*buffer) > keepBytes {
			*buffer = nil
		}
	}
}

// content appends what a body holds in a content encoding. It reports whether the body is in that encoding. One that is
// cut short or damaged after its beginning gives what came before; its error says only that it is too long.
func (d *decoder) content(dst, body []byte, encoding []byte, limit int64) ([]byte, bool, error) {
	d.source.Reset(body)
	stream, hasMagic := d.open(body, encoding)
	if stream == nil {
		return dst, false, nil
	}
	dst, err := appendAll(dst, stream, limit)
	switch {
	case int64(len(dst)) > limit:
		return dst, false, fmt.Errorf("the payload is longer than the %d bytes that a document may have once its %q encoding is undone", limit, encoding)
	case err == nil:
		return dst, true, nil
	case hasMagic, errors.Is(err, io.ErrUnexpectedEOF):
		return dst, len(dst) > 0, nil
	}
	return dst, false, nil
}

// open returns a decoder of the body, or nil if it is not in that encoding, and whether its first bytes say for sure
// that it is.
func (d *decoder) open(body, encoding []byte) (stream io.Reader, hasMagic bool) {
	switch {
	case is(encoding, "gzip"), is(encoding, "x-gzip"):
		if d.gzip.Reset(&d.source) != nil {
			return nil, false
		}
		return &d.gzip, true
	case is(encoding, "deflate"):
		if stream := d.openZlib(); stream != nil {
			return stream, true
		}
		d.source.Reset(body)
		return d.openFlate(), false
	case is(encoding, "br"):
		if d.brotli == nil {
			d.brotli = brotli.NewReader(&d.source)
		} else if d.brotli.Reset(&d.source) != nil {
			return nil, false
		}
		return d.brotli, false
	case is(encoding, "zstd"):
		if !bytes.HasPrefix(body, []byte("\x28\xb5\x2f\xfd")) {
			return nil, false
		}
		return d.openZstd()
	}
	return nil, false
}

// openZlib returns a decoder of zlib, which is what "deflate" means; nil if the body is not in zlib.
func (d *decoder) openZlib() io.Reader {
	var err error
	if d.zlib == nil {
		d.zlib, err = zlib.NewReader(&d.source)
	} else {
		err = d.zlib.(zlib.Resetter).Reset(&d.source, nil)
	}
	if err != nil {
		return nil
	}
	return d.zlib
}

// openFlate returns a decoder of bare deflate, which some servers take "deflate" for.
func (d *decoder) openFlate() io.Reader {
	if d.flate == nil {
		d.flate = flate.NewReader(&d.source)
		return d.flate
	}
	if d.flate.(flate.Resetter).Reset(&d.source, nil) != nil {
		return nil
	}
	return d.flate
}

// openZstd returns a decoder of zstd, with the largest window that HTTP allows.
func (d *decoder) openZstd() (io.Reader, bool) {
	const window = 8 << 20
	var err error
	if d.zstd == nil {
		d.zstd, err = zstd.NewReader(&d.source, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
	} else {
		err = d.zstd.Reset(&d.source)
	}
	if err != nil {
		return nil, false
	}
	return d.zstd, true
}

// appendAll appends what a stream holds, up to one byte more than the limit.
func appendAll(dst []byte, stream io.Reader, limit int64) ([]byte, error) {
	for int64(len(dst)) <= limit {
		if len(dst) == cap(dst) {
			dst = append(dst, make([]byte, max(len(dst), 4<<10))...)[:len(dst)]
		}
		room := min(int64(cap(dst)), limit+1)
		n, err := stream.Read(dst[len(dst):room])
		dst = dst[:len(dst)+n]
		if err == io.EOF {
			return dst, nil
		} else if err != nil {
			return dst, err
		}
	}
	return dst, nil
}
