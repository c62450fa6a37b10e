package corpus

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/transform"

	"mirrorbeam.dev/internal/input/inflate"
	"mirrorbeam.dev/internal/input/webtext"
)

const (
	MaxWindow     = inflate.MaxWindow
	DefaultWindow = inflate.DefaultWindow
)

// Fault is damage in the data of a compressed file.
type Fault = inflate.Fault

// Compression is how the content of a file is stored.
type Compression uint8

const (
	None Compression = iota
	Gzip
	Zstd
	Bzip2
	XZ
	LZ4
)

// compressions tell what each compression but None is called, how the names of its files end, and which first bytes
// they have. A ? there stands for any digit from 1 to 9.
var compressions = map[Compression]struct {
	name, suffix string
	magics       []string
	open         func() *inflate.Reader
}{
	Gzip:  {"gzip", ".gz", []string{magicGzip}, inflate.NewGzip},
	Zstd:  {"zstd", ".zst", []string{magicZstd}, inflate.NewZstd},
	Bzip2: {"bzip2", ".bz2", []string{"BZh?1AY&SY", "BZh?\x17\x72\x45\x38\x50\x90"}, inflate.NewBzip2},
	XZ:    {"xz", ".xz", []string{"\xfd7zXZ\x00"}, inflate.NewXZ},
	LZ4:   {"lz4", ".lz4", []string{"\x04\x22\x4d\x18"}, inflate.NewLZ4},
}

func (c Compression) String() string {
	if c == None {
		return "plain"
	}
	return cmp.Or(compressions[c].name, fmt.Sprintf("compression %d", uint8(c)))
}

const (
	magicGzip = "\x1f\x8b"
	magicZstd = "\x28\xb5\x2f\xfd"
)

// sniffed is how many bytes show the compression. An archive of tar needs 512.
const sniffed = 10

// sniff tells the compression from the first bytes of a file. A format that this package does not read is an
// error, which says what to do.
func sniff(head []byte) (Compression, error) {
	for c, about := range compressions {
		if slices.ContainsFunc(about.magics, func(magic string) bool { return beginsWith(head, magic) }) {
			return c, nil
		}
	}
	if inflate.IsSkippable(head) || len(head) > 1 && isCutIn(magicZstd, head) {
		return Zstd, nil
	}
	return None, CheckText(head)
}

func isCutIn(magic string, head []byte) bool {
	return len(head) > 0 && len(head) < len(magic) && strings.HasPrefix(magic, string(head))
}

// cutCompression returns the compression that the name of a file tells, if the file ends before its content does.
func cutCompression(name string, head []byte) Compression {
	ending := strings.ToLower(filepath.Ext(name))
	for c, about := range compressions {
		if ending == about.suffix && slices.ContainsFunc(about.magics, func(magic string) bool {
			return isCutIn(magic, head)
		}) {
			return c
		}
	}
	return None
}

// Decoded returns the decoded content of a stream, such as a pipe, which may be plain, gzip or zstd like a file, and
// UTF-16 with a byte order mark. Damage is an error: the rest of a stream, unlike the rest of a file, cannot be used. A
// format that is not read is an error too. Decoded waits for the first bytes. Reads return as soon as there are any
// bytes. Close must be called. It leaves the stream open.
func Decoded(stream io.Reader) (io.ReadCloser, error) {
	inflated, head, err := inflated(stream)
	if name := webtext.Marked(head); err == nil && name != "" {
		return struct {
			io.Reader
			io.Closer
		}{inCharset(inflated, name), inflated}, nil
	}
	return inflated, err
}

func inflated(stream io.Reader) (content io.ReadCloser, start []byte, err error) {
	buffered := bufio.NewReaderSize(stream, BatchBytes)
	head, err := firstBytes(buffered)
	if err != nil {
		return nil, nil, err
	}
	compression, err := sniff(head)
	if err != nil {
		return nil, nil, err
	}
	var decoder io.ReadCloser
	switch {
	case compression == Gzip:
		decoder, err = gzip.NewReader(buffered)
	case compression == Zstd && !inflate.IsSkippable(head): // else the file may begin with a dictionary
		if isCutIn(magicZstd, head) {
			err = io.ErrUnexpectedEOF // the decoder would take it for the end
			break
		}
		var z *zstd.Decoder
		if z, err = zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxWindow(DefaultWindow)); err == nil {
			decoder = z.IOReadCloser()
		}
	case compression == None:
		return io.NopCloser(buffered), head, nil
	default:
		library := compressions[compression].open()
		err = library.Reset(buffered, inflate.Options{Size: math.MaxInt64})
		decoder = library
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%v stream: %w", compression, err)
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
		return nil, nil, err
	}
	return d, head, nil
}

func streamFault(c Compression, err error) error {
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return fmt.Errorf(
			"%v stream: %w of %d MiB: recompress it with zstd --long=%d, or decode it with zstd --long=31 -dc", c, err,
			DefaultWindow>>20, bits.Len64(DefaultWindow)-1)
	}
	if _, isFault := errors.AsType[*Fault](err); isFault {
		return err // it names the stream
	}
	return fmt.Errorf("%v stream: %w", c, err)
}

