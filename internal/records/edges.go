package records

import (
	"cmp"
	"slices"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records/paged"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/sketch"
)

// Edge is a verified edge between two documents, named by node of a part, then by number in an output shard.
type Edge[N graphs.Node | Number] struct {
	A, B N
	Score
}

// Score says how alike the documents of an edge are.
type Score struct {
	// Shared and Total count shingles; their quotient is the similarity. For an estimate they count the smallest hashes
	// of the union instead. Total has marks.
	Shared, Total uint32
	// WholeShared and WholeTotal count the common shingles, too, where these do not count for the similarity. Both are
	// 0 where all shingles count.
	WholeShared, WholeTotal uint32
}

const (
	estimateMark = 1 << 31
	// hammingMark says that the score counts bits: those that agree, and all.
	hammingMark = 1 << 30
	// HotGroupMark says that the edge joins a document of a hot group to a pivot.
	HotGroupMark = 1 << 29
	// VariantMark says that the documents are variants: neither is removed for the other one.
	VariantMark = 1 << 28

	marks = estimateMark | hammingMark | HotGroupMark | VariantMark
)

// HammingScore returns the score of two fingerprints of the given number of bits that differ in distance bits.
func HammingScore(distance, bits int) Score {
	return Score{Shared: uint32(bits - distance), Total: uint32(bits) | hammingMark}
}

// NewScore returns the score of two sets, given the number of their shared shingles and of the shingles in their union.
func NewScore(shared, union int, isEstimate bool) Score {
	s := Score{Shared: uint32(shared), Total: uint32(union)}
	if isEstimate {
		s.Total |= estimateMark
	}
	return s
}

// Union returns the number of shingles that are in either document.
func (s Score) Union() uint32 { return s.Total &^ marks }

// Estimate reports whether the similarity is an estimate.
func (s Score) Estimate() bool { return s.Total&estimateMark != 0 }

// Hamming returns the Hamming distance of the fingerprints, if the score rests on it.
func (s Score) Hamming() (distance uint32, is bool) {
	return s.Union() - s.Shared, s.Total&hammingMark != 0
}

// Similarity returns the Jaccard similarity of the sets, or the share of the bits that agree. It is from 0 to 1.
func (s Score) Similarity() float64 { return float64(s.Shared) / float64(s.Union()) }

// Whole returns the similarity by all shingles, those that do not count included.
func (s Score) Whole() float64 {
	if s.WholeTotal == 0 {
		return s.Similarity()
	}
	return float64(s.WholeShared) / float64(s.WholeTotal)
}

// Identical reports whether the documents are identical under the measure, and in what does not count.
func (s Score) Identical() bool {
	return s.Shared == s.Total&^(hammingMark|HotGroupMark) && s.WholeShared == s.WholeTotal
}

// HotGroup reports whether the edge joins a document of a hot group to a pivot.
func (s Score) HotGroup() bool { return s.Total&HotGroupMark != 0 }

// Variant reports whether the documents are variants.
func (s Score) Variant() bool { return s.Total&VariantMark != 0 }

// wholeMark, a bit of Shared in a packed edge, says that the figures of all shingles follow. It is free, since marks
// leave no room for so large a Total.
const wholeMark = 1 << 31

func sizeOf(s Score) int {
	if s.WholeTotal == 0 {
		return EdgeSize
	}
	return EdgeSize + 8
}

// WriteEdge writes an edge, as a record of a kind.
func WriteEdge[N graphs.Node | Number](run *runfile.Writer, kind runfile.Kind, shard int, e Edge[N]) error {
	b, err := run.Record(kind, shard, sizeOf(e.Score))
	if err == nil {
		PutEdge(b, e)
	}
	return err
}

// PutEdge packs an edge, into EdgeSize bytes unless it has figures of all shingles.
func PutEdge[N graphs.Node | Number](b []byte, e Edge[N]) {
	size := sizeOf(e.Score)
	if size > EdgeSize {
		e.Shared |= wholeMark
	}
	copy(b[:size], memoryOf(&e))
}

// GetEdge reads an edge.
func GetEdge[N graphs.Node | Number](b []byte) (e Edge[N]) {
	copy(memoryOf(&e), b[:EdgeSize])
	if e.Shared&wholeMark != 0 {
		copy(memoryOf(&e), b)
		e.Shared &^= wholeMark
	}
	return e
}

// NextEdge reads an edge, and returns the bytes of the next ones.
func NextEdge[N graphs.Node | Number](b []byte) (e Edge[N], rest []byte) {
	e = GetEdge[N](b)
	return e, b[sizeOf(e.Score):]
}

const (
	// heldBytes bounds the packed records of a kind that a shard holds to read them once. More are read each time.
	heldBytes = 16 << 20
	// bucketBits is the binary logarithm of the number of documents whose edges are sorted at a time.
	bucketBits = 12
)

// ReadEdges returns the edges of an output shard, sorted by A, then B, each once. A pair of documents may have been
// scored in several groups, and in a hot group.
func ReadEdges(reader *runfile.Reader, pieces []runfile.Piece) ([]Edge[Number], error) {
	each, err := EachEdge(reader, pieces)
	if err != nil {
		return nil, err
	}
	list, err := SortEdges(&paged.Store{}, each)
	if err != nil {
		return nil, err
	}
	edges, _ := list.Whole()
	return edges, nil
}

