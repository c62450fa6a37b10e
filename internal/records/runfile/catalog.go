package runfile

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/checksum"
)

// Piece is a section of a run file that the task of a shard reads.
type Piece struct {
	Kind   Kind
	Shard  int
	Path   string
	Offset int64
	Length int64
	// Mark is the number that a link gave the piece, see [Writer.Link]; 0 for a section of the run file itself.
	Mark uint32
	sum  uint32
	size int64 // of the file
}

const (
	catalogMagic  = "mbcat003"
	shardSize     = 16
	catalogFooter = 32
)

// Pieces returns the pieces of one run file in the order of writing.
func Pieces(path string) ([]Piece, error) { return PiecesOf(path, 0) }

// PiecesOf is Pieces for a run file of a known size, 0 if unknown. In a bucket the size saves a request.
func PiecesOf(path string, size int64) ([]Piece, error) {
	sections, files, err := readIndex(path, size)
	if err != nil {
		return nil, err
	}
	pieces := make([]Piece, len(sections))
	for i, s := range sections {
		pieces[i] = s.piece(int(s.shard), files[s.link])
	}
	return pieces, nil
}

var errNoCatalog = errors.New("it is not a whole catalog")

// ReadCatalog returns the pieces of one shard. A shard that received nothing has none.
func ReadCatalog(path string, shard int) (_ []Piece, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read catalog %s: %w", path, err)
		}
	}()
	file, err := storage.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	index, files, err := readCatalogIndex(file)
	if err != nil {
		return nil, err
	}
	at := 0
	for binary.LittleEndian.Uint64(index[at:]) < uint64(shard) {
		at += shardSize
	}
	if binary.LittleEndian.Uint64(index[at:]) != uint64(shard) {
		return nil, nil
	}
	first := binary.LittleEndian.Uint64(index[at+8:])
	end := binary.LittleEndian.Uint64(index[at+shardSize+8:])
	b := make([]byte, (end-first)*sectionSize)
	if _, err := file.ReadAt(b, int64(first*sectionSize)); err != nil {
		return nil, err
	}
	pieces := make([]Piece, 0, end-first)
	for ; len(b) > 0; b = b[sectionSize:] {
		s := decodeSection(b)
		if int64(s.link) >= int64(len(files)) {
			return nil, errNoCatalog
		}
		pieces = append(pieces, s.piece(shard, files[s.link]))
	}
	return pieces, nil
}

// readCatalogIndex returns where the pieces of each shard are in a catalog, and the files that they are in.
func readCatalogIndex(catalog storage.File) (index []byte, files []sizedFile, err error) {
	info, err := catalog.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.Size < catalogFooter {
		return nil, nil, errNoCatalog
	}
	var footer [catalogFooter]byte
	if _, err := catalog.ReadAt(footer[:], info.Size-catalogFooter); err != nil {
		return nil, nil, err
	}
	indexAt := binary.LittleEndian.Uint64(footer[8:])
	tail := binary.LittleEndian.Uint64(footer[16:])
	if string(footer[:8]) != catalogMagic || indexAt > uint64(info.Size-catalogFooter) {
		return nil, nil, errNoCatalog
	}
	index = make([]byte, uint64(info.Size-catalogFooter)-indexAt)
	if _, err := catalog.ReadAt(index, int64(indexAt)); err != nil {
		return nil, nil, err
	}
	if checksum.Of(index) != binary.LittleEndian.Uint32(footer[24:]) || tail > uint64(len(index)) {
		return nil, nil, errNoCatalog
	}
	files, ok := decodeFiles(index[tail:])
	if !ok {
		return nil, nil, errNoCatalog
	}
	return index[:tail], files, nil
}

// Catalog is a catalog that was written.
type Catalog struct {
	Path string
	// Shards are those that have a piece of a needed kind, in ascending order.
	Shards []int
	Bytes  int64
}

// heldSections is how many sections the writer of a catalog holds at a time, at some 100 bytes each.
const heldSections = 1 << 20

// WriteCatalog gathers the sections of the needed and the extra kinds from the runs, groups them by shard and
// writes them to a file in the folder dir. The pieces of one shard and kind are in the order of runs.
//
// It reads the index of each run once. If that is more than it may hold, it reads them once more for each
// range of shards.
func WriteCatalog(dir string, runs []string, needed, extra []Kind) (Catalog, error) {
	return writeCatalog(dir, runs, needed, extra, heldSections)
}

func writeCatalog(dir string, runs []string, needed, extra []Kind, held int) (Catalog, error) {
	c := catalogWriter{
		numbers: map[string]uint32{},
		runs:    runs,
		needed:  needed,
		extra:   extra,
		held:    held,
		files:   make([][]sizedFile, len(runs)),
		kept:    make([][]section, len(runs)),
	}
	if err := c.survey(); err != nil {
		return Catalog{}, err
	}
	c.made.Path = storage.Join(dir, "catalog-"+rand.Text())
	if err := c.write(c.made.Path); err != nil {
		return Catalog{}, fmt.Errorf("write catalog: %w", err)
	}
	return c.made, nil
}

