package methods

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// text is a document of a test: shingles in their order, without repeats, and a
// fingerprint.
type text struct {
	ref      docref.Ref
	shingles []uint64
	simHash  []uint64
}

func (x *text) set() []uint64 { return slices.Sorted(slices.Values(x.shingles)) }

func (x *text) digest() digest.Digest {
	hash := uint64(1)
	for _, shingle := range x.set() {
		hash = hash*0x9e3779b97f4a7c15 + shingle
	}
	return digest.Digest{hash * 0xd6e8feb86659fd93}
}

func (x *text) sequence() sketch.Sequence {
	s := sketch.Sequence{Shingles: x.shingles}
	for i := range x.shingles {
		s.Tokens = append(s.Tokens, uint32(i))
		s.Starts = append(s.Starts, uint32(4*i))
		s.Ends = append(s.Ends, uint32(4*i+12))
	}
	return s
}

// document returns what keys are made of where the whole text is at hand.
func (x *text) document() *Document {
	return &Document{
		Ref:     x.ref,
		Digest:  x.digest(),
		Size:    len(x.shingles),
		Content: fingerprints.Content{Set: x.set(), Sequence: x.sequence()},
		SimHash: x.simHash,
	}
}

// scene is a corpus and the place where a job works on it.
type scene struct {
	texts []text
	runs  work.Runs
	p     Parameters

	joined bool // a task does all splits, or all ranges
}

