package components

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

// maxBlocks bounds the blocks of a component, and with them its places.
const maxBlocks = 1 << 15

// Locations packs components, in the order of their first documents, into places of about capacity at most, in units of
// weight. It returns the location of each document by rank, and the number of places.
func (g *Graph) Locations(capacity int64) (locations []Location, places int) {
	load := make([]int64, g.Len()) // of a component, at its root
	for rank := range Rank(g.Len()) {
		load[g.roots[rank]] += g.weight(rank)
	}
	locations = make([]Location, g.Len())
	next, open, used := Place(0), Place(0), capacity
	for rank, root := range g.roots {
		if root != Rank(rank) {
			locations[rank].First, locations[rank].Blocks = locations[root].First, locations[root].Blocks
			continue
		}
		if blocks := load[rank] / blockCapacity(load[rank], capacity); load[rank] > capacity {
			locations[rank] = Location{First: next, Blocks: uint16(blocks + 1)}
			next += Place((blocks + 1) * (blocks + 2) / 2)
			continue
		}
		if used+load[rank] > capacity {
			open, used = next, 0
			next++
		}
		used += load[rank]
		locations[rank] = Location{First: open, Blocks: 1}
	}
	g.cut(locations, load, capacity)
	return locations, int(next)
}

// cut deals the documents of components with several blocks to these blocks.
func (g *Graph) cut(locations []Location, load []int64, capacity int64) {
	filled := map[Rank]int64{}
	for rank := range Rank(g.Len()) {
		if root := g.roots[rank]; locations[rank].Blocks > 1 {
			locations[rank].Block = uint16(filled[root] / blockCapacity(load[root], capacity))
			filled[root] += g.weight(rank)
		}
	}
}

// blockCapacity returns what a block of a component of that weight holds. Usually this is half of a place, since two
// blocks meet in one. Each document is needed at as many places as there are blocks. So the blocks of a very large
// component hold up to four times as much.
func blockCapacity(weight, capacity int64) int64 {
	return max(capacity/2, min(2*capacity, weight/8), weight/(maxBlocks-1)+1)
}
