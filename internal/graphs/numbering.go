package graphs

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
	"sort"
)

// Numbering numbers distinct keys from 0, in the order in which they come. N is the type of the numbers. The set takes
// 16 to 24 bytes a key. The zero Set is empty.
type Numbering[N ~uint8 | ~uint16 | ~uint32] struct {
	// Keys holds the keys by number.
	Keys []uint64

	slots []uint32 // open addressing: the number of a key plus 1, or 0
	shift int
}

// Reset empties the set and keeps its memory.
func (s *Numbering[N]) Reset() {
	clear(s.slots)
	s.Keys = s.Keys[:0]
}

// Add returns the number of a key, and whether the key is new. See [Next] for the most keys.
func (s *Numbering[N]) Add(key uint64) (number N, isNew bool) {
	if 3*len(s.Keys) >= 2*len(s.slots) {
		s.grow()
	}
	at, found := s.find(key)
	if found {
		return N(s.slots[at] - 1), false
	}
	number = Next[N](len(s.Keys))
	s.Keys = append(s.Keys, key)
	s.slots[at] = uint32(len(s.Keys))
	return number, true
}

// Find returns the number of a key, if it has one.
func (s *Numbering[N]) Find(key uint64) (number N, found bool) {
	if len(s.slots) == 0 {
		return 0, false
	}
	at, found := s.find(key)
	return N(s.slots[at] - 1), found
}

// find returns the slot of the key. If the key is new, it returns the empty slot where the key belongs.
func (s *Numbering[N]) find(key uint64) (at int, found bool) {
	for at = s.start(key); ; at = (at + 1) & (len(s.slots) - 1) {
		n := s.slots[at]
		if n == 0 || s.Keys[n-1] == key {
			return at, n != 0
		}
	}
}

func (s *Numbering[N]) start(key uint64) int {
	key ^= key >> 32
	return int(key * 0x9e3779b97f4a7c15 >> s.shift)
}

func (s *Numbering[N]) grow() {
	size := max(2*len(s.slots), 1<<10)
	s.slots = make([]uint32, size)
	s.shift = 64 - bits.TrailingZeros(uint(size))
	for i, key := range s.Keys {
		at := s.start(key)
		for s.slots[at] != 0 {
			at = (at + 1) & (size - 1)
		}
		s.slots[at] = uint32(i + 1)
	}
}

const (
	digitBits = 11
	digits    = 1 << digitBits

	// below this many records comparisons win (measured).
	small = 256
)

// RadixSort orders records by key, ascending and stable. It takes digits of 11 bits from the least significant end and
// skips those in which all keys agree. Records that are in order stay as they are. The result is in the returned slice,
// which is records or scratch; scratch must be as long as records.
func RadixSort[T any](records, scratch []T, key func(*T) uint64) []T {
	if len(records) < small {
		slices.SortStableFunc(records, func(a, b T) int { return cmp.Compare(key(&a), key(&b)) })
		return records
	}
	first := key(&records[0])
	last, isSorted, differ := first, true, uint64(0)
	for i := range records {
		k := key(&records[i])
		isSorted = isSorted && last <= k
		differ |= k ^ first
		last = k
	}
	if isSorted {
		return records
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

// Runs yields the runs of neighbours in a list that are the same as the first one of the run.
func Runs[T any](list []T, same func(first, other *T) bool) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for len(list) > 0 {
			n := 1
			for n < len(list) && same(&list[0], &list[n]) {
				n++
			}
			run := list[:n]
			if list = list[n:]; !yield(run) {
				return
			}
		}
	}
}

// Least keeps the first of many items in an order, whatever order they come in. Of equal ones the earlier come first.
type Least[T any] struct {
	// Items are those kept, in order.
	Items []T

	most    int
	compare func(a, b T) int
}

// NewLeast returns a list that keeps at most that many items.
func NewLeast[T any](most int, compare func(a, b T) int) *Least[T] {
	return &Least[T]{most: most, compare: compare}
}

// Add takes in an item if it is among the first.
func (l *Least[T]) Add(item T) {
	at := sort.Search(len(l.Items), func(i int) bool { return l.compare(l.Items[i], item) > 0 })
	if at < l.most {
		l.Items = slices.Insert(l.Items, at, item)
		l.Items = l.Items[:min(len(l.Items), l.most)]
	}
}

const (
	// fewSorted elements are sorted between two looks at whether the order is still wanted: tens of milliseconds.
	fewSorted = 1 << 17
	// pivots is how many elements of a list show where its middle is.
	pivots = 127
)

// SortFunc sorts as [slices.SortFunc] does. Now and then it asks stopped, and ends with its error, if stopped is not
// nil: ten million documents take seconds. The order of elements that compare as equal is any.
func SortFunc[T any](list []T, compare func(a, b T) int, stopped func() error) error {
	for len(list) > fewSorted && stopped != nil {
		if err := stopped(); err != nil {
			return err
		}
		low, high := partition(list, compare)
		if rest := len(list) - (high - low); rest > len(list)-len(list)/16 && max(low, len(list)-high) > rest-rest/16 {
			break // it was made to be hard to cut
		}
		if err := SortFunc(list[:low], compare, stopped); err != nil {
			return err
		}
		list = list[high:]
	}
	slices.SortFunc(list, compare)
	return nil
}

// partition gathers elements that equal one of the list from low to high, lesser ones before and greater ones behind.
func partition[T any](list []T, compare func(a, b T) int) (low, high int) {
	var some [pivots]T
	for i := range some {
		some[i] = list[i*(len(list)/pivots)]
	}
	slices.SortFunc(some[:], compare)
	pivot := some[pivots/2]
	low, high = 0, len(list)
	for i := 0; i < high; {
		switch order := compare(list[i], pivot); {
		case order < 0:
			list[i], list[low] = list[low], list[i]
			low++
			i++
		case order > 0:
			high--
			list[i], list[high] = list[high], list[i]
		default:
			i++
		}
	}
	return low, high
}
