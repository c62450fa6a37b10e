package pipeline

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/result/workspace"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/job"
)

// TestRefusals tries each way in which a job cannot run. The error is of its kind and names the fault, and the disk is
// as before.
func TestRefusals(t *testing.T) {
	input := putCorpus(t, plain, cut(oddities(21), 2)...)
	onlyRejects := put(t, filepath.Join(t.TempDir(), "bad.jsonl"), []byte("{}\n\n[]\n"), plain)
	taken := t.TempDir()
	put(t, filepath.Join(taken, "mine.words"), []byte("mine"), plain)
	for _, c := range []struct {
		name   string
		change func(*job.Config)
		kind   error
		says   string
	}{
		{"usage", func(c *job.Config) { c.Threshold = 2 }, ErrUsage, "threshold 2"},
		{
			"output is an address", func(c *job.Config) { c.Output = "gs://bucket/out" }, ErrUsage,
			"output gs://bucket/out: this version reads and writes no gs://",
		},
		{
			"temp is an address", func(c *job.Config) { c.Temp = "file:///tmp" }, ErrUsage,
			"temp file:///tmp: this version reads and writes no file://",
		},
		{"no match", func(c *job.Config) { c.Input = append(c.Input, "nothing/here*") }, ErrInput, "nothing/here*"},
		{"too many rejects", func(c *job.Config) { c.MaxRejects = 9 }, ErrInput, "10 records"},
		{
			"first reject of zstd", func(c *job.Config) { c.MaxRejects, c.OutputFormat = 0, "jsonl.zst" }, ErrInput,
			"a.jsonl:",
		},
		{
			"first reject of gzip", func(c *job.Config) { c.MaxRejects, c.OutputFormat = 0, "jsonl.gz" }, ErrInput,
			"a.jsonl:",
		},
		{"no document", func(c *job.Config) { c.Input = []string{onlyRejects} }, ErrInput, "bad.jsonl:0"},
		{"output not empty", func(c *job.Config) { c.Output = taken }, ErrStorage, "mine.words"},
		{
			"output is a file", func(c *job.Config) { c.Output = filepath.Join(taken, "mine.words") }, ErrStorage,
			"mine.words",
		},
		{
			"temp is a file", func(c *job.Config) { c.Temp = filepath.Join(taken, "mine.words") }, ErrStorage,
			"mine.words",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := testConfig(t, input)
			// what only a run finds that reads the records, or makes its folders
			isFoundLate := map[string]bool{
				"too many rejects": true, "first reject of zstd": true, "first reject of gzip": true,
				"no document": true, "temp is a file": true,
			}
			if c.name == "first reject of zstd" || c.name == "first reject of gzip" {
				config.Input = []string{putCorpus(t, plain, file{"a.jsonl", oddities(21)})}
			}
			c.change(&config)
			before := tree(t, filepath.Dir(config.Output))
			_, found := Check(t.Context(), config)
			_, err := Run(context.Background(), config)
			if isFoundLate[c.name] != (found == nil) || found != nil && found.Error() != err.Error() {
				t.Errorf("a check says %v, the run %v", found, err)
			}
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one of kind %v that says %q", err, c.kind, c.says)
			}
			for _, kind := range []error{ErrUsage, ErrInput, ErrStorage} {
				if kind != c.kind && errors.Is(err, kind) {
					t.Errorf("the error is of kind %v too", kind)
				}
			}
			if after := tree(t, filepath.Dir(config.Output)); !maps.Equal(before, after) {
				t.Errorf("the folder holds %v, before %v", after, before)
			}
			if _, err := os.Stat(config.Output + ".temp"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a temporary folder is left (%v)", err)
			}
		})
	}
	t.Run("as many rejects as allowed", func(t *testing.T) {
		config := testConfig(t, input)
		config.MaxRejects = 10
		runJob(t, config)
	})
}

// TestWaitForLease: a run begins when another one gives back what it needs, or ends as unavailable.
func TestWaitForLease(t *testing.T) {
	for name, hold := range map[string]func(*job.Config) (io.Closer, error){
		"state": func(c *job.Config) (io.Closer, error) {
			c.State = filepath.Join(t.TempDir(), "state")
			return state.Open(c.State, "another run")
		},
		"output": func(c *job.Config) (io.Closer, error) {
			c.Overwrite = true
			return storage.Lock(c.Output, os.O_RDONLY)
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := testConfig(t, putCorpus(t, plain, cut(synthetic(24), 1)...))
			if err := os.MkdirAll(config.Output, 0o700); err != nil {
				t.Fatal(err)
			}
			other, err := hold(&config)
			if err != nil {
				t.Fatal(err)
			}
			config.WaitForLease = 0
			if _, err := Run(t.Context(), config); !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrStorage) {
				t.Errorf("without a wait: %v", err)
			}
			config.WaitForLease = job.Span(time.Minute)
			config.Progress = func(line string) {
				if strings.Contains(line, "waiting for another run") {
					if err := other.Close(); err != nil {
						t.Error(err)
					}
				}
			}
			runJob(t, config)
		})
	}
}

