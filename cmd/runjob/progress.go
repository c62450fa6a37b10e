package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"golang.org/x/term"

	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/pipeline"
)

const (
	// terminalInterval is the time between two looks at a job on a terminal, shortestInterval the least elsewhere.
	terminalInterval = time.Second / 2
	shortestInterval = time.Second / 10
)

// watcher returns what shows how far a job has come, nil if nobody is to see it.
func (l *logging) watcher() job.Monitor {
	if l.Quiet {
		return nil
	}
	return l.monitor
}

// monitor shows on the standard error how far a job has come: on a terminal a line for each stage, which changes while
// the stage is at work, and elsewhere a line now and then.
func (l *logging) monitor(stages func() []work.StageProgress) (end func()) {
	p := &progressPrinter{out: l.out(), log: l.json()}
	interval := max(l.LogEvery, shortestInterval)
	if l.LogFormat == "text" && isTerminal(os.Stderr) && os.Getenv("TERM") != "dumb" {
		interval = terminalInterval
		p.width = lineWidth
		if width, _, err := term.GetSize(int(os.Stderr.Fd())); err == nil && width > 0 {
			p.width = width
		}
	}
	ticker := time.NewTicker(interval)
	stop := p.follow(ticker.C, stages)
	return func() {
		ticker.Stop()
		stop()
	}
}

type progressPrinter struct {
	out io.Writer
	// log, if not nil, gets records instead of lines.
	log *slog.Logger
	// width is the width of the terminal, 0 for none.
	width int

	ended []work.Stage // stages that have got their last line
	share float64      // of the job that is done, as shown last
	open  bool         // a line is there that has no end yet
	begun bool         // a line was printed
}

// follow looks at the stages with each tick, until the caller ends it.
func (p *progressPrinter) follow(ticks <-chan time.Time, stages func() []work.StageProgress) (end func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case now := <-ticks:
				p.show(now, stages())
			case <-stop:
				p.finish(stages())
				return
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
	}
}

func (p *progressPrinter) show(now time.Time, stages []work.StageProgress) {
	at := atWork(stages)
	if at < 0 {
		return
	}
	p.begun = true
	s, t := &stages[at], totalOf(stages)
	p.share = max(p.share, shareDone(s)) // of stages at the same time, the first may end last
	job := jobLine(p.share, now.Sub(stages[0].Begun))
	switch {
	case p.log != nil:
		p.log.Info("progress", "percent", int(100*p.share), "stage", s.Stage, "tasks_done", s.Done, "tasks", s.Tasks,
			"records", s.Records, "bytes", s.Bytes, "seconds", now.Sub(s.Begun).Seconds(),
			"seconds_left", timeLeft(s, now).Seconds(),
			"memory_bytes", t.resident, "written_bytes", t.written)
	case p.width == 0:
		say(p.out, "runjob: %s\n", job+stageLine(s, now, t))
	default:
		p.close(stages[:at], false)
		p.rewrite(job + stageLine(s, now, t))
	}
}

func (p *progressPrinter) finish(stages []work.StageProgress) {
	if p.width > 0 && p.begun {
		if p.close(stages, true); p.open {
			say(p.out, "\r\x1b[K")
		}
	}
}

// close prints the last lines of stages that have ended and not had them; of all that have begun, if the job has ended.
func (p *progressPrinter) close(stages []work.StageProgress, all bool) {
	for i := range stages {
		s := &stages[i]
		if s.Done == 0 || s.Begun.IsZero() || !all && s.Done < s.Tasks || slices.Contains(p.ended, s.Stage) {
			continue
		}
		p.ended = append(p.ended, s.Stage)
		p.rewrite(endLine(s))
		say(p.out, "\n")
		p.open = false
	}
}

func (p *progressPrinter) rewrite(line string) {
	say(p.out, "\r\x1b[K%s", line[:min(len(line), p.width-1)])
	p.open = true
}

// atWork returns the stage that is at work: the last one that has begun and has tasks to do, or the last that has
// begun; -1 if none has begun.
func atWork(stages []work.StageProgress) int {
	last := -1
	for i, s := range stages {
		hasBegun := !s.Begun.IsZero()
		if hasBegun && (last < 0 || s.Done < s.Tasks || stages[last].Done >= stages[last].Tasks) {
			last = i
		}
	}
	return last
}

type total struct {
	written  int64 // bytes of run files
	resident int64 // bytes of memory, when a task ended last
}

