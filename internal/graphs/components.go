// Package graphs has algorithms on graphs of documents: disjoint sets, connected components in buckets of bounded size,
// pivots that represent similar sets, and a sort by integer keys. A graph has parts, each of which one task sees.
package graphs

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mirrorbeam.dev/internal/records/docref"
)

// Node is the number of a document in a [Part], from 0.
type Node uint32

// Part is what one task saw of a graph: some of its nodes, each once, and a forest over them. The edges of the graph
// join the nodes of a tree.
type Part struct {
	Refs    []docref.Ref
	Weights []uint32
	Parents Forest[Node]
	// Origins, if not nil, says that the first nodes are nodes of other parts. A document may then be several of them.
	// The other nodes name documents that are among these, perhaps in another part, and have no weight.
	Origins []Origin
}

// Origin is a node of a part.
type Origin struct {
	Part uint32
	Node Node
}

// Origin returns where a node of the part with that number is from. It is false for a node that only names a document.
func (p *Part) Origin(number int, node int) (of Origin, is bool) {
	if p.Origins == nil {
		return Origin{uint32(number), Node(node)}, true
	}
	if node >= len(p.Origins) {
		return of, false
	}
	return p.Origins[node], true
}

// Add adds a document, not yet joined to any other, and returns its node.
func (p *Part) Add(ref docref.Ref, weight uint32) Node {
	node := Next[Node](len(p.Refs))
	p.Refs, p.Weights, p.Parents = append(p.Refs, ref), append(p.Weights, weight), append(p.Parents, node)
	return node
}

// Forest is a set of trees over the nodes 0 to len-1. N is the type of the nodes. The entry of a node is its parent; a
// root is its own parent. The smallest node of a tree is always its root. So the roots depend on the unions only, not
// on their order. A node takes four bytes.
type Forest[N ~uint32] []N

// NewForest returns n nodes, each alone.
func NewForest[N ~uint32](n int) Forest[N] {
	f := make(Forest[N], n)
	for i := range f {
		f[i] = N(i)
	}
	return f
}

// Find returns the root of x and halves the path to it.
func (f Forest[N]) Find(x N) N {
	for f[x] != x {
		f[x] = f[f[x]]
		x = f[x]
	}
	return x
}

// Union joins the trees of a and b.
func (f Forest[N]) Union(a, b N) {
	a, b = f.Find(a), f.Find(b)
	if a < b {
		f[b] = a
	} else {
		f[a] = b
	}
}

// Flatten makes the root of each node its parent.
func (f Forest[N]) Flatten() {
	// A parent is smaller than its child, so its own entry is a root already.
	for i, parent := range f {
		f[i] = f[parent]
	}
}

// Next returns the number of the next item if there are n already. The largest number of the type is never given: it
// stands for none. A task has no more items than numbers: it takes at least 16 bytes for each, and job.PlanMemory gives
// no task more than 2^35 bytes. So only a mistake of the program makes Next panic.
func Next[N ~uint8 | ~uint16 | ~uint32](n int) N {
	if uint64(n) >= uint64(^N(0)) {
		panic(fmt.Sprintf("graphs: a task has more than %d items", n))
	}
	return N(n)
}

// Place is the number of a place, from 0. A place is where one task compares documents. It holds some components, or
// two blocks of a component that is too large for one place.
type Place uint32

// Location says at which places a document is compared with others of its component. A component that is too large for
// one place is cut into blocks. Every two blocks then meet at a place of their own.
type Location struct {
	First  Place  // the place of the component, or the first of its places
	Blocks uint16 // number of blocks of the component; 1: the component is not cut
	Block  uint16 // number of the document's block
}

// MeetingPlace returns the place where two documents of one component meet. The places of a component follow each
// other, at a distance of stride, at least 1.
func (l Location) MeetingPlace(other Location, stride Place) Place {
	low, high := Place(min(l.Block, other.Block)), Place(max(l.Block, other.Block))
	return l.First + stride*(high*(high+1)/2+low)
}

// Pack packs a location, without its block, into a word.
func (l Location) Pack() uint64 { return uint64(l.First) | uint64(l.Blocks)<<32 }

// UnpackLocation returns what [Location.Pack] has packed.
func UnpackLocation(word uint64) Location {
	return Location{First: Place(word), Blocks: uint16(word >> 32)}
}

const (
	// maxBlocks bounds the blocks of a component, and with them its places.
	maxBlocks = 1 << 15
	// maxPlaces is the number of places that can be told apart.
	maxPlaces = math.MaxUint32
)

// Packer packs components into places of about a capacity at most, in units of weight.
type Packer struct {
	capacity int64
	places   int64 // so far
	open     Place // the place that takes in small components
	room     int64 // what is left there
}

// NewPacker returns a packer for places of that capacity, at least 1.
func NewPacker(capacity int64) *Packer { return &Packer{capacity: max(capacity, 1)} }

// Places returns how many places there are so far.
func (p *Packer) Places() int { return int(p.places) }

// Pack returns the location of the documents of the next component, except for their blocks.
func (p *Packer) Pack(weight int64) (Location, error) {
	first, blocks, added := p.open, int64(1), int64(0)
	switch {
	case weight > p.capacity:
		blocks = weight/blockCapacity(weight, p.capacity) + 1
		first, added = Place(p.places), blocks*(blocks+1)/2
	case weight > p.room || p.places == 0:
		p.open, p.room = Place(p.places), p.capacity-weight
		first, added = p.open, 1
	default:
		p.room -= weight
	}
	if p.places += added; p.places > maxPlaces {
		return Location{}, fmt.Errorf("place components: more than %d places", int64(maxPlaces))
	}
	return Location{First: first, Blocks: uint16(blocks)}, nil
}

// Block returns the block of a document, given the weight of the earlier documents of its component, and of all.
func (p *Packer) Block(before, total int64) uint16 {
	return uint16(before / blockCapacity(total, p.capacity))
}

// blockCapacity returns what a block of a component of that weight holds. Usually this is half of a place, since two
// blocks meet in one. Each document is needed at as many places as there are blocks. So the blocks of a very large
// component hold up to four times as much.
func blockCapacity(weight, capacity int64) int64 {
	return max(capacity/2, min(2*capacity, weight/8), weight/(maxBlocks-1)+1)
}

// Sized is a document and the number of its distinct shingles.
type Sized struct {
	Ref  docref.Ref
	Size uint32
}

// Blocks orders documents by size, then by ref, and cuts them into blocks. A block is a place: its task compares it
// with itself and with earlier blocks. It holds about capacity shingles at most, but at least one document. Blocks
// returns the block of each document in the new order.
func Blocks(documents []Sized, capacity int64) []Place {
	slices.SortFunc(documents, func(a, b Sized) int {
		return cmp.Or(cmp.Compare(a.Size, b.Size), cmp.Compare(a.Ref, b.Ref))
	})
	blocks := make([]Place, len(documents))
	block, load := Place(0), int64(0)
	for i, d := range documents {
		if load > 0 && load+int64(d.Size) > capacity {
			block++
			load = 0
		}
		load += int64(d.Size)
		blocks[i] = block
	}
	return blocks
}
