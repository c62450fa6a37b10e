package joining

import (
	"slices"
	"sort"

	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/graphs"
)

// rank is the number of a document among those at hand, from 0, in document order.
type rank uint32

// collector collects distinct documents. It takes 8 bytes a document, and up to twice as much while it grows.
type collector struct {
	refs             []docref.Ref // ascending, each once
	pending, scratch []docref.Ref // to be merged
}

const (
	// leastPending and mostPending are how many documents are merged at a time.
	leastPending, mostPending = 1 << 14, 1 << 22
)

func (c *collector) add(refs ...docref.Ref) {
	c.pending = append(c.pending, refs...)
	if len(c.pending) >= min(max(leastPending, len(c.refs)/4), mostPending) {
		c.merge()
	}
}

func (c *collector) merge() {
	c.scratch = slices.Grow(c.scratch[:0], len(c.pending))[:len(c.pending)]
	fresh := graphs.RadixSort(c.pending, c.scratch, func(ref *docref.Ref) uint64 { return uint64(*ref) })
	if len(fresh) > 0 && &fresh[0] == &c.scratch[0] {
		c.pending, c.scratch = c.scratch, c.pending
	}
	fresh = slices.Compact(fresh)
	at := 0
	fresh = slices.DeleteFunc(fresh, func(ref docref.Ref) bool {
		at = seek(c.refs, at, ref)
		return at < len(c.refs) && c.refs[at] == ref
	})
	old, to := len(c.refs)-1, len(c.refs)+len(fresh)-1
	c.refs = slices.Grow(c.refs, len(fresh))[:to+1]
	for i := len(fresh) - 1; i >= 0; to-- {
		if old >= 0 && c.refs[old] > fresh[i] {
			c.refs[to] = c.refs[old]
			old--
		} else {
			c.refs[to] = fresh[i]
			i--
		}
	}
	c.pending = c.pending[:0]
}

func (c *collector) finish() []docref.Ref {
	c.merge()
	return c.refs
}

// seek returns the first index from at on whose ref is not below ref. It is fast if the way is short.
func seek(refs []docref.Ref, at int, ref docref.Ref) int {
	step := 1
	for at+step <= len(refs) && refs[at+step-1] < ref {
		at += step
		step *= 2
	}
	return at + sort.Search(min(step, len(refs)-at), func(i int) bool { return refs[at+i] >= ref })
}

// finder finds the ranks of documents. It goes through both in ascending order, since random access to many documents
// is slow.
type finder struct {
	queries, scratch []query
	found            []rank
}

type query struct {
	ref   docref.Ref
	index uint32
}

// ranks returns the rank of each of some documents. All of them must be in refs. The ranks are valid until the next
// call.
func (f *finder) ranks(refs, of []docref.Ref) []rank {
	f.queries = f.queries[:0]
	for i, ref := range of {
		f.queries = append(f.queries, query{ref, uint32(i)})
	}
	f.scratch = slices.Grow(f.scratch[:0], len(of))[:len(of)]
	f.found = slices.Grow(f.found[:0], len(of))[:len(of)]
	at := 0
	for _, q := range graphs.RadixSort(f.queries, f.scratch, func(q *query) uint64 { return uint64(q.ref) }) {
		at = seek(refs, at, q.ref)
		f.found[q.index] = rank(at)
	}
	return f.found
}
