package pipeline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/transforms"
)

// TestAttempts: where the runner breaks down the job is begun anew in empty folders;
// what a task says, or somebody who interrupts it, ends the job at once.
func TestAttempts(t *testing.T) {
	// As Beam 2.77 says it, shortened.
	broken := errors.New("job job-001 failed:\npanic in stage.Execute bundle processing goroutine: " +
		"runtime error: invalid memory address or nil pointer dereference, stage: &{ID:stage-074 ...")
	other := errors.New("job job-001 failed:\nprocess bundle failed")
	both := errors.New(broken.Error() + "\nmirrorbeam fault: \"storage\" \"ENOSPC\" \"\" \"write run: no space left on device\"")
	tests := []struct {
		name     string
		ends     []error // of the attempts, one after the other
		attempts int
		want     error
	}{
		{"sound", []error{nil}, 1, nil},
		{"broken once", []error{broken, nil}, 2, nil},
		{"broken, then a task fails", []error{broken, other}, 2, other},
		{"always broken", []error{broken, broken, broken, nil}, mostAttempts, broken},
		{"a task fails", []error{other, nil}, 1, other},
		{"broken, and a task fails", []error{both, nil}, 1, both},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			job := transforms.Job{Temp: t.TempDir(), Partial: t.TempDir()}
			job.Inputs = filepath.Join(job.Temp, "inputs.json")
			writeEmpty(t, job.Inputs)
			attempts := 0
			_, err := attempt(t.Context(), job, func(context.Context) (beam.PipelineResult, error) {
				for folder, want := range map[string]int{job.Temp: 1, job.Partial: 0} {
					if entries, err := os.ReadDir(folder); err != nil || len(entries) != want {
						t.Errorf("attempt %d finds %v, %v: want %d files", attempts, entries, err, want)
					}
				}
				writeEmpty(t, filepath.Join(job.Temp, "run"))
				writeEmpty(t, filepath.Join(job.Partial, "pairs"))
				attempts++
				return nil, test.ends[attempts-1]
			})
			if attempts != test.attempts || !errors.Is(err, test.want) {
				t.Errorf("%d attempts, %v: want %d, %v", attempts, err, test.attempts, test.want)
			}
			if _, err := os.Stat(job.Inputs); err != nil {
				t.Errorf("the inputs are gone: %v", err)
			}
		})
	}
}

// TestAttemptsInterrupted: an interrupted job is not begun anew.
func TestAttemptsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	attempts := 0
	_, err := attempt(ctx, transforms.Job{}, func(context.Context) (beam.PipelineResult, error) {
		attempts++
		cancel()
		return nil, errors.New(breakdown)
	})
	if attempts != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d attempts, %v", attempts, err)
	}
}

func writeEmpty(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
