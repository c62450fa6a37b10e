package workspace

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
)

// TestInterleavedInBucket stops a run at each step of publishing for longer than its leases last, and lets another run
// begin and end there. Whatever the first run does afterwards, the results of the other one stay whole.
func TestInterleavedInBucket(t *testing.T) {
	for _, hasOld := range []bool{false, true} {
		for at := int64(2); ; at++ { // operation 1 takes the lease
			m, folder := storagetest.NewMemory(t)
			if hasOld {
				if err := runInBucket(folder, "old", 3); err != nil {
					t.Fatal(err)
				}
			}
			var operations atomic.Int64
			var other error
			expire := func() {
				m.Expire(folder + "/out/" + leaseName)
				for name := range contents(t, m, folder+"/temp") {
					run, _, _ := strings.Cut(name, "/")
					m.Expire(folder + "/temp/" + run + lockSuffix)
				}
			}
			m.Ask = func(string, string) error {
				if operations.Add(1) == at {
					expire()
					other = runInBucket(folder, "newer", 4)
				}
				return nil
			}
			first := runInBucket(folder, "stale", 2)
			if operations.Load() < at {
				break
			}
			when := fmt.Sprintf("earlier results %v, stopped at operation %d: %v", hasOld, at, first)
			if other != nil {
				t.Fatalf("%s: the other run: %v", when, other)
			}
			if err := holdsResults(contents(t, m, folder+"/out"), "newer", 4); err != nil {
				t.Errorf("%s: %v", when, err)
			}
			expire()
			w, err := Open(Options{Output: folder + "/out", Temp: folder + "/temp", Overwrite: true})
			if err != nil {
				t.Fatalf("%s: the next run: %v", when, err)
			}
			w.Close()
			if err := holdsResults(contents(t, m, folder+"/out"), "newer", 4); err != nil {
				t.Errorf("%s, after the next run: %v", when, err)
			}
		}
	}
}

// TestInterleavedOnDisk: on the local disk a lock keeps the other run away, at each step of publishing.
func TestInterleavedOnDisk(t *testing.T) {
	for _, s := range situations() {
		total := s.count(t)
		for n := range total {
			g, i := s.prepare(t), 0
			var other error
			err := publish(g.options(), "new", diskOf(func(operation, _ string) error {
				if i++; i-1 == n {
					other = publish(g.options(), "next", disk{})
				}
				return s.refuses(operation)
			}))
			if err != nil || other == nil || g.standing() != "new" {
				t.Fatalf("%s, at operation %d: %v; the other run: %v; %q is published", s.name, n, err, other,
					g.standing())
			}
		}
	}
}

// TestStaleJournal: a journal next to results that it does not replace is void, however it came to be left.
func TestStaleJournal(t *testing.T) {
	m, folder := storagetest.NewMemory(t)
	if err := runInBucket(folder, "old", 3); err != nil {
		t.Fatal(err)
	}
	var died atomic.Bool
	m.Ask = func(operation, name string) error {
		if operation == "remove" && strings.HasSuffix(name, SuccessName) {
			died.Store(true)
		}
		if died.Load() {
			return errKilled
		}
		return nil
	}
	if err := runInBucket(folder, "stale", 2); err == nil {
		t.Fatal("the run did not die")
	}
	m.Ask = nil
	left := contents(t, m, folder+"/out")
	m.Expire(folder + "/out/" + leaseName)
	if err := runInBucket(folder, "newer", 4); err != nil {
		t.Fatal(err)
	}
	journals := 0
	for name, content := range left {
		if strings.HasPrefix(name, partialPrefix) {
			journals += strings.Count(name, publicationName)
			if err := storage.WriteFile(storage.Join(folder, "out/"+name), []byte(content)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if journals != 1 {
		t.Fatalf("%d journals were left", journals)
	}
	w, err := Open(Options{Output: folder + "/out", Temp: folder + "/temp", Overwrite: true})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := holdsResults(contents(t, m, folder+"/out"), "newer", 4); err != nil {
		t.Error(err)
	}
}

// TestUnreadableManifest: results that cannot be read are not taken for files of somebody else.
func TestUnreadableManifest(t *testing.T) {
	errDenied := errors.New("the token has expired")
	m, folder := storagetest.NewMemory(t)
	if err := runInBucket(folder, "old", 1); err != nil {
		t.Fatal(err)
	}
	m.Ask = func(operation, name string) error {
		if operation == "open" && strings.HasSuffix(name, ManifestName) {
			return errDenied
		}
		return nil
	}
	refused := func(err error, cause error) {
		t.Helper()
		if !errors.Is(err, cause) || strings.Contains(err.Error(), "move the file away") ||
			!strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%v", err)
		}
	}
	refused(runInBucket(folder, "new", 1), errDenied)

	g := newGround(t)
	if err := publish(g.options(), "old", disk{}); err != nil {
		t.Fatal(err)
	}
	w, err := open(g.options(), disk{func(operation, path string) error {
		if operation == "read" && strings.HasSuffix(path, ManifestName) {
			return os.ErrPermission
		}
		return nil
	}})
	if err == nil {
		w.Close()
	}
	refused(err, os.ErrPermission)
}
