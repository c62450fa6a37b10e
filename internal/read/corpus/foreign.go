package corpus

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

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
