package fingerprints

import (
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

const text = "some words of a document that says “some words of a document” twice, and then something else"

func make1(t *testing.T, name Name, o Options, text string) (*Kind, Fingerprint) {
	t.Helper()
	kind, err := Of(name)
	if err != nil {
		t.Fatal(err)
	}
	maker, err := kind.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return kind, maker.Make(nil, corpus.Record{Texts: [][]byte{[]byte(text)}})
}

func usual() Options {
	return Options{
		Options: sketch.Options{Measure: sketch.Measure{Shingle: 3}, SimHashBits: 64},
		Scheme:  lshbands.Scheme{Bands: 4, Rows: 2},
	}
}

// TestContent: what a block holds of a document has the shingles that the fingerprint says, and is what it was without
// those that are left out.
func TestContent(t *testing.T) {
	for name, kind := range registered {
		_, f := make1(t, name, usual(), text)
		if kind.Block == nil {
			if kind.HasShingles || f.Stored.Set != nil || f.Stored.Sequence != nil {
				t.Errorf("%s: %+v cannot be read", name, f.Stored)
			}
			continue
		}
		reader := kind.Block()
		read := func(d sketchblock.Document) (Content, []uint64) {
			builder := sketchblock.NewBuilder(len(d.Keys), len(d.SimHash))
			builder.Add(d)
			var c Content
			if err := reader.Read(&c, builder.Sets()); err != nil {
				t.Fatal(err)
			}
			return c, slices.Clone(reader.Shingles(&c))
		}
		c, all := read(f.Stored)
		if len(all) != f.Stored.Size || !slices.Equal(all, f.Set) ||
			kind.HasColumns != (len(f.Stored.Keys) == 4 && len(f.Stored.SimHash) == 1) {
			t.Errorf("%s: %d shingles of %+v", name, len(all), f.Stored)
		}
		common, err := sketch.NewShingles(slices.Clone(all[:2]))
		if err != nil {
			t.Fatal(err)
		}
		var left sketchblock.Document
		reader.Leave(&left, &c, all[2:], common)
		if _, own := read(left); !slices.Equal(own, all[2:]) {
			t.Errorf("%s: %d of %d shingles are left without two", name, len(own), len(all))
		}
	}
}

// TestKinds: texts that are the same in some way have one digest under the kinds that say so.
func TestKinds(t *testing.T) {
	for name, want := range map[Name][2]bool{
		Bytes:     {false, false},
		Words:     {true, false},
		Sets:      {true, true},
		Sequences: {true, true},
	} {
		o := usual()
		o.Measure.Shingle = 1
		_, f := make1(t, name, o, "one two three")
		kind, capitals := make1(t, name, o, "ONE, two three")
		_, turned := make1(t, name, o, "three two one")
		if got := [2]bool{f.Digest == capitals.Digest, f.Digest == turned.Digest}; got != want {
			t.Errorf("%s: other capitals, another order: %v, want %v", name, got, want)
		}
		if says := kind.Explain; (says.Unlike == "") != kind.HasShingles || (says.Same == "") != kind.HasShingles {
			t.Errorf("%s: it says %+v", name, says)
		}
		_, bad := make1(t, name, o, "caf\xe9")
		if bad.InvalidBytes == 0 {
			t.Errorf("%s: a text that is no UTF-8 is taken for valid", name)
		}
	}
	for _, name := range []Name{Bytes, Words} {
		_, none := make1(t, name, usual(), "…")
		if size := map[Name]int{Bytes: 1, Words: 0}[name]; none.Stored.Size != size {
			t.Errorf("%s: a text without words has the size %d, want %d", name, none.Stored.Size, size)
		}
	}
}

// TestOptions: a set is kept in the part that is asked for, and quotations count or not.
func TestOptions(t *testing.T) {
	o := usual()
	o.Keep = func(set []uint64) []uint64 { return set[:5] }
	if _, f := make1(t, Sets, o, text); len(f.Stored.Set) != 5 || f.Stored.Size != len(f.Set) || f.Stored.Size < 10 {
		t.Errorf("%d of %d shingles are kept", len(f.Stored.Set), len(f.Set))
	}
	o.ExcludeQuotations = true
	_, whole := make1(t, Sequences, usual(), text)
	if _, f := make1(t, Sequences, o, strings.ReplaceAll(text, "of a", "of one")); f.Stored.Size >= whole.Stored.Size {
		t.Errorf("%d shingles without quotations, %d with them", f.Stored.Size, whole.Stored.Size)
	}
	if _, err := Of("smell"); err == nil || !strings.Contains(err.Error(), "smell") {
		t.Errorf("error %v of a kind that is not there", err)
	}
	if kind, err := Of(""); err != nil || kind.Name != Sets {
		t.Errorf("no name stands for %v (%v)", kind, err)
	}
}
