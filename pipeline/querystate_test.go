package pipeline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/ground/storage/storagetest"
	"mirrorbeam/internal/look/query"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/settle/state"
	"mirrorbeam/job"
)

// queryState opens the index of a state, in a cache of the test.
func queryState(t *testing.T, folder string) *query.Index {
	t.Helper()
	x, err := query.OpenState(t.Context(), folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// ownCache gives the test a folder for caches.
func ownCache(t *testing.T) string {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	return cache
}

// TestQueryOfState: night for night a query of the state answers as one of an index of a run over everything.
func TestQueryOfState(t *testing.T) {
	known := newNight(t, 30)
	known.file(t, "known.jsonl", 60)
	for name, change := range map[string]func(*job.Config){
		"exact":     func(c *job.Config) { c.Threshold = 0.6 },
		"minhash":   func(c *job.Config) { c.Keys = methods.MinHash },
		"simhash":   func(c *job.Config) { c.Keys, c.Hamming = methods.SimHash, 6 },
		"128 bits":  func(c *job.Config) { c.Keys, c.Hamming, c.Bits = methods.SimHash, 12, 128 },
		"reference": func(c *job.Config) { c.Reference = []string{known.folder} },
		"stopwords": func(c *job.Config) { c.StopWords = filepath.Join(c.Input[0], "stop.words") },
	} {
		t.Run(name, func(t *testing.T) {
			cache := ownCache(t)
			n := newNight(t, 31)
			n.put(t, "stop.words", []byte("w1\nw2\n"))
			config := testConfig(t, n.folder)
			config.Overwrite = true
			change(&config)
			whole := config
			config.AllowRemoval = true
			config.State, whole.Output = filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "whole")
			for night := range 3 {
				n.file(t, fmt.Sprintf("%c%d.jsonl", "mza"[night], night), 60)
				if night < 2 {
					n.put(t, fmt.Sprintf("t%d.txt", night), []byte(n.texts[len(n.texts)-1]))
				}
				if night == 2 {
					if err := os.Remove(filepath.Join(n.folder, "z1.jsonl")); err != nil {
						t.Fatal(err)
					}
				}
				runJob(t, config)
				asked := query.Request{Input: []string{filepath.Join(n.folder, "*.jsonl")}}
				got, _ := runQuery(t, queryState(t, config.State), asked)
				want, _ := runQuery(t, runIndex(t, whole), asked)
				sameRows(t, fmt.Sprintf("night %d", night), got, want)
				if len(want) < 60 {
					t.Errorf("night %d: %d rows tell little", night, len(want))
				}
			}
			if files, err := os.ReadDir(filepath.Join(cache, "runjob")); err != nil || len(files) != 1 {
				t.Errorf("%d files are in the cache (%v), want the newest one", len(files), err)
			}
		})
	}
}

// TestQueryAmongNights: runs that go on while a query opens the state, and remove what it reads, do not harm it. Nor does
// what they do later.
func TestQueryAmongNights(t *testing.T) {
	ownCache(t)
	n := newNight(t, 32)
	config := testConfig(t, n.folder)
	m, folder := storagetest.NewMemory(t)
	config.State, config.Overwrite = storage.Join(folder, "state"), true
	n.file(t, "a.jsonl", 50)
	var armed atomic.Bool
	m.Ask = func(operation, name string) error {
		if operation == "read" && strings.Contains(name, "/units/") && armed.CompareAndSwap(true, false) {
			for range 2 {
				n.file(t, "a.jsonl", 50)
				runJob(t, config)
			}
			s, err := state.Open(config.State, "a test")
			if err == nil {
				_, _, err = s.Prune()
				err = errors.Join(err, s.Close())
			}
			return err
		}
		return nil
	}
	runJob(t, config)
	armed.Store(true)
	x := queryState(t, config.State)
	if armed.Load() {
		t.Fatal("the query has not read a unit")
	}
	asked := query.Request{Input: []string{n.folder}}
	before, _ := runQuery(t, x, asked)
	if len(before) < 50 {
		t.Errorf("%d rows: not those of the newest generation", len(before))
	}
	n.file(t, "a.jsonl", 50)
	runJob(t, config)
	for file, err := range m.List(config.State) {
		if err = errors.Join(err, m.Remove(file.Name)); err != nil {
			t.Fatal(err)
		}
	}
	after, _ := runQuery(t, x, query.Request{Input: []string{n.folder}})
	if len(after) >= len(before) {
		t.Errorf("%d rows for other documents, %d for those of the state", len(after), len(before))
	}
}

// TestNoQueryOfState: what cannot be looked up is refused with its reason.
func TestNoQueryOfState(t *testing.T) {
	ownCache(t)
	n := newNight(t, 33)
	n.file(t, "a.jsonl", 10)
	for want, change := range map[string]func(*job.Config){
		"within":    func(c *job.Config) { c.Within = "lang" },
		"full sets": func(c *job.Config) { c.Keys, c.Verify = methods.MinHash, methods.VerifySketch },
		"sequences": func(c *job.Config) {
			c.Similarity, c.Keys, c.Emit = methods.Containment, methods.Auto, []string{"auto"}
		},
		"makes none": func(c *job.Config) { c.Keys = methods.SameWords },
	} {
		config := testConfig(t, n.folder)
		config.State = filepath.Join(t.TempDir(), "state")
		change(&config)
		runJob(t, config)
		want = strings.NewReplacer("{", "", "}", "").Replace(want)
		if _, err := query.OpenState(t.Context(), config.State, nil); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %s", err, want)
		}
	}
	if _, err := query.OpenState(t.Context(), t.TempDir(), nil); !errors.Is(err, ErrInput) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no state: %v", err)
	}
}

// TestStateOfEarlierVersion: neither a run nor a query mixes sketches of an earlier version with its own. Both say what helps, and that
// does.
func TestStateOfEarlierVersion(t *testing.T) {
	ownCache(t)
	n := newNight(t, 40)
	n.file(t, "a.jsonl", 20)
	config := testConfig(t, n.folder)
	config.Overwrite, config.State = true, filepath.Join(t.TempDir(), "state")
	runJob(t, config)
	s, err := state.Open(config.State, "a test")
	if err != nil {
		t.Fatal(err)
	}
	earlier := s.Last
	earlier.Sketch, earlier.Sketches = earlier.Sketch-1, "of an earlier version"
	if err := errors.Join(s.Commit(earlier), s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), config); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "another version of this program") || !strings.Contains(err.Error(), "read again with rebuild") {
		t.Errorf("a run with the state: %v", err)
	}
	if _, err := query.OpenState(t.Context(), config.State, nil); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "another version of this program made it: run its job again with this one and --rebuild") {
		t.Errorf("a query of the state: %v", err)
	}
	config.Rebuild = true
	runJob(t, config)
	config.Rebuild = false
	runJob(t, config)
	queryState(t, config.State)
}

// TestQueryOfOpenState: a state in which others may put files is a fault of the storage, as 'runjob state' says.
func TestQueryOfOpenState(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state")
	if err := errors.Join(os.Mkdir(folder, 0o700), os.Chmod(folder, 0o777)); err != nil {
		t.Fatal(err)
	}
	if _, err := query.OpenState(t.Context(), folder, nil); !errors.Is(err, ErrStorage) || errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "everybody may write to it") {
		t.Errorf("error %v", err)
	}
}
