package methods

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
	"mirrorbeam.dev/lshbands"
)

// keysOf returns the key records of a text, in a memory of their own.
func keysOf(keys Keys, x *text) []candidates.Record { return slices.Clone(keys(nil, x.document())) }

// hashes returns the keys of records.
func hashes(all []candidates.Record) (keys []uint64) {
	for _, r := range all {
		keys = append(keys, r.Key)
	}
	return keys
}

// TestKeysAreOfTheDocument: the keys of a document depend on nothing that came before it. They are appended, name the
// document in every record, and are the keys of every equal document. A document without shingles has just one.
func TestKeysAreOfTheDocument(t *testing.T) {
	s := newScene(t)
	for _, m := range all(t) {
		t.Run(string(m.Name), func(t *testing.T) {
			keys, err := m.NewKeys(&s.p, s.counters())
			if err != nil {
				t.Fatal(err)
			}
			var first [][]candidates.Record
			for i := range s.texts {
				first = append(first, keysOf(keys, &s.texts[i]))
			}
			equal := 0
			for i := len(s.texts) - 1; i >= 0; i-- {
				x := &s.texts[i]
				before := []candidates.Record{{Key: 77}}
				again := keys(before, x.document())
				if again[0] != before[0] || !slices.Equal(again[1:], first[i]) {
					t.Fatalf("document %d has %d keys, and later %d", i, len(first[i]), len(again)-1)
				}
				for k, r := range first[i] {
					if r.Ref != x.ref || r.Digest != x.digest() || int(r.Size) != len(x.shingles) ||
						r.First != (k == 0) && m.Name != Passages {
						t.Fatalf("record %d of document %d is %+v", k, i, r)
					}
				}
				if len(x.shingles) == 0 {
					r := first[i][0]
					if len(first[i]) != 1 || !r.First || r.Key != candidates.KeyOf(x.digest()[0], 0) {
						t.Errorf("a document without shingles has the keys %+v", first[i])
					}
				}
				for j := range i {
					y := &s.texts[j]
					if y.digest() == x.digest() && slices.Equal(y.simHash, x.simHash) &&
						slices.Equal(y.shingles, x.shingles) {
						if equal++; !slices.Equal(hashes(first[i]), hashes(first[j])) {
							t.Errorf("documents %d and %d are equal, and have different keys", j, i)
						}
					}
				}
			}
			if equal < 20 {
				t.Errorf("%d pairs of equal documents tell little", equal)
			}
		})
	}
}

