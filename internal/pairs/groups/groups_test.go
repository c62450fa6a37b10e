package groups

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	sources "mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// shards is the number of shards over which the keys of the tests are spread.
const shards = 3

// pair are two documents, the first before the second.
type pair struct{ a, b docref.Ref }

func pairOf(a, b docref.Ref) pair { return pair{min(a, b), max(a, b)} }

// corpus holds the documents of a test. Equal digests have equal sizes and keys.
type corpus struct {
	documents  []candidates.Record        // without keys
	keys       map[digest.Digest][]uint64 // by digest
	firstInput docref.Ref
}

// newCorpus makes documents with a few keys each. Some keys are common to many.
func newCorpus(seed uint64, n, ofReference int) *corpus {
	random := rand.New(rand.NewPCG(seed, 1))
	c := &corpus{keys: map[digest.Digest][]uint64{}, firstInput: docref.Ref(ofReference)}
	for i := range n {
		d := candidates.Record{Ref: docref.Ref(i), Digest: digest.Digest{random.Uint64()}, Size: 1 + random.Uint32N(60)}
		if i > 0 && random.IntN(4) == 0 {
			d = c.documents[random.IntN(i)]
			d.Ref = docref.Ref(i)
		} else {
			for range 4 {
				key := 1 + random.Uint64N(uint64(n))
				if random.IntN(8) == 0 {
					key = random.Uint64N(2)
				}
				c.keys[d.Digest] = append(c.keys[d.Digest], (key+1)*0x9e3779b97f4a7c15)
			}
		}
		c.documents = append(c.documents, d)
	}
	return c
}

// write writes the key records of the documents.
func (c *corpus) write(t *testing.T, runs work.Runs) work.Outcome {
	o := write(t, runs, func(run *runfile.Writer) error {
		for _, d := range c.documents {
			for _, r := range candidates.AppendHashed(nil, d, c.keys[d.Digest]) {
				b, err := run.Record(records.Keys, records.ShardOf(r.Key, shards), records.LengthOfKey(&r))
				if err != nil {
					return err
				}
				records.PutKey(b, r)
			}
		}
		return nil
	})
	o.Counts.Documents = int64(len(c.documents))
	return o
}

// equals returns the classes of equal documents.
func (c *corpus) equals() (classes map[digest.Digest]candidates.Class, stars map[pair]bool) {
	classes, stars = map[digest.Digest]candidates.Class{}, map[pair]bool{}
	for _, d := range c.documents {
		class, known := classes[d.Digest]
		if !known {
			class = candidates.Class{First: d.Ref, Second: d.Ref}
		} else {
			stars[pairOf(class.First, d.Ref)] = true
			if class.Second < c.firstInput && d.Ref >= c.firstInput {
				class.Second = d.Ref
			}
		}
		classes[d.Digest] = class
	}
	return classes, stars
}

// pairs returns the pairs that have a common key in the same place, and sizes that allow the threshold.
func (c *corpus) pairs(threshold float64) map[pair]bool {
	classes, _ := c.equals()
	all := map[pair]bool{}
	for i, d := range c.documents {
		for _, other := range c.documents[:i] {
			isFirst := classes[d.Digest].First == d.Ref && classes[other.Digest].First == other.Ref
			if !isFirst || float64(min(d.Size, other.Size))/float64(max(d.Size, other.Size)) < threshold ||
				!c.meet(d, other) {
				continue
			}
			if x, y, ok := candidates.Ends(classes[d.Digest], classes[other.Digest], c.firstInput); ok {
				all[pairOf(x, y)] = true
			}
		}
	}
	return all
}

func (c *corpus) meet(a, b candidates.Record) bool {
	for k, key := range c.keys[a.Digest] {
		if min(k, candidates.MaxPrevious) == k && key == c.keys[b.Digest][k] {
			return true
		}
	}
	return false
}

// keyed returns the groups of a corpus.
func (c *corpus) keyed(threshold float64, bounds Bounds) *Keyed {
	return &Keyed{
		Layout:    &documents.Layout{FirstInput: c.firstInput},
		Shards:    shards,
		Threshold: threshold,
		Bounds:    &bounds,
	}
}

// first goes through all shards for the first time.
func (c *corpus) first(t *testing.T, runs work.Runs, k *Keyed) (keys work.Outcome, all []work.Outcome) {
	keys = c.write(t, runs)
	all = doShards(t, runs, keys, func(_ context.Context, task work.Task, w *work.TaskContext) error {
		return k.Shard(w, task.Number)
	})
	return keys, all
}

