// Package output writes the files that a job leaves: sharded rows of JSON,
// under names that stay temporary until the job has checked them all.
package output

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"mirrorbeam/internal/storage"
)

// Format is how rows are written; it is the ending of the files too.
type Format string

// The formats.
const (
	JSONL     Format = "jsonl"
	JSONLZstd Format = "jsonl.zst"
	JSONLGzip Format = "jsonl.gz"

	// Binary is of files that are no rows.
	Binary Format = "bin"
)

// Formats lists all formats of rows.
var Formats = []Format{JSONL, JSONLZstd, JSONLGzip}

// File is a finished output file that is not published yet.
type File struct {
	// Name is the name under which it will be published.
	Name string `json:"name"`
	// Output is the kind of rows: clusters, pairs and so on.
	Output string `json:"output"`
	// Input is the input file whose records it holds, for unique.
	Input string `json:"input,omitempty"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"`
	// Temporary is its name for now, in the folder where it was made.
	Temporary string `json:"temporary,omitempty"`
}

// ShardName returns the name of one of the files of an output.
func ShardName(output string, shard, shards int, format Format) string {
	return fmt.Sprintf("%s-%05d-of-%05d.%s", output, shard, shards, format)
}

// IsShardName reports whether ShardName may have given a name, of whatever output.
func IsShardName(name string) bool {
	return regexp.MustCompile(`^[a-z]+-[0-9]{5,}-of-[0-9]{5,}\.(jsonl|jsonl\.zst|jsonl\.gz|bin)$`).MatchString(name)
}

const writeBuffer = 256 << 10

// Writer writes one output file, and after Reset another one. Not for
// concurrent use.
type Writer struct {
	file     File
	out      storage.Writer // nil where no file is under way
	counted  *counter
	pressed  resettable // nil where the format does not compress
	buffered *bufio.Writer
}

// counter counts the bytes that reach the file.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// NewWriter makes a file in the folder dir, under a random name.
func NewWriter(dir string, file File, format Format) (*Writer, error) {
	w := &Writer{}
	if err := w.Reset(dir, file, format); err != nil {
		return nil, err
	}
	return w, nil
}

// resettable is a compressor that can go on to another file.
type resettable interface {
	io.WriteCloser
	Reset(io.Writer)
}

// Reset makes the writer, whose file is finished or dropped, one of another file
// as NewWriter would, and keeps its memory. The format must be that of before.
func (w *Writer) Reset(dir string, file File, format Format) error {
	w.Abort()
	file.Temporary = file.Output + "-" + rand.Text()
	out, err := storage.Create(storage.Join(dir, file.Temporary))
	if err != nil {
		return fmt.Errorf("create %s: %w", file.Name, err)
	}
	w.file, w.out, w.counted = file, out, &counter{w: out}
	if w.buffered == nil {
		if w.pressed, err = newCompressor(format); err != nil {
			w.Abort()
			return fmt.Errorf("create %s: %w", file.Name, err)
		}
		w.buffered = bufio.NewWriterSize(nil, writeBuffer)
	}
	var sink io.Writer = w.counted
	if w.pressed != nil {
		w.pressed.Reset(w.counted)
		sink = w.pressed
	}
	w.buffered.Reset(sink)
	return nil
}

// newCompressor returns what compresses for a format, nil where nothing does.
func newCompressor(format Format) (resettable, error) {
	switch format {
	case JSONLZstd:
		// Tasks are what runs in parallel, so each encoder is given one core.
		return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	case JSONLGzip:
		return gzip.NewWriter(nil), nil
	}
	return nil, nil
}

// Row writes one row, which ends in a line feed.
func (w *Writer) Row(row []byte) error {
	w.file.Rows++
	if _, err := w.buffered.Write(row); err != nil {
		return fmt.Errorf("write %s: %w", w.file.Name, err)
	}
	return nil
}

// Close finishes the file and returns what is in it.
func (w *Writer) Close() (File, error) {
	err := w.buffered.Flush()
	if w.pressed != nil {
		err = errors.Join(err, w.pressed.Close())
	}
	if err == nil {
		err = w.out.Commit()
	}
	w.out.Abort()
	w.out = nil
	if err != nil {
		return File{}, fmt.Errorf("finish %s: %w", w.file.Name, err)
	}
	w.file.Bytes = w.counted.n
	return w.file, nil
}

// Abort drops a file that is not finished. After Close it does nothing, so it
// can be deferred.
func (w *Writer) Abort() {
	if w.out == nil {
		return
	}
	if w.pressed != nil {
		w.pressed.Close()
	}
	w.out.Abort()
	w.out = nil
}
