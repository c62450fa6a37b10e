package pipeline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/transforms"
)

// mostAttempts is how often a job is begun where the embedded runner breaks down.
const mostAttempts = 3

// breakdown is what the embedded runner says where it panics itself. Beam 2.77 asks
// a worker for the progress of its own steps, which have no worker, if a tenth of a
// second goes by before it looks whether they are done: now and then, where the
// machine is so busy that a thread waits that long.
const breakdown = "panic in stage.Execute bundle processing goroutine"

// attempt runs the job's pipeline, and begins it anew where the embedded runner breaks
// down, by a fault of its own that says nothing of the job.
func attempt(ctx context.Context, job transforms.Job, run func(context.Context) (beam.PipelineResult, error)) (beam.PipelineResult, error) {
	for attempts := 1; ; attempts++ {
		result, err := run(ctx)
		// The runner may have given up the pipeline while tasks still write.
		transforms.Drain()
		if ctx.Err() != nil {
			return result, ctx.Err()
		}
		if err == nil || attempts == mostAttempts || !isBreakdown(err) {
			return result, err
		}
		if err := startOver(job); err != nil {
			return result, fmt.Errorf("begin the job anew: %w", err)
		}
	}
}

// isBreakdown reports whether err is that of a runner which broke down, and no task
// says why.
func isBreakdown(err error) bool {
	_, ofTask := transforms.FaultOf(err)
	return !ofTask && strings.Contains(err.Error(), breakdown)
}

// startOver empties the job's folders, but for the list of its inputs.
func startOver(job transforms.Job) error {
	for _, folder := range []string{job.Temp, job.Partial} {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			path := filepath.Join(folder, entry.Name())
			if path == job.Inputs {
				continue
			}
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	return nil
}
