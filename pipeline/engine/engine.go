// Package engine says what the driver of a job needs from a cluster that runs pipelines. Flink, Spark and Dataflow are
// such clusters.
package engine

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
)

// Engine runs pipelines. Any process that has the id of a job can wait for it or cancel it.
type Engine interface {
	// Submit hands a pipeline to the engine under a name. It returns the id of the job when the engine has taken it.
	Submit(ctx context.Context, p *beam.Pipeline, name string) (id string, err error)

	// Wait waits until the job has ended, and reports each new state and message of it, and its metrics now and then.
	// It calls report by one goroutine at a time, and no more when it has returned. It returns an *EndedError if
	// the job has ended without success. If ctx ends first, it returns the error of ctx at once. Any error but an
	// *EndedError leaves open whether the job goes on.
	Wait(ctx context.Context, id string, report func(State)) (*metrics.Results, error)

	// Cancel asks the engine to cancel the job. It returns nil when the job has ended, in whatever way.
	Cancel(ctx context.Context, id string) error
}

// State is what an engine tells of a job on its way.
type State struct {
	// Name is the name of the state in the language of the engine, such as RUNNING; empty if only Message is new.
	Name string
	// Message is a line for the user, perhaps empty.
	Message string
	// Metrics are the metrics of the job so far, if the engine tells them; nil if nothing is new.
	Metrics *metrics.Results
}

// EndedError says that a job has ended without success.
type EndedError struct {
	// State is the state in which it ended, such as FAILED or CANCELLED.
	State string
	// Message is what the engine says about the cause, perhaps empty.
	Message string
}

func (e *EndedError) Error() string {
	if e.Message == "" {
		return "the job ended as " + e.State
	}
	if e.State == cancelled {
		return "the job was cancelled on the engine: " + e.Message
	}
	return e.Message
}

// cancelled is the state of a job that somebody has cancelled, in the words of all engines.
const cancelled = "CANCELLED"

// Sleep waits for a time, or until the context ends. Then it returns the error of the context.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Program returns the path of the program of workers: of --worker_binary, or else this one. Beam would compile one.
func Program() (string, error) {
	if *jobopts.WorkerBinary != "" {
		return *jobopts.WorkerBinary, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program, which workers are to run: %w: name it with --worker_binary", err)
	}
	return path, nil
}
