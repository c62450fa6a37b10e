package lshbands

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
)

// members are what an index contains: each has an id, a slot, which is used again when it goes, and is listed under
// keys. Searches lock the mutex for reading, changes for writing.
type members[ID cmp.Ordered] struct {
	mutex  sync.RWMutex
	window int // how many there may be; 0: any number
	slots  map[ID]uint32
	ids    []ID     // by slot
	turns  []uint64 // by slot: when the member was added; 0: the slot is free
	free   []uint32
	chains chains
	turn   uint64
	queue  []arrival // with a window: what was added and may have gone, the oldest first
}

// arrival says that a slot got a member.
type arrival struct {
	slot uint32
	turn uint64
}

func newMembers[ID cmp.Ordered](window int) (*members[ID], error) {
	if window < 0 {
		return nil, fmt.Errorf("a window of %d: must be 0 or more", window)
	}
	return &members[ID]{window: window, slots: map[ID]uint32{}}, nil
}

// Len returns the number of members.
func (m *members[ID]) Len() int {
	m.mutex.RLock()
	defer m.mutex.RUnlock()
	return len(m.slots)
}

// keysOf returns the keys under which a member is listed that goes.
type keysOf func(slot uint32) []uint64

// add adds a member under keys, instead of an earlier one with this id, and returns its slot. In a full window the
// oldest member goes.
func (m *members[ID]) add(id ID, keys []uint64, of keysOf) (uint32, error) {
	if id != id { // a NaN would never be found again
		return 0, fmt.Errorf("add %v to the index: it is not equal to itself", id)
	}
	if len(m.chains.links)+len(keys) > mostLinks || len(m.ids) == math.MaxUint32 {
		return 0, fmt.Errorf("add %v to the index: it is full with %d members", id, len(m.slots))
	}
	m.remove(id, of)
	if m.window > 0 && len(m.slots) == m.window {
		m.removeOldest(of)
	}
	if len(m.free) == 0 {
		m.free = append(m.free, uint32(len(m.ids)))
		m.ids, m.turns = append(m.ids, id), append(m.turns, 0)
	}
	last := len(m.free) - 1
	slot := m.free[last]
	m.free = m.free[:last]
	m.turn++
	m.slots[id], m.ids[slot], m.turns[slot] = slot, id, m.turn
	for _, key := range keys {
		m.chains.add(key, slot)
	}
	if m.window > 0 {
		m.remember(arrival{slot, m.turn})
	}
	return slot, nil
}

// remember puts an arrival into the queue. Arrivals of members that have gone are dropped when they are the most.
func (m *members[ID]) remember(a arrival) {
	if m.queue = append(m.queue, a); len(m.queue) > 2*m.window {
		m.queue = slices.DeleteFunc(m.queue, func(a arrival) bool { return m.turns[a.slot] != a.turn })
	}
}

// removeOldest removes the member that was added first. There is one.
func (m *members[ID]) removeOldest(of keysOf) {
	for {
		oldest := m.queue[0]
		m.queue = m.queue[1:]
		if m.turns[oldest.slot] == oldest.turn {
			m.remove(m.ids[oldest.slot], of)
			return
		}
	}
}

func (m *members[ID]) remove(id ID, of keysOf) bool {
	slot, found := m.slots[id]
	if !found {
		return false
	}
	for _, key := range of(slot) {
		m.chains.remove(key, slot)
	}
	delete(m.slots, id)
	m.turns[slot] = 0
	m.free = append(m.free, slot)
	return true
}

// inOrder returns the slots of all members in the order in which these were added.
func (m *members[ID]) inOrder() []uint32 {
	slots := make([]uint32, 0, len(m.slots))
	for _, slot := range m.slots {
		slots = append(slots, slot)
	}
	slices.SortFunc(slots, func(a, b uint32) int { return cmp.Compare(m.turns[a], m.turns[b]) })
	return slots
}