// found returns the candidate pairs and the edges that were written.
func found(t *testing.T, all []work.Outcome) (pairs, edges map[pair]bool) {
	pairs, edges = map[pair]bool{}, map[pair]bool{}
	parts := map[int]bool{}
	for _, kind := range []runfile.Kind{records.NodePairs, records.Edges} {
		for part := range worktest.Read(t, kind, work.RunsOf(all)...) {
			parts[part] = true
		}
	}
	for part := range parts {
		nodes := records.DecodePart(graphs.Part{}, worktest.Read(t, records.Nodes, work.RunsOf(all)...)[part])
		for b := worktest.Read(
			t, records.NodePairs, work.RunsOf(all)...,
		)[part]; len(b) > 0; b = b[records.NodePairSize:] {
			pair := records.Get[records.NodePair](b)
			pairs[pairOf(nodes.Refs[pair.A], nodes.Refs[pair.B])] = true
		}
		nodes = records.DecodePart(graphs.Part{}, worktest.Read(t, records.EdgeNodes, work.RunsOf(all)...)[part])
		for b := worktest.Read(t, records.Edges, work.RunsOf(all)...)[part]; len(b) > 0; b = b[records.EdgeSize:] {
			e := records.GetEdge[graphs.Node](b)
			if !e.Identical() {
				t.Errorf("%v: documents that share a key are said to be alike", e)
			}
			edges[pairOf(nodes.Refs[e.A], nodes.Refs[e.B])] = true
		}
	}
	return pairs, edges
}

func check(t *testing.T, what string, got, want map[pair]bool) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("%s: %d pairs, want %d", what, len(got), len(want))
	}
	if len(want) < 10 {
		t.Errorf("%s: %d pairs tell little", what, len(want))
	}
}

// TestShard finds all pairs that share a key, and the stars of equal documents.
func TestShard(t *testing.T) {
	for _, ofReference := range []int{0, 40} {
		for _, threshold := range []float64{0, 0.5} {
			c := newCorpus(2, 300, ofReference)
			_, all := c.first(t, worktest.Runs(t), c.keyed(threshold, UsualBounds()))
			pairs, edges := found(t, all)
			check(t, "candidates", pairs, c.pairs(threshold))
			_, stars := c.equals()
			check(t, "equal documents", edges, stars)
		}
	}
}

// TestPremerged: equal documents of a large shard, which are merged early, have the edges that they always have, in
// parts of bounded size.
func TestPremerged(t *testing.T) {
	for _, ofReference := range []int{0, 40} {
		c := newCorpus(7, 2000, ofReference)
		for i := range c.documents {
			// of the last class the first document may be of the reference
			if of := []int{50, 60, 3}[i%3]; i > of && i%7 > 2 {
				c.documents[i] = c.documents[of]
				c.documents[i].Ref = docref.Ref(i)
			}
		}
		k := c.keyed(0.5, UsualBounds())
		k.large = large{bytes: 1, nodes: 50, records: 3}
		_, all := c.first(t, worktest.Runs(t), k)
		pairs, edges := found(t, all)
		check(t, "candidates", pairs, c.pairs(0.5))
		_, stars := c.equals()
		check(t, "equal documents", edges, stars)
		parts := worktest.Read(t, records.EdgeNodes, work.RunsOf(all)...)
		for part, nodes := range parts {
			isFurther := part >= MostParts(shards) && (part-MostParts(shards))%3 == 2
			if part >= shards && !isFurther || len(nodes) > 50*records.NodeSize {
				t.Errorf("part %d has %d nodes", part, len(nodes)/records.NodeSize)
			}
		}
		if len(parts) < 10 {
			t.Errorf("only %d parts", len(parts))
		}
	}
}

// TestPremergedWithSides: equal documents that are merged early have the edges and pairs that they always have, also if
// they have sides.
func TestPremergedWithSides(t *testing.T) {
	for _, ofReference := range []int{0, 40} {
		c := newCorpus(8, 1500, ofReference)
		for i := range c.documents {
			if of := []int{50, 60, 3}[i%3]; i > of && i%7 > 2 {
				c.documents[i] = c.documents[of]
				c.documents[i].Ref = docref.Ref(i)
			}
			c.documents[i].Side = 1 + uint64(i*i%11%3)
			if i%3 == 0 {
				c.documents[i].Side = 7 // all documents of a class are of one side
			}
		}
		k := c.keyed(0.5, UsualBounds())
		_, all := c.first(t, worktest.Runs(t), k)
		pairs, edges := found(t, all)
		k.large = large{bytes: 1, nodes: 50, records: 3}
		_, all = c.first(t, worktest.Runs(t), k)
		premergedPairs, premergedEdges := found(t, all)
		check(t, "candidates", premergedPairs, pairs)
		check(t, "equal documents", premergedEdges, edges)
		if parts := worktest.Read(t, records.EdgeNodes, work.RunsOf(all)...); len(parts) < 10 {
			t.Errorf("only %d parts", len(parts))
		}
	}
}

