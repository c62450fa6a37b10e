package main

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"

	"mirrorbeam.dev/lshbands"
)

// LiveOptions say what a [Live] index holds. Bits and Distance are required.
type LiveOptions struct {
	// Bits is the length of the fingerprints, as [lshbands.NewPermuted] takes it.
	Bits int
	// Distance is the largest number of bits in which the fingerprints that a search finds differ, at least 0.
	Distance int
	// Window is the number of fingerprints to hold: one more, and the one that was added first goes. 0 holds all.
	Window int
	// Blocks are the blocks of [lshbands.NewPermuted]. Without them [lshbands.PlanTables] chooses the tables.
	Blocks []int
}

// Live is an index of SimHash fingerprints that is searched within a Hamming distance while fingerprints come and go.
// It finds every fingerprint within the distance, and no other.
//
// Any number of goroutines may use it. Searches run side by side; they wait for a change of one fingerprint, and a
// change waits for them.
type Live struct {
	options LiveOptions
	tables  *lshbands.Permuted
	words   int // in a fingerprint

	mutex sync.RWMutex
	slots map[uint64]uint32 // the slot of each id
	ids   []uint64          // by slot
	turns []uint64          // by slot: when the fingerprint was added
	rows  []uint64          // by slot: its words
	free  []uint32          // slots that hold nothing
	// A chain links the slots whose fingerprints share a prefix. Heads has the first slot of each chain, by table and
	// prefix, and next the slot behind a slot, by table and slot.
	heads []map[uint64]uint32
	next  [][]uint32
	turn  uint64
	queue []arrival // in a window, what was added and may have gone, the oldest first
}

// arrival says that a slot got a fingerprint.
type arrival struct {
	slot uint32
	turn uint64
}

// noSlot ends a chain.
const noSlot = math.MaxUint32

// NewLive returns an empty index. The error says which option is impossible.
func NewLive(o LiveOptions) (*Live, error) {
	if o.Window < 0 {
		return nil, fmt.Errorf("a window of %d fingerprints: must be 0 or more", o.Window)
	}
	tables, err := lshbands.PlanTables(o.Bits, o.Distance, o.Blocks...)
	if err != nil {
		return nil, err
	}
	o.Blocks = tables.Blocks()
	x := &Live{
		options: o,
		tables:  tables,
		words:   (o.Bits + 63) / 64,
		slots:   map[uint64]uint32{},
		next:    make([][]uint32, tables.Tables()),
	}
	for range tables.Tables() {
		x.heads = append(x.heads, map[uint64]uint32{})
	}
	return x, nil
}

// Options returns the options of the index, with the blocks of its tables.
func (x *Live) Options() LiveOptions { return x.options }

// Len returns the number of fingerprints.
func (x *Live) Len() int {
	x.mutex.RLock()
	defer x.mutex.RUnlock()
	return len(x.slots)
}

// Last returns the largest id that the index holds; 0 if it holds none.
func (x *Live) Last() (last uint64) {
	x.mutex.RLock()
	defer x.mutex.RUnlock()
	for id := range x.slots {
		last = max(last, id)
	}
	return last
}

// check refuses a fingerprint of another length.
func (x *Live) check(fingerprint []uint64) error {
	if len(fingerprint) != x.words {
		return fmt.Errorf("a fingerprint of %d words in an index of %d bits, which are %d words", len(fingerprint),
			x.options.Bits, x.words)
	}
	if x.options.Bits == 32 && fingerprint[0]>>32 != 0 {
		return fmt.Errorf("the fingerprint %#x in an index of 32 bits", fingerprint[0])
	}
	return nil
}

// Add adds the fingerprint of an id, instead of an earlier one of this id. In a full window the oldest goes. The index
// keeps a copy. The error is that the fingerprint has another length than the index, or that there are 2^32 - 1
// fingerprints.
func (x *Live) Add(id uint64, fingerprint []uint64) error {
	if err := x.check(fingerprint); err != nil {
		return err
	}
	x.mutex.Lock()
	defer x.mutex.Unlock()
	x.remove(id)
	if x.options.Window > 0 && len(x.slots) == x.options.Window {
		x.removeOldest()
	}
	slot, err := x.slot()
	if err != nil {
		return err
	}
	x.turn++
	x.slots[id], x.ids[slot], x.turns[slot] = slot, id, x.turn
	copy(x.row(slot), fingerprint)
	for table, heads := range x.heads {
		prefix := x.tables.Prefix(table, fingerprint)
		first, found := heads[prefix]
		if !found {
			first = noSlot
		}
		heads[prefix], x.next[table][slot] = slot, first
	}
	if x.options.Window > 0 {
		x.remember(arrival{slot, x.turn})
	}
	return nil
}

