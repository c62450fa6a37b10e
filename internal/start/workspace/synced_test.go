package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSyncedFirst: a power cut loses what is not on the device. So files are synced before they get their names, the names
// before the new results count, and all that before anything old is removed.
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
				counts := operation == "exchange" && filepath.Dir(path) == g.root || operation == "rename" && isNew && filepath.Base(path) == SuccessName
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
