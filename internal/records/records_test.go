package records

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/paged"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
)

// TestRecords: every field of a record comes back, and none reaches beyond it.
func TestRecords(t *testing.T) {
	check := func(name string, size int, put func([]byte), get func([]byte) any, want any) {
		t.Helper()
		b := slices.Repeat([]byte{0xaa}, size+8)
		put(b[:size:size])
		if got := get(b[:size]); !reflect.DeepEqual(got, want) {
			t.Errorf("%s %+v, want %+v", name, got, want)
		}
	}
	key := candidates.Record{
		Key:      1<<63 | 2,
		Ref:      1<<62 | 2,
		Digest:   digest.Digest{1<<61 | 3, 1<<60 | 7},
		Size:     1<<31 | 4,
		Previous: [candidates.MaxPrevious]uint32{1<<31 | 5, 1<<30 | 6},
	}
	for _, hasBitmap := range []bool{false, true} {
		if key.HasBitmap = hasBitmap; hasBitmap {
			key.Position, key.Side, key.Previous[5] = 1<<28|1, 1<<63|9, 1<<31|7
		}
		check("key", LengthOfKey(&key), func(b []byte) { PutKey(b, key) }, func(b []byte) any {
			var got candidates.Record
			if rest := GetKey(b, &got); len(rest) > 0 || len(AfterKey(b)) > 0 || KeyPosition(b) != key.Position {
				t.Errorf("%d bytes are left of a key at %d, %d behind it", len(rest), KeyPosition(b), len(AfterKey(b)))
			}
			return got
		}, key)
	}
	check("plain key", KeySize+2*4, func(b []byte) { PutKey(b, candidates.Record{Key: 2}) }, func(b []byte) any {
		return len(AfterKey(b))
	}, 0)
	ref := docref.Ref(1<<63 | 7)
	known := KnownDocument{
		Digest: digest.Digest{1<<61 | 3, 1<<60 | 7},
		Scope:  1<<63 | 1,
		Side:   1<<63 | 2,
		Ref:    ref,
		Size:   1<<31 | 4,
		Keyed:  true,
	}
	check("known", KnownSize, func(b []byte) { Put(b, known) },
		func(b []byte) any { return Get[KnownDocument](b) }, known)
	check("ref", RefSize, func(b []byte) { PutRef(b, ref) }, func(b []byte) any { return GetRef(b) }, ref)
	for _, oversized := range []candidates.Record{
		{
			Key:      1<<63 | 2,
			Ref:      1<<62 | 2,
			Second:   1<<62 | 2,
			Size:     1<<31 | 4,
			Position: 1<<28 | 1,
			First:    true,
			Previous: [candidates.MaxPrevious]uint32{1<<31 | 5, 1<<30 | 6},
		},
		{
			Key:       1<<63 | 2,
			Ref:       1,
			Second:    2,
			Size:      3,
			Position:  1<<28 | 1,
			HasBitmap: true,
			Previous:  [candidates.MaxPrevious]uint32{1, 2, 3, 4, 5, 1<<30 | 6},
		},
		{Key: 1<<63 | 6, Ref: 3, Second: 3, Side: 1<<63 | 9, Size: 5},
		{
			Key:      1<<63 | 6,
			Ref:      3,
			Second:   1<<61 | 3,
			Size:     5,
			Position: 7,
			Previous: [candidates.MaxPrevious]uint32{1, 2, 3, 4, 5, 1<<30 | 6},
		},
	} {
		size := oversizedSize + 4*oversized.Words()
		if oversized.Second != oversized.Ref {
			size += RefSize
		}
		if oversized.Side != 0 {
			size += sideSize
		}
		check("document of an oversized group", size, func(b []byte) { putOversized(b, &oversized) },
			func(b []byte) any {
				got := candidates.Record{Key: oversized.Key}
				if rest := getOversized(b, &got, oversized.Side != 0); len(rest) > 0 {
					t.Errorf("%d bytes are left of a document of an oversized group", len(rest))
				}
				return got
			}, oversized)
	}
	for _, estimate := range []bool{false, true} {
		score := NewScore(1<<30|3, 1<<30|4, estimate)
		score.WholeShared, score.WholeTotal = 1<<29|5, 1<<31|6
		e := Edge[graphs.Node]{A: 1<<31 | 1, B: 1<<30 | 2, Score: score}
		check("edge", EdgeSize+8, func(b []byte) { PutEdge(b, e) }, func(b []byte) any {
			return GetEdge[graphs.Node](b)
		}, e)
	}
	plain := Edge[graphs.Node]{A: 1<<31 | 1, B: 1<<30 | 2, Score: NewScore(1<<28|3, 1<<28|4, true)}
	check("edge where all shingles count", EdgeSize, func(b []byte) { PutEdge(b, plain) }, func(b []byte) any {
		return GetEdge[graphs.Node](b)
	}, plain)
}

