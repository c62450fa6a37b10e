package corpus

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"path/filepath"
	"strconv"
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

// foreign is a format that is not read, and would otherwise be taken for text.
type foreign struct {
	// magic has the first bytes; a ? stands for any digit from 1 to 9. Beginnings of letters alone could be the beginning of a text,
	// so they go on into what the format has behind them.
	magic string
	// what says what the file is, and todo what to do about it.
	what, todo string
}

const (
	recompress = "recompress it with zstd or gzip"
	unpack     = "unpack it into a folder, and name that"
	saveText   = "save its text as a file of text, and name that"
	export     = "export the documents as Parquet, CSV or lines of JSON"
)

// foreigners are the formats that begin with bytes of their own. Longer beginnings come before shorter ones.
var foreigners = []foreign{
	{"BZh?1AY&SY", "is compressed with bzip2", recompress},
	{"BZh?\x17\x72\x45\x38\x50\x90", "is compressed with bzip2, and empty", recompress},
	{"\xfd7zXZ\x00", "is compressed with xz", recompress},
	{"\x04\x22\x4d\x18", "is compressed with lz4", recompress},
	{"LZIP\x01", "is compressed with lzip", recompress},
	{"\x1f\x9d", "is compressed with compress", recompress},
	{"\xff\x06\x00\x00sNaPpY", "is compressed with snappy", recompress},
	{"PK\x03\x04", "is a zip archive, as documents of Word and Excel are, too", unpack + ", or save the text of the document"},
	{"PK\x05\x06", "is an empty zip archive", unpack},
	{"PK\x07\x08", "is a part of a zip archive", unpack},
	{"7z\xbc\xaf\x27\x1c", "is a 7z archive", unpack},
	{"Rar!\x1a\x07", "is a rar archive", unpack},
	{"!<arch>\n", "is an ar archive", unpack},
	{"%PDF-?.", "is a PDF", saveText},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is a document of an old Word, Excel or Outlook", saveText},
	{"SQLite format 3\x00", "is a database of SQLite", export},
	{"ARROW1\x00\x00", "is a file of Arrow", export},
	{"\xff\xff\xff\xff\x10\x00\x00\x00", "is a stream of Arrow", export},
	{"Obj\x01", "is a file of Avro", export},
	{"\x89HDF\r\n\x1a\n", "is a file of HDF5", export},
	{"\x93NUMPY", "is an array of NumPy", export},
	{"\x89PNG\r\n\x1a\n", "is a picture", "leave it out"},
	{"\xff\xd8\xff", "is a picture", "leave it out"},
}

// begins reports whether a file with this beginning is of the format.
func (f *foreign) begins(head []byte) bool {
	if len(head) < len(f.magic) {
		return false
	}
	for i, c := range []byte(f.magic) {
		if c != head[i] && !(c == '?' && '1' <= head[i] && head[i] <= '9') {
			return false
		}
	}
	return true
}

// unread says why a file is not read, and what to do about it.
type unread string

func (u unread) Error() string { return string(u) }

// CheckText returns an error if a file with this beginning is in a format that is not read. The error continues a sentence
// about the file, and says what to do. A file of tar is known from 512 bytes on.
func CheckText(head []byte) error {
	for _, f := range foreigners {
		if f.begins(head) {
			return unread(fmt.Sprintf("the file %s, which is not read: %s", f.what, f.todo))
		}
	}
	switch {
	case isTar(head):
		return unread("the file is a tar archive, which is not read: unpack it with 'tar xf' into a folder, and name that")
	case bytes.IndexByte(head, 0) < 0: // a text; what follows begins with letters alone
	case bytes.HasPrefix(head, []byte("ORC")):
		return unread("the file is a file of ORC, which is not read: " + export)
	case bytes.HasPrefix(head, []byte("FEA1")):
		return unread("the file is a file of Feather, which is not read: " + export)
	}
	return nil
}

// isTar reports whether a file begins with the header of a tar archive. The header holds the sum of its own bytes.
func isTar(head []byte) bool {
	const size, from, to = 512, 148, 156
	if len(head) < size {
		return false
	}
	want, err := strconv.ParseInt(strings.Trim(string(head[from:to]), " \x00"), 8, 64)
	if err != nil {
		return false
	}
	sum := int64(to-from) * ' '
	for i, c := range head[:size] {
		if i < from || i >= to {
			sum += int64(c)
		}
	}
	return sum == want
}

// checkDecoded returns an error if what a compressed file holds is not read.
func checkDecoded(c Compression, head []byte) error {
	inner, err := sniff(head)
	if err == nil && inner != None {
		err = unread("the file is compressed twice: decompress it once")
	}
	if err != nil {
		return fmt.Errorf("in %v, %w", c, err)
	}
	return nil
}
