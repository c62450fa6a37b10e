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
	ends  []uint32
}

// NewBuckets returns buckets for n records whose keys are from low to high.
func NewBuckets(n int, low, high uint64) *Buckets {
	width := min(bits.Len(uint(n)), 20)
	// A shard holds keys of one range. The bits that they all share say nothing.
	return &Buckets{low: low, shift: max(bits.Len64(high-low)-width, 0), ends: make([]uint32, 1<<width+1)}
}

// Count counts a record by its key.
func (b *Buckets) Count(key uint64) { b.ends[(key-b.low)>>b.shift+1]++ }

// Counted is to be called when all records are counted.
func (b *Buckets) Counted() {
	for i := 1; i < len(b.ends); i++ {
		b.ends[i] += b.ends[i-1]
	}
}

// Place returns the place of the next record of that key.
func (b *Buckets) Place(key uint64) uint32 {
	end := &b.ends[(key-b.low)>>b.shift]
	*end++
	return *end - 1
}

// Sort sorts records that stand at their places.
func (b *Buckets) Sort(records []Record) {
	start := uint32(0)
	for _, end := range b.ends[:len(b.ends)-1] {
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
		scratch[b.Place(records[i].Key)] = records[i]
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
