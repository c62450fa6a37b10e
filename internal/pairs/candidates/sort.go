package candidates

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records/digest"
)

// Buckets give each record an index in memory, by the leading bits of its key. Keys are evenly spread, so little is
// left to sort then. First every key is counted, then every record gets its index, in the same order. If memory has no
// room for all records, they are sorted window by window.
type Buckets struct {
	low   uint64
	shift int
	ends  []uint32 // by bucket: first the number of its records, later the next index
	links []link   // nil if no record is dropped
	order ranking

	kept     int    // records that are not dropped
	from, to uint64 // the buckets of the window
	base     uint32 // the index, among all, of the window's first record
}

// link is the key of the first record of a bucket, and the previous key of that record or a mark.
type link struct{ key, previous uint64 }

const (
	// Unmet stands for no previous key. Documents that share a key without a previous one have not met before.
	Unmet = 1 << 62
	// mayMeet marks the link of a bucket in which two records may be a new pair.
	mayMeet = 1 << 63
	// dropped is the end of a bucket whose records are dropped.
	dropped = ^uint32(0)
)

// NewBuckets returns buckets for n records whose keys are from low to high.
func NewBuckets(n int, low, high uint64) *Buckets {
	width := min(bits.Len(uint(n)), 20)
	// A shard holds keys of one range. The bits that all of them share say nothing.
	return &Buckets{low: low, shift: max(bits.Len64(high-low)-width, 0), ends: make([]uint32, 1<<width)}
}

// Count counts a record by its key.
func (b *Buckets) Count(key uint64) { b.ends[(key-b.low)>>b.shift]++ }

// CountLink counts a record by its key and its previous key. The previous key is below Unmet; it is Unmet if there is
// none. If all records are counted this way, some buckets are dropped: those whose records all have one key and one
// previous key. Their documents have met under the previous key. Most records of very many similar documents are
// dropped, and so is the record of a key that no other document has.
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

// Counted must be called when all records are counted. It returns the number of records that are not dropped.
func (b *Buckets) Counted() (kept int) {
	for i, n := range b.ends {
		if b.links != nil && b.links[i].previous != mayMeet {
			b.ends[i] = dropped
			continue
		}
		b.ends[i] = uint32(kept)
		kept += int(n)
	}
	b.links, b.kept, b.to = nil, kept, uint64(len(b.ends))
	return kept
}

// Windows goes through windows of the buckets: the next ones that have at most that many records together, or a single
// one that has more. It yields how many these are: only they have indexes, from 0, until the next window. If there is
// no record, there is one window of none.
func (b *Buckets) Windows(most int) iter.Seq[int] {
	return func(yield func(int) bool) {
		latest, before := 0, 0 // the latest bucket, and how many records the buckets before it have
		window := func(to, records int) bool {
			b.from, b.to = b.to, uint64(to)
			goesOn := yield(records - int(b.base))
			b.base = uint32(records)
			return goesOn
		}
		b.to = 0
		for i, end := range b.ends {
			if end == dropped {
				continue
			}
			if int(end-b.base) > most && before > int(b.base) && !window(latest, before) {
				return
			}
			latest, before = i, int(end)
		}
		if b.kept-int(b.base) > most && before > int(b.base) && !window(latest, before) {
			return
		}
		if b.kept > int(b.base) || b.kept == 0 {
			window(len(b.ends), b.kept)
		}
	}
}

// Index returns the index of the next record of that key, or false if the record is dropped or not of the window.
func (b *Buckets) Index(key uint64) (index uint32, ok bool) {
	bucket := (key - b.low) >> b.shift
	if bucket-b.from >= b.to-b.from || b.ends[bucket] == dropped {
		return 0, false
	}
	b.ends[bucket]++
	return b.ends[bucket] - 1 - b.base, true
}

// Sort sorts the records of the window, which stand at their indexes. A shard may be large, so it asks stopped now and
// then, if it is not nil, and ends with its error.
func (b *Buckets) Sort(records []Record, stopped func() error) error {
	const few = 1 << 10
	start := uint32(0)
	for i, end := range b.ends[b.from:b.to] {
		if i%few == 0 && stopped != nil {
			if err := stopped(); err != nil {
				return err
			}
		}
		if end == dropped {
			continue
		}
		end -= b.base
		if end-start > 1 {
			if err := b.order.sortBucket(records[start:end], stopped); err != nil {
				return err
			}
		}
		start = end
	}
	return nil
}

