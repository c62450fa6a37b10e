package graphs

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mirrorbeam/internal/ground/docref"
)

// Place is the number of a place, from 0. A place is where one task compares documents. It holds some components, or two
// blocks of a component that is too large for one place.
type Place uint32

// Location says at which places a document is compared with others of its component. A component that is too large for
// one place is cut into blocks. Every two blocks then meet at a place of their own.
type Location struct {
	First  Place  // the place of the component, or the first of its places
	Blocks uint16 // number of blocks of the component; 1: the component is not cut
	Block  uint16 // number of the document's block
}

// MeetingPlace returns the place where two documents of one component meet.
func (l Location) MeetingPlace(other Location) Place {
	low, high := Place(min(l.Block, other.Block)), Place(max(l.Block, other.Block))
	return l.First + high*(high+1)/2 + low
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

// Block returns the block of a document. Before is the weight of the earlier documents of its component, total the weight of
// all.
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

// Blocks orders documents by size, then by ref, and cuts them into blocks. A block is a place: its task compares it with
// itself and with earlier blocks. It holds about capacity shingles at most, but at least one document. Blocks returns the
// block of each document in the new order.
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
