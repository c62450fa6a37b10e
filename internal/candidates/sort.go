package candidates

import (
	"cmp"
	"math/bits"
	"slices"
)

// Buckets deal records to memory by the leading bits of their keys. Keys are evenly
// spread, so little is left to sort then. First every key is counted, then every record
// gets a place, in the same order.
type Buckets struct {
	low   uint64
	shift int
	ends  []uint32 // counts first
	links []link   // nil where every record gets a place
}

// link is the key of a bucket's first record and the one before it, with a mark.
type link struct{ key, previous uint64 }

const (
	// Unmet stands for the key before one where there is none: documents that share such
	// a key have not met.
	Unmet = 1 << 62
	// mayMeet marks the link of a bucket where two records may be a pair that is new.
	mayMeet = 1 << 63
	// dropped is the end of a bucket whose records get no place.
	dropped = ^uint32(0)
)

// NewBuckets returns buckets for n records whose keys are from low to high.
func NewBuckets(n int, low, high uint64) *Buckets {
	width := min(bits.Len(uint(n)), 20)
	// A shard holds keys of one range. The bits that they all share say nothing.
	return &Buckets{low: low, shift: max(bits.Len64(high-low)-width, 0), ends: make([]uint32, 1<<width)}
}

// Count counts a record by its key.
func (b *Buckets) Count(key uint64) { b.ends[(key-b.low)>>b.shift]++ }

// CountLink counts a record by its key and the one before, below Unmet, or Unmet. Where
// all records are so counted, those of a bucket get no place if they all have one key and
// one key before it: there they have met. Of very many documents that are much alike most
// records are such ones, and so is what is nobody else's.
func (b *Buckets) CountLink(key, previous uint64) {
	if b.links == nil {
		b.links = make([]link, len(b.ends))
	}
	bucket := (key - b.low) >> b.shift
	switch first := &b.links[bucket]; {
	case b.ends[bucket] == 0:
		*first = link{key, previous}
	case first.key != key || first.previous != previous || previous == Unmet:
		first.previous = mayMeet
	}
	b.ends[bucket]++
}

// Counted is to be called when all records are counted. It returns how many of them get
// a place.
func (b *Buckets) Counted() (places int) {
	for i, n := range b.ends {
		if b.links != nil && b.links[i].previous != mayMeet {
			b.ends[i] = dropped
			continue
		}
		b.ends[i] = uint32(places)
		places += int(n)
	}
	b.links = nil
	return places
}

// Place returns the place of the next record of that key, if it gets one.
func (b *Buckets) Place(key uint64) (place uint32, ok bool) {
	end := &b.ends[(key-b.low)>>b.shift]
	if *end == dropped {
		return 0, false
	}
	*end++
	return *end - 1, true
}

// Sort sorts records that stand at their places.
func (b *Buckets) Sort(records []Record) {
	start := uint32(0)
	for _, end := range b.ends {
		if end == dropped {
			continue
		}
		if end-start > 1 {
			sortBucket(records[start:end])
		}
		start = end
	}
}

// Sort brings records of one key together; scratch is as long as records. It returns
// the slice that holds the result.
func Sort(records, scratch []Record) []Record {
	if len(records) == 0 {
		return records
	}
	low, high := records[0].Key, records[0].Key
	for i := range records {
		low, high = min(low, records[i].Key), max(high, records[i].Key)
	}
	b := NewBuckets(len(records), low, high)
	for i := range records {
		b.Count(records[i].Key)
	}
	b.Counted()
	scratch = scratch[:len(records)]
	for i := range records {
		place, _ := b.Place(records[i].Key)
		scratch[place] = records[i]
	}
	b.Sort(scratch)
	return scratch
}

// fewRecords is up to how many records comparisons sort fastest.
const fewRecords = 64

// sortBucket sorts the records of a bucket. Of very many most have one key.
func sortBucket(records []Record) {
	if len(records) <= fewRecords {
		slices.SortFunc(records, byKey)
		return
	}
	key := records[len(records)/2].Key
	low, high := 0, len(records) // what is before low is less, what is from high on is more
	for i := 0; i < high; {
		switch k := records[i].Key; {
		case k < key:
			records[i], records[low] = records[low], records[i]
			low++
			i++
		case k > key:
			high--
			records[i], records[high] = records[high], records[i]
		default:
			i++
		}
	}
	slices.SortFunc(records[:low], byKey)
	sortDigests(records[low:high], 56)
	slices.SortFunc(records[high:], byKey)
}

// sortDigests sorts records of one key by their digests, which agree above the byte at
// shift, and then by their refs. Digests are evenly spread, but for those that are
// equal.
func sortDigests(records []Record, shift int) {
	if len(records) <= fewRecords || shift < 0 {
		slices.SortFunc(records, byKey)
		return
	}
	var starts, ends [257]uint32
	for i := range records {
		ends[records[i].Digest>>shift&0xff+1]++
	}
	for i := range 256 {
		ends[i+1] += ends[i]
	}
	starts = ends
	next := starts // where the next record of each byte belongs
	for digit := range 256 {
		for end := ends[digit+1]; next[digit] < end; {
			r := &records[next[digit]]
			if to := r.Digest >> shift & 0xff; int(to) != digit {
				*r, records[next[to]] = records[next[to]], *r
				next[to]++
				continue
			}
			next[digit]++
		}
	}
	for digit := range 256 {
		if part := records[starts[digit]:ends[digit+1]]; len(part) > 1 {
			sortDigests(part, shift-8)
		}
	}
}

// byKey orders by key, then brings identical documents together, first one
// first.
func byKey(a, b Record) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Digest, b.Digest), cmp.Compare(a.Ref, b.Ref))
}