// newScene makes documents in two files. Some are near-copies, copies or empty. The first file is the reference.
func newScene(t *testing.T) *scene {
	random := rand.New(rand.NewPCG(5, 6))
	const n = 300
	s := &scene{runs: worktest.Runs(t)}
	for i := range n {
		ref, err := docref.New(i/200, int64(10*i))
		if err != nil {
			t.Fatal(err)
		}
		x := text{ref: ref, simHash: []uint64{random.Uint64(), random.Uint64()}}
		for range 10 + random.IntN(40) {
			x.shingles = append(x.shingles, random.Uint64N(1<<48))
		}
		switch kind := random.IntN(8); {
		case i == 0 || kind == 0:
		case kind == 1:
			x.shingles = nil
		case kind == 2:
			other := s.texts[random.IntN(i)]
			x.shingles, x.simHash = other.shingles, other.simHash
		default:
			other := s.texts[random.IntN(i)]
			x.shingles, x.simHash = slices.Clone(other.shingles), slices.Clone(other.simHash)
			for range random.IntN(4) {
				if len(x.shingles) > 0 {
					x.shingles[random.IntN(len(x.shingles))] = random.Uint64N(1 << 48)
				}
				x.simHash[random.IntN(2)] ^= 1 << random.IntN(64)
			}
		}
		s.texts = append(s.texts, x)
	}
	path := filepath.Join(t.TempDir(), "inputs.gob")
	err := documents.WriteInputs(path, documents.Inputs{
		Files:  []corpus.File{{Name: "old", Size: 1 << 20, Reference: true}, {Name: "new", Size: 1 << 20}},
		Splits: []corpus.Split{{{File: 0, End: 1 << 20}}, {{File: 1, End: 1 << 20}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.p = Parameters{
		Inputs:      work.Path(path),
		Shards:      3,
		Threshold:   0.7,
		Shingle:     3,
		Scheme:      lshbands.Scheme{Bands: 9, Rows: 3},
		SimHashBits: 128,
		Distance:    5,
		Scoring:     Jaccard,
		Bounds:      groups.UsualBounds(),
	}
	return s
}

// blocks writes the sketch blocks of the documents, one for each split, with what the method reads.
func (s *scene) blocks(t *testing.T, m *Method) []work.Outcome {
	var all []work.Outcome
	for split := range 2 {
		scheme := lshbands.Scheme{}
		if m.Reads&ReadsBands != 0 {
			scheme = s.p.Scheme
		}
		bands, err := fingerprints.NewBands(scheme)
		if err != nil {
			t.Fatal(err)
		}
		run := runfile.NewWriter(string(s.runs.Folder), 1<<16)
		builder := sketchblock.NewBuilder(scheme.Bands, 2)
		for i := range s.texts {
			if x := &s.texts[i]; x.ref.File() == split {
				d := sketchblock.Document{
					Ref:     x.ref,
					Digest:  x.digest(),
					Set:     x.set(),
					Size:    len(x.shingles),
					Keys:    bands.Of(x.set()),
					SimHash: x.simHash,
					ID:      []byte{byte(i % 200)},
				}
				if m.Fingerprints == fingerprints.Sequences {
					d.Set, d.Sequence = nil, sketchblock.AppendSequence(nil, sketchblock.Sequence(x.sequence()))
				}
				builder.Add(d)
			}
		}
		o := work.Outcome{
			Stage:    work.Fingerprint,
			Number:   split,
			Shingles: int64(len(builder.Sets()) / sketchblock.HashSize),
		}
		o.Counts.Documents = int64(builder.Len())
		err = run.Section(records.Documents, split, builder.Documents()...)
		if err == nil {
			err = run.Section(records.Sets, split, builder.Sets())
		}
		if err == nil {
			o.Run, err = run.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	return all
}

// key makes the keys of all documents as a job does.
func (s *scene) key(t *testing.T, m *Method) []work.Outcome {
	t.Helper()
	blocks := s.blocks(t, m)
	var tasks []work.Task
	if m.Ordered {
		order := Ordering{Method: m.Name, Parameters: s.p}
		_, tasks = worktest.Plan(t, s.runs, s.count(t, blocks), order.Plan)
	} else {
		tasks = worktest.Tasks(t, s.runs, m.Needs(1), work.RunsOf(blocks)...)
	}
	keying := Keying{Method: m.Name, Parameters: s.p}
	if err := keying.Setup(); err != nil {
		t.Fatal(err)
	}
	return s.do(t, tasks, keying.Task)
}

// do does tasks.
func (s *scene) do(t *testing.T, tasks []work.Task,
	do func(context.Context, work.Task, *work.TaskContext) error,
) []work.Outcome {
	t.Helper()
	if s.joined {
		tasks = worktest.Joined(tasks)
	}
	return worktest.Do(t, s.runs, tasks, do)
}

// group brings the documents of keys together.
func (s *scene) group(t *testing.T, m *Method, keys []work.Outcome) []work.Outcome {
	t.Helper()
	grouping := Grouping{Method: m.Name, Parameters: s.p}
	if err := grouping.Setup(); err != nil {
		t.Fatal(err)
	}
	return worktest.Do(t, s.runs, worktest.Tasks(t, s.runs, m.GroupNeeds(), work.RunsOf(keys)...), grouping.Task)
}

// counters returns counters that have counted all shingles.
func (s *scene) counters() *lshbands.Counters {
	total := 0
	for i := range s.texts {
		total += len(s.texts[i].shingles)
	}
	counters := lshbands.NewCounters(total)
	for i := range s.texts {
		counters.Add(s.texts[i].set())
	}
	return counters
}

// pair are two documents, the first before the second.
type pair struct{ a, b docref.Ref }

func pairOf(a, b docref.Ref) pair { return pair{min(a, b), max(a, b)} }

// found returns the candidate pairs and the scores of the edges that were written.
func (s *scene) found(t *testing.T, all []work.Outcome) (pairs map[pair]bool, edges map[pair]records.Score) {
	pairs, edges = map[pair]bool{}, map[pair]records.Score{}
	for shard := range s.p.Shards {
		nodes := records.DecodePart(graphs.Part{}, worktest.Read(t, records.Nodes, work.RunsOf(all)...)[shard])
		for b := worktest.Read(
			t, records.NodePairs, work.RunsOf(all)...,
		)[shard]; len(b) > 0; b = b[records.NodePairSize:] {
			pair := records.Get[records.NodePair](b)
			pairs[pairOf(nodes.Refs[pair.A], nodes.Refs[pair.B])] = true
		}
	}
	edgesOf := worktest.Read(t, records.Edges, work.RunsOf(all)...)
	for part, packed := range worktest.Read(t, records.EdgeNodes, work.RunsOf(all)...) {
		nodes := records.DecodePart(graphs.Part{}, packed)
		for b := edgesOf[part]; len(b) > 0; b = b[records.EdgeSize:] {
			e := records.GetEdge[graphs.Node](b)
			edges[pairOf(nodes.Refs[e.A], nodes.Refs[e.B])] = e.Score
		}
	}
	return pairs, edges
}

// near returns the near pairs, as [candidates.Ends] names them. Class gives equal documents the same number; only the
// first document of each class counts.
func (s *scene) near(class func(*text) uint64, isNear func(a, b *text) bool) map[pair]bool {
	firstInput, _ := docref.New(1, 0)
	classes := map[uint64]candidates.Class{}
	for i := range s.texts {
		x := &s.texts[i]
		c, known := classes[class(x)]
		if !known {
			c = candidates.Class{First: x.ref, Second: x.ref}
		} else if c.Second < firstInput && x.ref >= firstInput {
			c.Second = x.ref
		}
		classes[class(x)] = c
	}
	all := map[pair]bool{}
	for i := range s.texts {
		for j := range i {
			a, b := &s.texts[j], &s.texts[i]
			isFirst := classes[class(a)].First == a.ref && classes[class(b)].First == b.ref
			if !isFirst || len(a.shingles) == 0 || len(b.shingles) == 0 || !isNear(a, b) {
				continue
			}
			if x, y, ok := candidates.Ends(classes[class(a)], classes[class(b)], firstInput); ok {
				all[pairOf(x, y)] = true
			}
		}
	}
	return all
}

func jaccard(a, b *text) float64 {
	shared := 0
	for _, shingle := range a.shingles {
		if slices.Contains(b.shingles, shingle) {
			shared++
		}
	}
	return float64(shared) / float64(len(a.shingles)+len(b.shingles)-shared)
}

func distance(a, b *text) int {
	return bits.OnesCount64(a.simHash[0]^b.simHash[0]) + bits.OnesCount64(a.simHash[1]^b.simHash[1])
}

// TestTell: each method says what it has found, and admits what was skipped. One that promises nothing says that.
func TestTell(t *testing.T) {
	told := Told{
		Threshold: .8,
		Scheme:    lshbands.Scheme{Bands: 1, Rows: 3},
		Tables:    1,
		Bits:      64,
		Distance:  3,
		Words:     9,
		Recall:    1,
	}
	skips, candidates := told, told
	skips.Skips, skips.Scheme.Bands, skips.Tables, candidates.Recall = true, 7, 4, 0
	for _, c := range []struct {
		name Name
		told Told
		want string
	}{
		{All, told, "all pairs are compared: recall 1 by construction at the threshold 0.8"},
		{Exact, told, "exact keys: recall 1 by construction at the threshold 0.8"},
		{Exact, skips, "exact keys: recall 1 by construction at the threshold 0.8, except for skipped pairs"},
		{
			MinHash, told,
			"1 band of 3 rows finds a pair at the threshold 0.8 with probability 1.0000, more similar ones more surely",
		},
		{
			MinHash, skips,
			"7 bands of 3 rows find a pair at the threshold 0.8 with probability 1.0000, more similar ones more surely",
		},
		{SimHash, told, "SimHash fingerprints of 64 bits that differ in at most 3, by 1 table: no pair is missed"},
		{
			SimHash, skips,
			"SimHash fingerprints of 64 bits that differ in at most 3, by 4 tables: no pair is missed except for skipped pairs",
		},
		{
			SimHash, candidates,
			"SimHash fingerprints of 64 bits that differ in at most 3 are candidates for the threshold 0.8; only the audit shows how many pairs they find",
		},
		{Passages, told, "documents that share 9 words in a row are always compared; shorter overlaps sometimes"},
		{SameBytes, told, "documents of the same bytes are joined, and no others"},
		{SameWords, told, "documents of the same words in the same order are joined, and no others"},
		{"toy", told, "keys auto, which promise nothing at the threshold 0.8"},
	} {
		method, _ := Of(c.name)
		if got := method.Tell(&c.told); got != c.want {
			t.Errorf("%s says %q, want %q", c.name, got, c.want)
		}
	}
}
