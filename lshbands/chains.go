package lshbands

import (
	"math/bits"
	"slices"
)

// chains lists the slots under each key. It knows a key by a hash of 32 bits. So among the slots that it finds, one in
// some billions belongs to another key, and the caller compares what is in the slots anyway.
type chains struct {
	heads []uint32 // by the leading bits of the hash: the number of the first link plus one, or 0
	links []link
	free  uint32 // the number of the first free link plus one
	used  int
}

type link struct {
	hash, slot uint32
	next       uint32 // as in heads
}

// mostLinks is how many links the heads can number.
const mostLinks = 1<<32 - 2

func (c *chains) head(hash uint32) *uint32 {
	return &c.heads[hash>>(32-bits.Len(uint(len(c.heads)-1)))]
}

func hashOf(key uint64) uint32 { return uint32(mix(key) >> 32) }

func (c *chains) add(key uint64, slot uint32) {
	if c.used >= len(c.heads) {
		c.grow()
	}
	c.used++
	hash := hashOf(key)
	head := c.head(hash)
	added := link{hash: hash, slot: slot, next: *head}
	if c.free == 0 {
		c.links = append(c.links, added)
		*head = uint32(len(c.links))
		return
	}
	*head, c.free = c.free, c.links[c.free-1].next
	c.links[*head-1] = added
}

// remove takes a slot from a key, under which it is listed.
func (c *chains) remove(key uint64, slot uint32) {
	hash := hashOf(key)
	at := c.head(hash)
	for c.links[*at-1].hash != hash || c.links[*at-1].slot != slot {
		at = &c.links[*at-1].next
	}
	removed := *at
	*at, c.links[removed-1].next = c.links[removed-1].next, c.free
	c.free = removed
	c.used--
}

func (c *chains) appendSlots(slots []uint32, key uint64) []uint32 {
	if len(c.heads) == 0 {
		return slots
	}
	hash := hashOf(key)
	for at := *c.head(hash); at != 0; at = c.links[at-1].next {
		if c.links[at-1].hash == hash {
			slots = append(slots, c.links[at-1].slot)
		}
	}
	return slots
}

func (c *chains) grow() {
	old := c.heads
	c.heads = make([]uint32, max(2*len(old), 1024))
	for _, at := range old {
		for at != 0 {
			moved := &c.links[at-1]
			head := c.head(moved.hash)
			at, moved.next, *head = moved.next, *head, at
		}
	}
}

// different sorts slots and leaves each once.
func different(slots []uint32) []uint32 {
	slices.Sort(slots)
	return slices.Compact(slots)
}
