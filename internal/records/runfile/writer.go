// Package runfile stores the packed records that cross a shuffle.
//
// An element that crosses a shuffle costs a runner some 45 microseconds and kilobytes of memory. A record in
// a run file costs only its bytes. So a stage writes all records of one task into one run file, in sections
// by kind and shard. Only the path of the file travels. A catalog lists the sections of many run files by
// shard, so the task of a shard finds its pieces.
//
// A run file is
//
//	sections  records, packed
//	index     32 bytes a section: kind, shard, offset, length, CRC-32C
//	footer    32 bytes: magic, offset of the index, its length, its CRC-32C
//
// A run file may also list sections of other run files, which then count as its own: see [Writer.Link]. The paths of
// these files lie in a section of their own.
//
// All integers are little-endian. Files have random names: two attempts at one task never use the same file.
// A file appears under its name only when it is complete.
package runfile

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"iter"
	"os"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/checksum"
)

// Kind says what the records of a section are. The stages number their kinds.
type Kind uint8

// Of yields the pieces of the kind.
func (k Kind) Of(pieces []Piece) iter.Seq[Piece] {
	return func(yield func(Piece) bool) {
		for _, piece := range pieces {
			if piece.Kind == k && !yield(piece) {
				return
			}
		}
	}
}

const (
	magic       = "mbrun002"
	sectionSize = 32
	footerSize  = 32
	writeBuffer = 64 << 10
)

type section struct {
	kind           Kind
	shard          uint32
	offset, length int64
	sum            uint32
	// mark is the mark of a link, see [Piece]. link is the number of the file in which the section lies: 0 for the run
	// file itself, else the number of a linked file, from 1.
	mark, link uint32
}

// linksKind is the kind of the section that lists the linked files. No stage has a kind of that number.
const linksKind Kind = 0

// Writer writes one run file. It holds records back by kind and shard until their bytes exceed the budget. Then it
// writes them to the file as sections. If each section would cost its reader a request, the records wait on the local
// disk instead. Then the file has one section for each kind and shard. It is not for concurrent use.
type Writer struct {
	// Durable makes Close wait until the file survives a loss of power. Reset leaves it as it is.
	Durable bool
	// Stopped, if not nil, returns an error when the file is no longer wanted. Record returns it now and then.
	Stopped func() error

	path     string
	file     storage.Writer // nil before the first section and after the last
	out      *bufio.Writer
	offset   int64
	budget   int
	held     int
	shards   [][]pending // by kind, by shard
	spare    [][]byte    // empty chunks
	sections []section
	links    map[string]uint32 // numbers of the linked files
	linked   []byte            // these files, packed
	spill    *spill            // nil if a section costs its reader no request
}

// pending holds the records of a kind and shard that are held back. All its chunks but the last are full.
type pending struct {
	full    [][]byte
	open    []byte
	spilled []storage.Stretch // earlier records, in the spill
}

// chunkSize is the unit of memory for held records. It bounds what a shard wastes.
const chunkSize = 8 << 10

// NewWriter returns a writer of a run file in the folder dir. It holds at most about budget bytes in memory.
// It makes no file before the first section.
func NewWriter(dir string, budget int) *Writer {
	w := &Writer{}
	w.Reset(dir, budget)
	return w
}

// Reset lets the writer begin another run file in the same memory. It aborts a run that is not finished.
func (w *Writer) Reset(dir string, budget int) {
	w.Abort()
	for kind := range w.shards {
		for shard := range w.shards[kind] {
			w.release(&w.shards[kind][shard])
		}
	}
	w.path, w.budget = storage.Join(dir, "run-"+rand.Text()), budget
	w.offset, w.held, w.sections = 0, 0, w.sections[:0]
	w.linked = w.linked[:0]
	clear(w.links)
	if storage.Scheme(w.path) != "" {
		w.spill = new(spill)
	}
}

