package methods

import (
	"errors"
	"slices"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/lshbands"
)

// frequencies hands out the frequencies of the shingles of a split, set by set. The zero value has none.
type frequencies struct {
	packed []byte // stretches, by ascending ranges
	ranges []ofRange
}

// ofRange is where the frequencies of a range are: what is left of the stretch at work. Behind it may be another stretch of
// the range.
type ofRange struct{ next, end int }

var errFrequencies = errors.New("the frequencies of shingles are not those of the sets")

// newFrequencies returns the frequencies in the stretches of a split.
func newFrequencies(packed []byte) (frequencies, error) {
	f := frequencies{packed: packed}
	last := -1
	for at := 0; at < len(packed); {
		s, rest, err := records.NextStretch(packed[at:])
		if err != nil {
			return f, err
		}
		if f.ranges == nil {
			f.ranges = make([]ofRange, s.Ranges)
			for i := range f.ranges {
				f.ranges[i] = ofRange{len(packed), len(packed)}
			}
		}
		if s.Ranges != len(f.ranges) || s.Range < last {
			return f, errFrequencies
		}
		if s.Range > last {
			last = s.Range
			f.ranges[last] = ofRange{at, at}
		}
		at = len(packed) - len(rest)
	}
	return f, nil
}

// append appends the frequencies of the next set to all.
func (f *frequencies) append(all []byte, set []uint64) ([]byte, error) {
	if len(f.ranges) == 0 && len(set) > 0 {
		return nil, errFrequencies
	}
	before := len(all)
	all = slices.Grow(all, len(set))[:before+len(set)]
	packed, ranges, next := f.packed, f.ranges, all[before:]
	for i, hash := range set {
		in := lshbands.RangeOf(hash, len(ranges))
		r := &ranges[in]
		at := r.next
		if at == r.end {
			if !f.refill(in) {
				return nil, errFrequencies
			}
			at = r.next
		}
		next[i] = packed[at]
		r.next = at + 1
	}
	return all, nil
}

// refill goes on to the next stretch of a range. It reports whether there is one.
func (f *frequencies) refill(in int) bool {
	s, rest, err := records.NextStretch(f.packed[f.ranges[in].end:])
	if err != nil || s.Range != in || len(s.Packed) == 0 {
		return false
	}
	end := len(f.packed) - len(rest)
	f.ranges[in] = ofRange{end - len(s.Packed), end}
	return true
}

// close returns an error if frequencies are left.
func (f *frequencies) close() error {
	for in, r := range f.ranges {
		if r.next < r.end || f.refill(in) {
			return errFrequencies
		}
	}
	return nil
}
