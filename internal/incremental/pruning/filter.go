package pruning

import (
	"encoding/binary"
	"fmt"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/lshbands"
)

// Filter says which documents of unchanged files may be in a pair. Any number of goroutines may ask it.
type Filter struct {
	// shingles has the shingles of all new documents, or any shingle if bands decide alone. sampled has the shingles of
	// documents from which the audit draws its sample.
	shingles, sampled Table
	// digests has the digest of each document that was in a pair, or equal to another. ids has the hash of each id that
	// several documents may share. bands has the band keys of all new documents, or any key if documents are not
	// compared by these. Where passages are looked for, digests has the hash of the name of each document that was in a
	// pair, and bands has the touched keys.
	digests, ids, bands Marks
	// fingerprints are the fingerprints of all new documents, if distances are compared. Near tells which others are
	// near one of them.
	fingerprints []uint64
	near         *lshbands.Neighbours
}

// filters are the filters of the jobs at work in this process.
var filters work.Shared[Filter]

func filterPath(catalog string) string { return catalog + "-filter" }

// tables returns all tables, in the order in which a file has them.
func (f *Filter) tables() []*Table {
	return []*Table{&f.shingles, &f.sampled, &f.digests.Table, &f.ids.Table, &f.bands.Table}
}

// mayPair reports whether a document may be in a pair with a new one, given its packed set. No more than the given
// number of its shingles may be in no new document.
func (f *Filter) mayPair(set []byte, mayLack int) bool {
	return len(set) == 0 || f.shingles.hasMost(set, mayLack)
}

func (f *Filter) write(path string) error {
	all := f.tables()
	size := 8 * len(f.fingerprints)
	for _, t := range all {
		size += t.size()
	}
	packed := make([]byte, 0, size)
	for _, t := range all {
		packed = t.append(packed)
	}
	packed, err := binary.Append(packed, binary.LittleEndian, f.fingerprints)
	if err == nil {
		err = storage.WriteFile(path, packed)
	}
	if err != nil {
		return fmt.Errorf("write the filter of new shingles: %w", err)
	}
	return nil
}

// readFilter returns the filter in a file. Tables are the tables of its fingerprints, nil if it has none.
func readFilter(path string, tables *lshbands.Permuted) (*Filter, error) {
	return filters.Get(path, func(path string) (*Filter, error) {
		packed, err := storage.ReadFile(path)
		f := new(Filter)
		for _, t := range f.tables() {
			if err == nil {
				packed, err = t.take(packed)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("read the filter of new shingles: %w", err)
		}
		if tables != nil {
			f.fingerprints = make([]uint64, len(packed)/8)
			if _, err := binary.Decode(packed, binary.LittleEndian, f.fingerprints); err != nil {
				return nil, err
			}
			f.near = lshbands.NewNeighbours(tables, f.fingerprints)
		}
		return f, nil
	})
}