type catalogWriter struct {
	runs          []string
	needed, extra []Kind
	held          int

	files  [][]sizedFile // in which the sections of each run lie
	counts []int         // sections by shard
	kept   [][]section   // by run; nil if they are too many to be held
	made   Catalog

	packed, index []byte
	pieces        uint64            // in the file
	numbers       map[string]uint32 // of the files of these pieces, by path
	listed        []byte            // these files, packed
}

type piece struct {
	run int
	section
}

// survey counts the sections of each shard, and keeps them if they are few.
func (c *catalogWriter) survey() error {
	total := 0
	return c.eachIndex(func(run int, files []sizedFile, sections []section) {
		c.files[run] = files
		for _, s := range sections {
			for int(s.shard) >= len(c.counts) {
				c.counts = append(c.counts, 0)
			}
			c.counts[s.shard]++
		}
		if total += len(sections); total > c.held {
			c.kept = nil
		} else {
			c.kept[run] = sections
		}
	})
}

// eachIndex visits the wanted sections of each run, one run at a time, in any order. Indexes behind a network are read
// side by side, since each takes a while.
func (c *catalogWriter) eachIndex(visit func(run int, files []sizedFile, sections []section)) error {
	var group errgroup.Group
	group.SetLimit(1)
	if len(c.runs) > 0 && storage.Scheme(c.runs[0]) != "" {
		group.SetLimit(filesInFlight)
	}
	var visits sync.Mutex
	for run, path := range c.runs {
		group.Go(func() error {
			sections, files, err := readIndex(path, 0)
			if err != nil {
				return err
			}
			sections = slices.DeleteFunc(sections, func(s section) bool {
				return !slices.Contains(c.needed, s.kind) && !slices.Contains(c.extra, s.kind)
			})
			visits.Lock()
			defer visits.Unlock()
			visit(run, files, sections)
			return nil
		})
	}
	return group.Wait()
}

func (c *catalogWriter) write(path string) error {
	file, err := storage.Create(path)
	if err != nil {
		return err
	}
	defer file.Abort()
	for low := 0; low < len(c.counts); {
		high, sections := low+1, c.counts[low]
		for high < len(c.counts) && sections+c.counts[high] <= c.held {
			sections += c.counts[high]
			high++
		}
		pieces, err := c.piecesOf(low, high, sections)
		if err != nil {
			return err
		}
		c.pack(pieces)
		if _, err := file.Write(c.packed); err != nil {
			return err
		}
		low = high
	}
	if _, err := file.Write(c.tail()); err != nil {
		return err
	}
	return file.Commit()
}

// piecesOf returns the pieces of a range of shards with the given number of sections, by shard, kind and run.
func (c *catalogWriter) piecesOf(low, high, sections int) ([]piece, error) {
	kept := c.kept
	if kept == nil {
		kept = make([][]section, len(c.runs))
		err := c.eachIndex(func(run int, _ []sizedFile, sections []section) {
			for _, s := range sections {
				if low <= int(s.shard) && int(s.shard) < high {
					kept[run] = append(kept[run], s)
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	pieces := make([]piece, 0, sections)
	for run, sections := range kept {
		for _, s := range sections {
			pieces = append(pieces, piece{run, s})
		}
	}
	slices.SortStableFunc(pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.shard, b.shard), cmp.Compare(a.kind, b.kind))
	})
	return pieces, nil
}

func (c *catalogWriter) pack(pieces []piece) {
	b := slices.Grow(c.packed[:0], len(pieces)*sectionSize)
	for i, p := range pieces {
		p.link = c.number(c.files[p.run][p.link])
		b = appendSection(b, p.section)
		if i == 0 || p.shard != pieces[i-1].shard {
			c.index = binary.LittleEndian.AppendUint64(c.index, uint64(p.shard))
			c.index = binary.LittleEndian.AppendUint64(c.index, c.pieces)
		}
		if n := len(c.made.Shards); slices.Contains(c.needed, p.kind) &&
			(n == 0 || c.made.Shards[n-1] != int(p.shard)) {
			c.made.Shards = append(c.made.Shards, int(p.shard))
		}
		c.pieces, c.made.Bytes = c.pieces+1, c.made.Bytes+p.length
	}
	c.packed = b
}

func (c *catalogWriter) number(file sizedFile) uint32 {
	number, known := c.numbers[file.path]
	if !known {
		number = uint32(len(c.numbers))
		c.numbers[file.path] = number
		c.listed = appendFile(c.listed, file)
	}
	return number
}

// tail returns what follows the pieces: the index of shards, the files, and the footer.
func (c *catalogWriter) tail() []byte {
	b := binary.LittleEndian.AppendUint64(c.index, 1<<63)
	b = binary.LittleEndian.AppendUint64(b, c.pieces)
	filesAt := len(b)
	b = append(b, c.listed...)
	sum := checksum.Of(b)
	b = binary.LittleEndian.AppendUint64(append(b, catalogMagic...), c.pieces*sectionSize)
	b = binary.LittleEndian.AppendUint64(b, uint64(filesAt))
	b = binary.LittleEndian.AppendUint32(b, sum)
	return append(b, 0, 0, 0, 0)
}