func inCharset(stream io.Reader, name string) io.Reader {
	encoding, _, _ := webtext.Charset(name)
	if encoding == nil {
		return stream
	}
	return transform.NewReader(stream, encoding.NewDecoder())
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

type decoded struct {
	decoder     io.Closer
	buffered    *bufio.Reader
	compression Compression
}

func (d *decoded) Close() error { return d.decoder.Close() }

func (d *decoded) Read(p []byte) (int, error) {
	n, err := d.buffered.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = streamFault(d.compression, err)
	}
	return n, err
}

type foreign struct {
	// magic has the first bytes; a ? stands for any digit from 1 to 9. Beginnings of letters alone could be the
	// beginning of a text, so they go on into what the format has behind them.
	magic      string
	what, todo string
}

const (
	recompress = "recompress it with zstd or gzip"
	unpack     = "unpack it into a folder, and name that"
	export     = "export the documents as Parquet, CSV or lines of JSON"
)

// foreigners are the formats that begin with bytes of their own. Longer beginnings come before shorter ones.
var foreigners = []foreign{
	{"LZIP\x01", "is compressed with lzip", recompress},
	{"\x1f\x9d", "is compressed with compress", recompress},
	{"\xff\x06\x00\x00sNaPpY", "is compressed with snappy", recompress},
	{"\x02\x21\x4c\x18", "is in the legacy format of lz4", "recompress it with zstd, gzip or a newer lz4"},
	{"\x5d\x00\x00", "is compressed with lzma", "recompress it with xz"},
	{"\x89LZO\x00\r\n\x1a\n", "is compressed with lzop", recompress},
	{"\x78\x01", "is a stream of zlib", "write it as gzip, or decompress it with 'zlib-flate -uncompress < FILE'"},
	{"\x78\x9c", "is a stream of zlib", "write it as gzip, or decompress it with 'zlib-flate -uncompress < FILE'"},
	{"\x78\xda", "is a stream of zlib", "write it as gzip, or decompress it with 'zlib-flate -uncompress < FILE'"},
	{
		"version https://git-lfs.github.com/spec/", "is a pointer of Git LFS to a file that is not here",
		"fetch the file with 'git lfs pull'",
	},
	{"/annex/objects/", "is a pointer of git-annex to a file that is not here", "fetch the file with 'git annex get'"},
	{
		"PK\x03\x04", "is a zip archive, as documents of Word and Excel are, too",
		unpack +
			", or convert the document: 'pandoc -t plain' makes a text of Word and e-books, " +
			"'soffice --convert-to csv' a table of Excel",
	},
	{"PK\x05\x06", "is an empty zip archive", unpack},
	{"PK\x07\x08", "is a part of a zip archive", unpack},
	{"7z\xbc\xaf\x27\x1c", "is a 7z archive", unpack},
	{"Rar!\x1a\x07", "is a rar archive", unpack},
	{"!<arch>\n", "is an ar archive", unpack},
	{"%PDF-?.", "is a PDF", "convert it with 'pdftotext FILE.pdf FILE.txt', and name that"},
	{
		"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is a document of an old Word, Excel or Outlook",
		"convert it with 'soffice --convert-to txt FILE', and name that",
	},
	{"SQLite format 3\x00", "is a database of SQLite", export},
	{"FEA1\x00\x00\x00\x00", "is a Feather file of version 1", "write it again with pyarrow.feather.write_feather"},
	{"Obj\x01", "is a file of Avro", export},
	{"\x89HDF\r\n\x1a\n", "is a file of HDF5", export},
	{"\x93NUMPY", "is an array of NumPy", export},
	{"\x89PNG\r\n\x1a\n", "is a picture", "leave it out"},
	{"\xff\xd8\xff", "is a picture", "leave it out"},
}

// beginsWith reports whether a file with this beginning has first bytes, in which a ? stands for a digit from 1 to 9.
func beginsWith(head []byte, magic string) bool {
	if len(head) < len(magic) {
		return false
	}
	for i, c := range []byte(magic) {
		if c != head[i] && !(c == '?' && '1' <= head[i] && head[i] <= '9') {
			return false
		}
	}
	return true
}

type unread string

func (u unread) Error() string { return string(u) }

// CheckText returns an error if a file with this beginning is in a format that is not read. The error continues a
// sentence about the file, and says what to do. A file of tar is known from 512 bytes on.
func CheckText(head []byte) error {
	for _, f := range foreigners {
		if beginsWith(head, f.magic) {
			return unread(fmt.Sprintf("the file %s, which is not read: %s", f.what, f.todo))
		}
	}
	switch {
	case isTar(head):
		return unread(
			"the file is a tar archive, which is not read: unpack it with 'tar xf' into a folder, and name that")
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
	_, err := tar.NewReader(bytes.NewReader(head)).Next()
	return len(head) >= tarBlock && (err == nil || errors.Is(err, io.ErrUnexpectedEOF))
}

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