// Record returns size bytes for one record of a shard, which the caller fills in. They are valid until the next call.
func (w *Writer) Record(kind Kind, shard, size int) ([]byte, error) {
	if w.held+size > w.budget && w.held > 0 {
		flush := w.flush
		if w.spill != nil {
			flush = w.spillAll
		}
		if err := flush(); err != nil {
			return nil, err
		}
	}
	w.held += size
	if int(kind) >= len(w.shards) || shard >= len(w.shards[kind]) {
		w.grow(kind, shard)
	}
	p := &w.shards[kind][shard]
	n := len(p.open)
	if n+size > cap(p.open) {
		if w.Stopped != nil {
			if err := w.Stopped(); err != nil {
				return nil, err
			}
		}
		w.open(p, size)
		n = 0
	}
	p.open = p.open[:n+size]
	return p.open[n : n+size : n+size], nil
}

func (w *Writer) grow(kind Kind, shard int) {
	if n := int(kind) + 1 - len(w.shards); n > 0 {
		w.shards = append(w.shards, make([][]pending, n)...)
	}
	if n := shard + 1 - len(w.shards[kind]); n > 0 {
		w.shards[kind] = append(w.shards[kind], make([]pending, n)...)
	}
}

func (w *Writer) open(p *pending, size int) {
	if p.open != nil {
		p.full = append(p.full, p.open)
	}
	switch n := len(w.spare); {
	case size > chunkSize:
		p.open = make([]byte, 0, size)
	case n > 0:
		p.open, w.spare = w.spare[n-1], w.spare[:n-1]
	default:
		p.open = make([]byte, 0, chunkSize)
	}
}

func (w *Writer) release(p *pending) {
	for _, chunk := range append(p.full, p.open) {
		if cap(chunk) == chunkSize {
			w.spare = append(w.spare, chunk[:0])
		}
	}
	clear(p.full)
	p.full, p.open, p.spilled = p.full[:0], nil, p.spilled[:0]
}