// TestHooks holds the keys of each method against what its definition says.
func TestHooks(t *testing.T) {
	s := newScene(t)
	counters := s.counters()
	tables, err := lshbands.PlanTables(s.p.SimHashBits, s.p.Distance)
	if err != nil {
		t.Fatal(err)
	}
	bands, err := fingerprints.NewBands(s.p.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	of := func(name Name) Keys {
		m, _ := Of(name)
		keys, err := m.NewKeys(&s.p, counters)
		if err != nil {
			t.Fatal(err)
		}
		return keys
	}
	all, exact, minHash, simHash, passages := of(All), of(Exact), of(MinHash), of(SimHash), of(Passages)
	const combined = PassageWords - 3 + 1 // shingles of three words in a passage
	for i := range s.texts {
		x := &s.texts[i]
		if len(x.shingles) == 0 {
			continue
		}
		if got := keysOf(all, x); len(got) != 1 || got[0].Key != candidates.KeyOf(x.digest()[0], 0) || !got[0].First {
			t.Errorf("all: %+v", got)
		}

		// A chain: each record knows the keys before it, the latest first, as many as there are places.
		want := bands.Of(x.set())
		got := keysOf(minHash, x)
		if len(got) != s.p.Scheme.Bands {
			t.Fatalf("minhash: %d keys, want %d", len(got), s.p.Scheme.Bands)
		}
		for k, r := range got {
			known := min(k, candidates.MaxPrevious)
			if r.Key != candidates.KeyOf(want[k], known) || int(r.Position) != k {
				t.Errorf("minhash: key %d is %+v", k, r)
			}
			for before := range known {
				if r.Previous[before] != candidates.PreviousOf(want[k-1-before]) {
					t.Errorf("minhash: key %d does not know the key %d before it", k, before+1)
				}
			}
		}

		finder, err := lshbands.NewPrefixKeys(s.p.Threshold)
		if err != nil {
			t.Fatal(err)
		}
		prefix := finder.Of(x.set(), counters.AppendFrequencies(nil, x.set()))
		got = keysOf(exact, x)
		if len(got) != len(prefix) || len(got) > lshbands.PrefixLength(s.p.Threshold, len(x.shingles)) {
			t.Fatalf("exact: %d keys of %d shingles, want %d", len(got), len(x.shingles), len(prefix))
		}
		for k, r := range got {
			if r.HasBitmap != (prefix[len(prefix)-1].Frequency >= frequentKey) ||
				r.Key != candidates.PrefixKeyOf(prefix[k].Hash) || r.Position != prefix[k].Position ||
				!slices.Contains(x.shingles, prefix[k].Hash) {
				t.Errorf("exact: key %d is %+v", k, r)
			}
			if k > 0 &&
				(candidates.PreviousShingle(r.Previous[0], r.Previous[1]) != prefix[k-1].Hash ||
					r.Position <= got[k-1].Position) {
				t.Errorf("exact: key %d is %+v, after the shingle %x", k, r, prefix[k-1].Hash)
			}
		}

		got = keysOf(simHash, x)
		if len(got) != tables.Tables() {
			t.Fatalf("simhash: %d keys, want %d", len(got), tables.Tables())
		}
		other := text{ref: x.ref, shingles: x.shingles, simHash: slices.Clone(x.simHash)}
		other.simHash[i%2] ^= 1 << (i % 64)
		for table, r := range keysOf(simHash, &other) {
			isEqual := tables.Prefix(table, x.simHash) == tables.Prefix(table, other.simHash)
			if (r.Key == got[table].Key) != isEqual || int(r.Position) != table {
				t.Errorf("simhash: table %d: keys %x and %x, equal prefixes %v", table, r.Key, got[table].Key, isEqual)
			}
		}

		// The keys are of passages of the text; any window of them has one.
		runs := map[uint64]int{}
		sequence := x.sequence()
		for at, passage := range sequence.Passages(nil, combined) {
			runs[passage] = at
		}
		got = keysOf(passages, x)
		if got[0].Key != candidates.KeyOf(x.digest()[0], 0) || len(got)-1 > len(runs) ||
			(len(got) == 1) != (len(runs) == 0) {
			t.Errorf("passages: %d keys for %d passages", len(got), len(runs))
		}
		for k, r := range got[1:] {
			if candidates.KnownOf(r.Key) != 1 || k > 0 && r.Previous[0] != candidates.PreviousOf(got[k].Key) {
				t.Errorf("passages: key %d is %+v", k, r)
			}
		}
	}
}

// TestRepeatedPassages: a text that repeats itself has each key once.
func TestRepeatedPassages(t *testing.T) {
	s := newScene(t)
	x := text{ref: 5}
	for i := range uint64(200) {
		x.shingles = append(x.shingles, i%20)
	}
	m, _ := Of(Passages)
	keys, err := m.NewKeys(&s.p, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := hashes(keysOf(keys, &x))
	if slices.Sort(got); len(slices.Compact(slices.Clone(got))) != len(got) || len(got) < 5 {
		t.Errorf("%d keys, some twice: %x", len(got), got)
	}
}

// TestOversized: a method leaves its oversized groups to the step that it says.
func TestOversized(t *testing.T) {
	bounds := groups.Bounds{Group: 5, Passages: 7}
	for name, want := range map[Name]groups.OversizedGroups{
		MinHash:  {Bounds: bounds},
		Exact:    {Bounds: bounds, Exact: true},
		Passages: {Bounds: bounds, Stars: true},
	} {
		m, _ := Of(name)
		if got := m.Oversized(bounds); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		if m.OversizedGroups == NeverWait {
			t.Errorf("%s does not wait", name)
		}
	}
	for _, name := range []Name{SimHash, All} {
		if m, _ := Of(name); m.OversizedGroups != NeverWait {
			t.Errorf("%s waits", name)
		}
	}
}

// TestShardsDoNotMatter: every method finds the same pairs, edges and distinct documents, whatever the number of
// shards, and if a task does several. The ids that several documents have are found too.
func TestShardsDoNotMatter(t *testing.T) {
	s := newScene(t)
	for _, m := range all(t) {
		t.Run(string(m.Name), func(t *testing.T) {
			type result struct {
				pairs              map[pair]bool
				edges              map[pair]records.Score
				distinct, repeated map[docref.Ref]bool
				skipped            findings.Skipped
			}
			var want result
			for _, shards := range []int{1, 2, 13} {
				s.p.Shards, s.joined = shards, shards > 1
				outcomes := s.group(t, m, s.key(t, m))
				got := result{distinct: map[docref.Ref]bool{}, repeated: map[docref.Ref]bool{}}
				got.pairs, got.edges = s.found(t, outcomes)
				for shard, packed := range worktest.Read(t, records.Distinct, work.RunsOf(outcomes)...) {
					for ; len(packed) > 0; packed = packed[records.NodeSize:] {
						if ref := records.GetRef(packed); got.distinct[ref] || shard >= shards {
							t.Errorf("document %d is there twice, or in shard %d of %d", ref, shard, shards)
						}
						got.distinct[records.GetRef(packed)] = true
					}
				}
				for split, packed := range worktest.Read(t, records.Repeated, work.RunsOf(outcomes)...) {
					for ; len(packed) > 0; packed = packed[records.RefSize:] {
						ref := records.GetRef(packed)
						if got.repeated[ref] = true; ref.File() != split {
							t.Errorf("a document of file %d is listed for split %d", ref.File(), split)
						}
					}
				}
				for _, o := range outcomes {
					findings.Merge(&got.skipped, o.Skipped)
				}
				written := 0
				for _, packed := range worktest.Read(t, records.Edges, work.RunsOf(outcomes)...) {
					written += len(packed) / records.EdgeSize
				}
				if written != len(got.edges) {
					t.Errorf("%d shards: %d edges are written for %d pairs", shards, written, len(got.edges))
				}
				if want.pairs == nil {
					want = got
				} else if !reflect.DeepEqual(got, want) {
					t.Errorf("%d shards: %d pairs, %d edges, %d distinct, %d repeated, want %d, %d, %d and %d", shards,
						len(got.pairs), len(got.edges), len(got.distinct), len(got.repeated), len(want.pairs),
						len(want.edges), len(want.distinct), len(want.repeated))
				}
			}
			if m.Kind().HasShingles && len(want.pairs)+len(want.distinct) < 20 || len(want.edges) < 20 {
				t.Errorf("%d pairs and %d edges tell little", len(want.pairs), len(want.edges))
			}
			ids := map[docref.Ref]bool{} // document i has the id of document i-200
			for i := range 100 {
				ids[s.texts[i].ref], ids[s.texts[i+200].ref] = true, true
			}
			if !maps.Equal(want.repeated, ids) {
				t.Errorf("%d documents share an id, want %d", len(want.repeated), len(ids))
			}
		})
	}
}

// TestTasksFail: a task that is cancelled, or whose input is damaged, fails, and leaves no run.
func TestTasksFail(t *testing.T) {
	s := newScene(t)
	for _, m := range all(t) {
		keying, grouping := Keying{Method: m.Name, Parameters: s.p}, Grouping{Method: m.Name, Parameters: s.p}
		if err := errors.Join(keying.Setup(), grouping.Setup()); err != nil {
			t.Fatal(err)
		}
		blocks, keys := s.blocks(t, m), s.key(t, m)
		for _, c := range []struct {
			stage  string
			needs  work.Delivery
			runs   []string
			do     func(context.Context, work.Task, *work.TaskContext) error
			cancel bool
		}{
			// without frequencies it fails in any case
			{"key", m.Needs(1), work.RunsOf(blocks), keying.Task, !m.Ordered},
			{"group", m.GroupNeeds(), work.RunsOf(keys), grouping.Task, m.Name == SimHash},
		} {
			task := worktest.Tasks(t, s.runs, c.needs, c.runs...)[0]
			if c.cancel {
				o, err := worktest.Try(t, s.runs, task,
					func(ctx context.Context, task work.Task, w *work.TaskContext) error {
						ctx, cancel := context.WithCancel(ctx)
						cancel()
						return c.do(ctx, task, w)
					})
				if !errors.Is(err, context.Canceled) || o.Run != "" {
					t.Errorf("%s, %s: cancelled, it has the error %v and the run %q", m.Name, c.stage, err, o.Run)
				}
			}
			for _, run := range c.runs {
				packed, err := os.ReadFile(run)
				if err != nil {
					t.Fatal(err)
				}
				for i := range packed[:len(packed)/2] {
					packed[i] ^= 1
				}
				if err := os.WriteFile(run, packed, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if o, err := worktest.Try(t, s.runs, task, c.do); err == nil || o.Run != "" {
				t.Errorf("%s, %s: a damaged run is taken (%v), run %q", m.Name, c.stage, err, o.Run)
			}
		}
		other := s.p
		other.Inputs += "x"
		if (&Keying{Method: m.Name, Parameters: other}).Setup() == nil ||
			(&Grouping{Method: m.Name, Parameters: other}).Setup() == nil {
			t.Errorf("%s: inputs that are not there are read", m.Name)
		}
	}
}

// TestKeyBytes: the sizes of records that methods tell a plan are the sizes of the layouts.
func TestKeyBytes(t *testing.T) {
	for keys := range 40 {
		want := 0
		for _, r := range candidates.AppendHashed(nil, candidates.Record{}, make([]uint64, keys)) {
			want += records.KeySize + 4*r.Known()
		}
		if got := HashBytes(float64(keys)); got != float64(want) {
			t.Errorf("%d keys take %g bytes, want %d", keys, got, want)
		}
	}
	for name, want := range map[Name]float64{Exact: 5 * (records.KeySize + 8), MinHash: HashBytes(5)} {
		if m, _ := Of(name); m.KeyBytes(5) != want {
			t.Errorf("%s: 5 keys take %g bytes, want %g", name, m.KeyBytes(5), want)
		}
	}
}

// TestPromises: what a method promises follows from its parameters.
func TestPromises(t *testing.T) {
	p := Parameters{Threshold: 0.8, Shingle: 3, Scheme: lshbands.Scheme{Bands: 7, Rows: 3}, Scoring: Hamming}
	sure := Promise{Recall: 1, ByConstruction: true}
	for name, want := range map[Name]Promise{
		All:      sure,
		Exact:    sure,
		SimHash:  sure,
		MinHash:  {Recall: p.Scheme.Probability(0.8)},
		Passages: {ByConstruction: true, Words: 9},
	} {
		if m, _ := Of(name); m.Promise(&p) != want {
			t.Errorf("%s: %+v, want %+v", name, m.Promise(&p), want)
		}
	}
	p.Scoring, p.Shingle = Jaccard, 8
	m, _ := Of(SimHash)
	n, _ := Of(Passages)
	if m.Promise(&p) != (Promise{}) || n.Promise(&p).Words != 11 {
		t.Errorf("promises %+v and %+v", m.Promise(&p), n.Promise(&p))
	}
	if fmt.Sprint(Names(Containment)) != "[passages]" {
		t.Errorf("methods %v", Names(Containment))
	}
}