// later goes through the oversized groups.
func (c *corpus) later(t *testing.T, runs work.Runs, k *Keyed, keys work.Outcome, all []work.Outcome) []work.Outcome {
	oversizedGroups := OversizedGroups{Bounds: *k.Bounds, Stars: k.Stars}
	_, tasks := worktest.Plan(t, runs, append([]work.Outcome{keys}, all...), oversizedGroups.Plan)
	for _, task := range tasks {
		if task.Step != OversizedStep {
			t.Fatalf("a task of step %d", task.Step)
		}
	}
	return append(all, worktest.Do(t, runs, tasks, func(_ context.Context, task work.Task, w *work.TaskContext) error {
		return k.OversizedGroups(w, task)
	})...)
}

// TestOversizedGroupsOfSmallCorpora: a small corpus has the same pairs whether its groups have waited or not.
func TestOversizedGroupsOfSmallCorpora(t *testing.T) {
	c := newCorpus(3, 1500, 20)
	runs := worktest.Runs(t)
	k := c.keyed(0.5, Bounds{Group: 3, Corpus: SmallCorpus})
	keys, all := c.first(t, runs, k)
	before, _ := found(t, all)
	pairs, _ := found(t, c.later(t, runs, k, keys, all))
	check(t, "candidates", pairs, c.pairs(0.5))
	if len(before) == len(pairs) {
		t.Error("no group has waited")
	}
}

// TestDenseGroups: documents of dense groups come to hot groups. All pairs that share a key are
// compared or in a hot group.
func TestDenseGroups(t *testing.T) {
	c := newCorpus(4, 1500, 0)
	runs := worktest.Runs(t)
	k := c.keyed(0, Bounds{Group: 3})
	keys, all := c.first(t, runs, k)
	all = c.later(t, runs, k, keys, all)
	pairs, _ := found(t, all)
	inHotGroups := map[docref.Ref]bool{}
	for part := range 2 * shards {
		for member := range records.All[records.HotGroupMember](worktest.Read(t, records.HotGroupMembers,
			work.RunsOf(all)...)[part]) {
			inHotGroups[member.Ref] = true
		}
	}
	missing := 0
	for p := range c.pairs(0) {
		switch {
		case pairs[p]:
		case inHotGroups[p.a] && inHotGroups[p.b]:
			missing++
		default:
			t.Errorf("%v are neither compared nor in a hot group", p)
		}
	}
	if missing == 0 || len(pairs) == 0 {
		t.Errorf("%d pairs are compared, %d left to hot groups", len(pairs), missing)
	}
}

// TestStars: where dense groups are stars, each of their documents is compared with the first one, and the skipped
// pairs are counted.
func TestStars(t *testing.T) {
	c := newCorpus(5, 200, 0)
	for equal := range c.keys {
		c.keys[equal] = []uint64{1 << 40}
	}
	runs := worktest.Runs(t)
	k := c.keyed(0, Bounds{Group: 3, Passages: 5})
	k.Stars = true
	k.Layout.Inputs = &documents.Inputs{Files: oneFile("a")}
	keys, all := c.first(t, runs, k)
	all = c.later(t, runs, k, keys, all)
	pairs, _ := found(t, all)
	want, n := map[pair]bool{}, int64(0)
	classes, _ := c.equals()
	for _, class := range classes {
		n++
		if class.First != 0 {
			want[pair{0, class.First}] = true
		}
	}
	check(t, "star", pairs, want)
	var skipped findings.Skipped
	for _, o := range all {
		findings.Merge(&skipped, o.Skipped)
	}
	if skipped.Groups != 1 || skipped.Pairs != n*(n-1)/2-(n-1) {
		t.Errorf("skipped %+v of %d documents", skipped, n)
	}
}

