package state

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
)

// folders are places for a state: the local disk, and a storage that offers only what every storage must.
func folders(t *testing.T) map[string]string {
	_, memory := storagetest.NewMemory(t)
	return map[string]string{"disk": filepath.Join(t.TempDir(), "state"), "memory": memory}
}

// open opens a state, which the test closes.
func open(t *testing.T, folder string) *State {
	t.Helper()
	s, err := Open(folder, "a test")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// runName returns the name of a run file of segments, given a letter.
func runName(letter string) string { return "run-" + strings.Repeat(letter, 26) }

// holding returns content that needs one segment.
func holding(run string) Content {
	return Content{
		Made:  time.Unix(1, 0),
		Files: []File{{File: corpus.File{Path: "/in/a"}, Stretches: []Stretch{{End: 9, Run: "segments/" + run}}}},
	}
}

// segment makes a file that stands for segments.
func segment(t *testing.T, s *State, name string) {
	t.Helper()
	if err := storage.WriteFile(storage.Join(s.Segments(), name), []byte(name)); err != nil {
		t.Fatal(err)
	}
}

// files returns the names of all files of a state, sorted.
func files(t *testing.T, folder string) []string {
	t.Helper()
	all, err := list(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range all.generations {
		all.others = append(all.others, g.info.Name)
	}
	slices.Sort(all.others)
	return all.others
}

// TestGenerations: a generation is written in one step, the last two stay, and what no generation needs goes.
func TestGenerations(t *testing.T) {
	for name, folder := range folders(t) {
		t.Run(name, func(t *testing.T) {
			for i, run := range []string{runName("A"), runName("B"), runName("C")} {
				s := open(t, folder)
				if i > 0 && (len(s.Last.Files) != 1 || s.Last.Number < i) {
					t.Errorf("run %d begins with %+v", i, s.Last)
				}
				segment(t, s, run)
				segment(t, s, runName("D"))
				if err := s.Commit(holding(run)); err != nil {
					t.Fatal(err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			s := open(t, folder)
			last := s.Last
			if last.Files[0].Stretches[0].Run != "segments/"+runName("C") {
				t.Errorf("the newest generation is %+v", last)
			}
			left := files(t, folder)
			if !slices.Contains(left, "segments/"+runName("C")) || slices.Contains(left, "segments/"+runName("A")) ||
				strings.Contains(strings.Join(left, " "), runName("D")) {
				t.Errorf("left: %v", left)
			}
			if _, _, err := s.Prune(); err != nil {
				t.Fatal(err)
			}
			if left := files(t, folder); slices.Contains(left, "segments/"+runName("B")) && name == "disk" {
				t.Errorf("left after it was pruned: %v", left)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if again, err := Read(folder); err != nil || again.Files[0].Path != last.Files[0].Path {
				t.Errorf("read %+v, %v", again, err)
			}
		})
	}
}

// TestSweepNames: of all files that a run hands on, the files of the newest generations stay, and others go. Verify
// misses each.
func TestSweepNames(t *testing.T) {
	for name, folder := range folders(t) {
		t.Run(name, func(t *testing.T) {
			s := open(t, folder)
			write := func(n Names) {
				t.Helper()
				if err := errors.Join(WriteGroups(s.Path(n.Clusters), nil), WriteGroups(s.Path(n.Mirrors), nil),
					WriteAlerts(s.Path(n.Suspects), nil), WriteNotifications(s.Path(n.Notifications), nil),
					WriteCachedPairs(s.Path(n.Pairs), nil, nil)); err != nil {
					t.Fatal(err)
				}
			}
			kept, dead := NewNames(), NewNames()
			write(kept)
			write(dead)
			if err := s.Commit(Content{
				Clusters:      kept.Clusters,
				Pairs:         kept.Pairs,
				Mirrors:       kept.Mirrors,
				Suspects:      kept.Suspects,
				Notifications: kept.Notifications,
			}); err != nil {
				t.Fatal(err)
			}
			if _, _, err := s.Prune(); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			want := []string{kept.Clusters, kept.Mirrors, kept.Notifications, kept.Pairs, kept.Suspects}
			if got := slices.DeleteFunc(files(t, folder), func(name string) bool {
				return strings.HasPrefix(name, generationPrefix)
			}); !slices.Equal(got, want) {
				t.Errorf("left %v, want %v", got, want)
			}
			for _, name := range want {
				if _, err := Verify(t.Context(), folder); err != nil {
					t.Fatal(err)
				}
				if err := storage.Remove(storage.Join(folder, name)); err != nil {
					t.Fatal(err)
				}
				if _, err := Verify(t.Context(), folder); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("without %s: %v", name, err)
				}
				write(kept)
			}
		})
	}
}

// TestNothingIsLeft: a run that fails before it writes leaves no folder behind that it has made, and no other is
// removed.
func TestNothingIsLeft(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state")
	if err := open(t, folder).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := open(t, folder).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(folder); err != nil {
		t.Errorf("a folder of the user is removed: %v", err)
	}
}

// TestOneRunAtATime: a second run is told who is at work.
func TestOneRunAtATime(t *testing.T) {
	for name, folder := range folders(t) {
		t.Run(name, func(t *testing.T) {
			s := open(t, folder)
			_, err := Open(folder, "another test")
			if held, is := errors.AsType[*storage.HeldError](err); !is || held.Holder != "a test" {
				t.Errorf("the second run gets %v", err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if err := open(t, folder).Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestCommitConflict: a run that has lost its lease without knowing it does not replace what another run has written.
func TestCommitConflict(t *testing.T) {
	for name, folder := range folders(t) {
		t.Run(name, func(t *testing.T) {
			s := open(t, folder)
			other := *s
			if err := other.Commit(holding(runName("A"))); err != nil {
				t.Fatal(err)
			}
			if err := s.Commit(holding(runName("B"))); !errors.Is(err, fs.ErrExist) {
				t.Errorf("the second run gets %v", err)
			}
			if got, err := Read(folder); err != nil || got.Files[0].Stretches[0].Run != "segments/"+runName("A") {
				t.Errorf("read %+v, %v", got, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestSweepTakesNumber: before a run in a bucket removes what a dead run has left, it takes the number that this run,
// if it still lives, is about to write.
func TestSweepTakesNumber(t *testing.T) {
	_, folder := storagetest.NewMemory(t)
	s := open(t, folder)
	segment(t, s, runName("A"))
	if err := s.Commit(holding(runName("A"))); err != nil {
		t.Fatal(err)
	}
	undead := *s
	segment(t, s, runName("B"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	next := open(t, folder)
	defer next.Close()
	undead.lease = next.lease // as if it had checked its lease a moment ago
	if err := undead.Commit(holding(runName("B"))); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the run that lives on gets %v", err)
	}
	if got, err := Read(folder); err != nil || got.Files[0].Stretches[0].Run != "segments/"+runName("A") {
		t.Errorf("read %+v, %v", got, err)
	}
}

// TestDamage: no byte of a generation can change unseen, and another layout is refused.
func TestDamage(t *testing.T) {
	content := holding(runName("A"))
	whole := content.encode()
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 4
		if _, err := decode(damaged); err == nil {
			t.Errorf("byte %d of %d can change", i, len(whole))
		}
		if _, err := decode(whole[:i]); err == nil {
			t.Errorf("it can end after %d of %d bytes", i, len(whole))
		}
	}
	earlier := bytes.Replace(whole, []byte(magic), []byte("mirrorbeam state 1\n"), 1)
	if _, err := decode(earlier); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("another layout: %v", err)
	}
}

// TestForeignFolder: a folder that holds other things is not taken for a state, and nothing in it is removed.
func TestForeignFolder(t *testing.T) {
	for name, folder := range folders(t) {
		if name == "disk" {
			if err := os.MkdirAll(folder, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		for _, precious := range []string{"thesis.txt", "clusters-00000-of-00001.jsonl", "segments-of-lines"} {
			precious = storage.Join(folder, precious)
			if err := storage.WriteFile(precious, nil); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(folder, "a test"); err == nil ||
				!strings.Contains(err.Error(), "is not part of a state") {
				t.Errorf("opened: %v", err)
			}
			if _, err := storage.Stat(precious); err != nil {
				t.Error(err)
			}
			if err := storage.Remove(precious); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestFormerLayout: the state of an earlier version is refused for its layout, although its files have other names.
func TestFormerLayout(t *testing.T) {
	for name, folder := range folders(t) {
		if name == "disk" {
			if err := os.MkdirAll(filepath.Join(folder, "units"), 0o777); err != nil {
				t.Fatal(err)
			}
		}
		for _, former := range []string{
			"units/" + runName("A"),
			"verdicts-" + strings.TrimPrefix(runName("A"), "run-"),
		} {
			if err := storage.WriteFile(storage.Join(folder, former), nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := storage.WriteFile(generationName(folder, 1), Seal([]byte("mirrorbeam state 1\n"))); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(folder, "a test"); !errors.Is(err, ErrVersion) {
			t.Errorf("%s: opened: %v", name, err)
		}
	}
}

// generationAt returns the generation of a file of the local disk that was written then.
func generationAt(written time.Time) string { return strconv.FormatInt(written.UnixNano(), 10) }

// TestAssign: all of a file is read, or none, and the stretches of files that are known keep their segments.
func TestAssign(t *testing.T) {
	file := func(name string, size int64) corpus.File {
		return corpus.File{
			Path:       "/in/" + name,
			Name:       name,
			Size:       size,
			Generation: generationAt(time.Unix(1e9, 0)),
			Format:     corpus.JSONLines,
		}
	}
	s := &State{Folder: "/state"}
	first := []corpus.File{file("b", 50), file("c", 250), file("d", 20)}
	splits, segments, d := s.Assign(first, 100, Reading{})
	if d != (Difference{New: 3}) || slices.ContainsFunc(segments, func(u []documents.Segment) bool {
		return u != nil
	}) {
		t.Fatalf("of a new state: %+v, %v", d, segments)
	}
	made := map[int]string{}
	for i := range splits {
		made[i] = "/state/segments/run-" + string(rune('a'+i))
	}
	in := documents.Inputs{Files: first, Splits: splits, Segments: segments}
	s.Last = Content{Number: 1, Files: s.Files(&in, made, time.Unix(2e9, 0), nil, 0)}
	changed := file("c", 250)
	changed.Generation += "1"
	now := []corpus.File{file("a", 30), file("b", 50), changed, file("d", 20)}
	splits, segments, d = s.Assign(now, 100, Reading{})
	if d != (Difference{New: 1, Changed: 1, Unchanged: 2}) {
		t.Errorf("difference %+v", d)
	}
	covered := make([]int64, len(now))
	last := corpus.Stretch{File: -1}
	for i, split := range splits {
		for k, stretch := range split {
			if stretch.File < last.File || stretch.File == last.File && stretch.Start != last.End {
				t.Errorf("%v comes after %v", stretch, last)
			}
			last = stretch
			covered[stretch.File] += stretch.End - stretch.Start
			if isKnown := segments[i] != nil; isKnown !=
				(now[stretch.File].Name == "b" || now[stretch.File].Name == "d") {
				t.Errorf("%s has segments: %v", now[stretch.File].Name, isKnown)
			} else if isKnown &&
				segments[i][k].Run !=
					s.Path(s.Last.Files[map[string]int{"b": 0, "d": 2}[now[stretch.File].Name]].Stretches[0].Run) {
				t.Errorf("%s has the segment %v", now[stretch.File].Name, segments[i][k])
			}
		}
	}
	for i := range now {
		if covered[i] != now[i].Size {
			t.Errorf("%d of %d bytes of %s are in splits", covered[i], now[i].Size, now[i].Name)
		}
	}
	if _, _, d := s.Assign(now[:1], 100, Reading{}); d != (Difference{New: 1, Removed: 3}) {
		t.Errorf("difference %+v", d)
	}
}

// TestStable: a file that was written just before it was listed may change again without a sign.
func TestStable(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		path   string
		age    time.Duration
		stable bool
	}{
		{"/in/a", time.Hour, true},
		{"/in/a", 3 * time.Second, true},
		{"/in/a", time.Second, false},
		{"/in/a", -time.Hour, false},
		{"/in/a", -48 * time.Hour, true},
		{"gs://b/a", 0, true},
	} {
		file := corpus.File{Path: c.path, Generation: generationAt(now.Add(-c.age))}
		if got := isStable(&file, now); got != c.stable {
			t.Errorf("%s, %v old: stable %v", c.path, c.age, got)
		}
		s := State{Last: Content{Files: []File{{
			File:   corpus.File{Format: corpus.Text, Members: []corpus.File{file}},
			Stable: c.stable,
		}}}}
		if _, known := s.Known()[c.path]; known != c.stable {
			t.Errorf("%s, %v old: known %v", c.path, c.age, known)
		}
	}
}