// TestOrderByNode: records come into the order of their nodes, each with all of its bytes.
func TestOrderByNode(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	size := Size[OfNode[Position]]()
	for n := range 40 {
		packed := make([]byte, n*size)
		for i, node := range random.Perm(n) {
			Put(packed[i*size:], OfNode[Position]{graphs.Node(node), Position{OutputShard(node + 1), Number(node + 2)}})
		}
		OrderByNode[Position](packed)
		for i := range n {
			want := OfNode[Position]{graphs.Node(i), Position{OutputShard(i + 1), Number(i + 2)}}
			if got := At[OfNode[Position]](packed, i); got != want {
				t.Errorf("record %d of %d: %+v", i, n, got)
			}
		}
	}
}

// TestIdentical: an estimate of 1 does not make documents identical.
func TestIdentical(t *testing.T) {
	for _, c := range []struct {
		Score
		want bool
	}{
		{NewScore(5, 5, false), true},
		{NewScore(0, 0, false), true}, // two documents without tokens
		{NewScore(4, 5, false), false},
		{NewScore(128, 128, true), false},
		{Score{Shared: 5, Total: 5 | HotGroupMark}, true},
		{Score{Shared: 5, Total: 5 | HotGroupMark | estimateMark}, false},
	} {
		if got := c.Identical(); got != c.want {
			t.Errorf("%+v: %v", c.Score, got)
		}
	}
}

