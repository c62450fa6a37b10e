package query

import (
	"math"

	"mirrorbeam/internal/ground/setting"
)

// postings says which sets have a key. The postings of a bucket are a chain, the newest first. Nothing is taken out of a
// chain: when there is no room left, the postings of sets that have gone are dropped, and all chains are made anew.
type postings struct {
	heads []uint32 // 1 + the newest posting of a bucket; 0: none
	all   []posting
}

// posting is a key of a set.
type posting struct {
	key  uint32 // of the hash of the key: two keys in four billion are taken for one
	next uint32 // 1 + the next posting of the bucket; 0: none
	set  uint32
	size uint32 // of the set
}

// leastRoom is the number of postings that there is room for at first.
const leastRoom = 1 << 10

// lacks reports whether [postings.rebuild] must make room before so many postings are added.
func (p *postings) lacks(room int) bool { return len(p.all)+room > cap(p.all) }

// add adds a key of a set, given the size of the set.
func (p *postings) add(key uint64, set, size uint32) {
	p.all = append(p.all, posting{key: hashOf(key), set: set, size: size})
	p.link(len(p.all) - 1)
}

// link puts a posting in front of the chain of its bucket.
func (p *postings) link(number int) {
	head := &p.heads[p.bucket(p.all[number].key)]
	p.all[number].next, *head = *head, uint32(number)+1
}

// hashOf spreads keys, which may be the smallest of many hashes, over 32 bits.
func hashOf(key uint64) uint32 { return uint32(key * 0x9e3779b97f4a7c15 >> 32) }

// bucket returns the bucket of a hash.
func (p *postings) bucket(hash uint32) uint32 {
	return uint32(uint64(hash) * uint64(len(p.heads)) >> 32)
}

// each visits the sets of a key whose sizes are from least to most, and now and then another one.
func (p *postings) each(key uint64, least, most uint32, visit func(set uint32)) {
	if len(p.heads) == 0 {
		return
	}
	hash := hashOf(key)
	for next := p.heads[p.bucket(hash)]; next > 0; {
		x := &p.all[next-1]
		if x.key == hash && x.size >= least && x.size <= most {
			visit(x.set)
		}
		next = x.next
	}
}

// rebuild drops the postings of sets that are not held, and makes room for as many as are left, and some more. The error
// is that there are too many.
func (p *postings) rebuild(isHeld func(set uint32) bool, more int) error {
	held := p.all[:0]
	for _, x := range p.all {
		if isHeld(x.set) {
			held = append(held, x)
		}
	}
	room := max(leastRoom, 2*len(held)+more)
	if room > math.MaxInt32 {
		return setting.Errorf("more documents than can be held: give a {window}")
	}
	if room > cap(held) {
		held = append(make([]posting, 0, room), held...)
	}
	p.all = held
	if len(p.heads) < cap(held) {
		p.heads = make([]uint32, cap(held))
	} else {
		clear(p.heads)
	}
	for number := range p.all {
		p.link(number)
	}
	return nil
}
