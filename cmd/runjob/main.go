// Command runjob finds the near-duplicate documents of a corpus. 'runjob --help' lists its sub-commands.
//
// The results that a user asks for go to the standard output, messages to the standard error. exitCodes has the exit
// codes.
package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/gcs"
	"mirrorbeam.dev/internal/storage/s3"
	"mirrorbeam.dev/internal/storage/web"
	_ "mirrorbeam.dev/internal/util/openfiles" // checks a limit before main begins
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/pipeline"
)

const (
	exitDone        = 0
	exitInternal    = 1
	exitUsage       = 2
	exitInput       = 3
	exitStorage     = 4
	exitCondition   = 10
	exitUnavailable = 75 // EX_TEMPFAIL of sysexits.h
	exitHungUp      = 128 + int(syscall.SIGHUP)
	exitInterrupted = 128 + int(syscall.SIGINT)
	exitUnread      = 128 + int(syscall.SIGPIPE)
	exitTerminated  = 128 + int(syscall.SIGTERM)
)

func main() {
	// nobody asks where memory was allocated, and to note it takes a hundredth of a short job
	runtime.MemProfileRate = 0
	gcs.Register()
	s3.Register()
	web.Register()
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	// A write to a pipe that nobody reads must return an error and not end the program, since the command
	// still has to clear away what it began.
	signal.Ignore(syscall.SIGPIPE)
	if isWorker(args) {
		if err := parseWorkerFlags(args); err != nil {
			return report(args, nil, err, exitCode(err))
		}
		defer easeCollector()()
		keepToRoom()
		beam.Init() // does not return in a worker
	}
	if err := checkLimits(); err != nil {
		return report(args, nil, err, exitCode(err))
	}
	out := &standardOutput{}
	command, err := parse(args, out)
	if out.fault != nil || err != nil || command == nil { // nil: help was asked for and printed
		err = cmp.Or(out.fault, err)
		return report(args, nil, err, exitCode(err))
	}
	beam.Init()
	quietLogs()
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	defer stop()
	// The first signal ends the job in good order. A second one ends the program.
	context.AfterFunc(ctx, stop)
	storage.SetWaiting(storage.Waiting{End: ctx, Tell: tellWaits(command)})
	// a trace of Go would end with the code for wrong usage
	err = cmp.Or(work.Shielded(func() error { return command.Run(ctx, out) }), out.fault)
	return report(args, command, err, endingCode(ctx, err))
}

// endings are the signals that ask the program to end. If the user makes it ignore the end of the terminal
// (nohup), the job is to go on.
func endings() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// quietLogs drops the log of the runners in this process. They log each failure many times, with the plan of
// the stage, before they return it as an error. Messages of a cluster about a job are not dropped.
func quietLogs() {
	level := slog.LevelWarn
	if job.IsLocal(*runners.Runner) {
		level = slog.LevelError + 1
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})))
}

// report prints the error of a command and returns its exit code. The command is nil if none was known yet.
func report(args []string, of command, err error, code int) int {
	out := io.Writer(os.Stderr)
	if l, is := of.(interface{ out() io.Writer }); is {
		out = l.out()
	}
	switch code {
	case exitDone, exitUnread:
		return code
	case exitInterrupted, exitTerminated, exitHungUp:
		say(out, "runjob: interrupted%s\n", leftBehind(of))
		return code
	}
	if l, is := of.(interface{ json() *slog.Logger }); is && l.json() != nil {
		l.json().Error(strings.Join(faultLines(err), "; "), "exit_code", code)
		return code
	}
	for _, line := range faultLines(err) {
		say(out, "runjob: %s\n", line)
	}
	if code == exitUsage {
		say(os.Stderr, "See '%s --help'.\n", calledCommand(args))
	}
	return code
}

// endingCode is exitCode for a command whose context a signal may have ended, which the code then tells.
func endingCode(ctx context.Context, err error) int {
	code := exitCode(err)
	if code != exitInterrupted || context.Cause(ctx) == nil {
		return code
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		if strings.HasPrefix(context.Cause(ctx).Error(), signal.String()) {
			return 128 + int(signal)
		}
	}
	return code
}

func exitCode(err error) int {
	var gone unread
	var met conditionMet
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &gone):
		return exitUnread
	case errors.Is(err, pipeline.ErrUnavailable):
		return exitUnavailable
	case errors.Is(err, pipeline.ErrUsage):
		return exitUsage
	case errors.Is(err, pipeline.ErrInput):
		return exitInput
	case errors.Is(err, pipeline.ErrStorage):
		return exitStorage
	case errors.As(err, &met):
		return exitCondition
	}
	return exitInternal
}

func leftBehind(of command) string {
	switch of.(type) {
	case *runCommand, *mirrorsCommand, *decontaminateCommand, *recutCommand:
		return "; the output folder is as it was"
	case *finishCommand:
		return "; the job continues"
	case *demoCommand:
		return "; earlier results are as they were"
	case *queryCommand:
		return "; not all matches have been written"
	}
	return ""
}
