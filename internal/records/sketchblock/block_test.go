package sketchblock

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
)

func TestBlockGivesBackWhatWasAdded(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	builder := NewBuilder(3, 2)
	for round := range 8 {
		builder.Reset()
		scopes, sides, sources := uint64(round%2), uint64(round/2%2), uint64(round/4) // blocks have any of them
		documents := make([]Document, 50*round)
		for i := range documents {
			set := make([]uint64, random.IntN(20))
			for j := range set {
				set[j] = random.Uint64() >> 16
			}
			slices.Sort(set)
			documents[i] = Document{
				Ref:        docref.Ref(1000*round + i),
				Digest:     digest.Digest{random.Uint64(), random.Uint64()},
				Set:        set,
				Size:       len(set) + random.IntN(3),
				Priority:   preference.Priority(random.Uint64()),
				Ties:       preference.Ties{preference.Priority(random.IntN(3)), preference.Priority(random.IntN(2))},
				Scope:      scopes * random.Uint64(),
				Side:       sides * random.Uint64(),
				Source:     sources * random.Uint64(),
				IsResolved: round > 2 && i%2 == 0,
				Keys:       []uint64{random.Uint64(), 0, random.Uint64()},
				SimHash:    []uint64{random.Uint64(), random.Uint64()},
			}
			if i%3 != 0 {
				documents[i].ID = fmt.Appendf(nil, "document %d", i)
			}
			if round > 4 && i%2 == 0 {
				documents[i].Capture = fmt.Appendf(nil, "https://example.org/%d", i)
			}
			builder.Add(documents[i])
		}
		block, err := Parse(bytes.Join(builder.Documents(), nil))
		if err != nil {
			t.Fatal(err)
		}
		if block.Len() != len(documents) || block.Keys() != 3 {
			t.Fatalf("block of %d documents, %d keys", block.Len(), block.Keys())
		}
		sets := builder.Sets()
		for i, want := range documents {
			size := HashSize * block.Stored(i)
			got := Document{
				Ref:        block.Ref(i),
				Digest:     block.Digest(i),
				Set:        AppendSet(nil, sets[:size]),
				Size:       block.Size(i),
				Priority:   block.Priority(i),
				Ties:       block.Ties(i),
				Scope:      block.Scope(i),
				Side:       block.Side(i),
				Source:     block.Source(i),
				IsResolved: block.IsResolved(i),
				ID:         block.ID(i),
				Capture:    block.Capture(i),
				Keys:       []uint64{block.Key(i, 0), block.Key(i, 1), block.Key(i, 2)},
				SimHash:    block.SimHash(nil, i),
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("document %d: %v, want %v", i, got, want)
			}
			sets = sets[size:]
		}
		if len(sets) != 0 {
			t.Errorf("%d bytes of sets are left", len(sets))
		}
	}
}

func TestParseRefusesDamage(t *testing.T) {
	for _, capture := range []string{"", "https://example.org/"} {
		builder := NewBuilder(1, 0)
		builder.Add(Document{Ref: 1, Keys: []uint64{2}, ID: []byte("a"), Capture: []byte(capture)})
		checkDamage(t, builder)
	}
}

func checkDamage(t *testing.T, builder *Builder) {
	t.Helper()
	whole := bytes.Join(builder.Documents(), nil)
	for n := range whole {
		if _, err := Parse(whole[:n]); err == nil {
			t.Errorf("cut to %d of %d bytes: no error", n, len(whole))
		}
	}
	other := bytes.Clone(whole)
	other[0]++
	if _, err := Parse(other); err == nil {
		t.Error("another format: no error")
	}
}
