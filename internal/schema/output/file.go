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
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"mirrorbeam.dev/internal/input/parquetfile"
	"mirrorbeam.dev/internal/storage"
)

// Format says how rows are written, and is the ending of the files. A final .zst or .gz tells their compression.
type Format string

// The formats.
const (
	JSONL     Format = "jsonl"
	JSONLZstd Format = "jsonl.zst"
	JSONLGzip Format = "jsonl.gz"
	Parquet   Format = "parquet"

	// Binary is for files that hold no rows.
	Binary Format = "bin"
)

var Formats = []Format{JSONL, JSONLZstd, JSONLGzip, Parquet}

// File is a finished output file that is not published yet.
type File struct {
	// Name is the name under which the file will be published.
	Name string `json:"name"`
	// Output is the kind of the rows: clusters, pairs and so on.
	Output string `json:"output"`
	// Input is the path of the input file whose records a file of unique, annotated or trimmed holds, as rows write it.
	// An archive of texts has none: its members are called as the texts are.
	Input string `json:"input,omitempty"`
	// Rows counts its rows.
	Rows int64 `json:"rows"`
	// Bytes is its size.
	Bytes int64 `json:"bytes"`
	// Temporary is the name until then, in the folder where the file was made.
	Temporary string `json:"temporary,omitempty"`
}

// ShardName returns the name of one file of an output.
func ShardName(output string, shard, shards int, format Format) string {
	return fmt.Sprintf("%s-%05d-of-%05d.%s", output, shard, shards, format)
}

var shardPattern = regexp.MustCompile(`^[a-z]+-[0-9]{5,}-of-[0-9]{5,}\.([a-z]+|[a-z]+\.zst|[a-z]+\.gz)$`)

// IsShardName reports whether ShardName may have made a name, for any output.
func IsShardName(name string) bool { return shardPattern.MatchString(name) }

const writeBuffer = 256 << 10

// Writer writes one output file, and after Reset another one. It is not for concurrent use.
type Writer struct {
	// Later finishes small files; nil: each is finished by Close.
	Later *Later

	file     File
	out      storage.Writer // nil if no file is under way
	counted  *counter
	format   Format     // for which pressed compresses
	pressed  resettable // nil if the format does not compress
	buffered *bufio.Writer
}

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

type resettable interface {
	io.WriteCloser
	Reset(io.Writer)
}

// Reset lets the writer begin another file, as NewWriter would. The file before must be finished or dropped.
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

func newCompressor(format Format) (resettable, error) {
	switch path.Ext(string(format)) {
	case ".zst":
		// Tasks run in parallel already. So each encoder gets one core.
		return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	case ".gz":
		return gzip.NewWriter(nil), nil
	}
	return nil, nil
}

// Row writes one row, with its line feed if the format has one.
func (w *Writer) Row(row []byte) error {
	w.file.Rows++
	_, err := w.Write(row)
	return err
}

// Count counts rows that were written with Write.
func (w *Writer) Count(rows int64) { w.file.Rows += rows }

// Write writes bytes that do not count as a row, such as a header.
func (w *Writer) Write(b []byte) (int, error) {
	n, err := w.buffered.Write(b)
	if err != nil {
		err = fmt.Errorf("write %s: %w", w.file.Name, err)
	}
	return n, err
}

// EndMember ends a member of gzip or a frame of zstd. The bytes behind it can be read by themselves.
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

// Close finishes the file and describes it.
func (w *Writer) Close() (File, error) {
	err := w.buffered.Flush()
	if w.pressed != nil {
		err = errors.Join(err, w.pressed.Close())
	}
	w.file.Bytes = w.counted.n
	if err == nil && w.Later.finish(w.out, w.file.Name, w.file.Bytes) {
		w.out = nil
		return w.file, nil
	}
	if err == nil {
		err = w.out.Commit()
	}
	w.out.Abort()
	w.out = nil
	if err != nil {
		return File{}, fmt.Errorf("finish %s: %w", w.file.Name, err)
	}
	return w.file, nil
}

// Abort drops a file that is not finished. After Close it does nothing. So it can be deferred.
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

// All returns the names of all outputs.
func All() []string {
	return []string{
		Clusters, Pairs, Removed, Unique, Annotated, Rejects, Sketches, Changes, Trimmed, Passages,
		Mirrors, Sites, Suspects,
	}
}