// TestEquals brings equal documents together, and names each distinct one once.
func TestEquals(t *testing.T) {
	c := newCorpus(6, 100, 30)
	runs := worktest.Runs(t)
	keys := write(t, runs, func(run *runfile.Writer) error {
		for _, d := range c.documents {
			d.Key, d.First = candidates.KeyOf(d.Digest[0], 0), true
			b, err := run.Record(records.Digests, records.ShardOf(d.Key, shards), records.KeySize)
			if err != nil {
				return err
			}
			records.PutKey(b, d)
		}
		return nil
	})
	e := Equals{FirstInput: c.firstInput, Shards: shards}
	all := doShards(t, runs, keys, func(_ context.Context, task work.Task, w *work.TaskContext) error {
		return e.Shard(w, task.Number)
	})
	classes, stars := c.equals()
	_, edges := found(t, all)
	check(t, "equal documents", edges, stars)
	got := map[candidates.Class]bool{}
	for shard := range shards {
		nodes := records.DecodePart(graphs.Part{}, worktest.Read(t, records.Distinct, work.RunsOf(all)...)[shard])
		for i, ref := range nodes.Refs {
			if first := nodes.Refs[nodes.Parents[i]]; first == ref {
				got[candidates.Class{First: ref, Second: ref}] = true
			} else {
				delete(got, candidates.Class{First: first, Second: first})
				got[candidates.Class{First: first, Second: ref}] = true
			}
		}
	}
	want := map[candidates.Class]bool{}
	for _, class := range classes {
		want[class] = true
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%d distinct documents, want %d", len(got), len(want))
	}
}

// TestRepeatedIDs finds the ids that several documents have.
func TestRepeatedIDs(t *testing.T) {
	runs := worktest.Runs(t)
	ids := []string{"a", "b", "", "c", "b", "", "d", "a", "b"}
	written := write(t, runs, func(run *runfile.Writer) error {
		for i, id := range ids {
			if id == "" {
				continue
			}
			if err := WriteID(run, shards, docref.Ref(i), HashID([]byte(id))); err != nil {
				return err
			}
		}
		return nil
	})
	starts := []docref.Ref{0, 4, 6}
	layout := &documents.Layout{Starts: starts, Inputs: &documents.Inputs{Files: []sources.File{{Name: "f"}}}}
	find := func(_ context.Context, _ work.Task, w *work.TaskContext) error { return RepeatedIDs(w, layout) }
	all := doShards(t, runs, written, find)
	for split, want := range [][]docref.Ref{{0, 1}, {4}, {7, 8}} {
		var got []docref.Ref
		for b := worktest.Read(t, records.Repeated, work.RunsOf(all)...)[split]; len(b) > 0; b = b[records.RefSize:] {
			got = append(got, records.GetRef(b))
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("split %d: %d, want %d", split, got, want)
		}
	}
	// Documents before FirstInput are of the reference. Its ids may stand in the input, too.
	for first, want := range map[docref.Ref]string{
		0: "2 ids of 5: f:0 and f:7",
		1: "1 ids of 3: f:1 and f:4",
		2: "1 ids of 2: f:4 and f:8",
		5: "0 ids of 0:  and ",
	} {
		layout.FirstInput = first
		var counts findings.Counts
		var found findings.RepeatedIDs
		for _, o := range doShards(t, runs, written, find) {
			findings.Merge(&counts, o.Counts)
			findings.Merge(&found, o.Repeated)
		}
		got := fmt.Sprintf("%d ids of %d: %s and %s", counts.RepeatedIDs, found.Documents, found.Example.First,
			found.Example.Second)
		if got != want {
			t.Errorf("from %d on %s, want %s", first, got, want)
		}
	}
}

// TestLimit: oversized groups are compared, the smallest first, within what the corpus allows.
func TestLimit(t *testing.T) {
	b := Bounds{Corpus: 10, Spare: 100, Each: 2}
	for _, c := range []struct {
		oversizedGroups []int64
		documents       int64
		want            int64
	}{
		{nil, 11, 1 << 62},
		{[]int64{64, 128}, 8, 64},
		{[]int64{64}, 8, 1 << 62},
		{[]int64{8, 8, 120, 1 << 20}, 11, 64},
		{[]int64{8, 8, 120, 1 << 20}, 50, 1 << 19},
		{[]int64{300}, 11, 256},
		{[]int64{200}, 100, 1 << 62},
	} {
		if got := b.Limit(c.oversizedGroups, c.documents); got != c.want {
			t.Errorf("oversized groups of %d pairs, %d documents: limit %d, want %d", c.oversizedGroups, c.documents,
				got, c.want)
		}
	}
}

// oneFile is a list of one file.
func oneFile(name string) []sources.File { return []sources.File{{Name: name}} }
