// Package arrowfile reads columns of files and streams of Apache Arrow. Feather (version 2) writes them, and so does Hugging Face's library for a
// data set that it saves. It reads what a corpus needs: texts, numbers, times, lists of them, in structs and dictionaries. A file may be made to do
// harm: each length in it is compared with what is there before memory is taken for it.
package arrowfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"mirrorbeam/internal/ground/storage"
)

// Magic are the first bytes of a file, and StreamMagic begins a stream.
const (
	Magic       = "ARROW1"
	StreamMagic = "\xff\xff\xff\xff"
)

const (
	// mostMetadata is the length of the longest metadata of a message, in bytes.
	mostMetadata = 64 << 20
	// mostRows bounds the rows of a file.
	mostRows = 1 << 50
)

// Reader reads the batches of a file in their order. It belongs to one goroutine.
type Reader struct {
	file         storage.File
	size, at     int64
	stream       io.Closer // nil before the first read
	in           *bufio.Reader
	limit        int64 // bytes of memory that a batch and the dictionaries may take; 0: any number
	isFar        bool  // bodies are read whole, from one stream
	isFile       bool  // it ends with a footer, which a stream lacks
	fields       []*field
	dictionaries map[int64]*values
	held         int64         // bytes of memory that the dictionaries take
	zstd         *zstd.Decoder // nil before it is needed

	batch    message // the last one
	body     int64   // where its body begins
	Rows     int64   // how many rows it has
	FirstRow int64   // the number of its first row
}

// message is a message of a stream: a batch, perhaps of a dictionary.
type message struct {
	kind   int
	header table
	flat   *flat
	body   int64 // length
}

// errCut says that a file ends before what it announces.
var errCut = errors.New("the file is cut short: copy or download it again")

// The kinds of messages.
const (
	schemaMessage     = 1
	dictionaryMessage = 2
	batchMessage      = 3
)

