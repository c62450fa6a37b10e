package state

import (
	"errors"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
	"mirrorbeam.dev/sketch"
)

// TestKeep: what the next run is to know of passages comes together in one file, which stays as long as the generation
// that names it. Verify reads it.
func TestKeep(t *testing.T) {
	for name, folder := range folders(t) {
		t.Run(name, func(t *testing.T) {
			s, runs := open(t, folder), worktest.Runs(t)
			pair := records.KeptPair{
				A:     7,
				B:     9,
				Score: records.NewScore(3, 8, false),
				Spans: []sketch.Span{{EndA: 5, StartB: 1, EndB: 6, Words: 3}},
				More:  1,
			}
			group := worktest.Write(t, runs, func(run *runfile.Writer) error {
				return errors.Join(records.Write(run, records.LastingKeys, 0, new(uint32(77))),
					run.Section(records.IDs, 0, make([]byte, records.IDSize)))
			})
			rows := worktest.Write(t, runs, func(run *runfile.Writer) error {
				return records.Write(run, records.KeptPairs, 0, &pair)
			})
			kept, err := s.Keep(t.Context(), []work.Path{work.Path(group), work.Path(rows)})
			if err != nil {
				t.Fatal(err)
			}
			packed := worktest.Read(t, records.KeptPairs, s.Path(kept))[0]
			got, rest := records.Next[records.KeptPair](packed)
			if len(rest) > 0 || !reflect.DeepEqual(got, pair) {
				t.Errorf("kept is %+v, want %+v, and %d bytes more", got, pair, len(rest))
			}
			if keys := worktest.Read(t, records.LastingKeys, s.Path(kept))[0]; len(keys) != records.LastingKeySize ||
				keys[0] != 77 {
				t.Errorf("kept keys %v", keys)
			}
			empty, err := s.Keep(t.Context(), nil) // of a run without a pair
			if err != nil || empty == kept {
				t.Fatalf("%q, %v", empty, err)
			}
			next := Content{Kept: kept}
			if err := errors.Join(s.Commit(next), s.Close()); err != nil {
				t.Fatal(err)
			}
			s = open(t, folder)
			if left := files(t, folder); !slices.Contains(left, kept) || slices.Contains(left, empty) ||
				s.Last.Kept != kept {
				t.Errorf("left: %v, and %q is kept", left, s.Last.Kept)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := Verify(t.Context(), folder); err != nil {
				t.Error(err)
			}
			if name == "disk" {
				if err := os.Truncate(s.Path(kept), 40); err != nil {
					t.Fatal(err)
				}
				if _, err := Verify(t.Context(), folder); err == nil || Remedy(folder, err) == nil {
					t.Errorf("of a cut file: %v", err)
				}
			}
		})
	}
}

// TestPast: a file is gone if its path is not there any more, or if it has changed. Files that are there have their new
// numbers.
func TestPast(t *testing.T) {
	s := &State{Folder: "/state", sizes: map[string]int64{"segments/b": 44}}
	for _, name := range []string{"a", "b", "c", "d"} {
		s.Last.Files = append(s.Last.Files, File{
			File:      corpus.File{Path: name},
			Stretches: []Stretch{{Run: "segments/" + name, Shard: 3}},
		})
	}
	in := documents.Inputs{
		Files:    []corpus.File{{Path: "new"}, {Path: "a"}, {Path: "c"}, {Path: "d"}},
		Splits:   []corpus.Split{{{File: 0}}, {{File: 1}}, {{File: 2}}, {{File: 3}}},
		Segments: [][]documents.Segment{nil, {{}}, nil, {{}}}, // c has changed
	}
	past := s.Past(&in)
	want := documents.Past{
		Numbers: []int{1, documents.IsGone, documents.IsGone, 3},
		Gone: []documents.Segment{{Run: "/state/segments/b", Shard: 3, Size: 44}, {
			Run:   "/state/segments/c",
			Shard: 3,
		}},
	}
	if !reflect.DeepEqual(past, want) || !past.IsInOrder() {
		t.Errorf("%+v, want %+v", past, want)
	}
	names := map[docref.Ref]docref.Ref{}
	for file := range 5 {
		then, err := docref.New(file, 5)
		if err != nil {
			t.Fatal(err)
		}
		if now, is := past.Now(then); is {
			names[then] = now
		}
	}
	if first, last := docref.Ref(1<<40|5), docref.Ref(3<<40|5); !maps.Equal(names, map[docref.Ref]docref.Ref{
		5:    first,
		last: last,
	}) {
		t.Errorf("names %v", names)
	}
	in.Files[1], in.Files[3] = in.Files[3], in.Files[1]
	if past = s.Past(&in); past.IsInOrder() {
		t.Errorf("%v are in order", past.Numbers)
	}
}
