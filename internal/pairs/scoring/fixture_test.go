package scoring

import (
	"cmp"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// firstPart is the number of the first part of the graph that the tests make.
const firstPart = 100

// newInputs makes the inputs of a job of two files. Each is a split. The first one
// is a reference.
func newInputs(t *testing.T, runs work.Runs) work.Path {
	t.Helper()
	path := filepath.Join(string(runs.Folder), "inputs")
	err := documents.WriteInputs(path, documents.Inputs{
		Files:  []corpus.File{{Name: "a", Size: 1000, Reference: true}, {Name: "b", Size: 1000}},
		Splits: []corpus.Split{{{File: 0, End: 1000}}, {{File: 1, End: 1000}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return work.Path(path)
}

// newRef returns the ref of document i of the reference, or of the input.
func newRef(t *testing.T, isReference bool, i int) docref.Ref {
	t.Helper()
	file := 1
	if isReference {
		file = 0
	}
	ref, err := docref.New(file, int64(i))
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// text is a document with its full set, ascending.
type text struct {
	records.Want
	set      []uint64
	priority preference.Priority
	side     uint64
	// stored is the set as it is sent, if it is not sent in full.
	stored []uint64
	// sequence is sent instead of a set.
	sequence []byte
}

// write sends the document to its place.
func (d *text) write(run *runfile.Writer) error {
	builder := sketchblock.NewBuilder(0, 0)
	stored := d.set
	if d.stored != nil {
		stored = d.stored
	}
	builder.Add(sketchblock.Document{
		Ref:      d.Ref,
		Set:      stored,
		Sequence: d.sequence,
		Size:     len(d.set),
		Priority: d.priority,
		Side:     d.side,
	})
	block, err := sketchblock.Parse(slices.Concat(builder.Documents()...))
	if err != nil {
		return err
	}
	return records.WriteSet(run, d.Want, &block, 0, builder.Sets())
}

// newSet returns a set of n random hashes.
func newSet(random *rand.Rand, n int) []uint64 {
	set := make([]uint64, n)
	for i := range set {
		set[i] = random.Uint64N(1 << 48)
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// vary returns a copy of the set in which about one in every hashes is replaced, every being a number.
func vary(random *rand.Rand, set []uint64, every int) []uint64 {
	set = slices.Clone(set)
	for i := range set {
		if random.IntN(every) == 0 {
			set[i] = random.Uint64N(1 << 48)
		}
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// newTexts makes texts of 20 to 60 shingles, in families of texts that are much alike. One text in reference is of the
// reference corpus; 0: none.
func newTexts(t *testing.T, random *rand.Rand, n, reference int) (texts []text) {
	t.Helper()
	var family []uint64
	for i := range n {
		if i%6 == 0 {
			family = newSet(random, 20+random.IntN(40))
		}
		ref := newRef(t, reference > 0 && i%reference == 0, i+1)
		texts = append(texts, text{Want: records.Want{Ref: ref}, set: vary(random, family, 8)})
	}
	return texts
}

// jaccard counts the common and all hashes of two sets, one by one.
func jaccard(a, b []uint64) (shared, union int) {
	for _, element := range a {
		if slices.Contains(b, element) {
			shared++
		}
	}
	return shared, len(a) + len(b) - shared
}

// edge is an edge of the similarity graph.
type edge struct {
	a, b          docref.Ref // ascending
	shared, union uint32
	isEstimate    bool
	isHotGroup    bool
}

// newEdge returns the edge of two documents.
func newEdge(a, b docref.Ref, shared, union int) edge {
	return edge{a: min(a, b), b: max(a, b), shared: uint32(shared), union: uint32(union)}
}

func compareEdges(x, y edge) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) }

// readEdges returns the edges in a run file, ordered, and checks the part of the graph that
// they are in.
func readEdges(t *testing.T, o work.Outcome, number int) (edges []edge) {
	t.Helper()
	parts := worktest.Read(t, records.EdgeNodes, o.Run)
	if len(parts) > 1 || o.Run != "" && len(parts) > 0 && parts[number] == nil {
		t.Errorf("%d parts, want one of number %d", len(parts), number)
	}
	part := records.DecodePart(graphs.Part{}, parts[number])
	joined := slices.Clone(part.Parents)
	for packed := worktest.Read(t, records.Edges, o.Run)[number]; len(packed) > 0; packed = packed[records.EdgeSize:] {
		e := records.GetEdge[graphs.Node](packed)
		if joined.Find(e.A) != joined.Find(e.B) {
			t.Errorf("the part does not join %d and %d", part.Refs[e.A], part.Refs[e.B])
		}
		next := newEdge(part.Refs[e.A], part.Refs[e.B], int(e.Shared), int(e.Union()))
		next.isEstimate, next.isHotGroup = e.Estimate(), e.HotGroup()
		edges = append(edges, next)
	}
	slices.SortFunc(edges, compareEdges)
	return edges
}
