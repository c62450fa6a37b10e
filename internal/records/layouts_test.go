package records

import (
	"bytes"
	"encoding/binary"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
)

// filled is the content of fresh memory in these tests: a layout that leaves a byte unwritten is found out.
const filled = 0xaa

// FuzzLayouts: reading a record and writing it again gives the same bytes, in every layout of a fixed size. So no bit
// is lost or shared, and none moves.
func FuzzLayouts(f *testing.F) {
	const longest = 96
	random := rand.New(rand.NewPCG(11, 12))
	for range 200 {
		seed := make([]byte, longest)
		for i := range seed {
			seed[i] = byte(random.Uint32())
		}
		f.Add(seed)
	}
	f.Add(make([]byte, longest))
	f.Add(bytes.Repeat([]byte{0xff}, longest))
	f.Fuzz(func(t *testing.T, from []byte) {
		from = append(from, make([]byte, longest)...)[:longest]
		check := func(name string, size int, put func(b []byte)) {
			t.Helper()
			b := bytes.Repeat([]byte{filled}, size)
			if put(b); !bytes.Equal(b, from[:size]) {
				t.Errorf("%s: %x was read, %x is written", name, from[:size], b)
			}
		}
		if e := GetEdge[Number](from); e.WholeTotal != 0 || e.Shared == binary.LittleEndian.Uint32(from[8:]) {
			check("edge", sizeOf(e.Score), func(b []byte) { PutEdge(b, e) })
		}
		check("ref", RefSize, func(b []byte) { PutRef(b, GetRef(from)) })
		check("listed document", 24, func(b []byte) { Put(b, Get[ListedDocument](from)) })
		check("position of a node", 12, func(b []byte) { Put(b, Get[OfNode[Position]](from)) })
		check("location", 16, func(b []byte) { Put(b, Get[OfNode[NodeLocation]](from)) })
		check("span", SpanSize, func(b []byte) { Put(b, Get[Span[graphs.Node]](from)) })
		check("node", NodeSize, func(b []byte) { Put(b, Get[Node](from)) })
		check("occurrence", OccurrenceSize, func(b []byte) { Put(b, Get[Occurrence](from)) })

		var key candidates.Record
		known := candidates.KnownOf(binary.LittleEndian.Uint64(from))
		withBitmap := from[39]&0x20 != 0
		if known > candidates.MaxPrevious || withBitmap && known > 2 {
			return
		}
		// A side of 0 is none, and is never written.
		if rest := GetKey(from, &key); key.Side != 0 || from[39]&0x80 == 0 {
			check("key", longest-len(rest), func(b []byte) { PutKey(b, key) })
			want := KeySize + 4*known
			if withBitmap {
				want += bitmapSize
			}
			if from[39]&0x80 != 0 {
				want += sideSize
			}
			if longest-len(rest) != want || len(AfterKey(from)) != len(rest) {
				t.Errorf("a key with %d before it takes %d bytes, want %d", known, longest-len(rest), want)
			}
			for _, isExact := range []bool{false, true} {
				if isExact && known == 1 {
					continue // exact keys have a previous key of two words, or none
				}
				if got, want := PreviousKey(from, isExact), previousKey(&key, isExact); got != want {
					t.Errorf("%+v, exact %v: previous key %x, want %x", key, isExact, got, want)
				}
			}
		}
	})
}

// previousKey is what [PreviousKey] finds in the packed form of a record.
func previousKey(r *candidates.Record, isExact bool) uint64 {
	switch {
	case r.First || r.Known() == 0:
		return candidates.Unmet
	case isExact:
		return candidates.PreviousShingle(r.Previous[0], r.Previous[1])
	default:
		return uint64(r.Previous[0])
	}
}