// TestOverwrite replaces the results of an earlier job, which has more files and other names, and nothing else.
func TestOverwrite(t *testing.T) {
	config := testConfig(t, putCorpus(t, plain, cut(synthetic(22), 4)...))
	config.OutputFormat = "jsonl.gz"
	runJob(t, config)
	put(t, filepath.Join(config.Output, "mine.txt"), []byte("mine"), plain)
	put(t, filepath.Join(config.Output, "clusters-of-mine.jsonl"), []byte("mine too"), plain)

	config.Input = []string{putCorpus(t, plain, cut(synthetic(23), 1)...)}
	config.OutputFormat, config.Emit = "jsonl", []string{output.Clusters, output.Pairs}
	before := tree(t, config.Output)
	if _, err := Run(context.Background(), config); !errors.Is(err, ErrStorage) {
		t.Fatalf("without overwrite: %v", err)
	}
	if !maps.Equal(before, tree(t, config.Output)) {
		t.Error("a refused job changed the folder")
	}

	config.Overwrite = true
	bad := config
	bad.Input = []string{put(t, filepath.Join(t.TempDir(), "bad.jsonl"), []byte("{}\n"), plain)}
	if _, err := Run(context.Background(), bad); !errors.Is(err, ErrInput) {
		t.Fatalf("without a document: %v", err)
	}
	if !maps.Equal(before, tree(t, config.Output)) {
		t.Error("a failed job changed the results before it")
	}

	runJob(t, config)
	names := slices.Sorted(maps.Keys(tree(t, config.Output)))
	want := []string{
		workspace.SuccessName, "clusters-00000-of-00001.jsonl", "clusters-of-mine.jsonl", workspace.ManifestName,
		"mine.txt",
		"pairs-00000-of-00001.jsonl", "rejects-00000-of-00001.jsonl", workspace.SummaryName,
	}
	if slices.Sort(want); !slices.Equal(names, want) {
		t.Errorf("the folder holds %q, want %q", names, want)
	}
	fresh := config
	fresh.Output = filepath.Join(t.TempDir(), "out")
	runJob(t, fresh)
	sameText(t, "output", lawful(t, config.Output), lawful(t, fresh.Output))
}

// TestFoldersOfUser: a path is bytes, whether or not they are UTF-8. A folder for temporary files that existed before
// the job is the user's, and stays.
func TestFoldersOfUser(t *testing.T) {
	config := testConfig(t, putCorpus(t, plain, cut(synthetic(28), 2)...))
	runJob(t, config)
	want, root := lawful(t, config.Output), t.TempDir()
	own := filepath.Join(root, "own")
	if err := os.Mkdir(own, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, temp := range []string{filepath.Join(root, "temp\xc3"), own} {
		config.Output, config.Temp, config.Overwrite = filepath.Join(root, "caf\xe9", "\xff\xfe"), temp, true
		runJob(t, config)
		sameText(t, "output", lawful(t, config.Output), want)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 2 || entries[0].Name() != "caf\xe9" ||
		entries[1].Name() != "own" {
		t.Errorf("the job made %q (%v)", entries, err)
	}
}

// TestOutputFolderStays: an empty output folder that existed before survives a job that fails.
func TestOutputFolderStays(t *testing.T) {
	config := testConfig(t, put(t, filepath.Join(t.TempDir(), "bad.jsonl"), []byte("{}\n"), plain))
	config.Output = t.TempDir()
	if _, err := Run(context.Background(), config); !errors.Is(err, ErrInput) {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(config.Output); err != nil || len(entries) > 0 {
		t.Errorf("the folder holds %v (%v), want nothing", entries, err)
	}
}

// TestJobsSideBySide runs jobs that share a temporary folder at the same time.
func TestJobsSideBySide(t *testing.T) {
	temp := filepath.Join(t.TempDir(), "temp")
	var jobs sync.WaitGroup
	outputs := make([]string, 4)
	faults := make([]error, len(outputs))
	for i := range outputs {
		config := lawConfig(t, putCorpus(t, plain, cut(synthetic(lawSeed), 2)...))
		config.Temp, outputs[i] = temp, config.Output
		jobs.Go(func() { _, faults[i] = Run(context.Background(), config) })
	}
	jobs.Wait()
	if err := errors.Join(faults...); err != nil {
		t.Fatal(err)
	}
	for _, dir := range outputs[1:] {
		sameText(t, "output", lawful(t, dir), lawful(t, outputs[0]))
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestResultsAsInput: results may be the input of another job, but not of one
// that would replace them.
func TestResultsAsInput(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "in.jsonl", file{"in.jsonl", synthetic(82)}.content(), plain)
	config := testConfig(t, "in.jsonl")
	config.Output, config.Emit = "o", []string{output.Unique}
	first := runJob(t, config)
	if err := os.Symlink("o", "alias"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("o/unique-00000-of-00001.jsonl", "link.jsonl"); err != nil {
		t.Fatal(err)
	}
	before := tree(t, "o")
	config.Overwrite = true
	for _, input := range []string{"o/unique-*", "alias/unique-*", "link.jsonl", "*/unique-*"} {
		config.Input = []string{input}
		if _, err := Run(context.Background(), config); !errors.Is(err, ErrUsage) ||
			!strings.Contains(err.Error(), "-of-00001.jsonl is input, and as a result") {
			t.Errorf("%s: error %v", input, err)
		}
		checkSame(t, "files", tree(t, "o"), before)
	}
	config.Output = "p"
	for _, input := range []string{"o", "o/*.jsonl"} {
		config.Input = []string{input}
		if _, err := Run(context.Background(), config); !errors.Is(err, ErrInput) ||
			!strings.Contains(err.Error(), "o contains results of an earlier job") {
			t.Errorf("%s: error %v", input, err)
		}
	}
	config.Input = []string{"o/unique-*"}
	if second := runJob(t, config); second.Counts.Documents != first.Counts.Kept {
		t.Errorf("%d documents of %d that were kept", second.Counts.Documents, first.Counts.Kept)
	}
}
