package corpus

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

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
