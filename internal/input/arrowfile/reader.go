// Package arrowfile reads and copies files and streams of Apache Arrow. Feather (version 2) writes them, and so does
// Hugging Face's library for a data set that it saves. A file may be made to do harm: metadata is checked before the
// library reads it, memory is counted before it is taken, and where the library panics, that is an error.
package arrowfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"mirrorbeam.dev/internal/input/arrowmeta"
)

// Magic are the first bytes of a file, and StreamMagic begins a stream.
const (
	Magic       = "ARROW1"
	StreamMagic = "\xff\xff\xff\xff"
)

const (
	mostMetadata = 64 << 20
	mostRows     = 1 << 50
)

// Source is an open file.
type Source interface {
	io.ReaderAt
	From(offset int64) io.ReadCloser
}

// Reader reads the batches of a file in their order. It belongs to one goroutine.
type Reader struct {
	file     Source
	size, at int64
	stream   io.Closer // nil before the first read
	in       *bufio.Reader
	memory   counter
	isFile   bool              // it begins as one: it ends with a mark, and with a footer, which a stream lacks
	blocks   []arrowmeta.Block // of the footer; nil for a stream, and for a file that is cut short
	next     int               // of them
	inner    *ipc.Reader
	schema   []byte         // the message that inner has begun with
	places   []place        // of the dictionaries so far
	waiting  []*ipc.Message // dictionaries that inner has not read
	last     *ipc.Message   // that it has read
	fault    error          // of the storage
	leaves   []leaf

	batch    arrowmeta.Message // the last one
	views    arrowmeta.Views
	metadata []byte          // of it
	body     int64           // where its body begins
	isUnread bool            // its body is still to come
	isHurt   bool            // inner has met damage
	codec    arrowmeta.Codec // of the first batch that is compressed
	Rows     int64           // how many rows it has
	FirstRow int64           // the number of its first row
}

type place struct {
	metadata []byte
	at, body int64 // where its body begins, and how long it is
}

var errCut = errors.New("the file is cut short: copy or download it again")

var errBehind = errors.New("the stream ends before the file")

type damage struct{ error }

func (d damage) Unwrap() error { return d.error }

// IsDamage reports whether an error is about the content of a file, and not about reading it.
func IsDamage(err error) bool {
	_, is := errors.AsType[damage](err)
	return is || errors.Is(err, arrowmeta.ErrMetadata) || errors.Is(err, errCut) || errors.Is(err, errBehind) ||
		errors.Is(err, io.ErrUnexpectedEOF)
}

// BatchError says that a batch takes more memory than it may.
type BatchError struct {
	// Bytes is what the batch and the dictionaries take at least, Limit what they may take.
	Bytes, Limit int64
}

func (e *BatchError) Error() string {
	return fmt.Sprintf("a batch takes about %d MiB of memory, and %d MiB are the limit: "+
		"give a --memory of twice what it takes and 64 MiB, or rewrite the file with smaller batches",
		e.Bytes>>20, e.Limit>>20)
}

// counter counts the memory that the library takes, and panics with a [*BatchError] where it is too much.
type counter struct {
	memory.GoAllocator
	held, most int64 // most is 0 for no limit
}

func (c *counter) Allocate(size int) []byte {
	if c.held += int64(size); c.most > 0 && c.held > c.most {
		fault := &BatchError{c.held, c.most}
		c.held -= int64(size)
		panic(fault)
	}
	return c.GoAllocator.Allocate(size)
}

func (c *counter) Reallocate(size int, b []byte) []byte {
	grown := c.Allocate(size)
	copy(grown, b)
	c.Free(b)
	return grown
}

func (c *counter) Free(b []byte) { c.held -= int64(len(b)) }

func recovered(err *error) {
	value := recover()
	fault, isFault := value.(error)
	_, isLarge := errors.AsType[*BatchError](fault)
	switch {
	case value == nil:
	case isLarge:
		*err = fault
	case isFault:
		*err = damage{fault}
	default:
		*err = damage{fmt.Errorf("the decoder gave up: %v", value)}
	}
}

