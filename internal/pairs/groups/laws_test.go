package groups

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	input "mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// joined returns the pairs of a kind that some parts hold, and how often each was written.
func joined(t *testing.T, all []work.Outcome, nodes, kind runfile.Kind, size int) map[pair]int {
	t.Helper()
	found := map[pair]int{}
	parts := worktest.Read(t, nodes, work.RunsOf(all)...)
	for part, packed := range worktest.Read(t, kind, work.RunsOf(all)...) {
		refs := records.DecodePart(graphs.Part{}, parts[part]).Refs
		for ; len(packed) > 0; packed = packed[size:] {
			pair := records.Get[records.NodePair](packed) // an edge begins with them too
			found[pairOf(refs[pair.A], refs[pair.B])]++
		}
	}
	return found
}

// TestShardsDoNotMatter: the pairs, the stars of equal documents and what waits are the same for any number of shards.
// Each edge is written once.
func TestShardsDoNotMatter(t *testing.T) {
	c := newCorpus(7, 1500, 30)
	var pairs, edges map[pair]bool
	var oversizedGroups []work.OversizedGroup
	for _, n := range []int{1, 2, 5, 31} {
		runs := worktest.Runs(t)
		k := c.keyed(0.5, Bounds{Group: 3, Corpus: SmallCorpus})
		k.Shards = n
		path := worktest.Write(t, runs, func(run *runfile.Writer) error {
			for _, d := range c.documents {
				for _, r := range candidates.AppendHashed(nil, d, c.keys[d.Digest]) {
					b, err := run.Record(records.Keys, records.ShardOf(r.Key, n), records.KeySize+4*r.Known())
					if err != nil {
						return err
					}
					records.PutKey(b, r)
				}
			}
			return nil
		})
		tasks := worktest.Tasks(t, runs, work.Delivery{Needed: []runfile.Kind{records.Keys}}, path)
		all := worktest.Do(t, runs, tasks, func(_ context.Context, task work.Task, w *work.TaskContext) error {
			return k.Shard(w, task.Number)
		})
		var waiting []work.OversizedGroup
		for i := range all {
			all[i].Stage = work.Group
			waiting = append(waiting, all[i].OversizedGroups...)
		}
		slices.SortFunc(waiting, func(a, b work.OversizedGroup) int { return cmp.Compare(a.ID, b.ID) })
		all = c.later(t, runs, k, work.Outcome{
			Stage:    work.Key,
			Run:      path,
			Findings: worktest.Counted(findings.Counts{Documents: int64(len(c.documents))}),
		}, all)
		met := joined(t, all, records.Nodes, records.NodePairs, records.NodePairSize)
		equal := joined(t, all, records.EdgeNodes, records.Edges, records.EdgeSize)
		for p, times := range equal {
			if times != 1 {
				t.Errorf("%d shards: the edge %v is written %d times", n, p, times)
			}
		}
		if pairs == nil {
			pairs, edges, oversizedGroups = setOf(met), setOf(equal), waiting
			check(t, "candidates", pairs, c.pairs(0.5))
			_, stars := c.equals()
			check(t, "equal documents", edges, stars)
			if len(oversizedGroups) == 0 {
				t.Error("no group has waited")
			}
			continue
		}
		if !maps.Equal(setOf(met), pairs) || !maps.Equal(setOf(equal), edges) ||
			!slices.Equal(waiting, oversizedGroups) {
			t.Errorf("%d shards: %d pairs, %d edges, %d crowds, want %d, %d and %d", n, len(met), len(equal),
				len(waiting), len(pairs), len(edges), len(oversizedGroups))
		}
	}
}

func setOf(counted map[pair]int) map[pair]bool {
	set := map[pair]bool{}
	for p := range counted {
		set[p] = true
	}
	return set
}

// TestWriters: pairs and edges come back as they were added, and their part joins just the documents that they join.
func TestWriters(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 9))
	runs := worktest.Runs(t)
	documents := make([]candidates.Record, 60)
	for i := range documents {
		documents[i] = candidates.Record{Ref: docref.Ref(i)<<40 | 7, Size: uint32(1000 + i)}
	}
	for kind, size := range map[runfile.Kind]int{
		records.NodePairs: records.NodePairSize,
		records.Edges:     records.EdgeSize,
	} {
		want := map[pair]int{}
		nodes := map[runfile.Kind]runfile.Kind{records.NodePairs: records.Nodes, records.Edges: records.EdgeNodes}[kind]
		const part = 5
		all := worktest.Do(t, runs, []work.Task{{}}, func(_ context.Context, _ work.Task, w *work.TaskContext) error {
			pairs, edges := NewPairs(w, part), NewEdges(w, part)
			for range 45 {
				a, b := &documents[random.IntN(60)], &documents[random.IntN(60)]
				want[pairOf(a.Ref, b.Ref)]++
				add := func() error { return edges.Add(a, b, records.NewScore(5, 9, false)) }
				if kind == records.NodePairs {
					add = func() error { return pairs.Add(a, b) }
				}
				if err := add(); err != nil {
					return err
				}
			}
			if kind == records.NodePairs {
				return pairs.Finish()
			}
			return edges.Finish()
		})
		if got := joined(t, all, nodes, kind, size); !maps.Equal(got, want) {
			t.Errorf("kind %d: %v, want %v", kind, got, want)
		}
		p := records.DecodePart(graphs.Part{}, worktest.Read(t, nodes, all[0].Run)[part])
		for i, ref := range p.Refs {
			if p.Weights[i] != uint32(1000+ref>>40) || slices.Index(p.Refs, ref) != i {
				t.Errorf("kind %d: document %d has the weight %d, or is there twice", kind, ref, p.Weights[i])
			}
		}
		root := map[docref.Ref]graphs.Node{}
		for i, ref := range p.Refs {
			root[ref] = p.Parents.Find(graphs.Node(i))
		}
		least := map[docref.Ref]docref.Ref{}
		for pair := range want {
			least[pair.a], least[pair.b] = pair.a, pair.b
		}
		for range want {
			for pair := range want {
				low := min(least[pair.a], least[pair.b])
				least[pair.a], least[pair.b] = low, low
			}
		}
		for a := range least {
			for b := range least {
				if got := root[a] == root[b]; got != (least[a] == least[b]) {
					t.Errorf("kind %d: %d and %d are joined: %v", kind, a, b, got)
				}
			}
		}
	}
}

