// Package output writes the files that a job leaves: sharded rows of JSON or Parquet,
// under names that stay temporary until the job has checked them all.
package output

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"mirrorbeam/internal/storage"
)

// Format is how rows are written. It is the ending of the files too: .zst and .gz at its end
// say how they are compressed.
type Format string

// The formats.
const (
	JSONL     Format = "jsonl"
	JSONLZstd Format = "jsonl.zst"
	JSONLGzip Format = "jsonl.gz"
	Parquet   Format = "parquet"

	// Binary is of files that are no rows.
	Binary Format = "bin"
)

// Formats lists all formats of rows.
var Formats = []Format{JSONL, JSONLZstd, JSONLGzip, Parquet}

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
	return regexp.MustCompile(`^[a-z]+-[0-9]{5,}-of-[0-9]{5,}\.([a-z]+|[a-z]+\.zst|[a-z]+\.gz)$`).MatchString(name)
}

const writeBuffer = 256 << 10

// Writer writes one output file, and after Reset another one. Not for
// concurrent use.
type Writer struct {
	file     File
	out      storage.Writer // nil where no file is under way
	counted  *counter
	format   Format     // of pressed
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
// as NewWriter would, and keeps its memory.
func (w *Writer) Reset(dir string, file File, format Format) error {
	w.Abort()
	file.Temporary = file.Output + "-" + rand.Text()
	out, err := storage.Create(storage.Join(dir, file.Temporary))
	if err != nil {
		return fmt.Errorf("create %s: %w", file.Name, err)
	}
	w.file, w.out, w.counted = file, out, &counter{w: out}
	if w.buffered == nil {
		w.buffered = bufio.NewWriterSize(nil, writeBuffer)
	}
	if w.format != format {
		if w.pressed, err = newCompressor(format); err != nil {
			w.Abort()
			return fmt.Errorf("create %s: %w", file.Name, err)
		}
		w.format = format
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
	switch path.Ext(string(format)) {
	case ".zst":
		// Tasks are what runs in parallel, so each encoder is given one core.
		return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	case ".gz":
		return gzip.NewWriter(nil), nil
	}
	return nil, nil
}

// Row writes one row, with its line feed if the format has any.
func (w *Writer) Row(row []byte) error {
	w.file.Rows++
	_, err := w.Write(row)
	return err
}

// Count counts rows that Write has written.
func (w *Writer) Count(rows int64) { w.file.Rows += rows }

// Write writes what is not counted as a row, such as a header.
func (w *Writer) Write(b []byte) (int, error) {
	n, err := w.buffered.Write(b)
	if err != nil {
		err = fmt.Errorf("write %s: %w", w.file.Name, err)
	}
	return n, err
}

// EndMember ends a member of gzip or a frame of zstd, so that what follows can be read by itself.
func (w *Writer) EndMember() error {
	if w.pressed == nil {
		return nil
	}
	err := w.buffered.Flush()
	if err == nil {
		err = w.pressed.Close()
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", w.file.Name, err)
	}
	w.pressed.Reset(w.counted)
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
