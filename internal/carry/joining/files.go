package joining

import (
	"encoding/binary"
	"errors"

	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/ground/storage"
)

// The kinds of records of the files. A record consists of words, and its shard is a range. No file outlives the step
// that writes it, so the numbers may change.
const (
	nodes    runfile.Kind = iota + 1 // document; weight and node; part
	edges                            // later document, earlier document
	grouped                          // document; weight and rank of the root of its group
	requests                         // parent; rank of the root and range that asks
	answers                          // rank of the root, first document of the component
	shares                           // first document of the component, weight, last document, range
	placings                         // the same first document, last document, weight, value, weight in earlier ranges
)

// wordSize is the size of a word, in bytes.
const wordSize = 8

type files struct {
	folder string
	held   int
	paths  []string
	pieces map[address][]runfile.Piece
	writer runfile.Writer
	reader runfile.Reader
	buffer []byte
	words  []uint64
}

type address struct {
	kind   runfile.Kind
	number int // of the range
}

func newFiles(g *Graph) files {
	const least, most = 4 << 10, 64 << 20
	f := files{folder: g.Folder, held: int(min(max(g.Bytes/8, least), most)), pieces: map[address][]runfile.Piece{}}
	f.writer.Stopped, f.reader.Stopped = g.Stopped, g.Stopped
	return f
}

func (f *files) write(fill func() error) error {
	f.writer.Reset(f.folder, f.held)
	defer f.writer.Abort()
	if err := fill(); err != nil {
		return err
	}
	path, err := f.writer.Close()
	if err != nil || path == "" {
		return err
	}
	f.paths = append(f.paths, path)
	pieces, err := runfile.Pieces(path)
	for _, piece := range pieces {
		at := address{piece.Kind, piece.Shard}
		f.pieces[at] = append(f.pieces[at], piece)
	}
	return err
}

func (f *files) put(kind runfile.Kind, number int, words ...uint64) error {
	b, err := f.writer.Record(kind, number, wordSize*len(words))
	if err != nil {
		return err
	}
	for i, word := range words {
		binary.LittleEndian.PutUint64(b[wordSize*i:], word)
	}
	return nil
}

// each visits the records of a kind for a range in the order in which they were written, many at a time. The words are
// valid until visit returns.
func (f *files) each(kind runfile.Kind, number int, visit func(words []uint64) error) (err error) {
	for _, piece := range f.pieces[address{kind, number}] {
		if f.buffer, err = f.reader.Read(f.buffer[:0], piece); err != nil {
			return err
		}
		f.words = f.words[:0]
		for b := f.buffer; len(b) > 0; b = b[wordSize:] {
			f.words = append(f.words, binary.LittleEndian.Uint64(b))
		}
		if err := visit(f.words); err != nil {
			return err
		}
	}
	return nil
}

func (f *files) close() error {
	f.reader.Close()
	var faults []error
	for _, path := range f.paths {
		faults = append(faults, storage.Remove(path))
	}
	return errors.Join(faults...)
}