// TestKinds: a number is in the run files of other versions, so no kind ever gets another one.
func TestKinds(t *testing.T) {
	const want = `Documents=1 Sets=2 Rejects=3 Keys=4 Fingerprints=5 IDs=6 Repeated=7 OversizedGroups=10 Limit=11
Nodes=12 NodePairs=13 Locations=14 Wanted=15 PlaceSets=16 PlacePairs=17 Sample=18 Audit=19 EdgeNodes=20 Edges=21
EdgeShards=22 Members=23 ShardMembers=24 ShardEdges=25 Removed=26 Spans=27 ShardSpans=28 HotGroupMembers=29 HotGroups=30
Stars=31 Unchecked=32 Blocks=33 Probe=34 Sums=35 Digests=36 Distinct=37 AnnotatedDocuments=38
SourceCounts=39 LeadingSources=40 Shingles=41 Frequencies=42
Pages=43 ShardPages=44 SiteCounts=45 SiteSums=46  Sites=48 Mirrored=50 Grouped=51 StretchFigures=52 Memberships=53 CachedPairs=54
SiteGroups=55 Alerts=56 Texts=57 TextMarks=58 TextRange=59
WholeDocuments=60 WholeSets=61 FrequentShingles=63 CommonParts=64 PartlyListed=65
SeenSets=69 PageClasses=70 SitePairs=71 Redirects=72 OriginalTraces=73 Known=74 Heads=75
PassageHashes=76 PassageRepeats=77 Trims=78 TrimRows=79
LastingKeys=83 KeptPairs=84 SharedIDs=86
Occurrences=87 Trees=88 Links=89 Renamed=90 RangeShards=91 AuditedMembers=92
PageTexts=93 Guards=94 Copies=95 Copiers=96 SeenPages=97 KeptCopies=98`
	file, err := parser.ParseFile(token.NewFileSet(), "kinds.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	owner := map[string]string{}
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, is := node.(*ast.ValueSpec); is {
			name, number := spec.Names[0].Name, spec.Values[0].(*ast.BasicLit).Value
			got = append(got, name+"="+number)
			if other, taken := owner[number]; taken {
				t.Errorf("%s and %s have the number %s", other, name, number)
			}
			owner[number] = name
		}
		return true
	})
	if !slices.Equal(got, strings.Fields(want)) {
		t.Errorf("kinds\n%s\nwant\n%s\nA new kind gets the next number, here too.", got, strings.Fields(want))
	}
}

// TestRangeOf: the range of a shard holds the keys of just those hashes that go to the shard.
func TestRangeOf(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, shards := range []int{1, 2, 3, 7, 50, 1000} {
		holds := func(hash uint64) {
			t.Helper()
			low, high := RangeOf(ShardOf(hash, shards), shards)
			for previous := range candidates.MaxPrevious + 1 {
				if key := candidates.KeyOf(hash, previous); key < low || key > high {
					t.Errorf("%x is out of the range %x to %x of its shard of %d", key, low, high, shards)
				}
			}
		}
		for shard := range shards {
			low, high := RangeOf(shard, shards)
			// The lowest three bits of a key are not of its hash, so the range may end that much too late.
			if low > high || ShardOf(low+8, shards) != shard || ShardOf(high-8, shards) != shard {
				t.Errorf("shard %d of %d: %x to %x", shard, shards, low, high)
			}
			for near := range uint64(20) {
				holds(low - 10 + near) // on both sides of the border, also of that between the last shard and the first
			}
		}
		for range 2000 {
			holds(random.Uint64())
		}
	}
}

// sections writes the records of a kind, and returns the packed records of each shard.
func sections(t *testing.T, kind runfile.Kind, write func(*runfile.Writer) error) map[int][]byte {
	t.Helper()
	w := runfile.NewWriter(t.TempDir(), 256)
	defer w.Abort()
	if err := write(w); err != nil {
		t.Fatal(err)
	}
	path, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	pieces, err := runfile.Pieces(path)
	if err != nil {
		t.Fatal(err)
	}
	var reader runfile.Reader
	defer reader.Close()
	packed := map[int][]byte{}
	for _, piece := range pieces {
		if piece.Kind != kind {
			t.Errorf("a section of kind %d, want %d", piece.Kind, kind)
		}
		if packed[piece.Shard], err = reader.Read(packed[piece.Shard], piece); err != nil {
			t.Fatal(err)
		}
	}
	return packed
}

