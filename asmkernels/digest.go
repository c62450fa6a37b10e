package asmkernels

import "math/bits"

// digestBlock is the number of elements of a set that are hashed together. It is even.
const digestBlock = 128

// SetDigest hashes sets under secret keys. For uniform keys two different sets have one digest with a probability below
// 2^-63; docs/internals/decisions/0017-hash-proof.md proves it. A block of elements becomes the sum of
//
//	(k0 + e0)(k1 + e1)  modulo 2^128
//
// which is NH of Black and others, and the sums are the coefficients of a polynomial, as in VHASH of Krovetz and Dai.
type SetDigest struct {
	keys   [digestBlock]uint64
	points [2]point
}

// NewSetDigest returns a SetDigest with keys that random draws. Random returns uniform numbers.
func NewSetDigest(random func() uint64) *SetDigest {
	d := &SetDigest{}
	for i := range d.keys {
		d.keys[i] = random()
	}
	for i := range d.points {
		d.points[i] = newPoint(random)
	}
	return d
}

// Of returns the digest of a set in ascending order. Both of its words are evenly spread.
func (d *SetDigest) Of(set []uint64) [2]uint64 {
	// The size is the first coefficient. So sets of different sizes have different polynomials.
	size := uint64(len(set))
	values := [2]uint64{size, size}
	for len(set) > 0 {
		n := min(len(set), digestBlock)
		low, high := d.block(set[:n])
		for i := range values {
			values[i] = d.points[i].next(values[i], low, high)
		}
		set = set[n:]
	}
	return [2]uint64{SplitMix(values[0]), SplitMix(values[1])}
}

// block is NH of a block.
func (d *SetDigest) block(set []uint64) (low, high uint64) {
	keys := d.keys[:]
	add := func(x, y uint64) {
		productHigh, productLow := bits.Mul64(x, y)
		var carry uint64
		low, carry = bits.Add64(low, productLow, 0)
		high, _ = bits.Add64(high, productHigh, carry)
	}
	for len(set) >= 8 && len(keys) >= 8 {
		k, e := (*[8]uint64)(keys), (*[8]uint64)(set)
		add(k[0]+e[0], k[1]+e[1])
		add(k[2]+e[2], k[3]+e[3])
		add(k[4]+e[4], k[5]+e[5])
		add(k[6]+e[6], k[7]+e[7])
		set, keys = set[8:], keys[8:]
	}
	for len(set) > 0 && len(keys) > 1 {
		second := uint64(0)
		if len(set) > 1 {
			second = set[1]
		}
		add(keys[0]+set[0], keys[1]+second)
		set, keys = set[min(2, len(set)):], keys[2:]
	}
	return low, high
}
