package state

import (
	"cmp"
	"encoding/binary"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/util/checksum"
)

// CachedPair is the score of two classes of equal documents that are similar.
type CachedPair struct {
	// A and B are the digests of the classes, the smaller one first. Both are the same if there are several documents
	// of one class.
	A, B digest.Digest
	records.Score
}

// CachedPairOf returns the cached pair of two digests, in either order.
func CachedPairOf(a, b digest.Digest, score records.Score) CachedPair {
	if digest.Compare(a, b) > 0 {
		a, b = b, a
	}
	return CachedPair{a, b, score}
}

func (v CachedPair) compare(other CachedPair) int {
	return cmp.Or(digest.Compare(v.A, other.A), digest.Compare(v.B, other.B))
}

const CachedPairSize = 2*digest.Size + 8

// Append appends the packed cached pair to b.
func (v CachedPair) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(v.B.Append(v.A.Append(b)), v.Shared)
	return binary.LittleEndian.AppendUint32(b, v.Total)
}

// GetCachedPair reads a packed cached pair.
func GetCachedPair(b []byte) CachedPair {
	return CachedPair{digest.Get(b), digest.Get(b[digest.Size:]), records.Score{
		Shared: binary.LittleEndian.Uint32(b[2*digest.Size:]),
		Total:  binary.LittleEndian.Uint32(b[2*digest.Size+4:]),
	}}
}

// cachedPairsMagic begins a table. The number in it is the number of the layout, and changes with it.
const cachedPairsMagic = "mirrorbeam pairs 1\n"

// WriteCachedPairs writes a table of packed cached pairs, in any order and perhaps repeated, to a file that survives a
// loss of power. It asks stopped now and then, if it is not nil, and ends with its error.
func WriteCachedPairs(path string, packed []byte, stopped func() error) error {
	get := func(at uint32) CachedPair { return GetCachedPair(packed[CachedPairSize*int(at):]) }
	type place struct{ lead, at uint32 } // the leading bits of the first digest, and the number among the packed ones
	order := make([]place, len(packed)/CachedPairSize)
	for i := range order {
		at := graphs.Next[uint32](i)
		order[i] = place{uint32(get(at).A[0] >> 32), at}
	}
	order = graphs.RadixSort(order, make([]place, len(order)), func(p *place) uint64 { return uint64(p.lead) })
	err := graphs.SortFunc(order, func(x, y place) int { // little is left to sort
		if x.lead != y.lead {
			return cmp.Compare(x.lead, y.lead)
		}
		return get(x.at).compare(get(y.at))
	}, stopped)
	if err != nil {
		return err
	}
	b := append(make([]byte, 0, len(cachedPairsMagic)+len(packed)+checksum.Size), cachedPairsMagic...)
	for i, p := range order {
		if i == 0 || order[i-1].lead != p.lead || get(order[i-1].at).compare(get(p.at)) != 0 {
			b = append(b, packed[CachedPairSize*int(p.at):][:CachedPairSize]...)
		}
	}
	return writeChecked(path, b)
}

// CachedPairs is a table of cached pairs. It takes 40 bytes of memory for each. Any number of goroutines may use it.
type CachedPairs struct{ packed []byte }

// ReadCachedPairs reads a table that Write wrote.
func ReadCachedPairs(path string) (*CachedPairs, error) {
	return readChecked(path, func(b []byte) (*CachedPairs, error) {
		packed, err := checkCachedPairs(b)
		return &CachedPairs{packed}, err
	})
}

// checkCachedPairs returns the packed cached pairs in the content of a file.
func checkCachedPairs(b []byte) ([]byte, error) {
	packed, err := Unseal(b, cachedPairsMagic)
	if err == nil && len(packed)%CachedPairSize != 0 {
		err = ErrDamaged
	}
	return packed, err
}

func (t *CachedPairs) Len() int { return len(t.packed) / CachedPairSize }

// At returns a cached pair, in the order of the digests.
func (t *CachedPairs) At(i int) CachedPair { return GetCachedPair(t.packed[CachedPairSize*i:]) }
