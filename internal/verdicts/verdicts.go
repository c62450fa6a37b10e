// Package verdicts keeps the scores of similar pairs from one run of a job to the next. A pair is known by the digests of
// its documents, which stay the same however files come and go.
package verdicts

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"mirrorbeam/internal/digest"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/sealed"
	"mirrorbeam/internal/storage"
)

// Verdict is the score of two classes of equal documents that are similar.
type Verdict struct {
	// A and B are the digests of the classes, the smaller one first.
	A, B digest.Digest
	records.Score
}

// Of returns the verdict about two digests, in either order.
func Of(a, b digest.Digest, score records.Score) Verdict {
	if digest.Compare(a, b) > 0 {
		a, b = b, a
	}
	return Verdict{a, b, score}
}

func (v Verdict) compare(other Verdict) int {
	return cmp.Or(digest.Compare(v.A, other.A), digest.Compare(v.B, other.B))
}

// Size is the size of a packed verdict in bytes.
const Size = 2*digest.Size + 8

// Put packs a verdict.
func (v Verdict) Put(b []byte) {
	v.A.Put(b)
	v.B.Put(b[digest.Size:])
	binary.LittleEndian.PutUint32(b[2*digest.Size:], v.Shared)
	binary.LittleEndian.PutUint32(b[2*digest.Size+4:], v.Total)
}

// Get reads a packed verdict.
func Get(b []byte) Verdict {
	return Verdict{digest.Get(b), digest.Get(b[digest.Size:]), records.Score{
		Shared: binary.LittleEndian.Uint32(b[2*digest.Size:]), Total: binary.LittleEndian.Uint32(b[2*digest.Size+4:]),
	}}
}

// magic begins a table. The number in it is that of the layout, and changes with it.
const magic = "mirrorbeam verdicts 2\n"

// Write writes a table of verdicts, in any order and perhaps repeated, to a file that survives a loss of power. It reorders
// them.
func Write(path string, all []Verdict) error {
	slices.SortFunc(all, Verdict.compare)
	all = slices.CompactFunc(all, func(a, b Verdict) bool { return a.compare(b) == 0 })
	b := make([]byte, len(magic), len(magic)+Size*len(all)+4)
	copy(b, magic)
	for _, v := range all {
		b = b[:len(b)+Size]
		v.Put(b[len(b)-Size:])
	}
	if err := storage.WriteFileWith(path, sealed.Seal(b), storage.Options{Durable: true}); err != nil {
		return fmt.Errorf("write verdicts: %w", err)
	}
	return nil
}

// Table finds verdicts. It takes 40 bytes of memory for each. Any number of goroutines may use it.
type Table struct{ packed []byte }

// Read reads a table that Write wrote.
func Read(path string) (*Table, error) {
	b, err := storage.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read verdicts of %s: %w", path, err)
	}
	if b, err = check(b); err != nil {
		return nil, &storage.DamagedError{Op: "read verdicts of", Path: path, Err: err}
	}
	return &Table{b}, nil
}

// check returns the packed verdicts in the content of a file.
func check(b []byte) ([]byte, error) {
	packed, err := sealed.Open(b, magic)
	if err == nil && len(packed)%Size != 0 {
		err = sealed.ErrDamaged
	}
	return packed, err
}

// Find returns the verdict about two digests, in either order.
func (t *Table) Find(a, b digest.Digest) (score records.Score, found bool) {
	wanted := Of(a, b, score)
	at := Size * sort.Search(len(t.packed)/Size, func(i int) bool { return Get(t.packed[Size*i:]).compare(wanted) >= 0 })
	if at == len(t.packed) {
		return score, false
	}
	v := Get(t.packed[at:])
	return v.Score, v.compare(wanted) == 0
}
