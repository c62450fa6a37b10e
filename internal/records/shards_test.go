package records

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/paged"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/sketch"
)

// runsOf writes as many runs as asked for, with what write gives to each, and returns all their pieces in random order.
func runsOf(t *testing.T, random *rand.Rand, runs int,
	write func(run int, w *runfile.Writer) error,
) (pieces []runfile.Piece) {
	t.Helper()
	for run := range runs {
		w := runfile.NewWriter(t.TempDir(), 300)
		if err := write(run, w); err != nil {
			t.Fatal(err)
		}
		path, err := w.Close()
		if err != nil {
			t.Fatal(err)
		}
		some, err := runfile.Pieces(path)
		if err != nil {
			t.Fatal(err)
		}
		pieces = append(pieces, some...)
	}
	random.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
	return pieces
}

// TestReadEdges: the edges of a shard are sorted, and each is there once, whatever run holds it. One that a hot group
// has found too has its mark.
func TestReadEdges(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	want := map[[2]Number]Edge[Number]{}
	pieces := runsOf(t, random, 4, func(_ int, w *runfile.Writer) error {
		for range 300 {
			a := random.Uint32N(30)
			e := Edge[Number]{A: Number(a << 20), B: Number(random.Uint32N(30))}
			e.Score = NewScore(int(a+1), 60, false) // a pair has the same score wherever it is compared
			if random.IntN(4) == 0 {
				e.Total |= HotGroupMark
			}
			known := want[[2]Number{e.A, e.B}]
			all := e
			all.Total |= known.Total
			want[[2]Number{e.A, e.B}] = all
			b, err := w.Record(ShardEdges, 2, EdgeSize)
			if err != nil {
				return err
			}
			PutEdge(b, e)
		}
		return w.Section(ShardSpans, 2, bytes.Repeat([]byte{filled}, SpanSize)) // not of this kind
	})
	var reader runfile.Reader
	defer reader.Close()
	got, err := ReadEdges(&reader, pieces)
	if err != nil {
		t.Fatal(err)
	}
	isSorted := slices.IsSortedFunc(got, func(x, y Edge[Number]) int {
		return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	if len(got) != len(want) || !isSorted {
		t.Errorf("%d edges, sorted %v, want %d", len(got), isSorted, len(want))
	}
	hotGroups := 0
	for _, e := range got {
		if e != want[[2]Number{e.A, e.B}] {
			t.Errorf("%+v, want %+v", e, want[[2]Number{e.A, e.B}])
		}
		if e.HotGroup() {
			hotGroups++
		}
	}
	if hotGroups == 0 || hotGroups == len(got) {
		t.Errorf("%d of %d edges are of heaps: this tells little", hotGroups, len(got))
	}
	if none, err := ReadEdges(&reader, nil); err != nil || len(none) > 0 {
		t.Errorf("%d edges of nothing (%v)", len(none), err)
	}
}

// TestReadManyEdges: edges that are too many to be held packed are sorted, too.
func TestReadManyEdges(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	const n = heldBytes/EdgeSize/2 + 100 // of two pieces
	pieces := runsOf(t, random, 2, func(run int, w *runfile.Writer) error {
		for i := range uint32(n) {
			b, err := w.Record(ShardEdges, 2, EdgeSize)
			if err != nil {
				return err
			}
			PutEdge(b, Edge[Number]{A: Number(i * 7919 % n), B: Number(2*i + uint32(run))})
		}
		return nil
	})
	var reader runfile.Reader
	defer reader.Close()
	edges, err := ReadEdges(&reader, pieces)
	if err != nil || len(edges) != 2*n {
		t.Fatalf("%d edges, want %d (%v)", len(edges), 2*n, err)
	}
	each, err := EachEdge(&reader, pieces)
	if err != nil {
		t.Fatal(err)
	}
	store := &paged.Store{Folder: t.TempDir(), Bytes: 30 << 20}
	defer store.Close()
	merged, err := SortEdges(store, each)
	if err != nil || merged.Len() != 2*n {
		t.Fatalf("%d edges, want %d (%v)", merged.Len(), 2*n, err)
	}
	for i, e := range edges {
		if i > 0 && cmp.Or(cmp.Compare(edges[i-1].A, e.A), cmp.Compare(edges[i-1].B, e.B)) >= 0 ||
			uint32(e.A) != uint32(e.B)/2*7919%n || e != merged.At(i) {
			t.Fatalf("edge %d is %+v", i, e)
		}
	}
}

// TestSimilarity: a score has the similarity that it was made with, whatever marks it has.
func TestSimilarity(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		union := 1 + random.IntN(VariantMark-1)
		shared, estimate := random.IntN(union+1), random.IntN(2) == 0
		e := NewScore(shared, union, estimate)
		if random.IntN(2) == 0 {
			e.Total |= HotGroupMark
		}
		_, isHamming := e.Hamming()
		if e.Similarity() != float64(shared)/float64(union) || e.Union() != uint32(union) ||
			e.Estimate() != estimate || isHamming {
			t.Fatalf("%d of %d, estimate %v: %+v", shared, union, estimate, e)
		}
		if want := shared == union && !estimate; e.Identical() != want {
			t.Fatalf("%d of %d, estimate %v: identical %v", shared, union, estimate, e.Identical())
		}
		if e.HotGroup() != (e.Total&HotGroupMark != 0) {
			t.Fatalf("%+v: heap %v", e, e.HotGroup())
		}
	}
	for _, bits := range []int{64, 128, 1024} {
		for distance := range bits + 1 {
			e := HammingScore(distance, bits)
			got, isHamming := e.Hamming()
			if !isHamming || int(got) != distance || e.Estimate() || e.HotGroup() ||
				e.Identical() != (distance == 0) || e.Union() != uint32(bits) {
				t.Fatalf("%d of %d bits: %+v, distance %d", distance, bits, e, got)
			}
			if want := 1 - float64(distance)/float64(bits); e.Similarity() != want {
				t.Fatalf("%d of %d bits: similarity %g, want %g", distance, bits, e.Similarity(), want)
			}
		}
	}
}

// memberOf returns all that is known of a document.
func memberOf(m *MemberList, i Number) Member {
	ranked := m.Ranked(i)
	of := Member{
		First:        m.First(i),
		Size:         m.Size(i),
		Ref:          ranked.Ref,
		Digest:       m.Digest(i),
		Priority:     ranked.Priority,
		Ties:         ranked.Ties,
		Source:       m.Source(i),
		Repeated:     m.Repeated(i),
		Unchecked:    m.Unchecked(i),
		PartlyListed: m.PartlyListed(i),
		Id:           m.ID(i),
	}
	if m.Sides() != nil {
		of.Side = m.Sides().At(i)
	}
	if capture := m.Capture(i); capture != (Capture{}) {
		of.Capture = &capture
	}
	return of
}

// TestMembers: the documents of an output shard come back by their numbers, with ids of any length, from any number of
// runs.
func TestMembers(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const n, shard = 200, 3
	want := make([]Member, n)
	numbers := random.Perm(n)
	pieces := runsOf(t, random, 4, func(run int, w *runfile.Writer) error {
		builder := sketchblock.NewBuilder(0, 0)
		var mine []int
		for i, number := range numbers {
			if i%4 != run {
				continue
			}
			m := &want[number]
			*m = Member{
				First:     Number(random.Uint32()),
				Ref:       docref.Ref(random.Uint64()),
				Size:      random.Uint32(),
				Priority:  preference.Priority(random.Uint64()),
				Ties:      preference.Ties{0, preference.Priority(random.IntN(2))},
				Repeated:  random.IntN(2) == 0,
				Unchecked: random.IntN(2) == 0,
				Digest:    digest.Digest{1 + random.Uint64()},
				Source:    sources.Number(random.IntN(sources.Most)),
			}
			id := make([]byte, random.IntN(40))
			for i := range id {
				id[i] = byte(random.Uint32())
			}
			m.Id = quoting.Text(id) // as rows write it
			d := sketchblock.Document{
				Ref:      m.Ref,
				ID:       id,
				Size:     int(m.Size),
				Priority: m.Priority,
				Ties:     m.Ties,
				Side:     random.Uint64N(2),
			}
			if m.Side = d.Side; random.IntN(2) == 0 {
				m.Capture = &Capture{URL: fmt.Sprintf("https://example.org/%d", i), Date: "2025", Title: "Fox & crow"}
				d.Capture = AppendCapture(nil, []byte(m.Capture.URL), []byte(m.Capture.Date), []byte(m.Capture.Title))
				if random.IntN(2) == 0 {
					m.Capture.Words = "some words\nof it"
					d.Capture = AppendText(d.Capture, 15, []byte("some words"), []byte("of it, cut"))
				}
			}
			builder.Add(d)
			mine = append(mine, number)
		}
		block, err := sketchblock.Parse(slices.Concat(builder.Documents()...))
		if err != nil {
			return err
		}
		for i, number := range mine {
			m := &want[number]
			listed := ListedDocument{
				Ref:   m.Ref,
				At:    Position{Shard: shard, Number: Number(number)},
				First: Position{Shard: shard, Number: m.First},
			}
			if err := WriteMember(w, listed, &block, i, FlagsOf(m.Repeated, m.Unchecked, m.PartlyListed, m.Source),
				m.Digest, block.Capture(i)); err != nil {
				return err
			}
		}
		return nil
	})
	for _, piece := range pieces {
		if piece.Kind != ShardMembers || piece.Shard != shard {
			t.Errorf("a section of kind %d, shard %d", piece.Kind, piece.Shard)
		}
	}
	var reader runfile.Reader
	defer reader.Close()
	for _, held := range []int{heldTexts, 1000, 0} { // what is longer is in a file
		folder := t.TempDir()
		store := &paged.Store{Folder: folder, Bytes: int64(min(held, 1))}
		defer store.Close()
		got, err := readMembers(&reader, pieces, store, texts{folder: folder, most: held})
		if err != nil || got.Len() != n || (got.texts.file != nil) != (held < heldTexts) {
			t.Fatalf("%d members (%v), want %d", got.Len(), err, n)
		}
		for _, i := range slices.Concat(random.Perm(n), random.Perm(n)) {
			if got := memberOf(got, Number(i)); !reflect.DeepEqual(got, want[i]) {
				t.Errorf("member %d is %+v, want %+v", i, got, want[i])
			}
		}
		if left, _ := os.ReadDir(folder); len(left) > 0 {
			t.Errorf("%v would stay if the process ended", left)
		}
		if got.Close(); held < heldTexts {
			got.texts.windows = [2]window{}
			for i := range want {
				got.ID(Number(i))
			}
			if got.Err() == nil {
				t.Error("a file that cannot be read is no error")
			}
		}
	}
	if m, err := readMembers(&reader, pieces, &paged.Store{},
		texts{folder: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Errorf("%d members without a folder for their texts", m.Len())
	}
}

// TestReadRefs: the refs of a kind are a set.
func TestReadRefs(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	want := map[docref.Ref]bool{}
	pieces := runsOf(t, random, 2, func(_ int, w *runfile.Writer) error {
		for i := range 100 {
			kind := []runfile.Kind{Repeated, Unchecked}[i%2]
			ref := docref.Ref(random.Uint64N(60) << 40)
			b, err := w.Record(kind, 1, RefSize)
			if err != nil {
				return err
			}
			if PutRef(b, ref); kind == Repeated {
				want[ref] = true
			}
		}
		return nil
	})
	var reader runfile.Reader
	defer reader.Close()
	if got, err := ReadRefs(&reader, pieces, Repeated); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("refs %v (%v), want %v", got, err, want)
	}
}

// TestReadSpans: the spans of a shard come in the order of edges. Those of an edge come longest first, then in the
// order of the texts.
func TestReadSpans(t *testing.T) {
	span := func(a, b Number, words, startA, startB uint32) Span[Number] {
		return Span[Number]{
			A:    a,
			B:    b,
			More: uint32(a),
			Span: sketch.Span{StartA: startA, EndA: startA + 9, StartB: startB, EndB: startB + 9, Words: words},
		}
	}
	want := []Span[Number]{
		span(0, 5, 9, 3, 3), span(0, 6, 9, 7, 0), span(0, 6, 8, 1, 4), span(0, 6, 8, 1, 5), span(0, 6, 8, 2, 0),
		span(1<<31, 2, 3, 0, 0),
	}
	random := rand.New(rand.NewPCG(9, 10))
	for range 5 {
		order := random.Perm(len(want))
		pieces := runsOf(t, random, 2, func(run int, w *runfile.Writer) error {
			for _, i := range order[3*run : 3*run+3] {
				b, err := w.Record(ShardSpans, 0, SpanSize)
				if err != nil {
					return err
				}
				Put(b, want[i])
			}
			return nil
		})
		var reader runfile.Reader
		if got, err := ReadSpans(&reader, pieces); err != nil || !slices.Equal(got, want) {
			t.Errorf("spans %v (%v), want %v", got, err, want)
		}
		reader.Close()
	}
}

// TestDamagedShards: records that are not what was written are an error of every reader, and no record.
func TestDamagedShards(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	pieces := runsOf(t, random, 1, func(_ int, w *runfile.Writer) error {
		for _, kind := range []runfile.Kind{ShardEdges, ShardMembers, ShardSpans, Repeated} {
			if err := w.Section(kind, 0, make([]byte, 64)); err != nil {
				return err
			}
		}
		return nil
	})
	for i := range pieces {
		pieces[i].Length -= 32 // of another length than its checksum says
	}
	var reader runfile.Reader
	defer reader.Close()
	edges, err1 := ReadEdges(&reader, pieces)
	members, err2 := ReadMembers(&reader, pieces, &paged.Store{Folder: t.TempDir()})
	spans, err3 := ReadSpans(&reader, pieces)
	refs, err4 := ReadRefs(&reader, pieces, Repeated)
	if err1 == nil || err2 == nil || err3 == nil || err4 == nil || members != nil ||
		len(edges)+len(spans)+len(refs) > 0 {
		t.Errorf("errors %v, %v, %v, %v", err1, err2, err3, err4)
	}
}
