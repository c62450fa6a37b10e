package runfile

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"mirrorbeam/internal/storage"
)

// Piece is a section of a run file that the task of a shard reads.
type Piece struct {
	Kind   Kind
	Shard  int
	Path   string
	Offset int64
	Length int64
	sum    uint32
	size   int64 // of the file
}

const (
	catalogMagic  = "mbcat002"
	pieceSize     = 32
	shardSize     = 16
	catalogFooter = 32
)

// WriteCatalog gathers the sections of the needed and the extra kinds from the runs, groups them by shard and
// writes them to a file in the folder dir. The pieces of one shard and kind are in the order of runs. It
// returns the path of the catalog, and in ascending order the shards that have a piece of a needed kind.
func WriteCatalog(dir string, runs []string, needed, extra []Kind) (path string, shards []int, err error) {
	type piece struct {
		run int
		section
	}
	var pieces []piece
	sizes := make([]int64, len(runs))
	for i, run := range runs {
		var sections []section
		if sections, sizes[i], err = readIndex(run); err != nil {
			return "", nil, err
		}
		for _, s := range sections {
			if slices.Contains(needed, s.kind) || slices.Contains(extra, s.kind) {
				pieces = append(pieces, piece{i, s})
			}
		}
	}
	slices.SortStableFunc(pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.shard, b.shard), cmp.Compare(a.kind, b.kind))
	})
	var b, index []byte
	for i, p := range pieces {
		b = append(b, byte(p.kind), 0, 0, 0)
		b = binary.LittleEndian.AppendUint32(b, uint32(p.run))
		b = binary.LittleEndian.AppendUint64(b, uint64(p.offset))
		b = binary.LittleEndian.AppendUint64(b, uint64(p.length))
		b = binary.LittleEndian.AppendUint32(b, p.sum)
		b = append(b, 0, 0, 0, 0)
		if i == 0 || p.shard != pieces[i-1].shard {
			index = binary.LittleEndian.AppendUint64(index, uint64(p.shard))
			index = binary.LittleEndian.AppendUint64(index, uint64(i))
		}
		if slices.Contains(needed, p.kind) && (len(shards) == 0 || shards[len(shards)-1] != int(p.shard)) {
			shards = append(shards, int(p.shard))
		}
	}
	index = binary.LittleEndian.AppendUint64(index, 1<<63)
	index = binary.LittleEndian.AppendUint64(index, uint64(len(pieces)))
	tail := len(index)
	for i, run := range runs {
		index = binary.LittleEndian.AppendUint64(index, uint64(sizes[i]))
		index = binary.LittleEndian.AppendUint32(index, uint32(len(run)))
		index = append(index, run...)
	}
	indexAt := len(b)
	b = append(b, index...)
	b = append(b, catalogMagic...)
	b = binary.LittleEndian.AppendUint64(b, uint64(indexAt))
	b = binary.LittleEndian.AppendUint64(b, uint64(tail))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(index, castagnoli))
	b = append(b, 0, 0, 0, 0)

	path = storage.Join(dir, "catalog-"+rand.Text())
	if err := storage.WriteFile(path, b); err != nil {
		return "", nil, fmt.Errorf("write catalog: %w", err)
	}
	return path, shards, nil
}

// Pieces returns the pieces of one run file in the order of writing.
func Pieces(path string) ([]Piece, error) {
	sections, size, err := readIndex(path)
	if err != nil {
		return nil, err
	}
	pieces := make([]Piece, len(sections))
	for i, s := range sections {
		pieces[i] = Piece{Kind: s.kind, Shard: int(s.shard), Path: path, Offset: s.offset, Length: s.length, sum: s.sum, size: size}
	}
	return pieces, nil
}

// ReadCatalog returns the pieces of one shard. A shard that received nothing has none.
func ReadCatalog(path string, shard int) (_ []Piece, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read catalog %s: %w", path, err)
		}
	}()
	damaged := errors.New("it is not a whole catalog")
	file, err := storage.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size < catalogFooter {
		return nil, damaged
	}
	var footer [catalogFooter]byte
	if _, err := file.ReadAt(footer[:], info.Size-catalogFooter); err != nil {
		return nil, err
	}
	indexAt := binary.LittleEndian.Uint64(footer[8:])
	tail := binary.LittleEndian.Uint64(footer[16:])
	if string(footer[:8]) != catalogMagic || indexAt > uint64(info.Size-catalogFooter) {
		return nil, damaged
	}
	index := make([]byte, uint64(info.Size-catalogFooter)-indexAt)
	if _, err := file.ReadAt(index, int64(indexAt)); err != nil {
		return nil, err
	}
	if crc32.Checksum(index, castagnoli) != binary.LittleEndian.Uint32(footer[24:]) || tail > uint64(len(index)) {
		return nil, damaged
	}
	names := index[tail:]
	index = index[:tail]
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
	type run struct {
		path string
		size int64
	}
	var runs []run
	for len(names) > 0 {
		end := 12 + binary.LittleEndian.Uint32(names[8:])
		runs = append(runs, run{string(names[12:end]), int64(binary.LittleEndian.Uint64(names))})
		names = names[end:]
	}
	pieces := make([]Piece, 0, end-first)
	for ; len(b) > 0; b = b[pieceSize:] {
		run := runs[binary.LittleEndian.Uint32(b[4:])]
		pieces = append(pieces, Piece{
			Kind:   Kind(b[0]),
			Shard:  shard,
			Path:   run.path,
			size:   run.size,
			Offset: int64(binary.LittleEndian.Uint64(b[8:])),
			Length: int64(binary.LittleEndian.Uint64(b[16:])),
			sum:    binary.LittleEndian.Uint32(b[24:]),
		})
	}
	return pieces, nil
}
