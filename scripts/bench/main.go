// Command bench runs the main job several times over a corpus, and peers in
// turn with it where some are given, and prints medians.
//
//	go run ./scripts/bench [-runs 3] [-ratios] [-peer COMMAND]... CORPUS.jsonl... [-- FLAGS OF runjob run]
//	go run ./scripts/bench [-runs 3] -comparison docs/explanation/comparison.md FOLDER
//
// The second makes corpora in the folder, installs all peers that it knows there, and writes the table of the page.
// README.md next to it says more.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"text/tabwriter"
	"time"

	"mirrorbeam.dev/internal/result/finished"
)

func main() {
	runs := flag.Int("runs", 3, "times that each command runs")
	ratios := flag.Bool("ratios", false,
		"print one row a corpus, with its cost as a multiple of that of the first corpus")
	var commands []string
	flag.Func("peer", "shell command to measure against, with the corpus in $CORPUS; may be given several times",
		func(command string) error {
			commands = append(commands, command)
			return nil
		})
	page := flag.String("comparison", "", "page to write the figures of all known peers into")
	limit := flag.Duration("limit", 30*time.Minute, "longest run of a peer of the comparison")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx, benchmark{runs: *runs, commands: commands, page: *page, limit: *limit}, *ratios,
		flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench measures the job and the peers on each corpus.
func bench(ctx context.Context, b benchmark, ratios bool, args []string) error {
	corpora := args
	if i := slices.Index(args, "--"); i >= 0 {
		corpora, b.flags = args[:i], args[i+1:]
	}
	switch {
	case len(corpora) == 0 || b.runs < 1:
		return errors.New("give at least one corpus and one run")
	case b.page != "" && (len(args) != 1 || ratios || len(b.commands) > 0):
		return errors.New("a comparison has one folder, and peers of its own")
	}
	scratch, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	program := filepath.Join(scratch, "runjob")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/runjob").CombinedOutput(); err != nil {
		return fmt.Errorf("build runjob: %w\n%s", err, out)
	}
	b.scratch, b.program = scratch, program
	if ratios {
		return b.ratios(corpora)
	}
	if b.page != "" {
		return b.comparison(ctx, corpora[0])
	}
	for _, corpus := range corpora {
		if err := b.corpus(corpus); err != nil {
			return fmt.Errorf("%s: %w", corpus, err)
		}
	}
	return nil
}

// benchmark is what all corpora are measured with.
type benchmark struct {
	scratch, program string
	runs             int
	commands         []string // of peers
	flags            []string // of runjob
	page             string   // of the comparison, and how long a run of it may take
	limit            time.Duration
}

// corpus runs the commands in turn, so that a machine that slows down slows
// all of them.
func (b *benchmark) corpus(corpus string) error {
	corpus, err := filepath.Abs(corpus)
	if err != nil {
		return err
	}
	info, err := os.Stat(corpus)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %.1f MB, median of %d\n", filepath.Base(corpus), float64(info.Size())/1e6, b.runs)
	var ours []usage
	theirs := make([][]usage, len(b.commands))
	var summaries []finished.Summary
	for range b.runs {
		used, s, err := b.job(corpus)
		if err != nil {
			return err
		}
		ours, summaries = append(ours, used), append(summaries, s)
		for i, peer := range b.commands {
			command := exec.Command("sh", "-c", peer)
			command.Dir, command.Env = b.scratch, append(os.Environ(), "CORPUS="+corpus)
			if used, err = measure(command); err != nil {
				return err
			}
			theirs[i] = append(theirs[i], used)
		}
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\tCPU-s\tuser\twall s\tpeak MB\tMB/CPU-s\t")
	printUsage(table, "runjob", ours, info.Size())
	for i, used := range theirs {
		printUsage(table, fmt.Sprint("peer ", i+1), used, info.Size())
	}
	fmt.Fprintln(table, "\nstage\tCPU-s\twall s\tpeak MB\trecords\t")
	printStages(table, summaries)
	fmt.Fprintln(table)
	return table.Flush()
}

// job runs the main job over a corpus.
func (b *benchmark) job(corpus string) (used usage, s finished.Summary, err error) {
	output := filepath.Join(b.scratch, "out")
	arguments := append([]string{
		"run", "--input", corpus, "--output", output, "--emit", "clusters,pairs",
		"--overwrite",
	}, b.flags...)
	if used, err = measure(exec.Command(b.program, arguments...)); err == nil {
		s, err = readSummary(filepath.Join(output, "summary.json"))
	}
	return used, s, err
}

// usage is what a process and those it waited for took.
type usage struct {
	cpu, user, wall float64 // seconds; user is the part of cpu that is not the system's
	peak            float64 // bytes of its largest process
	written         float64 // bytes to files, those that are gone included
}

func measure(command *exec.Cmd) (usage, error) {
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	start := time.Now()
	if err := command.Run(); err != nil {
		return usage{}, fmt.Errorf("%s: %w\n%s", command, err, out.Bytes())
	}
	state := command.ProcessState
	used := usage{
		cpu:  (state.UserTime() + state.SystemTime()).Seconds(),
		user: state.UserTime().Seconds(),
		wall: time.Since(start).Seconds(),
	}
	if resources, ok := state.SysUsage().(*syscall.Rusage); ok {
		used.peak, used.written = float64(resources.Maxrss), float64(resources.Oublock)*512
		if runtime.GOOS == "linux" { // which counts KiB
			used.peak *= 1024
		}
	}
	return used, nil
}

func printUsage(table *tabwriter.Writer, name string, all []usage, size int64) {
	cpu := median(all, func(u usage) float64 { return u.cpu })
	fmt.Fprintf(table, "%s\t%.2f\t%.2f\t%.2f\t%.0f\t%.1f\t\n", name, cpu,
		median(all, func(u usage) float64 { return u.user }),
		median(all, func(u usage) float64 { return u.wall }),
		median(all, func(u usage) float64 { return u.peak })/1e6,
		float64(size)/1e6/cpu)
}

func readSummary(path string) (s finished.Summary, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(b, &s)
}

// printStages prints a row for each stage. All summaries have the same stages.
func printStages(table *tabwriter.Writer, all []finished.Summary) {
	for i, s := range all[0].Stages {
		fmt.Fprintf(table, "%s\t%.2f\t%.2f\t%.0f\t%d\t\n", s.Name,
			median(all, func(s finished.Summary) float64 { return s.Stages[i].CPUSeconds }),
			median(all, func(s finished.Summary) float64 { return s.Stages[i].Seconds }),
			median(all, func(s finished.Summary) float64 { return float64(s.Stages[i].PeakMemoryBytes) })/1e6,
			s.Records)
	}
}

// median returns the middle value, the larger of two in the middle.
func median[T any](all []T, value func(T) float64) float64 {
	sorted := slices.SortedFunc(slices.Values(all), func(a, b T) int { return cmp.Compare(value(a), value(b)) })
	return value(sorted[len(sorted)/2])
}
