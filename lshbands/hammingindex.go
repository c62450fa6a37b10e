package lshbands

import (
	"cmp"
	"fmt"
	"iter"
	"math/bits"
	"slices"
)

// HammingOptions say what a [HammingIndex] contains. Bits and Distance are required.
type HammingOptions struct {
	// Bits is the length of the fingerprints, as [NewPermuted] takes it.
	Bits int
	// Distance is the largest number of bits in which the fingerprints that a query finds differ, at least 0.
	Distance int
	// Window is the number of fingerprints that the index contains at most: when it is full, the one that was added
	// first goes. 0: there is no limit.
	Window int
	// Blocks are the blocks of [NewPermuted]: more of them make queries faster and take memory. Without Blocks the
	// index chooses tables for a full window, or for a million fingerprints.
	Blocks []int
}

// HammingIndex finds the fingerprints within a Hamming distance, such as SimHash fingerprints, while fingerprints come
// and go. It finds every one within the distance, and no other.
//
// Any number of goroutines may use it. Queries run side by side; they wait for a change of one fingerprint, and a
// change waits for them.
type HammingIndex[ID cmp.Ordered] struct {
	*members[ID]
	options HammingOptions
	tables  *Permuted
	rows    []uint64 // by slot: the words of its fingerprint
}

// NewHammingIndex returns an empty index. The error says which option is impossible.
func NewHammingIndex[ID cmp.Ordered](o HammingOptions) (*HammingIndex[ID], error) {
	tables, err := o.plan()
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	m, err := newMembers[ID](o.Window)
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	o.Blocks = tables.Blocks()
	return &HammingIndex[ID]{members: m, options: o, tables: tables}, nil
}

// plan picks the tables. A table, which takes memory and time, weighs as eight fingerprints that a query compares.
func (o HammingOptions) plan() (*Permuted, error) {
	if len(o.Blocks) > 0 {
		return NewPermuted(o.Bits, o.Distance, o.Blocks...)
	}
	count := cmp.Or(float64(o.Window), 1e6)
	return cheapestTables(o.Bits, o.Distance, func(p *Permuted) float64 {
		return float64(p.Tables()) + 2*p.ExpectedPairs(count)/count/8
	})
}

// Options returns the options of the index, with the blocks of its tables.
func (x *HammingIndex[ID]) Options() HammingOptions { return x.options }

// check refuses a fingerprint of another length.
func (x *HammingIndex[ID]) check(fingerprint []uint64) error {
	if len(fingerprint) != x.tables.words {
		return fmt.Errorf("a fingerprint of %d words in an index of %d bits, which are %d words", len(fingerprint),
			x.options.Bits, x.tables.words)
	}
	if x.options.Bits == 32 && fingerprint[0]>>32 != 0 {
		return fmt.Errorf("the fingerprint %#x in an index of 32 bits", fingerprint[0])
	}
	return nil
}

func (x *HammingIndex[ID]) key(table int, fingerprint []uint64) uint64 {
	return mix(uint64(table)) ^ x.tables.Prefix(table, fingerprint)
}

func (x *HammingIndex[ID]) keys(fingerprint []uint64) []uint64 {
	keys := make([]uint64, x.tables.Tables())
	for table := range keys {
		keys[table] = x.key(table, fingerprint)
	}
	return keys
}

func (x *HammingIndex[ID]) keysOf(slot uint32) []uint64 { return x.keys(x.row(slot)) }

func (x *HammingIndex[ID]) row(slot uint32) []uint64 {
	return x.rows[int(slot)*x.tables.words:][:x.tables.words]
}

// Add adds the fingerprint of an id, instead of an earlier one of this id. In a full window the one that was added
// first goes. The index keeps a copy. The error is that the fingerprint has another length than the index, or that the
// index has no room for more keys, which are some 2^32.
func (x *HammingIndex[ID]) Add(id ID, fingerprint []uint64) error {
	if err := x.check(fingerprint); err != nil {
		return fmt.Errorf("add %v: %w", id, err)
	}
	x.mutex.Lock()
	defer x.mutex.Unlock()
	slot, err := x.add(id, x.keys(fingerprint), x.keysOf)
	if err != nil {
		return err
	}
	x.rows = append(x.rows, make([]uint64, len(x.ids)*x.tables.words-len(x.rows))...)
	copy(x.row(slot), fingerprint)
	return nil
}

// Remove removes the fingerprint of an id, and reports whether it was there.
func (x *HammingIndex[ID]) Remove(id ID) bool {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	return x.remove(id, x.keysOf)
}

// All yields the ids and their fingerprints in the order in which they were added. A fingerprint is valid until the
// next one is yielded. The loop must not change the index.
func (x *HammingIndex[ID]) All() iter.Seq2[ID, []uint64] {
	return func(yield func(ID, []uint64) bool) {
		x.mutex.RLock()
		defer x.mutex.RUnlock()
		for _, slot := range x.inOrder() {
			if !yield(x.ids[slot], x.row(slot)) {
				return
			}
		}
	}
}

// Near is a fingerprint that a query has found.
type Near[ID cmp.Ordered] struct {
	ID ID
	// Distance is the number of bits in which it differs from the one that was asked for.
	Distance int
}

// Query appends the fingerprints within the distance to found, the nearest first and equally near ones by their ids.
// The error is that the fingerprint has another length than the index.
func (x *HammingIndex[ID]) Query(found []Near[ID], fingerprint []uint64) ([]Near[ID], error) {
	if err := x.check(fingerprint); err != nil {
		return found, fmt.Errorf("query the index: %w", err)
	}
	x.mutex.RLock()
	defer x.mutex.RUnlock()
	known := len(found)
	slots := make([]uint32, 0, 64) // on the stack
	for table := range x.tables.Tables() {
		slots = x.chains.appendSlots(slots, x.key(table, fingerprint))
	}
	for _, slot := range different(slots) {
		if distance := x.distance(x.row(slot), fingerprint); distance <= x.options.Distance {
			found = append(found, Near[ID]{x.ids[slot], distance})
		}
	}
	slices.SortFunc(found[known:], func(a, b Near[ID]) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.ID, b.ID))
	})
	return found, nil
}

// distance returns the number of bits in which a and b differ, or any number above the distance of the index.
func (x *HammingIndex[ID]) distance(a, b []uint64) int {
	n := 0
	for i, word := range a {
		if n += bits.OnesCount64(word ^ b[i]); n > x.options.Distance {
			break
		}
	}
	return n
}
