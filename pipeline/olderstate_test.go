package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOlderState: a state that was emptied, or restored from a backup, is refused next to results of a later
// generation.
func TestOlderState(t *testing.T) {
	root := t.TempDir()
	config := testConfig(t, filepath.Join(root, "in"))
	config.State, config.Overwrite = filepath.Join(root, "state"), true
	run := func(file int) (Summary, error) {
		t.Helper()
		name := filepath.Join(root, "in", fmt.Sprint(file, ".jsonl"))
		text := fmt.Sprintf("{\"text\": \"document %d has words of its own\"}\n", file)
		if err := errors.Join(
			os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o666),
		); err != nil {
			t.Fatal(err)
		}
		return Run(context.Background(), config)
	}
	backup := filepath.Join(root, "backup")
	for generation := 1; generation <= 4; generation++ {
		if summary, err := run(generation); err != nil || summary.State.Generation != generation {
			t.Fatalf("generation %d: %v", generation, err)
		}
		if generation == 2 {
			if err := os.CopyFS(backup, os.DirFS(config.State)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name, holds string
		replace     func() error
		next        int
	}{
		{"restored", "is at generation 2", func() error { return os.CopyFS(config.State, os.DirFS(backup)) }, 3},
		{"empty", "is empty", func() error { return os.Mkdir(config.State, 0o777) }, 1},
		{"missing", "is empty", func() error { return nil }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := errors.Join(os.RemoveAll(config.State), c.replace()); err != nil {
				t.Fatal(err)
			}
			config.AllowOlderState = false
			_, err := run(5)
			if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), c.holds) ||
				!strings.Contains(err.Error(), "allow_older_state") {
				t.Fatalf("%v", err)
			}
			config.AllowOlderState = true
			if summary, err := run(5); err != nil || summary.State.Generation != c.next {
				t.Errorf("with the permission: %v", err)
			}
			// What follows needs results of a later generation again.
			for range 3 {
				config.Republish = true
				if _, err := run(5); err != nil {
					t.Fatal(err)
				}
				config.Republish = false
			}
		})
	}
}
