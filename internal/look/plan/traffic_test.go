package plan

import (
	"math"
	"testing"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/match/groups"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/start/listing"
	"mirrorbeam/job"
)

// someWork is the work of a job with exact keys.
func someWork() Work {
	return Work{
		Documents: 1e6, Bytes: 1e9, Shingles: 1e8, IDs: 1e6, IDBytes: 8e6, Records: 4e6, RecordBytes: 1.6e8, Gathered: 2e5,
		GatheredShingles: 2e7, Listed: 3e5, Candidates: 2e5, Edges: 1.5e5, Identical: 5e4, Ordered: 1e8,
		Cut: Cut{Splits: 120, Blocks: 2000, Shards: 239, Outputs: 10, Lanes: 2, RunBytes: 8 << 20, PlaceBytes: 16 << 20},
	}
}

// TestStagesPassOn: what a stage writes is read by later ones, as often as these need it.
func TestStagesPassOn(t *testing.T) {
	w := someWork()
	of := map[work.Stage]Stage{}
	for _, s := range w.Stages(methods.Exact) {
		if s.Tasks <= 0 || s.WrittenBytes < 0 || (s.Pieces > 0) != (s.ReadBytes > 0) {
			t.Errorf("%+v", s)
		}
		of[s.Name] = s
	}
	for _, pass := range []struct {
		from, to work.Stage
	}{{work.Spread, work.Count}, {work.Gather, work.Score}, {work.Cluster, work.Write}} {
		if !near(of[pass.from].WrittenBytes, of[pass.to].ReadBytes) {
			t.Errorf("%s writes %+v, %s reads %+v", pass.from, of[pass.from], pass.to, of[pass.to])
		}
	}
	// The keys of a small shard are read once, keys of a large one twice, to be sorted.
	if key, group := of[work.Key].WrittenBytes, of[work.Group].ReadBytes; !near(group, key) {
		t.Errorf("%g bytes of keys are written, %g are read", key, group)
	}
	w.Shards = 8
	if large := w.Stages(methods.Exact)[4]; large.Name != work.Group || !near(large.ReadBytes, of[work.Group].ReadBytes+w.RecordBytes) {
		t.Errorf("of larger shards %+v", large)
	}
	w.Records = 3 * w.Shards * float64(groups.RecordsAtATime(0)) // which are sorted in three rounds
	if many := w.Stages(methods.Exact)[4]; !near(many.ReadBytes, of[work.Group].ReadBytes+3*w.RecordBytes) {
		t.Errorf("of very many records %+v", many)
	}
}

// TestOccupied compares with what follows from the probability that a place gets nothing.
func TestOccupied(t *testing.T) {
	for _, c := range [][3]float64{{0, 10, 0}, {1, 10, 1}, {5, 1, 1}, {0.5, 1, 0.5}, {1e9, 100, 100}, {10, 4, 4 * (1 - math.Pow(0.75, 10))}} {
		if got := occupied(c[0], c[1]); math.Abs(got-c[2]) > 1e-9 {
			t.Errorf("%g things occupy %g of %g places, want %g", c[0], got, c[1], c[2])
		}
	}
}

// TestScaled: a larger corpus of the same kind has more of everything, in the parts into which a job would cut it.
func TestScaled(t *testing.T) {
	w := someWork()
	const factor, memory, tasks = 1000, 8 << 30, 8
	s := w.Scaled(factor, memory, tasks)
	if s.Documents != factor*w.Documents || s.Records != factor*w.Records || s.Blocks != factor*w.Blocks || s.Drawn != 0 {
		t.Errorf("%+v scaled is %+v", w, s)
	}
	bytes := int64(s.Bytes)
	if s.Splits < s.Bytes/float64(listing.SplitBytes(bytes)) || s.Shards != float64(job.PlanMemory(memory, bytes, tasks).Shards) {
		t.Errorf("it is cut into %+v", s.Cut)
	}
	a, b := w.Needs(methods.Exact), s.Needs(methods.Exact)
	if ratio := b.TempBytes / a.TempBytes; ratio < 0.9*factor || ratio > 1.1*factor {
		t.Errorf("temporary files grow by %g", ratio)
	}
	if b.Requests.Reads <= a.Requests.Reads || b.Requests.Writes <= a.Requests.Writes || b.Requests.Dollars <= a.Requests.Dollars || b.Requests.InTurn >= b.Requests.Reads {
		t.Errorf("requests %+v, scaled %+v", a.Requests, b.Requests)
	}
}

// TestFewPieces: at a thousand million documents no stage reads a piece for each part and each shard, if workers have memory.
func TestFewPieces(t *testing.T) {
	w := someWork()
	s := w.Scaled(1000, 24<<30, 8)
	of := map[work.Stage]Stage{}
	for _, stage := range s.Stages(methods.Exact) {
		of[stage.Name] = stage
	}
	if group, key := of[work.Group].ReadBytes, of[work.Key].WrittenBytes; group > 2.1*key {
		t.Errorf("group reads %g bytes of %g: tasks that have memory sort all keys of a shard at a time", group, key)
	}
	for name, most := range map[work.Stage]float64{work.Count: 520 * s.Splits, work.Write: 140 * s.Outputs} {
		if of[name].Pieces > most || of[name].Pieces < most/4 {
			t.Errorf("%s reads %g pieces, want at most %g and not far below", name, of[name].Pieces, most)
		}
	}
	if tasks := of[work.Cluster].Tasks; tasks >= 2*s.Splits || tasks < 64 { // most of them join the parts of the graph
		t.Errorf("%g tasks of cluster for %g splits", tasks, s.Splits)
	}
	little := w.Scaled(1000, 2<<30, 8)
	if a, b := s.Requests(methods.Exact), little.Requests(methods.Exact); a.Reads >= b.Reads {
		t.Errorf("%g reads with much memory, %g with little", a.Reads, b.Reads)
	}
}
