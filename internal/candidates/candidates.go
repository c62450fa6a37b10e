// Package candidates finds the pairs of documents that share a key.
package candidates

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"

	"mirrorbeam/internal/docref"
)

// Record says that a document has a key.
type Record struct {
	// Key is evenly spread over its 61 upper bits. The lowest three say how many
	// of Previous are in use: none on the first key of a document.
	Key uint64
	Ref docref.Ref
	// Digest tells which documents are identical under the measure.
	Digest uint64
	// Size is the number of distinct shingles of the document.
	Size uint32
	// Previous holds hashes of the document's keys before this one, the latest
	// first.
	Previous [MaxPrevious]uint32

	// Mark is for the receiver of pairs to use.
	Mark uint32
}

// MaxPrevious is how many keys a document is known to have had before a key: all
// for schemes of up to seven, such as that of the threshold 0.8.
const MaxPrevious = 6

const previousMask = 7

// KeyOf returns the Key of a record: the hash of a key, and how many previous ones
// the record holds.
func KeyOf(hash uint64, previous int) uint64 { return hash&^previousMask | uint64(previous) }

// Known returns how many of the previous keys are in use.
func (r *Record) Known() int { return int(r.Key & previousMask) }

// First reports whether the record carries the document's first key.
func (r *Record) First() bool { return r.Known() == 0 }

// met reports whether two records of one key have an earlier key in common.
func (r *Record) met(other *Record) bool {
	for i := range r.Known() {
		if r.Previous[i] == other.Previous[i] {
			return true
		}
	}
	return false
}

// Sort brings records of one key together; scratch is as long as records. It
// returns the slice that holds the result. Keys being evenly spread, one pass
// by their leading bits leaves little to sort.
func Sort(records, scratch []Record) []Record {
	width := bits.Len(uint(len(records)))
	if width < 8 {
		slices.SortFunc(records, byKey)
		return records
	}
	width = min(width, 20)
	// A shard holds keys of one range, which the bits that all share are cut off
	// from.
	low, high := records[0].Key, records[0].Key
	for i := range records {
		low, high = min(low, records[i].Key), max(high, records[i].Key)
	}
	shift := max(bits.Len64(high-low)-width, 0)
	ends := make([]uint32, 1<<width+1)
	for i := range records {
		ends[(records[i].Key-low)>>shift+1]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	scratch = scratch[:len(records)]
	for i := range records {
		at := (records[i].Key - low) >> shift
		scratch[ends[at]] = records[i]
		ends[at]++
	}
	start := uint32(0)
	for _, end := range ends[:len(ends)-1] {
		if end-start > 1 {
			slices.SortFunc(scratch[start:end], byKey)
		}
		start = end
	}
	return scratch
}

// byKey orders by key, then brings identical documents together, first one
// first.
func byKey(a, b Record) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Digest, b.Digest), cmp.Compare(a.Ref, b.Ref))
}

// Grouper finds the candidate pairs of the groups of documents under one key.
type Grouper struct {
	// Threshold is the least Jaccard similarity of interest: a pair whose sizes
	// rule it out is dropped.
	Threshold float64
	// MaxComparisons bounds the pairs of one group.
	MaxComparisons int
	// FirstInput is the first document that is not of the reference corpus: two
	// documents before it are not compared.
	FirstInput docref.Ref
	// Candidate receives a pair of different documents that may reach the
	// threshold, in any order. A pair comes again under a later key if it has had
	// no key in common among the MaxPrevious before that.
	Candidate func(a, b *Record)
	// Identical receives a document and an earlier one of equal digest, the
	// first of all that are equal to it.
	Identical func(first, other *Record)

	// Skipped counts the pairs that were not compared because their group has
	// more than MaxComparisons; SkippedGroups counts such groups.
	Skipped       int64
	SkippedGroups int64

	inputs []int // where in a group documents stand that are not of the reference
}

// Groups goes through sorted records and handles every group of two or more.
func (g *Grouper) Groups(records []Record) {
	for start := 0; start < len(records); {
		end := start + 1
		for end < len(records) && records[end].Key == records[start].Key {
			end++
		}
		if end-start > 1 {
			g.group(records[start:end])
		}
		start = end
	}
}

// group handles the records of one key, which it reorders.
//
// Identical documents stand as one, the first of them: they share all keys, so
// their star is left to the group of their first key. A pair that agrees in one
// of the keys known before has met in that group and is not looked at again.
//
// A group of more than MaxComparisons pairs is too dense for all of them. There
// each document is compared with as many neighbours in the order of sizes as
// the bound allows: near-duplicates have nearly the same size, so chains of
// neighbours hold together what belongs together.
func (g *Grouper) group(records []Record) {
	n := 1
	for i := 1; i < len(records); i++ {
		if records[i].Digest != records[n-1].Digest {
			records[n] = records[i]
			n++
		} else if records[i].First() && records[i].Ref >= g.FirstInput {
			g.Identical(&records[n-1], &records[i])
		}
	}
	records = records[:n]
	if n == 1 || records[0].Size == 0 && records[n-1].Size == 0 {
		return
	}
	slices.SortFunc(records, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Size, b.Size), cmp.Compare(a.Ref, b.Ref))
	})
	references := g.splitReference(records)
	window := n
	if n*(n-1)/2-references*(references-1)/2 > g.MaxComparisons {
		window = max(g.MaxComparisons/n, 1)
		g.SkippedGroups++
	}
	for i := range records {
		a := &records[i]
		limit := i + 1 + sort.Search(n-i-1, func(k int) bool {
			return float64(a.Size)/float64(records[i+1+k].Size) < g.Threshold
		})
		bound := min(limit, i+1+window)
		if a.Ref >= g.FirstInput {
			g.Skipped += int64(limit - bound)
			for j := i + 1; j < bound; j++ {
				g.pair(a, &records[j])
			}
			continue
		}
		// Of the reference: only the documents of the input are of interest.
		next, _ := slices.BinarySearch(g.inputs, i+1)
		for ; next < len(g.inputs) && g.inputs[next] < bound; next++ {
			g.pair(a, &records[g.inputs[next]])
		}
		for ; next < len(g.inputs) && g.inputs[next] < limit; next++ {
			g.Skipped++
		}
	}
}

// splitReference notes which of the records are not of the reference, if there
// is one, and returns how many are.
func (g *Grouper) splitReference(records []Record) int {
	if g.FirstInput == 0 {
		return 0
	}
	g.inputs = g.inputs[:0]
	for i := range records {
		if records[i].Ref >= g.FirstInput {
			g.inputs = append(g.inputs, i)
		}
	}
	return len(records) - len(g.inputs)
}

// pair passes a pair on unless it has met before.
func (g *Grouper) pair(a, b *Record) {
	if !a.met(b) {
		g.Candidate(a, b)
	}
}