// TestLimitIsLargest: all oversized groups within the limit together have no more pairs than the bounds allow. With
// twice the limit they would have.
func TestLimitIsLargest(t *testing.T) {
	random := rand.New(rand.NewPCG(10, 11))
	for range 2000 {
		b := Bounds{Corpus: 100, Spare: random.Int64N(5000), Each: random.Int64N(4)}
		documents := random.Int64N(300)
		oversizedGroups := make([]int64, random.IntN(30))
		for i := range oversizedGroups {
			oversizedGroups[i] = 1 + random.Int64N(1<<random.IntN(14))
		}
		within := func(limit int64) (sum int64) {
			for _, pairs := range oversizedGroups {
				if pairs <= limit {
					sum += pairs
				}
			}
			return sum
		}
		allowed := documents * documents
		if documents > b.Corpus {
			allowed = b.Spare + b.Each*documents
		}
		limit := b.Limit(oversizedGroups, documents)
		if limit&(limit-1) != 0 || within(limit) > allowed || limit < 1<<62 && within(max(2*limit, 1)) <= allowed {
			t.Fatalf("%+v, %d documents, crowds %d: limit %d", b, documents, oversizedGroups, limit)
		}
	}
}

// TestFailures: a damaged run, or a folder that cannot be written to, is an error of every task, and leaves no run.
func TestFailures(t *testing.T) {
	c := newCorpus(9, 1500, 0)
	runs := worktest.Runs(t)
	k, e := c.keyed(0, Bounds{Group: 3}), Equals{Shards: shards}
	keys, all := c.first(t, runs, k)
	oversizedGroups := OversizedGroups{Bounds: *k.Bounds}
	_, later := worktest.Plan(t, runs, append([]work.Outcome{keys}, all...), oversizedGroups.Plan)
	digests := write(t, runs, func(run *runfile.Writer) error {
		for i := range docref.Ref(20) {
			if err := WriteID(run, 1, i, HashID([]byte("the same"))); err != nil {
				return err
			}
			b, err := run.Record(records.Digests, 0, records.KeySize)
			if err != nil {
				return err
			}
			records.PutKey(b, candidates.Record{Ref: i, Digest: digest.Digest{5}, Size: 6})
		}
		return nil
	})
	for name, c := range map[string]struct {
		task work.Task
		do   func(context.Context, work.Task, *work.TaskContext) error
		runs []string
	}{
		"keys": {
			worktest.Tasks(t, runs, work.Delivery{Needed: []runfile.Kind{records.Keys}}, keys.Run)[0],
			placed(k.Shard),
			[]string{keys.Run},
		},
		"crowds": {
			later[0], func(_ context.Context, task work.Task, w *work.TaskContext) error {
				return k.OversizedGroups(w, task)
			}, work.RunsOf(all),
		},
		"digests": {
			worktest.Tasks(t, runs, work.Delivery{Needed: []runfile.Kind{records.Digests}}, digests.Run)[0],
			placed(e.Shard),
			[]string{digests.Run},
		},
		"ids": {
			worktest.Tasks(t, runs, work.Delivery{Needed: []runfile.Kind{records.IDs}}, digests.Run)[0],
			placed(func(w *work.TaskContext, _ int) error {
				return RepeatedIDs(w, &documents.Layout{
					Starts: []docref.Ref{0},
					Inputs: &documents.Inputs{Files: make([]input.File, 1)},
				})
			}),
			[]string{digests.Run},
		},
	} {
		t.Run(name, func(t *testing.T) {
			full := runs
			full.Folder += "/none"
			if o, err := worktest.Try(t, full, c.task, c.do); err == nil || o.Run != "" {
				t.Errorf("no folder: error %v, run %q", err, o.Run)
			}
			whole := map[string][]byte{}
			for _, run := range c.runs {
				packed, err := os.ReadFile(run)
				if err != nil {
					t.Fatal(err)
				}
				whole[run] = slices.Clone(packed)
				for i := range packed[:len(packed)*3/4] {
					packed[i] ^= 1
				}
				if err := os.WriteFile(run, packed, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if o, err := worktest.Try(t, runs, c.task, c.do); err == nil || o.Run != "" {
				t.Errorf("a damaged run: error %v, run %q", err, o.Run)
			}
			for run, packed := range whole {
				if err := os.WriteFile(run, packed, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := worktest.Try(t, runs, c.task, c.do); err != nil {
				t.Errorf("whole again: %v", err)
			}
		})
	}
	gone := work.Task{Number: 1, Catalog: fmt.Sprint(runs.Folder, "/none")}
	if _, err := worktest.Try(t, runs, gone, placed(k.Shard)); err == nil {
		t.Error("a catalog that is not there is read")
	}
}

// placed makes a task of what works on a shard.
func placed(shard func(*work.TaskContext, int) error) func(context.Context, work.Task, *work.TaskContext) error {
	return func(_ context.Context, task work.Task, w *work.TaskContext) error { return shard(w, task.Number) }
}