// TestOversizedGroups: oversized groups come back with all their documents, in order, whatever the records hold.
func TestOversizedGroups(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	type oversizedGroup struct {
		group []candidates.Record
		pairs int64
	}
	var oversizedGroups []oversizedGroup
	for known := range 2 * (candidates.MaxPrevious + 1) {
		hasSides := known > candidates.MaxPrevious
		known %= candidates.MaxPrevious + 1
		c := oversizedGroup{pairs: random.Int64()}
		key := candidates.KeyOf(random.Uint64(), known)
		for i := range 1 + random.IntN(30) {
			ref := docref.Ref(random.Uint64())
			r := candidates.Record{
				Key:       key,
				Ref:       ref,
				Second:    ref,
				Size:      random.Uint32(),
				Position:  random.Uint32N(hasBitmap),
				First:     i%3 == 0,
				HasBitmap: candidates.KnownOf(key) <= 2 && i%2 == 0,
			}
			if i%2 == 0 {
				r.Second = docref.Ref(random.Uint64())
			}
			if hasSides {
				r.Side = 1 + random.Uint64()
			}
			for k := range r.Words() {
				r.Previous[k] = random.Uint32()
			}
			c.group = append(c.group, r)
		}
		oversizedGroups = append(oversizedGroups, c)
	}
	const shard = 4
	packed := sections(t, OversizedGroups, func(w *runfile.Writer) error {
		for _, c := range oversizedGroups {
			if err := WriteOversized(w, shard, c.group, c.pairs); err != nil {
				return err
			}
		}
		return nil
	})
	reader := OversizedReader{Packed: packed[shard]}
	for _, c := range oversizedGroups {
		if !reader.Next() || reader.Pairs != c.pairs || reader.Documents != len(c.group) {
			t.Fatalf("an oversized group of %d documents and %d pairs, want %d and %d", reader.Documents, reader.Pairs,
				len(c.group), c.pairs)
		}
		for i, want := range c.group {
			got := candidates.Record{Mark: 9, Digest: digest.Digest{9}} // what is left of another record
			if reader.Record(&got); got != want {
				t.Fatalf("document %d of %d\n%+v, want\n%+v", i, len(c.group), got, want)
			}
		}
	}
	if reader.Next() {
		t.Error("one oversized group more than was written")
	}
}

