package records

import (
	"bytes"
	"math"
	"slices"

	"mirrorbeam/internal/ground/runfile"
)

// TraceSize is the size of a [Trace] in bytes.
const TraceSize = 32

// Trace is a sketch of the text of a page, by which a later run knows the page again, even if some of its text has changed: the least
// shingle of each of 32 parts, a byte of it (one permutation hashing: Li, Owen, Zhang, 2012).
type Trace [TraceSize]byte

// TraceOf returns the trace of a set of shingles, in any order. A part without a shingle gets that of the next one that has any (Shrivastava,
// Li, 2014).
func TraceOf(shingles []uint64) (t Trace) {
	var least [TraceSize]uint64
	for i := range least {
		least[i] = math.MaxUint64
	}
	for _, shingle := range shingles {
		part := shingle % TraceSize
		least[part] = min(least[part], shingle)
	}
	for i := range t {
		for away := range TraceSize {
			if shingle := least[(i+away)%TraceSize]; shingle != math.MaxUint64 {
				t[i] = byte(shingle/TraceSize) + byte(away)*37
				break
			}
		}
	}
	return t
}

// Similarity estimates the Jaccard similarity of two pages, with a standard error of at most .09.
func (t *Trace) Similarity(other *Trace) float64 {
	same := 0
	for i := range t {
		if t[i] == other[i] {
			same++
		}
	}
	const byChance = 1. / 256
	return max(0, (float64(same)/TraceSize-byChance)/(1-byChance))
}

// Traces are traces of different pages, ascending: a sample that the order of the pages does not change.
type Traces []Trace

// mostTraces is how many traces there are of the pages that two sites have in common.
const mostTraces = 16

// Add adds a trace if it is among the smallest.
func (s *Traces) Add(t *Trace) {
	at, found := slices.BinarySearchFunc(*s, *t, func(a, b Trace) int { return bytes.Compare(a[:], b[:]) })
	if at < mostTraces && !found {
		*s = slices.Insert(*s, at, *t)
		*s = (*s)[:min(len(*s), mostTraces)]
	}
}

// WriteOriginalTrace writes the trace of a page of a protected site: 32 bytes.
func WriteOriginalTrace(run *runfile.Writer, trace []byte) error {
	record, err := run.Record(OriginalTraces, 0, TraceSize)
	copy(record, trace)
	return err
}

// EachOriginalTrace visits the traces that stand in packed records.
func EachOriginalTrace(packed []byte, visit func(*Trace)) {
	for ; len(packed) > 0; packed = packed[TraceSize:] {
		visit((*Trace)(packed))
	}
}
