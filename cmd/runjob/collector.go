package main

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/look/finished"
	"mirrorbeam/job"
	"mirrorbeam/pipeline"
)

const (
	// usualPercent is the usual value of GOGC: the collector starts when the garbage reaches this percentage
	// of the memory in use.
	usualPercent = 100
	// A job uses ten megabytes for most of its time, and some hundred at its peak. With the usual setting,
	// garbage would be collected many times a second at first, and later reach hundreds of megabytes. These
	// two constants allow 40 MiB of garbage and a quarter of the memory in use. GODEBUG=gctrace=1 shows the
	// effect.
	jobPercent  = 25
	reserveSize = 160 << 20
)

func runJob(ctx context.Context, config job.Config) (finished.Summary, error) {
	if config.Memory == 0 {
		defer easeCollector()()
	} else {
		defer work.LimitMemory(int64(config.Memory))()
	}
	config.Runner = *runners.Runner
	return pipeline.Run(ctx, config)
}

// showProgress tells the user which step takes long. On a terminal the line of a stage, which has no end yet, makes way.
func showProgress(line string) {
	if isTerminal(os.Stderr) && os.Getenv("TERM") != "dumb" {
		say(os.Stderr, "\r\x1b[K")
	}
	say(os.Stderr, "runjob: %s\n", line)
}

// easeCollector makes the collector start later if little memory is in use, and earlier if much is. It
// returns a function that undoes this. It respects the user's own setting of the collector.
func easeCollector() (restore func()) {
	percent := debug.SetGCPercent(jobPercent)
	if percent != usualPercent || debug.SetMemoryLimit(-1) != math.MaxInt64 {
		debug.SetGCPercent(percent)
		return func() {}
	}
	// The reserve counts as memory in use. It takes no memory, since nobody writes to it: a Builder, unlike make, does not
	// clear pages that the heap has used before.
	reserve := new(strings.Builder)
	reserve.Grow(reserveSize)
	return func() {
		runtime.KeepAlive(reserve)
		debug.SetGCPercent(percent)
	}
}

// logging says what a command that waits for a job tells on the standard error.
type logging struct {
	Quiet     bool   `help:"Print nothing but errors."`
	LogFormat string `enum:"text,json" default:"text" placeholder:"FORMAT" help:"Format of messages, progress and the outcome on the standard error: text, for people, or json, one object a line."`
}

// json returns what writes messages as JSON, nil if they are text.
func (l *logging) json() *slog.Logger {
	if l.LogFormat != "json" {
		return nil
	}
	return slog.New(slog.NewJSONHandler(os.Stderr, nil))
}

// progress returns what gets a line now and then during a long step, nil if nobody is to hear.
func (l *logging) progress() func(line string) {
	switch log := l.json(); {
	case l.Quiet:
		return nil
	case log != nil:
		return func(line string) { log.Info(line) }
	}
	return showProgress
}

func (l *logging) note(format string, args ...any) {
	switch log := l.json(); {
	case l.Quiet:
	case log != nil:
		log.Info(fmt.Sprintf(format, args...))
	default:
		say(os.Stderr, format+"\n", args...)
	}
}

func (l *logging) tell(ctx context.Context, s *finished.Summary) {
	switch log := l.json(); {
	case l.Quiet:
	case log != nil:
		if s.State != nil && s.State.IsKept {
			log.Info("nothing has changed since the last run", "output", s.Config.Output, "generation", s.State.Generation)
			return
		}
		for _, w := range s.Warnings {
			log.Warn(w.Text, "kind", w.Kind)
		}
		log.Info("the job has ended", "output", s.Config.Output, "counts", s.Counts, "skipped", s.Skipped, "seconds", s.Seconds,
			"cpu_seconds", s.CPUSeconds, "peak_memory_bytes", s.PeakMemoryBytes, "temp_bytes", s.TempBytes)
	case s.State != nil && s.State.IsKept:
		printKept(os.Stderr, *s)
	default:
		printGrave(ctx, os.Stderr, *s)
		printSummary(os.Stderr, *s)
	}
}
