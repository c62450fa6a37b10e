package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"mirrorbeam/internal/ground/storage"
)

// MostListBytes is the size of the largest list of words, sources or sites. It is held in memory.
const MostListBytes = 256 << 20

// ReadList returns a list with an item on each line, such as stop words, which may be plain, gzip or zstd. All its lines end with
// "\n", whatever they end with in the file. A file that is no text, or too large for a list, is an error.
func ReadList(path string) (string, error) {
	content, err := readList(path)
	if _, isOther := errors.AsType[*storage.IrregularError](err); isOther {
		return "", fmt.Errorf("%w: write the list to a file, and name that", err)
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", fmt.Errorf("%w: check the path", err)
	case errors.Is(err, os.ErrPermission):
		return "", fmt.Errorf("%w: make the file readable", err)
	case err != nil:
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	content = bytes.TrimPrefix(content, []byte(ByteOrderMark))
	if bytes.IndexByte(content, '\r') >= 0 {
		content = bytes.ReplaceAll(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	}
	return string(content), nil
}

// errLongList says that a file is too large for a list.
var errLongList = fmt.Errorf("the list has more than %d bytes: name a list with an item on each line", MostListBytes)

func readList(path string) ([]byte, error) {
	file, err := storage.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // it was only read
	if info, err := file.Stat(); err != nil {
		return nil, err
	} else if info.Size > MostListBytes {
		return nil, errLongList
	}
	stored := file.From(0)
	defer stored.Close()
	decoded, err := Decoded(stored)
	if err != nil {
		return nil, err
	}
	defer decoded.Close()
	content, err := io.ReadAll(io.LimitReader(decoded, MostListBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(content) > MostListBytes:
		return nil, errLongList
	case bytes.IndexByte(content, 0) >= 0:
		return nil, errors.New("the file is no text, since it has a zero byte: name a list with an item on each line, in UTF-8")
	}
	return content, nil
}
