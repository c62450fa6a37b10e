package pruning

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
	"mirrorbeam.dev/sketch"
)

// TestTable: a table has all its hashes and few others, and counts what a set lacks.
func TestTable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 7, 100, 20_000} {
		held := NewTable(int64(n), 48)
		set := hashes(random, n)
		held.addAll(sketchblock.AppendPacked(nil, set))
		for _, hash := range set {
			if !held.Has(hash) {
				t.Fatalf("%d hashes: %x is lost", n, hash)
			}
		}
		read := Table{}
		if rest, err := read.take(append(held.append(nil), 1, 2)); err != nil || len(rest) != 2 {
			t.Fatalf("%d hashes: %d bytes are left, %v", n, len(rest), err)
		}
		errs := 0
		for _, hash := range hashes(random, 10_000) {
			if read.Has(hash) {
				errs++
			}
		}
		if errs > 10_000/8+200 {
			t.Errorf("%d hashes: %d of 10,000 others are there", n, errs)
		}
		for range 200 {
			mixed := append(hashes(random, random.IntN(12)), set[:min(n, random.IntN(12))]...)
			slices.Sort(mixed)
			lacks := 0
			for _, hash := range mixed {
				if !read.Has(hash) {
					lacks++
				}
			}
			packed := sketchblock.AppendPacked(nil, mixed)
			if !read.hasMost(packed, lacks) || lacks > 0 && read.hasMost(packed, lacks-1) {
				t.Fatalf("a set of %d hashes that lacks %d is miscounted", len(mixed), lacks)
			}
		}
	}
}

// TestMarks: marks have all their hashes and few others.
func TestMarks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 7, 100, 20_000} {
		held, all := NewMarks(int64(n)), make([]uint64, n)
		for i := range all {
			all[i] = random.Uint64()
			held.Add(all[i])
		}
		for _, hash := range all {
			if !held.Has(hash) || !held.hasAny(binary.LittleEndian.AppendUint64(nil, hash)) {
				t.Fatalf("%d hashes: %x is lost", n, hash)
			}
		}
		errs := 0
		for range 10_000 {
			one, other := random.Uint64(), random.Uint64()
			if held.Has(one) {
				errs++
			}
			packed := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, one), other)
			if held.hasAny(packed) != (held.Has(one) || held.Has(other)) {
				t.Fatalf("%d hashes: %x and %x", n, one, other)
			}
		}
		if errs > 10_000/70 {
			t.Errorf("%d hashes: %d of 10,000 others are there", n, errs)
		}
	}
}

// TestManyShingles: where new documents have more shingles than heads tell apart, and bands decide, all shingles are
// taken for new.
func TestManyShingles(t *testing.T) {
	sets := make([]byte, 3<<20*sketchblock.HashSize)
	for _, isForgone := range []bool{false, true} {
		each := func(visit func([]byte)) error { visit(sets); return nil }
		shingles, err := shinglesOf(each)
		if err != nil || shingles != 3<<20 {
			t.Fatalf("%d shingles, %v", shingles, err)
		}
		table, err := tableOf(shingles, each, isForgone)
		if err != nil || table.KnowsHeads() != isForgone || table.Has(1<<47) != isForgone || !table.Has(0) {
			t.Errorf("forgone %t: knows heads %t, has another shingle %t, %v", isForgone, table.KnowsHeads(),
				table.Has(1<<47), err)
		}
	}
}

// hashes draws hashes of 48 bits, ascending.
func hashes(random *rand.Rand, n int) []uint64 {
	all := make([]uint64, n)
	for i := range all {
		all[i] = random.Uint64N(1 << 48)
	}
	slices.Sort(all)
	return all
}

// everyOther gives each other document a head. It makes no difference which ones have one.
func everyOther(ref docref.Ref, _ uint64) bool { return ref.Position()%2 == 0 }

// TestDamagedFilter: a filter that is cut is not taken for a whole one.
func TestDamagedFilter(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "filter")
	if err := (&Filter{shingles: NewTable(100, 48), digests: NewMarks(100), ids: NewMarks(10)}).write(
		whole,
	); err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 7, 8, len(packed) / 2, len(packed) - 1} {
		cut := filepath.Join(t.TempDir(), "cut")
		if err := os.WriteFile(cut, packed[:size], 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := readFilter(cut, nil); err == nil {
			t.Errorf("%d of %d bytes are a filter", size, len(packed))
		}
	}
	if _, err := readFilter(filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Error("a missing file is a filter")
	}
}