func totalOf(stages []work.StageProgress) (t total) {
	var last time.Time
	for _, s := range stages {
		t.written += s.Written
		if s.Resident > 0 && s.Ended.After(last) {
			t.resident, last = s.Resident, s.Ended
		}
	}
	return t
}

func timeLeft(s *work.StageProgress, now time.Time) time.Duration {
	if s.Done == 0 || s.Done >= s.Tasks {
		return 0
	}
	return time.Duration(float64(now.Sub(s.Begun)) * float64(s.Tasks-s.Done) / float64(s.Done))
}

// steps say what stages do, and which share of the CPU time of an ordinary job they take, in percent.
var steps = map[work.Stage]struct {
	does  string
	share float64
}{
	work.Read:        {"listing files", 0},
	work.Fingerprint: {"reading texts", 30},
	work.Source:      {"counting sources", 1},
	work.Common:      {"finding common words", 2},
	work.Strip:       {"leaving common out", 2},
	work.Trim:        {"finding passages", 4},
	work.Prune:       {"pruning documents", 1},
	work.Spread:      {"sorting shingles", 6},
	work.Count:       {"counting shingles", 3},
	work.Key:         {"making keys", 13},
	work.Group:       {"finding candidates", 13},
	work.Gather:      {"gathering pairs", 4},
	work.Score:       {"comparing pairs", 8},
	work.Audit:       {"checking recall", 2},
	work.Cluster:     {"clustering", 3},
	work.Site:        {"comparing sites", 1},
	work.Guard:       {"comparing protected", 1},
	work.Mirror:      {"grouping mirrors", 1},
	work.Write:       {"writing results", 5},
}

// shareDone returns which share of a job is done while a stage is at work. Stages that the job lacks count as done when
// a later one begins.
func shareDone(s *work.StageProgress) float64 {
	done, all := 0., 0.
	for at, now := 0, slices.Index(work.Stages, s.Stage); at < len(work.Stages); at++ {
		share := steps[work.Stages[at]].share
		switch all += share; {
		case at < now:
			done += share
		case at == now:
			done += share * float64(s.Done) / float64(max(s.Tasks, 1))
		}
	}
	return done / all
}

func jobLine(share float64, since time.Duration) string {
	line := fmt.Sprintf("%3.0f %%  ", math.Floor(100*share))
	if share > 0 && share < 1 {
		left := time.Duration(float64(since) * (1 - share) / share)
		line += "about " + left.Round(time.Second).String() + " left  "
	}
	return line
}

func stageLine(s *work.StageProgress, now time.Time, t total) string {
	parts := []string{fmt.Sprintf("%-20s %3d %%", steps[s.Stage].does, 100*s.Done/max(s.Tasks, 1))}
	until := now
	if s.Done >= s.Tasks { // what comes next is not known yet
		until = s.Ended
	}
	parts = append(parts, amounts(s, until.Sub(s.Begun))...)
	if t.resident > 0 {
		parts = append(parts, size(t.resident)+" memory")
	}
	parts = append(parts, size(t.written)+" written", fmt.Sprintf("task %d of %d", min(s.Done+1, s.Tasks), s.Tasks))
	return strings.Join(parts, "  ")
}

func endLine(s *work.StageProgress) string {
	took := s.Ended.Sub(s.Begun)
	parts := []string{fmt.Sprintf("%-20s %5.1f s", steps[s.Stage].does, max(took, 0).Seconds())}
	parts = append(parts, amounts(s, took)...)
	return strings.Join(append(parts, size(s.Resident)+" memory", size(s.Written)+" written",
		counted(s.Tasks, "task")), "  ")
}

func amounts(s *work.StageProgress, took time.Duration) (parts []string) {
	thing := "record"
	if s.Stage == work.Fingerprint {
		thing = "document"
	}
	if s.Records > 0 {
		parts = append(parts, counted(s.Records, thing))
	}
	if s.Bytes > 0 {
		parts = append(parts, size(s.Bytes))
	}
	if s.Bytes > 0 && took > 0 {
		parts = append(parts, size(int64(float64(s.Bytes)/took.Seconds()))+"/s")
	}
	return parts
}

