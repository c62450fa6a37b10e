package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// TestSyncedFirst: a power cut loses what is not on the device. So files are synced before they get their names, the
// names before the new results count, and all that before anything old is removed.
func TestSyncedFirst(t *testing.T) {
	for _, s := range situations() {
		g := s.prepare(t)
		synced, folders := map[string]bool{}, 0
		unsynced := "" // the name that was given last, if no folder was synced since then
		err := publish(g.options(), "new", diskOf(func(operation, path string) error {
			if err := s.refuses(operation); err != nil {
				return err
			}
			isNew := strings.Contains(path, partialPrefix)
			switch operation {
			case "sync":
				synced[path] = true
				if info, err := os.Stat(path); err == nil && info.IsDir() {
					folders++
					unsynced = ""
				}
			case "link", "rename", "exchange":
				if isNew && !synced[path] {
					t.Errorf("%s: %s %s before it is synced", s.name, operation, path)
				}
				counts := operation == "exchange" && filepath.Dir(path) == g.root ||
					operation == "rename" && isNew && filepath.Base(path) == SuccessName
				if counts && unsynced != "" {
					t.Errorf("%s: %s %s before the folder of %s is synced", s.name, operation, path, unsynced)
				}
				unsynced = path
			case "remove":
				if unsynced != "" {
					t.Errorf("%s: remove %s before the folder of %s is synced", s.name, path, unsynced)
				}
			}
			return nil
		}))
		if err != nil || folders < 3 {
			t.Errorf("%s: folders were synced %d times: %v", s.name, folders, err)
		}
	}
}

// TestSyncedTogether: many files are synced by one request where the system can, and one by one where it cannot. A
// failure of either is told.
func TestSyncedTogether(t *testing.T) {
	folder := t.TempDir()
	paths := make([]string, manyFiles+1)
	for i := range paths {
		paths[i] = filepath.Join(folder, strconv.Itoa(i))
		if err := os.WriteFile(paths[i], nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []int{manyFiles, manyFiles + 1} {
		var together, alone atomic.Int64
		err := diskOf(func(_, path string) error {
			if path == folder {
				together.Add(1)
			} else {
				alone.Add(1)
			}
			return nil
		}).syncAll(folder, paths[:n])
		isTogether := n > manyFiles && together.Load() == 1 && alone.Load() == 0
		isFallback := together.Load() == int64(n-manyFiles) && alone.Load() == int64(n)
		if err != nil || !isTogether && !isFallback {
			t.Errorf("%d files: synced %d times together and %d times alone: %v", n, together.Load(), alone.Load(), err)
		}
		refused := errors.New("refused")
		if err := diskOf(func(_, _ string) error { return refused }).syncAll(folder, paths[:n]); !errors.Is(err,
			refused) {
			t.Errorf("%d files: the refusal is lost: %v", n, err)
		}
	}
}
