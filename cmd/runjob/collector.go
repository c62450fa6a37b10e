package main

import (
	"context"
	"math"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	"mirrorbeam/job"
	"mirrorbeam/pipeline"
)

const (
	// usualPercent is how much garbage there is before Go collects it, in percent of
	// what is in use, unless the user says otherwise (GOGC).
	usualPercent = 100
	// A job has ten megabytes in use for most of its time, and some hundred at its
	// peak. As much garbage as is in use would be collected many times a second at
	// first and come to hundreds of megabytes later: these two let there be 40 MiB, and
	// a quarter of what is in use. GODEBUG=gctrace=1 shows what that does.
	jobPercent  = 25
	reserveSize = 160 << 20
)

// runJob runs a job. The process is its own, and so is the garbage collector.
func runJob(ctx context.Context, config job.Config) (pipeline.Summary, error) {
	if config.Memory == 0 {
		defer easeCollector()()
	}
	config.Progress, config.Runner = showProgress, *runners.Runner
	return pipeline.Run(ctx, config)
}

// showProgress tells the user what takes long.
func showProgress(line string) { say(os.Stderr, "runjob: %s\n", line) }

// easeCollector makes the collector begin later where little is in use, and sooner
// where much is, and returns what ends that. It leaves what the user has said of the
// collector alone.
func easeCollector() (restore func()) {
	percent := debug.SetGCPercent(jobPercent)
	if percent != usualPercent || debug.SetMemoryLimit(-1) != math.MaxInt64 {
		debug.SetGCPercent(percent)
		return func() {}
	}
	// It is counted as in use, and takes no memory since nobody writes to it.
	reserve := make([]byte, reserveSize)
	return func() {
		runtime.KeepAlive(reserve)
		debug.SetGCPercent(percent)
	}
}
