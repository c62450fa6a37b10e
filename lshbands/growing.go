package lshbands

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"
)

// leastMerged is the least number of new keys that are merged into the table.
const leastMerged = 1024

// Growing is a [Table] that is searched while keys are added. Most keys are in a table. New keys are in a
// small sorted list beside it. The list is merged into the table when it is large enough. A Growing holds all
// keys or, as a sliding window, those added last.
//
// Any number of goroutines may search it and add to it. Goroutines that add wait for each other and for a
// merge. Goroutines that search do not wait for a merge.
type Growing struct {
	adding sync.Mutex // held while keys are added; taken before mutex

	window int      // the number of keys to hold; 0 for all
	recent []uint64 // in a sliding window, the keys in the order of their arrival, as a ring
	oldest int      // index of the oldest key in recent, if that is full

	mutex sync.RWMutex
	table *Table
	added []uint64 // sorted, not in table yet
	gone  []uint64 // sorted; still in table or added, but removed
}

// NewGrowing returns a Growing that begins with the keys of a table. It holds all keys.
func NewGrowing(table *Table) *Growing { return &Growing{table: table} }

// NewSliding returns an empty Growing. It holds the given number of keys, at least 1: those added last.
// The error says that the number is below 1.
func NewSliding(window int) (*Growing, error) {
	if window < 1 {
		return nil, fmt.Errorf("a window of %d keys: must be 1 or more", window)
	}
	return &Growing{table: &Table{}, window: window}, nil
}

// Add adds a key. If there are then more keys than the window holds, the oldest goes. The error is that a
// table cannot hold so many keys.
func (g *Growing) Add(key uint64) error {
	g.adding.Lock()
	defer g.adding.Unlock()
	old, full := g.remember(key)
	g.mutex.Lock()
	g.added = insert(g.added, key)
	if full {
		g.gone = insert(g.gone, old)
	}
	g.mutex.Unlock()

	// Adding a key to a list of n moves n/2 keys. Merging writes the whole table. Both cost the same if the
	// list is about as long as the root of the table's length.
	if limit := leastMerged + int(4*math.Sqrt(float64(g.table.Len()))); len(g.added) <= limit {
		return nil
	}
	table, err := NewTable(g.all())
	if err != nil {
		return err
	}
	g.mutex.Lock()
	g.table, g.added, g.gone = table, g.added[:0], g.gone[:0]
	g.mutex.Unlock()
	return nil
}

// remember puts the key into the window. If a key leaves the window, it returns that key.
func (g *Growing) remember(key uint64) (old uint64, full bool) {
	switch {
	case g.window == 0:
		return 0, false
	case len(g.recent) < g.window:
		g.recent = append(g.recent, key)
		return 0, false
	}
	old, g.recent[g.oldest] = g.recent[g.oldest], key
	g.oldest = (g.oldest + 1) % g.window
	return old, true
}

func insert(sorted []uint64, key uint64) []uint64 {
	at, _ := slices.BinarySearch(sorted, key)
	return slices.Insert(sorted, at, key)
}

// all yields all keys in order. Nobody may add keys meanwhile.
func (g *Growing) all() iter.Seq[uint64] {
	return func(yield func(key uint64) bool) {
		added, gone := g.added, g.gone
		keep := func(key uint64) bool {
			if len(gone) > 0 && gone[0] == key {
				gone = gone[1:]
				return true
			}
			return yield(key)
		}
		for key := range g.table.All() {
			for ; len(added) > 0 && added[0] <= key; added = added[1:] {
				if !keep(added[0]) {
					return
				}
			}
			if !keep(key) {
				return
			}
		}
		for _, key := range added {
			if !keep(key) {
				return
			}
		}
	}
}

// Len returns the number of keys.
func (g *Growing) Len() int {
	g.mutex.RLock()
	defer g.mutex.RUnlock()
	return g.table.Len() + len(g.added) - len(g.gone)
}

// AppendRange appends, in order, the keys whose highest prefixBits bits are prefix. PrefixBits is from 0 to
// 64.
func (g *Growing) AppendRange(keys []uint64, prefix uint64, prefixBits int) []uint64 {
	g.mutex.RLock()
	defer g.mutex.RUnlock()
	start := len(keys)
	first, end := g.table.Range(prefix, prefixBits)
	keys = g.table.AppendKeys(keys, first, end)
	if added := within(g.added, prefix, prefixBits); len(added) > 0 {
		keys = append(keys, added...)
		slices.Sort(keys[start:])
	}
	gone := within(g.gone, prefix, prefixBits)
	left := keys[:start]
	for _, key := range keys[start:] {
		if len(gone) > 0 && gone[0] == key {
			gone = gone[1:]
		} else {
			left = append(left, key)
		}
	}
	return left
}

// within returns the keys of a sorted list that begin with a prefix.
func within(sorted []uint64, prefix uint64, prefixBits int) []uint64 {
	low := prefix << (64 - prefixBits)
	first, _ := slices.BinarySearch(sorted, low)
	last := low | (1<<(64-prefixBits) - 1)
	if last == math.MaxUint64 {
		return sorted[first:]
	}
	end, _ := slices.BinarySearch(sorted, last+1)
	return sorted[first:end]
}