// Open reads the schema of a file of that size. Most bounds the memory of a batch and the dictionaries; 0: no bound.
func Open(file Source, size, most int64) (*Reader, error) {
	r := &Reader{file: file, size: size, memory: counter{most: most}}
	if err := r.open(); err != nil {
		r.Close()
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	return r, nil
}

func (r *Reader) open() error {
	head := make([]byte, len(Magic))
	if _, err := r.file.ReadAt(head, 0); err != nil && err != io.EOF {
		return err
	}
	var schema []byte
	if r.isFile = string(head) == Magic; r.isFile {
		var err error
		if schema, err = r.readFooter(); err != nil {
			return err
		}
		r.at = 8
	}
	if schema == nil {
		first, metadata, err := r.read()
		if err == nil && first.Kind != ipc.MessageSchema {
			err = arrowmeta.ErrMetadata
		}
		if err == io.EOF {
			err = errCut
		}
		if err != nil {
			return err
		}
		schema = metadata
		if err := r.skip(first.Body); err != nil {
			return err
		}
	} else if _, err := arrowmeta.ParseMessage(schema, r.views); err != nil {
		return err
	}
	r.schema = schema
	return r.begin()
}

func (r *Reader) begin() (err error) {
	defer recovered(&err)
	r.waiting = []*ipc.Message{ipc.NewMessage(memory.NewBufferBytes(r.schema), memory.NewBufferBytes(nil))}
	if r.inner, err = ipc.NewReaderFromMessageReader((*messages)(r), ipc.WithAllocator(&r.memory)); err != nil {
		return damage{err}
	}
	r.leaves = leavesOf(r.inner.Schema())
	r.views = arrowmeta.ViewsOf(r.inner.Schema())
	return nil
}

// readFooter reads the footer of a file, and returns the message with its schema: nil if the file is cut short.
func (r *Reader) readFooter() ([]byte, error) {
	const ending = 4 + len(Magic)
	const mostGap = 64 // bytes between the last batch and the footer: a mark of the end, and padding
	last := int64(0)   // where the last batch ends
	tail := make([]byte, ending)
	if r.size < int64(2*ending) {
		return nil, nil
	}
	if _, err := r.file.ReadAt(tail, r.size-int64(ending)); err != nil && err != io.EOF {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	if string(tail[4:]) != Magic {
		return nil, nil
	}
	if length > mostMetadata || length > r.size-int64(ending) {
		return nil, fmt.Errorf("%w: the footer has %d bytes", arrowmeta.ErrMetadata, length)
	}
	footer := make([]byte, length)
	if _, err := r.file.ReadAt(footer, r.size-int64(ending)-length); err != nil && err != io.EOF {
		return nil, err
	}
	schema, blocks, err := arrowmeta.ParseFooter(footer)
	r.blocks = append([]arrowmeta.Block{}, blocks...)
	for i := range blocks {
		last = max(last, blocks[i].Offset+blocks[i].Metadata+blocks[i].Body)
	}
	if gap := r.size - int64(ending) - length - last; err == nil && len(blocks) > 0 && gap > mostGap {
		return nil, fmt.Errorf(
			"%w: its footer knows nothing of %d bytes, so it may be several files in one: "+
				"write each to a file of its own", arrowmeta.ErrMetadata, gap)
	}
	return schema, err
}

// messages hands to the library what waits for it, and then the batch.
type messages Reader

// Message returns the next one. The one before it is given up.
func (m *messages) Message() (*ipc.Message, error) {
	if m.last != nil {
		m.last.Release()
		m.last = nil
	}
	if len(m.waiting) == 0 && m.isUnread {
		m.isUnread = false
		if err := (*Reader)(m).wait(place{m.metadata, m.body, m.batch.Body}, (*Reader)(m).fill); err != nil {
			return nil, err
		}
	}
	if len(m.waiting) == 0 {
		return nil, io.EOF
	}
	m.last, m.waiting = m.waiting[0], m.waiting[1:]
	return m.last, nil
}

// Retain and Release do nothing.
func (m *messages) Retain() {}

func (m *messages) Release() {}

// BodyBytes returns how long all columns of the batch are, as they are stored.
func (r *Reader) BodyBytes() int64 { return r.batch.Body }

// Close ends reading. The file stays open.
func (r *Reader) Close() error {
	if r.stream == nil {
		return nil
	}
	stream := r.stream
	r.stream = nil
	return stream.Close()
}

// jump is how many bytes are passed by a new stream, and not by reading them.
const jump = 1 << 20

func (r *Reader) skip(n int64) error {
	if n > r.size-r.at {
		return errCut
	}
	if n < 0 || n > jump {
		r.at += n
		return r.Close()
	}
	r.at += n
	if r.stream == nil {
		return nil
	}
	_, err := io.CopyN(io.Discard, r.in, n)
	return err
}

func (r *Reader) fill(b []byte) error {
	if int64(len(b)) > r.size-r.at {
		return errCut
	}
	if r.stream == nil {
		stream := r.file.From(r.at)
		r.stream, r.in = stream, bufio.NewReaderSize(stream, 64<<10)
	}
	got, err := io.ReadFull(r.in, b)
	r.at += int64(got)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		r.fault = err
	}
	return err
}

func (r *Reader) read() (m arrowmeta.Message, metadata []byte, err error) {
	framed := int64(mostMetadata)
	switch {
	// some writers leave the mark of the end out
	case r.blocks != nil && r.next == len(r.blocks), r.blocks == nil && r.at == r.size && !r.isFile:
		return m, nil, io.EOF
	case r.blocks != nil:
		block := r.blocks[r.next]
		r.next++
		framed = block.Metadata
		if block.Offset > r.size {
			return m, nil, errCut
		}
		if err := r.skip(block.Offset - r.at); err != nil {
			return m, nil, err
		}
	}
	var prefix [4]byte
	if err := r.fill(prefix[:]); err != nil {
		return m, nil, err
	}
	if string(prefix[:]) == StreamMagic {
		err = r.fill(prefix[:])
	} else if r.blocks == nil {
		err = arrowmeta.ErrMetadata
	}
	if err != nil {
		return m, nil, err
	}
	length := int64(binary.LittleEndian.Uint32(prefix[:]))
	switch {
	case length == 0 && !r.isFile && r.at < r.size:
		return m, nil, fmt.Errorf("%w, and %d bytes behind it are not read: write each stream to a file", errBehind,
			r.size-r.at)
	case length == 0:
		return m, nil, io.EOF
	case length > framed:
		return m, nil, fmt.Errorf("%w: it has %d bytes", arrowmeta.ErrMetadata, length)
	}
	metadata = make([]byte, length)
	if err := r.fill(metadata); err != nil {
		return m, nil, err
	}
	m, err = arrowmeta.ParseMessage(metadata, r.views)
	return m, metadata, err
}

// Next goes on to the next batch, which [Reader.Values] reads, and reads dictionaries on the way. It returns io.EOF
// behind the last batch. After another error nothing more can be read.
func (r *Reader) Next() error { return r.pass(true) }

// Pass goes on to the next batch as Next does, and reads no dictionary: no values can be read from then on.
func (r *Reader) Pass() error { return r.pass(false) }

func (r *Reader) pass(withDictionaries bool) error {
	if r.metadata != nil && r.at < r.body+r.batch.Body {
		if err := r.skip(r.body + r.batch.Body - r.at); err != nil {
			return err
		}
	}
	r.FirstRow += r.Rows
	r.Rows, r.metadata = 0, nil
	for {
		m, metadata, err := r.read()
		if err != nil {
			return err
		}
		if r.codec == arrowmeta.Plain {
			r.codec = m.Codec
		}
		switch {
		case m.Kind == ipc.MessageRecordBatch:
			if m.Rows > mostRows-r.FirstRow {
				return arrowmeta.ErrMetadata
			}
			r.batch, r.metadata, r.isUnread, r.body, r.Rows = m, metadata, true, r.at, m.Rows
			return nil
		case m.Kind == ipc.MessageDictionaryBatch && withDictionaries:
			at := place{metadata, r.at, m.Body}
			r.places = append(r.places, at)
			if err := r.wait(at, r.fill); err != nil {
				return fmt.Errorf("read a dictionary: %w", err)
			}
		default:
			if err := r.skip(m.Body); err != nil {
				return err
			}
		}
	}
}

// wait reads the body of a message, which waits for the library.
func (r *Reader) wait(m place, fill func([]byte) error) (err error) {
	defer recovered(&err)
	if m.body > r.size-m.at {
		return errCut
	}
	body := memory.NewResizableBuffer(&r.memory)
	defer body.Release()
	body.Resize(int(m.body))
	if err := fill(body.Bytes()); err != nil {
		return err
	}
	r.waiting = append(r.waiting, ipc.NewMessage(memory.NewBufferBytes(m.metadata), body))
	return nil
}

// beginAgain gives the library a new start behind a damaged batch, after which it reads nothing more.
func (r *Reader) beginAgain() error {
	r.inner.Release()
	for _, left := range r.waiting {
		left.Release()
	}
	if err := r.begin(); err != nil {
		return err
	}
	for _, m := range r.places {
		again := func(b []byte) error {
			_, err := r.file.ReadAt(b, m.at)
			return err
		}
		if err := r.wait(m, again); err != nil {
			return err
		}
	}
	return nil
}

// Batch reads the batch, which is valid until the next one. A *[BatchError] says that it takes too much memory. An
// error about the content, see [IsDamage], leaves the next batch to be read, unless it is of a dictionary.
func (r *Reader) Batch() (_ arrow.RecordBatch, err error) {
	defer recovered(&err)
	if r.isHurt {
		if err := r.beginAgain(); err != nil {
			return nil, err
		}
	}
	read, err := r.inner.Read()
	r.isHurt = err != nil
	large, isLarge := errors.AsType[*BatchError](err)
	switch {
	case isLarge:
		return nil, large
	case r.fault != nil:
		return nil, r.fault
	case err == io.EOF:
		return nil, arrowmeta.ErrMetadata
	case err != nil:
		return nil, damage{err}
	case read.NumRows() != r.Rows:
		return nil, arrowmeta.ErrMetadata
	}
	return read, nil
}
