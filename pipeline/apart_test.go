package pipeline

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
)

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
		if _, err := Run(context.Background(), config); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "-of-00001.jsonl is input, and as a result") {
			t.Errorf("%s: error %v", input, err)
		}
		checkSame(t, "files", tree(t, "o"), before)
	}
	config.Output = "p"
	for _, input := range []string{"o", "o/*.jsonl"} {
		config.Input = []string{input}
		if _, err := Run(context.Background(), config); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "o holds results of an earlier job") {
			t.Errorf("%s: error %v", input, err)
		}
	}
	config.Input = []string{"o/unique-*"}
	if second := runJob(t, config); second.Counts.Documents != first.Counts.Kept {
		t.Errorf("%d documents of %d that were kept", second.Counts.Documents, first.Counts.Kept)
	}
}
