package methods

import (
	"maps"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// all returns all methods.
func all(t *testing.T) []*Method {
	t.Helper()
	var all []*Method
	for _, name := range append(Names(Resemblance), Names(Containment)...) {
		m, found := Of(name)
		if !found {
			t.Fatalf("%s is listed, and not found", name)
		}
		all = append(all, m)
	}
	if len(all) < 5 {
		t.Fatalf("%d methods", len(all))
	}
	return all
}

// TestOneLaw: a job writes the keys that a plan makes of the same documents, except keys of repeats. Keys that are
// hashes take as many bytes as KeyBytes says.
func TestOneLaw(t *testing.T) {
	s := newScene(t)
	firstInput, err := docref.New(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all(t) {
		t.Run(string(m.Name), func(t *testing.T) {
			keys, err := m.NewKeys(&s.p, s.counters())
			if err != nil {
				t.Fatal(err)
			}
			want, bytes := map[candidates.Record]int{}, 0.
			var known documents.Repeats
			for i := range s.texts {
				if i == 200 {
					known = documents.Repeats{FirstInput: firstInput} // the next task reads another split
				}
				x := &s.texts[i]
				made := keys(nil, x.document())
				if known.Has(x.ref, x.digest(), x.simHash[0]) {
					made = made[:min(len(made), 1)]
				}
				if len(x.shingles) > 0 {
					bytes += m.KeyBytes(float64(len(made)))
				} else {
					bytes += m.KeyBytes(1)
				}
				for _, r := range made {
					want[s.written(m, r)]++
				}
			}
			got, size := map[candidates.Record]int{}, 0
			written := s.key(t, m)
			for shard := range s.p.Shards {
				b := worktest.Read(t, m.Records, work.RunsOf(written)...)[shard]
				size += len(b)
				for len(b) > 0 {
					var r candidates.Record
					b = records.GetKey(b, &r)
					if m.Records == records.Fingerprints {
						b = b[s.p.SimHashBits/8:]
					}
					if got[r]++; records.ShardOf(r.Key, s.p.Shards) != shard {
						t.Fatalf("key %x is in shard %d", r.Key, shard)
					}
				}
			}
			if !maps.Equal(got, want) || m.Name != None && len(want) < 200 {
				t.Errorf("%d different records, want %d", len(got), len(want))
			}
			if isHashed := m.Name == MinHash || m.Name == All; isHashed && size != int(bytes) {
				t.Errorf("%d bytes, want %g", size, bytes)
			}
		})
	}
}

// written returns what is in a run of a record.
func (s *scene) written(m *Method, r candidates.Record) candidates.Record {
	if m.Records == records.Fingerprints {
		r.Key, r.First, r.Previous = candidates.KeyOf(r.Key, 0), false, [candidates.MaxPrevious]uint32{}
	}
	for i := r.Words(); i < len(r.Previous); i++ {
		r.Previous[i] = 0
	}
	return r
}

// TestPassageKeysMeet: documents that share a run of words of the promised length share a key.
func TestPassageKeysMeet(t *testing.T) {
	m, _ := Of(Passages)
	s := newScene(t)
	keys, err := m.NewKeys(&s.p, nil)
	if err != nil {
		t.Fatal(err)
	}
	words := m.Promise(&s.p).Words
	shared := words - s.p.Shingle + 1 // shingles
	met := 0
	for i := range s.texts[:100] {
		a, b := s.texts[i], s.texts[i+100]
		if len(a.shingles) < shared || len(b.shingles) == 0 {
			continue
		}
		b.shingles = slices.Concat(b.shingles, a.shingles[:shared])
		of := map[uint64]bool{}
		for _, r := range keys(nil, a.document()) {
			of[r.Key] = true
		}
		if !slices.ContainsFunc(keys(nil, b.document()), func(r candidates.Record) bool { return of[r.Key] }) {
			t.Errorf("%d words in a row in common, and no key", words)
		}
		met++
	}
	if met < 30 {
		t.Errorf("%d pairs tell little", met)
	}
}

// TestShortKeys: the short keys that a state has of a document are the ones of the keys that a job makes of it,
// whatever its scope.
func TestShortKeys(t *testing.T) {
	m, _ := Of(Passages)
	s := newScene(t)
	keys, err := m.NewKeys(&s.p, nil)
	if err != nil {
		t.Fatal(err)
	}
	passages := fingerprints.NewPassages(s.p.PassageShingles())
	for i := range s.texts {
		d := s.texts[i].document()
		d.Scope = []uint64{0, 1 << 20, 0x123456789abcdef}[i%3]
		made := keys(nil, d)
		var want, got []uint32
		for _, r := range made[1:] {
			want = append(want, candidates.PreviousOf(r.Key))
		}
		if d.Size > 0 {
			if got, err = passages.ShortKeys(nil, sketchblock.AppendSequence(nil, sketchblock.Sequence(d.Sequence)),
				d.Scope); err != nil {
				t.Fatal(err)
			}
		}
		of := fingerprints.ShortKey(candidates.KeyOf(d.Digest[0], 0), d.Scope)
		if !slices.Equal(got, want) || of != candidates.PreviousOf(made[0].Key) {
			t.Fatalf("document %d: short keys %x and %x, want %x and %x", i, of, got,
				candidates.PreviousOf(made[0].Key), want)
		}
	}
}

// TestRegistry: a name that is not registered is refused, and so is a name that is registered twice.
func TestRegistry(t *testing.T) {
	if m, found := Of("unheard-of"); found || m.Settings != (Settings{}) || m.Promise(&Parameters{}) != (Promise{}) {
		t.Errorf("an unknown method is %+v", m)
	}
	keying := Keying{Method: "unheard-of"}
	grouping := Grouping{Method: "unheard-of"}
	if keying.Setup() == nil || grouping.Setup() == nil {
		t.Error("an unknown method is taken")
	}
	if names := Names(Resemblance); !slices.Equal(names, []Name{All, Exact, MinHash, None, SameBytes, SameWords, SimHash}) {
		t.Errorf("methods %s", names)
	}
	defer func() {
		if recover() == nil {
			t.Error("a method is there twice")
		}
	}()
	Register(Method{Name: MinHash})
}

// TestNoTables: making keys fails for a distance without planned tables.
func TestNoTables(t *testing.T) {
	m, _ := Of(SimHash)
	if _, err := m.NewKeys(&Parameters{SimHashBits: 64, Distance: 64}, nil); err == nil {
		t.Error("64 bits of 64 may differ")
	}
}