// Sort brings records of one key together. Scratch is as long as records, and the result is in one of the two.
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
		index, _ := b.Index(records[i].Key)
		scratch[index] = records[i]
	}
	b.Sort(scratch, nil) // which nobody stops
	return scratch
}

// fewRecords is the largest number of records that comparisons sort fastest.
const fewRecords = 64

// sortBucket sorts the records of a bucket. If there are very many, most of them have one key.
func (o *ranking) sortBucket(records []Record, stopped func() error) error {
	if len(records) <= fewRecords {
		o.byKey(records)
		return nil
	}
	key := records[len(records)/2].Key
	low, high := 0, len(records) // keys before low are less, keys from high on are greater
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
	if err := graphs.SortFunc(records[:low], byKey, stopped); err != nil {
		return err
	}
	if err := o.sortDigests(records[low:high], 56, stopped); err != nil {
		return err
	}
	return graphs.SortFunc(records[high:], byKey, stopped)
}

// sortDigests sorts records of one key by digest, then by ref. The digests agree above the byte at shift. Different
// digests are evenly spread.
func (o *ranking) sortDigests(records []Record, shift int, stopped func() error) error {
	if len(records) <= fewRecords {
		o.byKey(records)
		return nil
	}
	if shift < 0 {
		return graphs.SortFunc(records, byKey, stopped)
	}
	if shift == 56 && stopped != nil { // beyond, the records are fewer, or of one digest
		if err := stopped(); err != nil {
			return err
		}
	}
	var starts, ends [257]uint32
	for i := range records {
		ends[records[i].Digest[0]>>shift&0xff+1]++
	}
	for i := range 256 {
		ends[i+1] += ends[i]
	}
	starts = ends
	next := starts // where the next record of each byte belongs
	for digit := range 256 {
		for end := ends[digit+1]; next[digit] < end; {
			r := &records[next[digit]]
			if to := r.Digest[0] >> shift & 0xff; int(to) != digit {
				*r, records[next[to]] = records[next[to]], *r
				next[to]++
				continue
			}
			next[digit]++
		}
	}
	for digit := range 256 {
		if part := records[starts[digit]:ends[digit+1]]; len(part) > 1 {
			if err := o.sortDigests(part, shift-8, stopped); err != nil {
				return err
			}
		}
	}
	return nil
}

func byKey(a, b Record) int {
	return cmp.Or(cmp.Compare(a.Key, b.Key), digest.Compare(a.Digest, b.Digest), cmp.Compare(a.Ref, b.Ref))
}

func bySize(a, b Record) int {
	return cmp.Or(cmp.Compare(a.Size, b.Size), cmp.Compare(a.Ref, b.Ref))
}

// ranking orders records, in memory that stays. Ranks are sorted first, and each record, which is large, moves once.
type ranking []ranked

type ranked struct {
	rank [2]uint64
	at   uint32
}

func (o *ranking) byKey(records []Record) {
	o.sort(records, byKey, func(r *Record) [2]uint64 { return [2]uint64{r.Key, r.Digest[0]} })
}

func (o *ranking) bySize(records []Record) {
	o.sort(records, bySize, func(r *Record) [2]uint64 { return [2]uint64{uint64(r.Size), uint64(r.Ref)} })
}

// tinyGroup is the largest number of records for which a list next to them does not pay.
const tinyGroup = 8

// sort orders records by compare. Records of different ranks are in the order of their ranks.
func (o *ranking) sort(records []Record, compare func(a, b Record) int, rank func(*Record) [2]uint64) {
	if len(records) <= tinyGroup {
		slices.SortFunc(records, compare)
		return
	}
	order := (*o)[:0]
	for i := range records {
		order = append(order, ranked{rank(&records[i]), uint32(i)})
	}
	*o = order
	slices.SortFunc(order, func(a, b ranked) int {
		if c := cmp.Or(cmp.Compare(a.rank[0], b.rank[0]), cmp.Compare(a.rank[1], b.rank[1])); c != 0 {
			return c
		}
		return compare(records[a.at], records[b.at])
	})
	for i := range order {
		from := order[i].at
		if from == uint32(i) {
			continue
		}
		first, to := records[i], uint32(i)
		for ; from != uint32(i); to, from = from, order[from].at {
			records[to] = records[from]
			order[to].at = to
		}
		records[to] = first
		order[to].at = to
	}
}
