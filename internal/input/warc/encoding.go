package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// maxEncodings is how many encodings one after the other are undone. Pages have one, seldom two.
const maxEncodings = 8

// decoder undoes the encodings of HTTP. It keeps what it has made for the next page.
type decoder struct {
	contents [2][]byte // of the encoding at hand, and of the one before
	source   bytes.Reader
	gzip     gzip.Reader
	brotli   *brotli.Reader
	zstd     *zstd.Decoder
}

// decode returns a body without its transfer codings and its content encodings. Servers list them in any order, and
// list some that are not there; many crawlers keep the head and store the decoded body. So the first bytes of the body
// decide which of the listed encodings comes next, and those without such bytes are undone in the order of the head,
// last one first.
func (d *decoder) decode(body []byte, head httpHead, limit int64) ([]byte, error) {
	d.release()
	listed := head.encodings
	for n := range maxEncodings {
		decoded, name, err := d.undo(n%2, body, listed, limit)
		if name < 0 || err != nil {
			return body, err
		}
		body, listed = decoded, slices.Delete(slices.Clone(listed), name, name+1)
	}
	return body, nil
}

// undo undoes one of the listed encodings, into one of the two buffers. It returns which one, -1 if there is none.
func (d *decoder) undo(buffer int, body []byte, listed [][]byte, limit int64) (decoded []byte, name int, err error) {
	for _, byMagic := range []bool{true, false} {
		for i, encoding := range slices.Backward(listed) {
			if hasMagic(encoding, body) != byMagic {
				continue
			}
			decoded, ok, err := d.content(d.contents[buffer][:0], body, encoding, limit)
			d.contents[buffer] = decoded
			if ok || err != nil {
				return decoded, i, err
			}
		}
	}
	return nil, -1, nil
}

func hasMagic(encoding, body []byte) bool {
	switch {
	case is(encoding, "gzip"), is(encoding, "x-gzip"):
		return bytes.HasPrefix(body, []byte("\x1f\x8b\x08"))
	case is(encoding, "deflate"):
		return len(body) > 1 && body[0]&0x0f == 8 && body[0] < 0x80 && (uint(body[0])<<8|uint(body[1]))%31 == 0
	case is(encoding, "zstd"):
		return bytes.HasPrefix(body, []byte("\x28\xb5\x2f\xfd"))
	}
	return false
}

func (d *decoder) release() {
	for i, buffer := range d.contents {
		if cap(buffer) > keepBytes {
			d.contents[i] = nil
		}
	}
}

// content appends what a body holds in an encoding. It reports whether the body is in that encoding. One that is cut
// short or damaged after its beginning gives what came before; its error says only that it is too long.
func (d *decoder) content(dst, body []byte, encoding []byte, limit int64) ([]byte, bool, error) {
	if is(encoding, "chunked") {
		dst, ok := dechunk(dst, body)
		return dst, ok, nil
	}
	// Without first bytes of their own, encodings are found in texts: "F" is all of an empty page in brotli.
	isSure := hasMagic(encoding, body)
	if !isSure && isPlain(body) {
		return dst, false, nil
	}
	d.source.Reset(body)
	stream := d.open(body, encoding)
	if stream == nil {
		return dst, false, nil
	}
	dst, err := appendAll(dst, stream, limit)
	switch {
	case int64(len(dst)) > limit:
		return dst, false, fmt.Errorf(
			"the payload is longer than the %d bytes that a document may have once its %q encoding is undone",
			limit, encoding)
	case isSure:
		return dst, err == nil || len(dst) > 0, nil
	}
	isEncoded := err == nil || errors.Is(err, io.ErrUnexpectedEOF)
	return dst, isEncoded && len(dst) > 0 && len(dst)+slack >= len(body), nil
}

// slack is by how many bytes a short body may be longer than what it holds.
const slack = 32

func isPlain(body []byte) bool {
	return utf8.Valid(body) && bytes.IndexFunc(body, func(r rune) bool {
		return r < ' ' && !isSpace(r) || r == 0x7f
	}) < 0
}

func isSpace(r rune) bool { return r == '\t' || r == '\n' || r == '\f' || r == '\r' }

func (d *decoder) open(body, encoding []byte) io.Reader {
	switch {
	case is(encoding, "gzip"), is(encoding, "x-gzip"):
		if d.gzip.Reset(&d.source) != nil {
			return nil
		}
		return &d.gzip
	case is(encoding, "deflate"):
		if stream, err := zlib.NewReader(&d.source); err == nil {
			return stream
		}
		d.source.Reset(body)
		return flate.NewReader(&d.source) // which some servers take "deflate" for
	case is(encoding, "br"):
		if d.brotli == nil {
			d.brotli = brotli.NewReader(&d.source)
		} else if d.brotli.Reset(&d.source) != nil {
			return nil
		}
		return d.brotli
	case is(encoding, "zstd") && hasMagic(encoding, body):
		return d.openZstd()
	}
	return nil
}

// openZstd returns a decoder of zstd, with the largest window that HTTP allows.
func (d *decoder) openZstd() io.Reader {
	const window = 8 << 20
	var err error
	if d.zstd == nil {
		d.zstd, err = zstd.NewReader(&d.source, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
	} else {
		err = d.zstd.Reset(&d.source)
	}
	if err != nil {
		return nil
	}
	return d.zstd
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