const (
	// usualPercent is the usual GOGC: the collector starts when garbage is this percentage of the memory in use.
	usualPercent = 100
	// A job uses ten megabytes for most of its time, and some hundred at its peak. With the usual setting, garbage
	// would be collected many times a second at first, and later reach hundreds of megabytes. These two constants allow
	// 40 MiB of garbage and a quarter of the memory in use. GODEBUG=gctrace=1 shows the effect.
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

// showProgress tells the user which step takes long. On a terminal it replaces the unfinished line of a stage.
func showProgress(line string) {
	if isTerminal(os.Stderr) && os.Getenv("TERM") != "dumb" {
		say(os.Stderr, "\r\x1b[K")
	}
	say(os.Stderr, "runjob: %s\n", line)
}

func tellWaits(of command) func(storage.Wait) {
	tell := showProgress
	if l, is := of.(interface{ progress() func(line string) }); is {
		if tell = l.progress(); tell == nil {
			return func(storage.Wait) {}
		}
	}
	return func(w storage.Wait) {
		why := "no answer yet"
		if w.Err != nil {
			why = w.Err.Error()
		}
		tell(fmt.Sprintf("waiting for the storage, up to %v more (--storage-timeout): %s %s: %s",
			w.Left.Round(time.Second), w.Op, w.Name, why))
	}
}

// easeCollector makes the collector start later if little memory is in use, and earlier if much is. It
// returns a function that undoes this. It respects the user's own setting of the collector.
func easeCollector() (restore func()) {
	percent := debug.SetGCPercent(jobPercent)
	if percent != usualPercent || debug.SetMemoryLimit(-1) != math.MaxInt64 {
		debug.SetGCPercent(percent)
		return func() {}
	}
	// The reserve counts as memory in use. It takes no memory, since nobody writes to it: a Builder, unlike make, does
	// not clear pages that the heap has used before.
	reserve := new(strings.Builder)
	reserve.Grow(reserveSize)
	return func() {
		runtime.KeepAlive(reserve)
		debug.SetGCPercent(percent)
	}
}

type logging struct {
	Quiet     bool
	LogFormat string        `enum:"text,timed,json" default:"text" placeholder:"FORMAT"`
	LogEvery  time.Duration `default:"30s" placeholder:"TIME"`
}

// json returns what writes messages as JSON, nil if they are text.
func (l *logging) json() *slog.Logger {
	if l.LogFormat != "json" {
		return nil
	}
	return slog.New(slog.NewJSONHandler(os.Stderr, nil))
}

func (l *logging) out() io.Writer {
	if l.LogFormat == "timed" {
		return &timedLines{to: os.Stderr}
	}
	return os.Stderr
}

type timedLines struct {
	to     io.Writer
	isOpen bool // the last line has no end yet
}

func (t *timedLines) Write(text []byte) (int, error) {
	var lines []byte
	for line := range bytes.Lines(text) {
		if !t.isOpen {
			lines = append(time.Now().AppendFormat(lines, time.RFC3339), ' ')
		}
		lines = append(lines, line...)
		t.isOpen = !bytes.HasSuffix(line, []byte("\n"))
	}
	_, err := t.to.Write(lines)
	return len(text), err
}

// progress returns what gets a line now and then during a long step, nil if nobody is to hear.
func (l *logging) progress() func(line string) {
	switch log := l.json(); {
	case l.Quiet:
		return nil
	case log != nil:
		return func(line string) { log.Info(line) }
	case l.LogFormat == "timed":
		return func(line string) { say(l.out(), "runjob: %s\n", line) }
	}
	return showProgress
}

func (l *logging) note(format string, args ...any) {
	switch log := l.json(); {
	case l.Quiet:
	case log != nil:
		log.Info(fmt.Sprintf(format, args...))
	default:
		say(l.out(), format+"\n", args...)
	}
}

func (l *logging) tell(ctx context.Context, s *finished.Summary) {
	switch log := l.json(); {
	case l.Quiet:
	case log != nil:
		if s.State != nil && s.State.IsKept {
			log.Info("nothing has changed since the last run", "output", s.Config.Output, "generation",
				s.State.Generation)
			return
		}
		for _, w := range s.Warnings {
			log.Warn(w.Text, "kind", w.Kind)
		}
		log.Info("the job has ended", "output", s.Config.Output, "counts", s.Counts, "skipped", s.Skipped,
			"seconds", s.Seconds, "cpu_seconds", s.CPUSeconds,
			"peak_memory_bytes", s.PeakMemoryBytes, "temp_bytes", s.TempBytes)
	case s.State != nil && s.State.IsKept:
		printKept(l.out(), *s)
	default:
		out := l.out()
		printGrave(ctx, out, *s)
		printSummary(out, *s)
	}
}
