package documents

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/findings"
)

// TestMarkingFields: each wanted field is read once.
func TestMarkingFields(t *testing.T) {
	for _, c := range []struct {
		marking Marking
		want    []string
	}{
		{Marking{}, nil},
		{Marking{Keep: "longest"}, nil},
		{Marking{Keep: "max:date", Within: "date"}, []string{"date"}},
		{Marking{Keep: "rank:list", SourceField: "url", Within: "lang"}, []string{"lang", "url"}},
		{Marking{SourceField: "url", Within: "lang", Across: "url"}, []string{"lang", "url"}},
	} {
		if got := c.marking.fields(); !slices.Equal(got, c.want) {
			t.Errorf("%+v: fields %q, want %q", c.marking, got, c.want)
		}
	}
}

// TestScopes: documents have one scope if they have one value, or none. Seeds give different hashes.
func TestScopes(t *testing.T) {
	values := [][]byte{nil, {}, []byte("en"), []byte("de"), []byte("0")}
	seen := map[uint64]string{}
	for seed := range uint64(3) {
		m, err := newMarker(Marking{Within: "lang"}, nil, seed)
		if err != nil {
			t.Fatal(err)
		}
		var counts findings.Counts
		for _, value := range values {
			record := &Record{Content: corpus.Record{Others: [][]byte{value}}}
			name := fmt.Sprintf("%q of seed %d", value, seed)
			scope, side := m.scopeOf(record, &counts)
			if side != 0 {
				t.Errorf("%s has the side %x, though no field says so", name, side)
			}
			if other, known := seen[scope]; known || scope == 0 {
				t.Errorf("%s has the scope %x, as %s has", name, scope, other)
			}
			seen[scope] = name
			if again, _ := m.scopeOf(record, &counts); again != scope {
				t.Errorf("%s has another scope the second time", name)
			}
			of := func(first, second uint64) digest.Digest {
				return sketchblock.InScope(digest.Digest{first, second}, scope)
			}
			if got := of(7, 9); got[0] == 7 || got[1] == 9 || got == of(8, 9) || got == of(7, 8) {
				t.Errorf("%s: the digest is %x", name, got)
			}
		}
		if !reflect.DeepEqual(counts, findings.Counts{Unscoped: 2}) {
			t.Errorf("counts %+v", counts)
		}
	}
	m, err := newMarker(Marking{}, nil, 1)
	if scope, side := m.scopeOf(&Record{}, nil); err != nil || scope != 0 || side != 0 ||
		sketchblock.InScope(digest.Digest{7, 8}, 0) != (digest.Digest{7, 8}) {
		t.Errorf("without a field there is a scope (%v)", err)
	}
}

// TestPriorities: a reference is before all others, and is not counted.
func TestPriorities(t *testing.T) {
	m, err := newMarker(Marking{Keep: "max:score"}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var counts findings.Counts
	record := &Record{Content: corpus.Record{Others: [][]byte{nil}}}
	if got, _ := m.priority(record, &corpus.File{Reference: true}, &counts); got != preference.Reference ||
		!reflect.DeepEqual(counts, findings.Counts{}) {
		t.Errorf("a document of the reference stands at %d, counts %+v", got, counts)
	}
	if got, _ := m.priority(record, &corpus.File{}, &counts); got != preference.Unranked ||
		!reflect.DeepEqual(counts, findings.Counts{Unranked: 1}) {
		t.Errorf("a document without a value stands at %d, counts %+v", got, counts)
	}
	chain, err := newMarker(Marking{Keep: "max:score,longest,max:stars"}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ties findings.Counts
	chain.priority(&Record{Content: corpus.Record{Others: [][]byte{[]byte("1"), nil}}}, &corpus.File{}, &ties)
	if !reflect.DeepEqual(ties, findings.Counts{UnrankedTies: [2]int64{0, 1}}) {
		t.Errorf("a document without a value of a further field is counted as %+v", ties)
	}
	record.Content.Others[0] = []byte("1")
	if got, _ := m.priority(record, &corpus.File{}, &counts); got == preference.Unranked || counts.Unranked != 1 {
		t.Errorf("a document with a value stands at %d, counts %+v", got, counts)
	}
}
