package state

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/digest"
	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/ground/storage"
)

// Verdict is the score of two classes of equal documents that are similar.
type Verdict struct {
	// A and B are the digests of the classes, the smaller one first. Both are the same if there are several documents of
	// one class.
	A, B digest.Digest
	records.Score
}

// VerdictOf returns the verdict about two digests, in either order.
func VerdictOf(a, b digest.Digest, score records.Score) Verdict {
	if digest.Compare(a, b) > 0 {
		a, b = b, a
	}
	return Verdict{a, b, score}
}

func (v Verdict) compare(other Verdict) int {
	return cmp.Or(digest.Compare(v.A, other.A), digest.Compare(v.B, other.B))
}

// VerdictSize is the size of a packed verdict in bytes.
const VerdictSize = 2*digest.Size + 8

// Put packs a verdict.
func (v Verdict) Put(b []byte) {
	v.A.Put(b)
	v.B.Put(b[digest.Size:])
	binary.LittleEndian.PutUint32(b[2*digest.Size:], v.Shared)
	binary.LittleEndian.PutUint32(b[2*digest.Size+4:], v.Total)
}

// GetVerdict reads a packed verdict.
func GetVerdict(b []byte) Verdict {
	return Verdict{digest.Get(b), digest.Get(b[digest.Size:]), records.Score{
		Shared: binary.LittleEndian.Uint32(b[2*digest.Size:]), Total: binary.LittleEndian.Uint32(b[2*digest.Size+4:]),
	}}
}

// verdictsMagic begins a table. The number in it is the number of the layout, and changes with it.
const verdictsMagic = "mirrorbeam verdicts 2\n"

// WriteVerdicts writes a table of verdicts, in any order and perhaps repeated, to a file that survives a loss of power. It reorders
// them. It asks stopped now and then, if it is not nil, and ends with its error.
func WriteVerdicts(path string, all []Verdict, stopped func() error) error {
	all = graphs.RadixSort(all, make([]Verdict, len(all)), func(v *Verdict) uint64 { return v.A[0] >> 32 })
	if err := graphs.SortFunc(all, Verdict.compare, stopped); err != nil { // little is left to sort
		return err
	}
	all = slices.CompactFunc(all, func(a, b Verdict) bool { return a.compare(b) == 0 })
	b := make([]byte, len(verdictsMagic), len(verdictsMagic)+VerdictSize*len(all)+4)
	copy(b, verdictsMagic)
	for _, v := range all {
		b = b[:len(b)+VerdictSize]
		v.Put(b[len(b)-VerdictSize:])
	}
	if err := storage.WriteFileWith(path, Seal(b), storage.Options{Durable: true}); err != nil {
		return fmt.Errorf("write verdicts: %w", err)
	}
	return nil
}

// Verdicts finds verdicts. It takes 40 bytes of memory for each. Any number of goroutines may use it.
type Verdicts struct{ packed []byte }

// ReadVerdicts reads a table that Write wrote.
func ReadVerdicts(path string) (*Verdicts, error) {
	b, err := storage.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read verdicts of %s: %w", path, err)
	}
	if b, err = checkVerdicts(b); err != nil {
		return nil, &storage.DamagedError{Op: "read verdicts of", Path: path, Err: err}
	}
	return &Verdicts{b}, nil
}

// checkVerdicts returns the packed verdicts in the content of a file.
func checkVerdicts(b []byte) ([]byte, error) {
	packed, err := Unseal(b, verdictsMagic)
	if err == nil && len(packed)%VerdictSize != 0 {
		err = ErrDamaged
	}
	return packed, err
}

// Len returns the number of verdicts.
func (t *Verdicts) Len() int { return len(t.packed) / VerdictSize }

// At returns a verdict, in the order of the digests.
func (t *Verdicts) At(i int) Verdict { return GetVerdict(t.packed[VerdictSize*i:]) }

// Find returns the verdict about two digests, in either order.
func (t *Verdicts) Find(a, b digest.Digest) (score records.Score, found bool) {
	wanted := VerdictOf(a, b, score)
	at := VerdictSize * sort.Search(t.Len(), func(i int) bool { return t.At(i).compare(wanted) >= 0 })
	if at == len(t.packed) {
		return score, false
	}
	v := GetVerdict(t.packed[at:])
	return v.Score, v.compare(wanted) == 0
}
