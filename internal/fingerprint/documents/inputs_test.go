package documents

import (
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records/docref"
)

// randomInputs returns inputs of some files, the first ones of the reference, some empty, cut into splits.
func randomInputs(random *rand.Rand) *Inputs {
	in := &Inputs{}
	files, references := 1+random.IntN(8), random.IntN(4)
	for file := range files {
		name := string(rune('a'+file)) + ".jsonl"
		f := corpus.File{Path: "/in/" + name, Name: name, Reference: file < references}
		if random.IntN(4) > 0 {
			f.Size = 1 + random.Int64N(300)
		}
		in.Files = append(in.Files, f)
	}
	for start := range in.Files {
		for at := int64(0); at < in.Files[start].Size; {
			end := min(at+1+random.Int64N(200), in.Files[start].Size)
			stretch := corpus.Stretch{File: start, Start: at, End: end}
			if n := len(in.Splits); n > 0 && at == 0 && random.IntN(2) == 0 {
				in.Splits[n-1] = append(in.Splits[n-1], stretch)
			} else {
				in.Splits = append(in.Splits, corpus.Split{stretch})
			}
			at = end
		}
	}
	return in
}

// TestLayout: what stages read of the inputs is what the driver wrote, each document has the split that holds it, and
// each file is written by one task.
func TestLayout(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for trial := range 200 {
		in := randomInputs(random)
		path := filepath.Join(t.TempDir(), "inputs")
		if err := WriteInputs(path, *in); err != nil {
			t.Fatal(err)
		}
		var l Layout
		if err := l.Read(path); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(l.Inputs, in) {
			t.Fatalf("trial %d: %+v is read as %+v", trial, in, l.Inputs)
		}
		for split, stretches := range in.Splits {
			for _, s := range stretches {
				for _, position := range []int64{s.Start, s.End - 1} {
					ref, err := docref.New(s.File, position)
					if err != nil {
						t.Fatal(err)
					}
					if got := SplitOf(l.Starts, ref); got != split {
						t.Errorf("trial %d: document %d of file %d is of split %d, want %d", trial, position, s.File,
							got, split)
					}
					if isInput := ref >= l.FirstInput; isInput == in.Files[s.File].Reference {
						t.Errorf("trial %d: file %d is taken for the wrong side", trial, s.File)
					}
				}
			}
		}
		next := 0
		for split := range in.Splits {
			from, to := in.FilesOf(split, l.Starts)
			if from != next || to < from {
				t.Errorf("trial %d: split %d writes the files from %d to %d, want from %d", trial, split, from, to,
					next)
			}
			next = to
		}
		if len(in.Splits) > 0 && next != len(in.Files) {
			t.Errorf("trial %d: %d of %d files are written", trial, next, len(in.Files))
		}
	}
}

// TestUnchanged: a file is unchanged if a state has the segments of its splits.
func TestUnchanged(t *testing.T) {
	in := &Inputs{
		Files:    make([]corpus.File, 4), // the last one is empty, so nothing is known of it
		Splits:   []corpus.Split{{{File: 0, End: 5}, {File: 1, End: 5}}, {{File: 2, End: 5}}},
		Segments: [][]Segment{make([]Segment, 2), nil},
	}
	if got, want := in.Unchanged(), (Unchanged{true, true, false, false}); !reflect.DeepEqual(got, want) {
		t.Errorf("with segments: %v, want %v", got, want)
	}
	in.Segments = nil
	if got, want := in.Unchanged(), make(Unchanged, 4); !reflect.DeepEqual(got, want) {
		t.Errorf("without a state: %v, want %v", got, want)
	}
}

// TestSkippedGroup: the example of a dense group is its first two documents, in whatever order they come, and a star
// counts all pairs but its own.
func TestSkippedGroup(t *testing.T) {
	l := Layout{Inputs: &Inputs{Files: []corpus.File{{Name: "a.jsonl"}, {Name: "b.jsonl"}}}}
	var refs []docref.Ref
	for _, at := range [][2]int64{{0, 7}, {0, 90}, {1, 0}, {1, 40}} {
		ref, err := docref.New(int(at[0]), at[1])
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	random := rand.New(rand.NewPCG(13, 14))
	for range 50 {
		group := make([]candidates.Record, len(refs))
		for i, at := range random.Perm(len(refs)) {
			group[i].Ref = refs[at]
		}
		got := l.Starred(group, 6)
		if got.Pairs != 3 || got.Groups != 1 || got.Example.Documents != 4 || got.Example.First != "a.jsonl:7" ||
			got.Example.Second != "a.jsonl:90" {
			t.Fatalf("%+v with the example %+v", got, got.Example)
		}
	}
}

// TestFreshBytes: a file counts once, however many splits it has, unless all that is read of it has segments.
func TestFreshBytes(t *testing.T) {
	in := Inputs{
		Files:  []corpus.File{{Size: 1}, {Size: 20}, {Size: 300}, {Size: 4000}},
		Splits: []corpus.Split{{{File: 0}, {File: 1}}, {{File: 2}}, {{File: 2}, {File: 3}}},
	}
	if got := in.FreshBytes(); got != 4321 {
		t.Errorf("without a state %d bytes are fresh, want 4321", got)
	}
	in.Segments = [][]Segment{{{}, {}}, nil, nil}
	if got := in.FreshBytes(); got != 4300 {
		t.Errorf("of two known files %d bytes are fresh, want 4300", got)
	}
}
