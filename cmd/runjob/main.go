// Command runjob finds the near-duplicate documents of a corpus.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	"mirrorbeam/pipeline"
)

// The exit codes.
const (
	exitDone        = 0
	exitInternal    = 1
	exitUsage       = 2
	exitInput       = 3
	exitStorage     = 4
	exitInterrupted = 130
)

func main() { os.Exit(run(os.Args[1:])) }

// run runs the command line and returns the exit code.
func run(args []string) int {
	// A runner starts its workers as this program with flags of Beam only: they
	// are parsed first, and Init never returns in a worker.
	ours, err := parseBeamFlags(args)
	if err != nil {
		return report(nil, err)
	}
	beam.Init()
	quietLogs()

	command, err := parse(ours)
	if err != nil {
		return report(nil, err)
	}
	if command == nil { // help was asked for and given
		return exitDone
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal ends the job in good order, a second one the program.
	context.AfterFunc(ctx, stop)
	return report(command, command.Run(ctx))
}

// quietLogs drops what the runners in this process log: they tell every failure
// many times over, with the plan of the stage, before it comes back as an error.
// What a cluster says of a job is another matter.
func quietLogs() {
	level := slog.LevelWarn
	switch *runners.Runner {
	case "", "prism", "PrismRunner", "direct", "DirectRunner":
		level = slog.LevelError + 1
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})))
}

// report prints the error of a command, nil if it came before one was known, and
// returns its exit code.
func report(of command, err error) int {
	if err == nil {
		return exitDone
	}
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "runjob: interrupted"+leftBehind(of))
		return exitInterrupted
	}
	// Several faults come a line each.
	fmt.Fprintln(os.Stderr, "runjob:", strings.ReplaceAll(err.Error(), "\n", "\nrunjob: "))
	var usage usageError
	switch {
	case errors.As(err, &usage), errors.Is(err, pipeline.ErrUsage):
		fmt.Fprintln(os.Stderr, "See 'runjob --help' or 'runjob run --help'.")
		return exitUsage
	case errors.Is(err, pipeline.ErrInput):
		return exitInput
	case errors.Is(err, pipeline.ErrStorage):
		return exitStorage
	}
	return exitInternal
}

// leftBehind says what an interrupted command leaves, if it writes anything.
func leftBehind(of command) string {
	switch of.(type) {
	case *runCommand:
		return "; the output folder is as it was"
	case *demoCommand:
		return "; earlier results are as they were"
	case *queryCommand:
		return "; not all matches have been written"
	}
	return ""
}