// The outputs that rows are written to.
const (
	Clusters = "clusters"
	Pairs    = "pairs"
	Removed  = "removed"
	Unique   = "unique"
	// Annotated is the whole corpus, with what the job has found out about each document.
	Annotated = "annotated"
	Rejects   = "rejects"
	Sketches  = "sketches"
	// Changes is what has changed since the last run of a scheduled job.
	Changes = "changes"
	// Trimmed is the corpus without passages that stand elsewhere, and Passages what was cut.
	Trimmed  = "trimmed"
	Passages = "passages"
	// Mirrors are pairs of sites that have much in common, Sites the sites, and Suspects those that have copies of
	// protected ones.
	Mirrors  = "mirrors"
	Sites    = "sites"
	Suspects = "suspects"
)

// Files that a job writes in addition to its outputs, each packed as in a sketch block and ascending: the shingles of
// base texts, and those that very many documents have. Both do not count.
const (
	IgnoredShingles = "ignored"
	CommonShingles  = "common"
)

// Rows writes the rows of one output file in any format of [Formats]. It is not for concurrent use.
type Rows[T Row] struct {
	file    *Writer
	names   Names
	columns *parquetfile.Writer[T] // nil unless the format is Parquet
	line    []byte
}

// NewRows makes a file in the folder dir, under a random name. Pairs have [NewPairRows].
func NewRows[T Row](dir string, file File, format Format, names Names) (*Rows[T], error) {
	name := reflect.TypeFor[T]().Name()
	if file.Output == Clusters {
		name = "Cluster" // as the first versions called their rows
	}
	return newRows[T](dir, file, format, names, parquetfile.Table{Name: name})
}

func newRows[T Row](dir string, file File, format Format, names Names, of parquetfile.Table) (*Rows[T], error) {
	w, err := NewWriter(dir, file, format)
	if err != nil {
		return nil, err
	}
	r := &Rows[T]{file: w, names: names}
	if format == Parquet {
		r.columns = parquetfile.NewWriter[T](w, names.of(of, reflect.TypeFor[T]()))
	}
	return r, nil
}

// Write writes one row. It keeps nothing of it.
func (r *Rows[T]) Write(row T) error {
	if r.columns == nil {
		r.line = row.AppendJSON(r.line[:0], r.names)
		return r.file.Row(r.line)
	}
	r.file.Count(1)
	if err := r.columns.Write(row); err != nil {
		return fmt.Errorf("%s: %w", r.file.file.Name, err)
	}
	return nil
}

// Close finishes the file and returns what is in it.
func (r *Rows[T]) Close() (File, error) {
	if r.columns != nil {
		if err := r.columns.Close(); err != nil {
			return File{}, fmt.Errorf("finish %s: %w", r.file.file.Name, err)
		}
	}
	return r.file.Close()
}

// Abort drops a file that is not finished. After Close it does nothing, so it can be deferred.
func (r *Rows[T]) Abort() { r.file.Abort() }

// Layout says how the outputs with records of the input are laid out: [Unique], [Annotated] and [Trimmed].
type Layout string

// The layouts.
const (
	// Shards numbers the files, one for each input file, as the other outputs have them.
	Shards Layout = "shards"
	// Tree gives each output a folder, in which the folders and files of the input have their names.
	Tree Layout = "tree"
)

// Copies lists the outputs with records of the input.
var Copies = []string{Unique, Annotated, Trimmed}

// TreeName returns the name of the file of an output in the layout [Tree]. The copy is its path in the folder of the
// output.
func TreeName(output, copied string) string { return output + "/" + copied }

// IsTreeName reports whether TreeName may have made a name: it leads nowhere but into the folder of an output.
func IsTreeName(name string) bool {
	output, copied, _ := strings.Cut(name, "/")
	if !slices.Contains(Copies, output) || !utf8.ValidString(name) || strings.ContainsAny(name, "\x00\\") {
		return false
	}
	isNowhere := func(element string) bool { return element == "" || element == "." || element == ".." }
	return !slices.ContainsFunc(strings.Split(copied, "/"), isNowhere) && filepath.IsLocal(name)
}

// IsName reports whether a job may give a file that name.
func IsName(name string) bool { return IsShardName(name) || IsTreeName(name) }