// Section writes the bytes of parts as one section, without holding them back.
func (w *Writer) Section(kind Kind, shard int, parts ...[]byte) error {
	if err := w.begin(kind, shard); err != nil {
		return err
	}
	for _, part := range parts {
		if err := w.add(part); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) begin(kind Kind, shard int) error {
	if w.file == nil {
		file, err := storage.CreateWith(w.path, storage.Options{Durable: w.Durable})
		if err != nil {
			return fmt.Errorf("create run: %w", err)
		}
		w.file = file
		if w.out == nil {
			w.out = bufio.NewWriterSize(nil, writeBuffer)
		}
		w.out.Reset(file)
	}
	w.sections = append(w.sections, section{kind: kind, shard: uint32(shard), offset: w.offset})
	return nil
}

// Link lists a piece of another run file as a section of this one, for a kind and shard. Its bytes stay where they are,
// so the other file must stay, too. The mark, below 2^24, comes with every piece that is read by the link.
func (w *Writer) Link(kind Kind, shard int, p Piece, mark uint32) error {
	if mark > maxMark {
		return fmt.Errorf("link a piece of %s: the mark %d is above %d", p.Path, mark, maxMark)
	}
	link, known := w.links[p.Path]
	if !known {
		if w.links == nil {
			w.links = map[string]uint32{}
		}
		w.linked = appendFile(w.linked, sizedFile{p.Path, p.size})
		link = uint32(len(w.links) + 1)
		w.links[p.Path] = link
	}
	w.sections = append(w.sections, section{
		kind:   kind,
		shard:  uint32(shard),
		offset: p.Offset,
		length: p.Length,
		sum:    p.sum,
		mark:   mark,
		link:   link,
	})
	return nil
}

func (w *Writer) add(part []byte) error {
	if _, err := w.out.Write(part); err != nil {
		return fmt.Errorf("write run: %w", err)
	}
	s := &w.sections[len(w.sections)-1]
	s.sum = checksum.Add(s.sum, part)
	s.length += int64(len(part))
	w.offset += int64(len(part))
	return nil
}

// flush writes all records that are held back, as one section for each kind and shard.
func (w *Writer) flush() error {
	for kind := range w.shards {
		for shard := range w.shards[kind] {
			p := &w.shards[kind][shard]
			if p.open == nil && len(p.spilled) == 0 {
				continue
			}
			if p.open != nil {
				p.full = append(p.full, p.open)
				p.open = nil
			}
			if err := w.writePending(Kind(kind), shard, p); err != nil {
				return err
			}
			w.release(p)
		}
	}
	w.held = 0
	return nil
}

func (w *Writer) writePending(kind Kind, shard int, p *pending) error {
	if err := w.begin(kind, shard); err != nil {
		return err
	}
	for _, stretch := range p.spilled {
		if err := w.spill.copy(stretch, w.add); err != nil {
			return err
		}
	}
	for _, part := range p.full {
		if err := w.add(part); err != nil {
			return err
		}
	}
	return nil
}

// spillAll moves all records that are held back to the local disk.
func (w *Writer) spillAll() error {
	for kind := range w.shards {
		for shard := range w.shards[kind] {
			p := &w.shards[kind][shard]
			if p.open == nil {
				continue
			}
			stretch, err := w.spill.put(append(p.full, p.open))
			if err != nil {
				return err
			}
			spilled := append(p.spilled, stretch)
			w.release(p)
			p.spilled = spilled
		}
	}
	w.held = 0
	return nil
}

// Written returns the bytes of all sections of the run that was begun last.
func (w *Writer) Written() int64 { return w.offset }

// Close writes the rest, checks that the file is whole and gives it its name, which it returns. An empty run
// has no file and the name "".
func (w *Writer) Close() (string, error) {
	defer w.Abort()
	err := w.flush()
	if err == nil && len(w.linked) > 0 {
		err = w.Section(linksKind, 0, w.linked)
	}
	if w.file == nil {
		return "", err
	}
	if err == nil {
		_, err = w.out.Write(w.index())
	}
	if err == nil {
		err = w.out.Flush()
	}
	if err == nil {
		err = w.file.Commit()
	}
	if err != nil {
		return "", fmt.Errorf("finish run: %w", err)
	}
	return w.path, nil
}

// Abort drops the file of a run that is not finished. After Close it does nothing. So it can be deferred.
func (w *Writer) Abort() {
	if w.file != nil {
		w.file.Abort()
		w.file = nil
	}
	if w.spill != nil {
		w.spill.close()
		w.spill = nil
	}
}

// spill holds records on the local disk until their run file is closed. Its file has no name. So the disk
// gets the room back however the process ends. The zero spill has no file yet.
type spill struct {
	file   *os.File
	size   int64
	buffer []byte
}

// copyBuffer is how much of a spill is read at a time.
const copyBuffer = 256 << 10

func (s *spill) put(parts [][]byte) (stretch storage.Stretch, err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp("", "run-"); err == nil {
			err = os.Remove(s.file.Name())
		}
	}
	stretch.Offset = s.size
	for _, part := range parts {
		if err == nil {
			_, err = s.file.Write(part)
			s.size += int64(len(part))
		}
	}
	if err != nil {
		return stretch, fmt.Errorf("hold a run on the local disk: %w", err)
	}
	stretch.Length = s.size - stretch.Offset
	return stretch, nil
}

func (s *spill) copy(stretch storage.Stretch, add func([]byte) error) error {
	if s.buffer == nil {
		s.buffer = make([]byte, copyBuffer)
	}
	for stretch.Length > 0 {
		part := s.buffer[:min(int64(len(s.buffer)), stretch.Length)]
		if _, err := s.file.ReadAt(part, stretch.Offset); err != nil {
			return fmt.Errorf("read a run back from the local disk: %w", err)
		}
		if err := add(part); err != nil {
			return err
		}
		stretch.Offset += int64(len(part))
		stretch.Length -= int64(len(part))
	}
	return nil
}

func (s *spill) close() {
	if s.file != nil {
		s.file.Close() // nobody reads it any more
		s.file = nil
	}
}