// TestPruning: of an unchanged file, documents stay that are like a new one, or were in a pair. Of the others only the
// ids are left. The blocks of a new file are passed on. It is the same whether a state has heads of sets or not.
func TestPruning(t *testing.T) {
	for _, hasHeads := range []bool{false, true} {
		t.Run(fmt.Sprintf("heads %t", hasHeads), func(t *testing.T) { testPruning(t, hasHeads) })
	}
}

func testPruning(t *testing.T, hasHeads bool) {
	random := rand.New(rand.NewPCG(3, 4))
	runs := worktest.Runs(t)
	// the marks tell them apart
	digestOf := func(i int) digest.Digest { return digest.Digest{uint64(i) * (1<<58 | 1<<52 | 1<<46)} }
	document := func(file, i int, set []uint64) sketchblock.Document {
		ref, err := docref.New(file, int64(i))
		if err != nil {
			t.Fatal(err)
		}
		d := sketchblock.Document{
			Ref:    ref,
			Digest: digestOf(10*file + i),
			Set:    set,
			Size:   len(set),
			Keys:   []uint64{7},
			ID:     []byte{'k' + byte(i)},
		}
		if len(set) > 0 {
			d.Digest = sketch.NewDigester(0).Set(set)
		}
		return d
	}
	fresh := document(1, 0, hashes(random, 100))
	like := slices.Clone(fresh.Set)
	like[3], like[50] = like[3]+1, like[50]+1 // 98 of 102
	olds := []sketchblock.Document{
		document(0, 0, hashes(random, 100)), // like none
		document(0, 1, like),
		document(0, 2, hashes(random, 100)), // was in a pair
		document(0, 3, nil),                 // without words
		document(0, 4, hashes(random, 40)),  // like none
	}
	cachedPairs := filepath.Join(t.TempDir(), "pairs")
	if err := state.WriteCachedPairs(cachedPairs,
		state.CachedPairOf(olds[2].Digest, digestOf(9), records.NewScore(9, 10, false)).Append(nil), nil); err != nil {
		t.Fatal(err)
	}
	inputs := filepath.Join(t.TempDir(), "inputs")
	err := documents.WriteInputs(inputs, documents.Inputs{
		Files:    []corpus.File{{Path: "old"}, {Path: "new"}},
		Splits:   []corpus.Split{{{File: 0, End: 9}}, {{File: 1, End: 9}}},
		Segments: [][]documents.Segment{{{Run: "segment"}}, nil},
	})
	if err != nil {
		t.Fatal(err)
	}
	write := func(split int, all ...sketchblock.Document) work.Outcome {
		o := work.Outcome{
			Stage:    work.Fingerprint,
			Number:   split,
			Shingles: 100,
			Findings: worktest.Counted(findings.Counts{Documents: int64(len(all))}),
		}
		o.Run = worktest.Write(t, runs, func(run *runfile.Writer) error {
			if !hasHeads {
				return worktest.Block(run, split, all...)
			}
			builder := sketchblock.NewBuilder(1, 0)
			for _, d := range all {
				builder.Add(d)
			}
			return errors.Join(worktest.Block(run, split, all...),
				run.Section(records.Heads, split, builder.Heads(.8, everyOther)))
		})
		return o
	}
	old, made := write(0, olds...), write(1, fresh)
	made.Kept = "kept"
	parameters := methods.Parameters{
		Inputs:      work.Path(inputs),
		CachedPairs: work.Path(cachedPairs),
		Paired:      work.Path(cachedPairs),
		DistinctIDs: true,
		Threshold:   .8,
		Shards:      1,
		Verify:      methods.VerifyExact,
	}
	pruning := Pruning{Method: methods.Exact, Parameters: parameters}
	if err := pruning.Setup(); err != nil {
		t.Fatal(err)
	}
	own, tasks := worktest.Plan(t, runs, []work.Outcome{old, made}, pruning.Plan)
	if own.Counts.Documents != 6 || len(tasks) != 2 {
		t.Fatalf("%d documents are counted, and there are %d tasks", own.Counts.Documents, len(tasks))
	}
	outcomes := worktest.Do(t, runs, tasks, pruning.Task)

	stored := map[docref.Ref]int{} // hashes by document
	for split := range 2 {
		_, err := worktest.Try(t, runs, work.Task{Number: split, Catalog: worktest.Catalog(t, outcomes[split].Run)},
			func(ctx context.Context, _ work.Task, w *work.TaskContext) error {
				return w.EachSet(ctx, func(block *sketchblock.Block, i int, set []byte) error {
					stored[block.Ref(i)] = len(set) / sketchblock.HashSize
					if block.Key(i, 0) != 7 || len(block.ID(i)) != 1 {
						t.Errorf("document %d has lost its keys or its id", block.Ref(i))
					}
					return nil
				})
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	want := map[docref.Ref]int{fresh.Ref: 100, olds[1].Ref: 100, olds[2].Ref: 0, olds[3].Ref: 0}
	for ref, n := range want {
		if got, is := stored[ref]; !is || got != n {
			t.Errorf("document %d has %d shingles, want %d", ref, got, n)
		}
	}
	if len(stored) != len(want) || outcomes[0].Shingles != 100 || outcomes[1].Shingles != 100 {
		t.Errorf("%d documents are left, of %d and %d shingles", len(stored), outcomes[0].Shingles,
			outcomes[1].Shingles)
	}
	// Document 0 and the new one share an id.
	for split, o := range outcomes {
		if ids := worktest.Read(t, records.IDs, o.Run)[0]; len(ids) != records.IDSize ||
			records.GetRef(ids[8:]).File() != split {
			t.Errorf("split %d: %d bytes of ids, want the id of its first document", split, len(ids))
		}
	}
	pruning.DistinctIDs = false
	_, tasks = worktest.Plan(t, runs, []work.Outcome{old, made}, pruning.Plan)
	outcomes = worktest.Do(t, runs, tasks, pruning.Task)
	if ids := worktest.Read(t, records.IDs, outcomes[0].Run)[0]; len(ids) != len(olds)*records.IDSize {
		t.Errorf("%d bytes of ids where documents of the last run share some, want all ids", len(ids))
	}
	known := slices.Collect(records.Each[records.KnownDocument](worktest.Read(t, records.Known, outcomes[0].Run)[0]))
	if len(known) != 1 || known[0].Ref != olds[2].Ref || known[0].Keyed {
		t.Errorf("known documents %+v, want one", known)
	}
}

// TestPruningByDistance: of an unchanged file, documents stay whose fingerprints are near a new one. Others that were
// in a pair stay without keys. No set is read, since blocks have none.
func TestPruningByDistance(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	runs := worktest.Runs(t)
	document := func(file, i int, fingerprint uint64) sketchblock.Document {
		ref, err := docref.New(file, int64(i))
		if err != nil {
			t.Fatal(err)
		}
		return sketchblock.Document{
			Ref:     ref,
			Digest:  digest.Digest{random.Uint64(), 1},
			Size:    9,
			SimHash: []uint64{fingerprint},
		}
	}
	fresh, paired := random.Uint64(), random.Uint64()
	olds := []sketchblock.Document{
		document(0, 0, fresh^7), document(0, 1, fresh), document(0, 2, paired), document(0, 3, random.Uint64()),
		document(0, 4, ^fresh),
	}
	write := func(split int, kept work.Path, all ...sketchblock.Document) work.Outcome {
		return work.Outcome{
			Stage:    work.Fingerprint,
			Number:   split,
			Kept:     kept,
			Findings: worktest.Counted(findings.Counts{Documents: int64(len(all))}),
			Run: worktest.Write(t, runs, func(run *runfile.Writer) error {
				return worktest.Block(run, split, all...)
			}),
		}
	}
	digestOf := func(d sketchblock.Document) digest.Digest {
		builder := sketchblock.NewBuilder(0, 1)
		builder.Add(d)
		block, err := sketchblock.Parse(bytes.Join(builder.Documents(), nil))
		if err != nil {
			t.Fatal(err)
		}
		return block.SimHashDigest(0)
	}
	cachedPairs, inputs := filepath.Join(t.TempDir(), "pairs"), filepath.Join(t.TempDir(), "inputs")
	cachedPair := state.CachedPairOf(digestOf(olds[2]), digest.Digest{1, 2}, records.HammingScore(2, 64))
	err := errors.Join(state.WriteCachedPairs(cachedPairs, cachedPair.Append(nil), nil),
		documents.WriteInputs(inputs, documents.Inputs{
			Files:    []corpus.File{{Path: "old"}, {Path: "new"}},
			Splits:   []corpus.Split{{{File: 0, End: 9}}, {{File: 1, End: 9}}},
			Segments: [][]documents.Segment{{{Run: "segment"}}, nil},
		}))
	if err != nil {
		t.Fatal(err)
	}
	parameters := methods.Parameters{
		Inputs:      work.Path(inputs),
		CachedPairs: work.Path(cachedPairs),
		Paired:      work.Path(cachedPairs),
		Shards:      1,
		SimHashBits: 64,
		Distance:    3,
		Scoring:     methods.Hamming,
		Verify:      methods.VerifyExact,
	}
	pruning := Pruning{Method: methods.SimHash, Parameters: parameters}
	if err := pruning.Setup(); err != nil {
		t.Fatal(err)
	}
	outcomes := []work.Outcome{write(0, "", olds...), write(1, "kept", document(1, 0, fresh))}
	_, tasks := worktest.Plan(t, runs, outcomes, pruning.Plan)
	outcomes = worktest.Do(t, runs, tasks, pruning.Task)
	resolved := map[docref.Ref]bool{}
	for split, o := range outcomes {
		_, err := worktest.Try(t, runs, work.Task{Number: split, Catalog: worktest.Catalog(t, o.Run)},
			func(ctx context.Context, _ work.Task, w *work.TaskContext) error {
				return w.EachBlock(ctx, func(block *sketchblock.Block, _ runfile.Piece) error {
					for i := range block.Len() {
						resolved[block.Ref(i)] = block.IsResolved(i)
					}
					return nil
				})
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	first, _ := docref.New(1, 0)
	if want := map[docref.Ref]bool{0: false, 1: false, 2: true, first: false}; !maps.Equal(resolved, want) {
		t.Errorf("documents left, and whether they are resolved: %v, want %v", resolved, want)
	}
}

// TestProbing: the documents that may be similar to a sampled one are sampled for the audit, of unchanged and of new
// files. Those from which the sample is drawn are not: they were before.
func TestProbing(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	runs := worktest.Runs(t)
	common := hashes(random, 100)
	inputs := documents.Inputs{
		Files:    []corpus.File{{Name: "old", Size: 8 << 20}, {Name: "new", Size: 8 << 20}},
		Splits:   []corpus.Split{{{File: 0, End: 9}}, {{File: 1, End: 9}}},
		Segments: [][]documents.Segment{{{Run: "segment"}}, nil},
	}
	digester := sketch.NewDigester(0)
	shares := inputs.AuditShares(audit.UsualSample)
	want := map[docref.Ref]bool{}
	var outcomes []work.Outcome
	for split := range 2 {
		o := work.Outcome{
			Stage:    work.Fingerprint,
			Number:   split,
			Shingles: 2000,
			Findings: worktest.Counted(findings.Counts{Documents: 40}),
		}
		o.Run = worktest.Write(t, runs, func(run *runfile.Writer) error {
			builder, forAudit := sketchblock.NewBuilder(0, 0), documents.AuditDocuments{}
			for i := range int64(40) {
				ref, err := docref.New(split, i)
				if err != nil {
					return err
				}
				set := slices.Clone(common)
				if set[i]++; i%2 == 0 {
					set = hashes(random, 60)
				}
				d := sketchblock.Document{Ref: ref, Digest: digester.Set(set), Set: set, Size: len(set)}
				isSampled := inputs.AuditHash(ref, 0) < audit.Limit(shares.Sampled)
				if want[ref] = i%2 == 1 && !isSampled; isSampled && i%2 == 1 {
					forAudit.Add(shares, &d, set, inputs.AuditHash(ref, 0), false)
				}
				builder.Add(d)
			}
			return errors.Join(
				run.Section(records.Documents, split, builder.Documents()...),
				run.Section(records.Sets, split, builder.Sets()),
				run.Section(records.Heads, split, builder.Heads(.8, everyOther)), forAudit.Write(run, split),
			)
		})
		outcomes = append(outcomes, o)
	}
	outcomes[1].Kept = "kept"
	cachedPairs, path := filepath.Join(t.TempDir(), "pairs"), filepath.Join(t.TempDir(), "inputs")
	if err := errors.Join(
		state.WriteCachedPairs(cachedPairs, nil, nil), documents.WriteInputs(path, inputs),
	); err != nil {
		t.Fatal(err)
	}
	parameters := methods.Parameters{
		Inputs:      work.Path(path),
		CachedPairs: work.Path(cachedPairs),
		Paired:      work.Path(cachedPairs),
		DistinctIDs: true,
		Threshold:   .8,
		Shards:      1,
		Verify:      methods.VerifyExact,
	}
	pruning := Pruning{Method: methods.Exact, Parameters: parameters, AuditSample: audit.UsualSample}
	if err := pruning.Setup(); err != nil {
		t.Fatal(err)
	}
	_, tasks := worktest.Plan(t, runs, outcomes, pruning.Plan)
	got := map[docref.Ref]bool{}
	for _, o := range worktest.Do(t, runs, tasks, pruning.Task) {
		for _, packed := range worktest.Read(t, records.Probe, o.Run) {
			for d := range records.All[records.AuditDocument](packed) {
				got[d.Ref] = len(d.Set) == 100*sketchblock.HashSize
			}
		}
	}
	for ref, isWanted := range want {
		if got[ref] != isWanted {
			t.Errorf("document %d of file %d is set aside with its set: %t, want %t", ref.Position(), ref.File(),
				got[ref], isWanted)
		}
	}
}