// SortEdges does what [ReadEdges] does with edges that each visits, twice in the same order. Edges that the store does
// not hold are sorted in runs.
func SortEdges(store *paged.Store, each func(visit func(Edge[Number])) error) (*paged.List[int, Edge[Number]], error) {
	var counts []int // of each bucket
	total := 0
	err := each(func(e Edge[Number]) {
		bucket := int(e.A >> bucketBits)
		if bucket >= len(counts) {
			counts = append(counts, make([]int, bucket+1-len(counts))...)
		}
		counts[bucket]++
		total++
	})
	if err != nil {
		return nil, err
	}
	edges := paged.New[int, Edge[Number]](store, total)
	if whole, is := edges.Whole(); is {
		err = dealEdges(whole, counts, each)
	} else {
		edges, err = mergeEdges(edges, each)
	}
	if err != nil {
		return nil, err
	}
	compactEdges(edges)
	return edges, nil
}

func edgeOrder(e *Edge[Number]) uint64 { return uint64(e.A)<<32 | uint64(e.B) }

// dealEdges fills the list with the edges that each visits, sorted. A cluster may have millions of edges. So they are
// dealt out to buckets in place, and each bucket is sorted by itself. Counts are the numbers of edges of the buckets.
func dealEdges(edges []Edge[Number], counts []int, each func(visit func(Edge[Number])) error) error {
	ends := counts
	total, most := 0, 0
	for bucket, n := range counts {
		ends[bucket] = total // where the bucket begins, and then where its next edge belongs
		total, most = total+n, max(most, n)
	}
	err := each(func(e Edge[Number]) {
		end := &ends[e.A>>bucketBits]
		edges[*end] = e
		*end++
	})
	if err != nil {
		return err
	}
	scratch, start := make([]Edge[Number], most), 0
	for _, end := range ends {
		bucket := edges[start:end]
		copy(bucket, graphs.RadixSort(bucket, scratch, edgeOrder))
		start = end
	}
	return nil
}

func mergeEdges(
	edges *paged.List[int, Edge[Number]], each func(visit func(Edge[Number])) error,
) (*paged.List[int, Edge[Number]], error) {
	n := 0
	err := each(func(e Edge[Number]) {
		edges.Set(n, e)
		n++
	})
	if err != nil {
		return nil, err
	}
	var scratch []Edge[Number]
	return paged.Sort(edges, func(run []Edge[Number]) error {
		scratch = slices.Grow(scratch[:0], len(run))[:len(run)]
		copy(run, graphs.RadixSort(run, scratch, edgeOrder))
		return nil
	}, func(a, b Edge[Number]) int { return cmp.Compare(edgeOrder(&a), edgeOrder(&b)) })
}

// EachEdge returns a function that visits the edges of an output shard, each time in the order of the pieces.
func EachEdge(reader *runfile.Reader, pieces []runfile.Piece) (each func(visit func(Edge[Number])) error, err error) {
	packed, err := eachPacked(reader, pieces, ShardEdges)
	return func(visit func(Edge[Number])) error {
		return packed(func(b []byte) {
			for len(b) > 0 {
				var e Edge[Number]
				e, b = NextEdge[Number](b)
				visit(e)
			}
		})
	}, err
}

// eachPacked returns a function that visits the packed records of a kind, in the order of the pieces, each time that it
// is called. They are read once if they may be held, else each time.
func eachPacked(
	reader *runfile.Reader, pieces []runfile.Piece, kind runfile.Kind,
) (each func(visit func(packed []byte)) error, err error) {
	var buffer []byte
	if runfile.SizeOf(pieces, kind) <= heldBytes {
		buffer, err = reader.ReadKind(nil, pieces, kind)
		return func(visit func([]byte)) error {
			visit(buffer)
			return nil
		}, err
	}
	return func(visit func([]byte)) error {
		for piece := range kind.Of(pieces) {
			var err error
			if buffer, err = reader.Read(buffer[:0], piece); err != nil {
				return err
			}
			visit(buffer)
		}
		return nil
	}, nil
}

// compactEdges drops repeats of sorted edges. They differ only in the mark of a hot group, which is kept.
func compactEdges(edges *paged.List[int, Edge[Number]]) {
	n := 0
	var last Edge[Number]
	for i := range edges.Len() {
		e := edges.At(i)
		if n > 0 && last.A == e.A && last.B == e.B {
			last.Total |= e.Total & HotGroupMark
			n--
		} else {
			last = e
		}
		edges.Set(n, last)
		n++
	}
	edges.Cut(n)
}

// SpanSize is the size of a span's record: its pair, its offsets in both documents, its number of words, the number of
// spans of the pair that are not listed, and the rarity of the pair.
const SpanSize = 36

// RarityUnit is the rarity of a shingle that only the two documents of a pair have, in the unit of [Span].
const RarityUnit = 1000

// Span is a passage that two documents have in common. N is how it names them, as in [Edge].
type Span[N graphs.Node | Number] struct {
	A, B N
	sketch.Span
	// More is the number of spans of the pair that are not listed.
	More uint32
	// Rarity says how rare it is what the pair shares, see [RarityUnit]; 0 where nobody asks.
	Rarity uint32
}

// ReadSpans returns the spans of an output shard in the order of its edges. The spans of an edge come longest first.
func ReadSpans(reader *runfile.Reader, pieces []runfile.Piece) ([]Span[Number], error) {
	packed, err := reader.ReadKind(nil, pieces, ShardSpans)
	if err != nil {
		return nil, err
	}
	spans := slices.AppendSeq(make([]Span[Number], 0, len(packed)/SpanSize), Each[Span[Number]](packed))
	slices.SortFunc(spans, func(x, y Span[Number]) int {
		return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B), cmp.Compare(y.Words, x.Words),
			cmp.Compare(x.StartA, y.StartA), cmp.Compare(x.StartB, y.StartB))
	})
	return spans, nil
}