// TestPlaces writes the records of places and reads them back: sets, pairs, and records of hot groups.
func TestPlaces(t *testing.T) {
	builder := sketchblock.NewBuilder(0, 0)
	builder.Add(sketchblock.Document{
		Ref:      5,
		Set:      []uint64{1, 2, 1<<48 - 1},
		Size:     1<<31 | 9,
		Priority: 1<<63 | 8,
		Ties:     preference.Ties{1<<62 | 3, 4},
		Scope:    1<<63 | 7,
		Side:     1<<63 | 6,
	})
	builder.Add(sketchblock.Document{Ref: 1 << 63, Set: []uint64{7}, Size: 1, Priority: 2})
	block, err := sketchblock.Parse(slices.Concat(builder.Documents()...))
	if err != nil {
		t.Fatal(err)
	}
	const place = 3
	first, second := builder.Sets()[:3*sketchblock.HashSize], builder.Sets()[3*sketchblock.HashSize:]
	w := runfile.NewWriter(t.TempDir(), 1<<20)
	defer w.Abort()
	for _, err := range []error{
		WriteSet(w, Want{Ref: 5, Place: place, Second: 1 << 62, HotGroup: 1<<31 | 1}, &block, 0, first),
		WriteSet(w, Want{Ref: 1 << 63, Place: place}, &block, 1, second),
		WriteSet(w, Want{Ref: 1 << 63, Place: place}, &block, 1, slices.Concat(second, first)),
		WriteFixed(w, PlacePairs, int(place), Pair{1<<63 | 1, 2}),
		WriteFixed(w, Stars, int(place), Pair{1<<63 | 3, 4}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	read := readBack(t, w)
	var sets []PlacedSet
	for packed := read(PlaceSets); len(packed) > 0; {
		var set PlacedSet
		set, packed = NextSet(packed)
		sets = append(sets, set)
	}
	want := []PlacedSet{
		{PlacedHead{
			Ref:      5,
			Size:     1<<31 | 9,
			Priority: 1<<63 | 8,
			Ties:     preference.Ties{1<<62 | 3, 4},
			Scope:    1<<63 | 7,
			Side:     1<<63 | 6,
			Second:   1 << 62,
			HotGroup: 1<<31 | 1,
			set:      uint32(len(first)),
		}, first, first[:0]},
		{PlacedHead{Ref: 1 << 63, Size: 1, Priority: 2, set: uint32(len(second))}, second, first[:0]},
		{PlacedHead{
			Ref:      1 << 63,
			Size:     1,
			Priority: 2,
			set:      uint32(len(second)),
			common:   uint32(len(first)),
		}, second, first},
	}
	if !reflect.DeepEqual(sets, want) {
		t.Errorf("sets %+v, want %+v", sets, want)
	}
	if pair := Get[Pair](read(PlacePairs)); pair != (Pair{1<<63 | 1, 2}) {
		t.Errorf("pair %v", pair)
	}
	if star := Get[Pair](read(Stars)); star != (Pair{1<<63 | 3, 4}) {
		t.Errorf("document %d is like pivot %d", star.A, star.B)
	}
}

// TestPart writes the nodes of a part of a graph and reads them back.
func TestPart(t *testing.T) {
	want := graphs.Part{
		Refs:    []docref.Ref{9, 2, 1 << 60},
		Weights: []uint32{1, 1 << 31, 3},
		Parents: graphs.Forest[graphs.Node]{0, 0, 2},
	}
	w := runfile.NewWriter(t.TempDir(), 1<<20)
	defer w.Abort()
	if err := WritePart(w, Nodes, 4, want); err != nil {
		t.Fatal(err)
	}
	if got := DecodePart(graphs.Part{}, readBack(t, w)(Nodes)); !reflect.DeepEqual(got, want) {
		t.Errorf("part %+v, want %+v", got, want)
	}
}

// TestShardOf cuts the range of hashes into shards of equal width, in order.
func TestShardOf(t *testing.T) {
	for _, shards := range []int{1, 2, 3, 50, 1024} {
		if ShardOf(0, shards) != 0 || ShardOf(1<<64-1, shards) != shards-1 {
			t.Errorf("%d shards: the ends are in %d and %d", shards, ShardOf(0, shards), ShardOf(1<<64-1, shards))
		}
		count := make([]int, shards)
		random := rand.New(rand.NewPCG(1, 2))
		last := uint64(0)
		for range 200 * shards {
			hash := random.Uint64()
			count[ShardOf(hash, shards)]++
			if (hash < last) != (ShardOf(hash, shards) < ShardOf(last, shards)) &&
				ShardOf(hash, shards) != ShardOf(last, shards) {
				t.Fatalf("%d shards: the order of %x and %x is lost", shards, hash, last)
			}
			last = hash
		}
		if slices.Min(count) < 100 || slices.Max(count) > 400 {
			t.Errorf("%d shards get from %d to %d of 200 each", shards, slices.Min(count), slices.Max(count))
		}
	}
}

// TestCompactEdges: a pair that was scored in a hot group and elsewhere is one edge of the hot group, whichever came
// first.
func TestCompactEdges(t *testing.T) {
	score := Score{Shared: 9, Total: 10}
	plain := Edge[Number]{1, 2, score}
	hotGroup := Edge[Number]{1, 2, Score{Shared: 9, Total: 10 | HotGroupMark}}
	other := Edge[Number]{1, 3, score}
	for _, edges := range [][]Edge[Number]{
		{plain, hotGroup, other},
		{hotGroup, plain, other},
		{plain, hotGroup, plain, other, other},
	} {
		if got := compacted(edges); !slices.Equal(got, []Edge[Number]{hotGroup, other}) {
			t.Errorf("%v: %v", edges, got)
		}
	}
	if got := compacted([]Edge[Number]{plain, plain}); !slices.Equal(got, []Edge[Number]{plain}) {
		t.Errorf("%v", got)
	}
}

// compacted returns edges without repeats.
func compacted(edges []Edge[Number]) []Edge[Number] {
	list := paged.Of[int](&paged.Store{}, slices.Clone(edges))
	compactEdges(list)
	whole, _ := list.Whole()
	return whole
}

// readBack closes a run and returns what reads all its records of a kind.
func readBack(t *testing.T, w *runfile.Writer) func(runfile.Kind) []byte {
	t.Helper()
	path, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	pieces, err := runfile.Pieces(path)
	if err != nil {
		t.Fatal(err)
	}
	return func(kind runfile.Kind) []byte {
		t.Helper()
		var reader runfile.Reader
		defer reader.Close()
		packed, err := reader.ReadKind(nil, pieces, kind)
		if err != nil {
			t.Fatal(err)
		}
		return packed
	}
}