// TestWanted: the wants of a split come back ordered, each once, in whatever order tasks have written them.
func TestWanted(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	var want []Want
	for ref := range docref.Ref(40) {
		for place := range graphs.Place(3) {
			want = append(want, Want{
				Ref:      ref<<50 | 1,
				Place:    place<<20 | graphs.Place(random.IntN(1000)),
				Second:   docref.Ref(random.Uint64()),
				HotGroup: HotGroupNumber(random.Uint32()),
			})
		}
	}
	const split = 7
	packed := sections(t, Wanted, func(w *runfile.Writer) error {
		for _, i := range append(random.Perm(len(want)), random.Perm(len(want))[:50]...) {
			if err := Write(w, Wanted, split, &want[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if got := DecodeWanted(packed[split]); !slices.Equal(got, want) {
		t.Errorf("wants\n%v, want\n%v", got, want)
	}
}

// TestAuditDocuments: documents that are sampled for the audit come back in order, with their sets.
func TestAuditDocuments(t *testing.T) {
	sets := [][]uint64{{1, 2, 1<<48 - 1}, {}, {1 << 47}}
	var packed []byte
	for i, set := range sets {
		packed = AppendAuditDocument(packed, AuditDocument{
			Ref:    docref.Ref(1<<63 | uint64(i)),
			Hash:   1<<60 | uint64(i),
			Digest: 1<<62 | uint64(i),
			Scope:  1<<61 | uint64(i),
		}, set)
	}
	for i, set := range sets {
		var d AuditDocument
		d, packed = Next[AuditDocument](packed)
		if got := sketchblock.AppendSet([]uint64{}, d.Set); d.Ref != docref.Ref(1<<63|uint64(i)) ||
			d.Hash != 1<<60|uint64(i) || d.Digest != 1<<62|uint64(i) || d.Scope != 1<<61|uint64(i) ||
			!slices.Equal(got, set) {
			t.Errorf("document %d: %+v", i, d)
		}
	}
	if len(packed) > 0 {
		t.Errorf("%d bytes are left", len(packed))
	}
}

// TestClasses: classes of equal documents come back in order, each with its own partners.
func TestClasses(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	var classes []audit.Class
	for range 20 {
		c := audit.Class{
			Digest:     random.Uint64(),
			First:      docref.Ref(random.Uint64()),
			Last:       docref.Ref(random.Uint64()),
			Reference:  docref.Ref(random.Uint64()),
			Inputs:     random.Int64(),
			References: random.Int64(),
		}
		for range random.IntN(5) {
			c.Partners = append(c.Partners,
				audit.NewPartner(audit.SampledClass(random.Uint32N(1<<31)), random.IntN(2) == 0))
		}
		classes = append(classes, c)
	}
	packed := sections(t, Audit, func(w *runfile.Writer) error {
		for i := range classes {
			if err := Write(w, Audit, 0, &classes[i]); err != nil {
				return err
			}
		}
		return nil
	})[0]
	for i, want := range classes {
		var got audit.Class
		if got, packed = Next[audit.Class](packed); !reflect.DeepEqual(got, want) {
			t.Errorf("class %d is %+v, want %+v", i, got, want)
		}
	}
	if len(packed) > 0 {
		t.Errorf("%d bytes are left", len(packed))
	}
}

// TestPartsOfHotGroups: the documents of hot groups and the nodes of graphs come back in order, by shard.
func TestPartsOfHotGroups(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	var members [2][]HotGroupMember
	packed := sections(t, HotGroupMembers, func(w *runfile.Writer) error {
		for range 100 {
			part := random.IntN(2)
			m := HotGroupMember{
				Ref:    docref.Ref(random.Uint64()),
				Second: docref.Ref(random.Uint64()),
				Other:  docref.Ref(random.Uint64()),
				Size:   random.Uint32(),
			}
			members[part] = append(members[part], m)
			if err := Write(w, HotGroupMembers, part, &m); err != nil {
				return err
			}
		}
		return nil
	})
	for part, want := range members {
		got := slices.Collect(All[HotGroupMember](packed[part]))
		if !slices.Equal(got, want) {
			t.Errorf("part %d: %v, want %v", part, got, want)
		}
	}

	var nodes []Node
	packed = sections(t, Distinct, func(w *runfile.Writer) error {
		for range 100 {
			n := Node{docref.Ref(random.Uint64()), random.Uint32(), graphs.Node(random.Uint32())}
			nodes = append(nodes, n)
			if err := WriteFixed(w, Distinct, 5, n); err != nil {
				return err
			}
		}
		return nil
	})
	// memory of another part
	used := graphs.Part{Refs: make([]docref.Ref, 3, 1000), Weights: []uint32{7}, Parents: []graphs.Node{8}}
	part := DecodePart(used, packed[5])
	for i, n := range nodes {
		if got := (Node{part.Refs[i], part.Weights[i], part.Parents[i]}); got != n {
			t.Errorf("node %d is %+v, want %+v", i, got, n)
		}
	}
	if len(part.Refs) != len(nodes) || len(part.Weights) != len(nodes) || len(part.Parents) != len(nodes) {
		t.Errorf("%d nodes, want %d", len(part.Refs), len(nodes))
	}
}
