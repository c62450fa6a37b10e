package graphs

import (
	"cmp"
	"slices"
)

const (
	digitBits = 11
	digits    = 1 << digitBits

	// below this many records comparisons win (measured).
	small = 256
)

// RadixSort orders records by key, ascending and stable. It takes digits of 11 bits
// from the least significant end and skips those in which all keys agree. The
// result is in the returned slice, which is records or scratch; scratch must be
// as long as records.
func RadixSort[T any](records, scratch []T, key func(*T) uint64) []T {
	if len(records) < small {
		slices.SortStableFunc(records, func(a, b T) int { return cmp.Compare(key(&a), key(&b)) })
		return records
	}
	first := key(&records[0])
	var differ uint64
	for i := range records {
		differ |= key(&records[i]) ^ first
	}
	scratch = scratch[:len(records)]
	for shift := 0; shift < 64; shift += digitBits {
		if differ>>shift&(digits-1) == 0 {
			continue
		}
		var ends [digits]uint32
		for i := range records {
			ends[key(&records[i])>>shift&(digits-1)]++
		}
		sum := uint32(0)
		for d, count := range ends {
			ends[d] = sum
			sum += count
		}
		for i := range records {
			d := key(&records[i]) >> shift & (digits - 1)
			scratch[ends[d]] = records[i]
			ends[d]++
		}
		records, scratch = scratch, records
	}
	return records
}
