package pipeline

import (
	"os"
	"path/filepath"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/settle/state"
	"mirrorbeam/job"
)

// TestUnchanged: a night on which nothing has changed leaves the results and the state as they are. If anything differs that could
// change the results, it does not.
func TestUnchanged(t *testing.T) {
	n := newNight(t, 40)
	protected := filepath.Join(t.TempDir(), "protected")
	if err := os.WriteFile(protected, []byte("example.org\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	n.file(t, "a.jsonl", 30)
	config := testConfig(t, n.folder)
	config.State, config.Overwrite, config.Emit = filepath.Join(t.TempDir(), "state"), true, []string{output.Clusters}
	config.FailOn = []string{job.FailCondition(output.New, output.Clusters)}
	first := runJob(t, config)
	success := filepath.Join(config.Output, "_SUCCESS")
	stands := func() os.FileInfo {
		t.Helper()
		info, err := os.Stat(success)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	before := stands()
	kept := runJob(t, config)
	if !kept.State.IsKept || kept.State.Generation != 1 || kept.State.Files != (state.Difference{Unchanged: 1}) || !os.SameFile(before, stands()) {
		t.Errorf("nothing has changed: %+v", kept.State)
	}
	if kept.Counts.Clusters != first.Counts.Clusters || len(kept.State.Changes[output.Clusters]) > 0 {
		t.Errorf("counts %+v and changes %v, want the counts of the results and no changes", kept.Counts, kept.State.Changes)
	}
	// Nobody has acknowledged the new clusters.
	if len(kept.Failing()) != 1 {
		t.Errorf("conditions %v, want the one that is still met", kept.Failing())
	}

	generation := 1
	for name, change := range map[string]func(c *job.Config){
		"another output":          func(c *job.Config) { c.Emit = append(c.Emit, output.Pairs) },
		"another condition":       func(c *job.Config) { c.FailOn = nil },
		"another guard":           func(c *job.Config) { c.Guard = []string{"removes:1"} },
		"another threshold":       func(c *job.Config) { c.Threshold = .7 },
		"another folder":          func(c *job.Config) { c.Output = filepath.Join(t.TempDir(), "out") },
		"a wish for it":           func(c *job.Config) { c.Republish = true },
		"a wish to read all":      func(c *job.Config) { c.Rebuild = true },
		"results that are gone":   func(*job.Config) { os.Remove(success) },
		"results that were cut":   func(c *job.Config) { os.Truncate(onlyFile(t, c.Output, "clusters-*"), 0) },
		"a changed file":          func(*job.Config) { n.file(t, "a.jsonl", 30) },
		"a file that nobody read": func(*job.Config) { n.put(t, "b.pdf", []byte("%PDF-1.7")) },
	} {
		config := config
		runJob(t, config) // whatever the last case has left
		if again := runJob(t, config); !again.State.IsKept {
			t.Fatalf("before %s: the results were made anew twice", name)
		} else {
			generation = again.State.Generation
		}
		change(&config)
		if s := runJob(t, config); s.State.IsKept || s.State.Generation != generation+1 {
			t.Errorf("%s: the results are kept: %+v", name, s.State)
		}
	}
}

// onlyFile returns the one file of a folder that matches a pattern.
func onlyFile(t *testing.T, folder, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: %v, %v", pattern, names, err)
	}
	return names[0]
}