// slot returns a slot that holds nothing.
func (x *Live) slot() (uint32, error) {
	if last := len(x.free) - 1; last >= 0 {
		slot := x.free[last]
		x.free = x.free[:last]
		return slot, nil
	}
	if len(x.ids) == noSlot {
		return 0, fmt.Errorf("the index holds %d fingerprints, and no more", len(x.ids))
	}
	slot := uint32(len(x.ids))
	x.ids, x.turns = append(x.ids, 0), append(x.turns, 0)
	x.rows = append(x.rows, make([]uint64, x.words)...)
	for table := range x.next {
		x.next[table] = append(x.next[table], noSlot)
	}
	return slot, nil
}

func (x *Live) row(slot uint32) []uint64 {
	return x.rows[int(slot)*x.words : (int(slot)+1)*x.words]
}

// remember puts an arrival into the queue. Arrivals of fingerprints that have gone are dropped when they are the most.
func (x *Live) remember(a arrival) {
	if x.queue = append(x.queue, a); len(x.queue) > 2*x.options.Window {
		x.queue = slices.DeleteFunc(x.queue, func(a arrival) bool { return x.turns[a.slot] != a.turn })
	}
}

// removeOldest removes the fingerprint that was added first. There is one.
func (x *Live) removeOldest() {
	for {
		oldest := x.queue[0]
		x.queue = x.queue[1:]
		if x.turns[oldest.slot] == oldest.turn {
			x.remove(x.ids[oldest.slot])
			return
		}
	}
}

// Delete removes the fingerprint of an id, and reports whether there was one.
func (x *Live) Delete(id uint64) bool {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	return x.remove(id)
}

func (x *Live) remove(id uint64) bool {
	slot, found := x.slots[id]
	if !found {
		return false
	}
	for table, heads := range x.heads {
		prefix, next := x.tables.Prefix(table, x.row(slot)), x.next[table]
		switch before := heads[prefix]; {
		case before != slot:
			for next[before] != slot {
				before = next[before]
			}
			next[before] = next[slot]
		case next[slot] == noSlot:
			delete(heads, prefix)
		default:
			heads[prefix] = next[slot]
		}
	}
	delete(x.slots, id)
	x.turns[slot] = 0
	x.free = append(x.free, slot)
	return true
}

// Near is a fingerprint that a search has found.
type Near struct {
	// ID is its id.
	ID uint64
	// Distance is the number of bits in which it differs from the one that was searched for.
	Distance int
}

// Search appends the fingerprints within the distance to found, the nearest first and equally near ones by their ids.
// The error is that the fingerprint has another length than the index.
func (x *Live) Search(found []Near, fingerprint []uint64) ([]Near, error) {
	if err := x.check(fingerprint); err != nil {
		return found, err
	}
	x.mutex.RLock()
	defer x.mutex.RUnlock()
	known := len(found)
	for table, heads := range x.heads {
		slot, isThere := heads[x.tables.Prefix(table, fingerprint)]
		for isThere && slot != noSlot {
			row := x.row(slot)
			// One that shares an earlier prefix, too, was found there.
			if distance := x.distance(row, fingerprint); distance <= x.options.Distance &&
				x.tables.FirstCommon(row, fingerprint) == table {
				found = append(found, Near{x.ids[slot], distance})
			}
			slot = x.next[table][slot]
		}
	}
	slices.SortFunc(found[known:], func(a, b Near) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.ID, b.ID))
	})
	return found, nil
}

// distance returns the number of bits in which a and b differ, or any number above the distance of the index.
func (x *Live) distance(a, b []uint64) int {
	n := 0
	for i, word := range a {
		if n += bits.OnesCount64(word ^ b[i]); n > x.options.Distance {
			break
		}
	}
	return n
}
