package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"mirrorbeam/internal/look/finished"
)

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

// note writes one message.
func (l *logging) note(format string, args ...any) {
	switch log := l.json(); {
	case l.Quiet:
	case log != nil:
		log.Info(fmt.Sprintf(format, args...))
	default:
		say(os.Stderr, format+"\n", args...)
	}
}

// tell tells the outcome of a job.
func (l *logging) tell(ctx context.Context, s *finished.Summary) {
	switch log := l.json(); {
	case l.Quiet:
	case log != nil:
		for _, w := range s.Warnings {
			log.Warn(w.Text, "kind", w.Kind)
		}
		log.Info("the job has ended", "output", s.Config.Output, "counts", s.Counts, "skipped", s.Skipped, "seconds", s.Seconds,
			"cpu_seconds", s.CPUSeconds, "peak_memory_bytes", s.PeakMemoryBytes, "temp_bytes", s.TempBytes)
	default:
		printGrave(ctx, os.Stderr, *s)
		printSummary(os.Stderr, *s)
	}
}