// Open reads the schema of a file of that size. A batch and the dictionaries may take so much memory, in bytes; 0: any amount. Of a file behind a network, for which
// isFar is set, all columns are read by one request, and else only those that are wanted.
func Open(file storage.File, size, memory int64, isFar bool) (*Reader, error) {
	r := &Reader{file: file, size: size, limit: memory, isFar: isFar, dictionaries: map[int64]*values{}}
	head := make([]byte, len(Magic))
	if _, err := file.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	}
	if r.isFile = string(head) == Magic; r.isFile {
		r.at = 8
	}
	first, err := r.next()
	if err == nil && first.kind != schemaMessage {
		err = errMetadata
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	if first.header.int16(0, 0) != 0 {
		err = errors.New("its numbers have their highest byte first, which is not read: write it on a usual machine")
	} else if r.fields, err = fieldsOf(first.header, 1, 0); err == nil && first.flat.isBad {
		err = errMetadata
	}
	if err == nil {
		err = r.skip(first.body)
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	return r, nil
}

// BodyBytes returns how long all columns of the batch are, as they are stored.
func (r *Reader) BodyBytes() int64 { return r.batch.body }

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

// skip passes bytes.
func (r *Reader) skip(n int64) error {
	if n > r.size-r.at {
		return errCut
	}
	r.at += n
	if n > jump && r.stream != nil {
		return r.Close()
	}
	if r.stream == nil {
		return nil
	}
	_, err := io.CopyN(io.Discard, r.in, n)
	return err
}

// read reads bytes. It fails if the file has fewer.
func (r *Reader) read(n int64) ([]byte, error) {
	if n > r.size-r.at {
		return nil, errCut
	}
	if r.stream == nil {
		stream := r.file.From(r.at)
		r.stream, r.in = stream, bufio.NewReaderSize(stream, 64<<10)
	}
	b := make([]byte, n)
	got, err := io.ReadFull(r.in, b)
	r.at += int64(got)
	return b, err
}

// next reads the metadata of the next message. It returns io.EOF at the end.
func (r *Reader) next() (message, error) {
	if r.at == r.size && !r.isFile {
		return message{}, io.EOF // some writers leave the mark of the end out
	}
	b, err := r.read(8)
	if err != nil {
		return message{}, err
	}
	length := int64(binary.LittleEndian.Uint32(b[4:]))
	switch {
	case string(b[:4]) != StreamMagic:
		return message{}, errMetadata
	case length == 0:
		return message{}, io.EOF
	case length > mostMetadata:
		return message{}, fmt.Errorf("%w: it has %d bytes", errMetadata, length)
	}
	if b, err = r.read(length); err != nil {
		return message{}, err
	}
	root, flat := rootOf(b)
	m := message{kind: root.int8(1), flat: flat, body: root.int64(3)}
	m.header, _ = root.table(2)
	if flat.isBad || m.body < 0 {
		return message{}, errMetadata
	}
	if version := root.int16(0, 0); version < 3 { // of Arrow before 0.8
		return message{}, errors.New("it was written by an old version of Arrow: write it anew")
	}
	return m, nil
}

// Next goes on to the next batch, which [Reader.Values] reads, and reads the dictionaries of wanted columns on the way. It returns io.EOF behind the
// last batch. After another error nothing more can be read.
func (r *Reader) Next() error { return r.pass(r.readDictionary) }

// Pass goes on to the next batch as Next does, and reads no dictionary: no values can be read from then on.
func (r *Reader) Pass() error { return r.pass(func(message) error { return nil }) }

func (r *Reader) pass(dictionary func(message) error) error {
	if r.batch.header.buffer != nil {
		if err := r.skip(r.body + r.batch.body - r.at); err != nil {
			return err
		}
		r.batch = message{}
	}
	r.FirstRow += r.Rows
	r.Rows = 0
	for {
		m, err := r.next()
		if err != nil {
			return err
		}
		end := r.at + m.body
		switch m.kind {
		case batchMessage:
			if r.Rows = m.header.int64(0); r.Rows < 0 || r.Rows > mostRows-r.FirstRow || m.flat.isBad {
				return errMetadata
			}
			r.batch, r.body = m, r.at
			return nil
		case dictionaryMessage:
			if err := dictionary(m); err != nil {
				return fmt.Errorf("read a dictionary: %w", err)
			}
		}
		if err := r.skip(end - r.at); err != nil {
			return err
		}
	}
}

// readDictionary reads the values of a dictionary that a wanted field uses.
func (r *Reader) readDictionary(m message) error {
	id := m.header.int64(0)
	data, isThere := m.header.table(1)
	owner := ownerOf(r.fields, id)
	if !isThere || owner == nil || m.flat.isBad {
		return errMetadata
	}
	if !owner.isWanted {
		return nil
	}
	plain := *owner
	plain.dictionary = noDictionary
	earlier, isMore := r.dictionaries[id], m.header.int8(2) != 0
	if earlier != nil && !isMore {
		delete(r.dictionaries, id)
		r.held -= earlier.held
	}
	b, err := r.open(data, r.at, m.body)
	if err == nil {
		err = b.place([]*field{&plain})
	}
	if err != nil {
		return err
	}
	read, err := b.values(&plain, data.int64(0))
	if err != nil {
		return err
	}
	r.held, read.held = b.held, b.held-r.held
	if earlier != nil && isMore {
		read.before = earlier
		if read.rows += earlier.rows; earlier.depth == mostDepth*mostDepth {
			return errors.New("it comes in too many pieces")
		}
		read.depth, read.held = earlier.depth+1, read.held+earlier.held
	}
	r.dictionaries[id] = read
	return nil
}

// ownerOf returns a field that has a dictionary: a wanted one, if several share it.
func ownerOf(fields []*field, id int64) (owner *field) {
	for _, f := range fields {
		for _, found := range []*field{f, ownerOf(f.children, id)} {
			if found != nil && found.dictionary == id && (owner == nil || found.isWanted) {
				owner = found
			}
		}
	}
	return owner
}

// BatchError says that a batch takes more memory than it may.
type BatchError struct {
	// Bytes is what the wanted columns and their dictionaries take at least, Limit what they may take.
	Bytes, Limit int64
}

// Error says what the batch takes.
func (e *BatchError) Error() string {
	return fmt.Sprintf("a batch takes about %d MiB of memory, and %d MiB are the limit", e.Bytes>>20, e.Limit>>20)
}

// IsDamage reports whether an error is about the content of a file, and not about reading it.
func IsDamage(err error) bool {
	return errors.Is(err, errMetadata) || errors.Is(err, errBuffer) || errors.Is(err, errCut) || errors.Is(err, io.ErrUnexpectedEOF)
}
