package runfile

import (
	"encoding/binary"
	"errors"
	"fmt"

	"mirrorbeam/internal/ground/checksum"
	"mirrorbeam/internal/ground/storage"
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
	catalogMagic  = "mbcat002"
	pieceSize     = 32
	shardSize     = 16
	catalogFooter = 32
)

// Pieces returns the pieces of one run file in the order of writing.
func Pieces(path string) ([]Piece, error) {
	sections, files, err := readIndex(path)
	if err != nil {
		return nil, err
	}
	pieces := make([]Piece, len(sections))
	for i, s := range sections {
		pieces[i] = Piece{
			Kind: s.kind, Shard: int(s.shard), Path: files[s.link].path, Offset: s.offset, Length: s.length, Mark: s.mark,
			sum: s.sum, size: files[s.link].size,
		}
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
	b := make([]byte, (end-first)*pieceSize)
	if _, err := file.ReadAt(b, int64(first*pieceSize)); err != nil {
		return nil, err
	}
	pieces := make([]Piece, 0, end-first)
	for ; len(b) > 0; b = b[pieceSize:] {
		kind, mark := kindOf(b)
		number := binary.LittleEndian.Uint32(b[4:])
		if int64(number) >= int64(len(files)) {
			return nil, errNoCatalog
		}
		pieces = append(pieces, Piece{
			Kind:   kind,
			Shard:  shard,
			Path:   files[number].path,
			size:   files[number].size,
			Offset: int64(binary.LittleEndian.Uint64(b[8:])),
			Length: int64(binary.LittleEndian.Uint64(b[16:])),
			Mark:   mark,
			sum:    binary.LittleEndian.Uint32(b[24:]),
		})
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
