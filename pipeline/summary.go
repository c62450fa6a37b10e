package pipeline

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/result/warnings"
	"mirrorbeam.dev/internal/result/write"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/util/build"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// Summary is the content of summary.json.
type Summary = finished.Summary

// summarize says what a job found and what it cost, given the CPU time that the process had taken before it. Its plan,
// its audit and its time are still to come.
func summarize(config job.Config, all []sources.Source, result write.Result, metered *metrics.Results,
	before time.Duration,
) Summary {
	table := sources.Table(all, result.Sources)
	s := Summary{
		Version:   build.Version(),
		Config:    config,
		Sketch:    finished.SketchVersion{Version: sketch.Version, Unicode: sketch.UnicodeVersion},
		Totals:    result.Totals,
		Extras:    result.Extras,
		Warnings:  warnings.Of(&config, &result.Findings, table),
		GuardsMet: warnings.GuardsMet(&config, &result.Findings, table),
		Sources:   table,
	}
	s.Tier = asmkernels.SelectedTier().String()
	for _, stage := range meter(metered) {
		stage.Seconds = float64(stage.span.Max-stage.span.Min) / 1000
		stage.CPUSeconds = round(stage.CPUSeconds)
		s.Stages = append(s.Stages, stage.Stage)
	}
	if !job.IsLocal(config.Runner) {
		for _, stage := range s.Stages {
			s.CPUSeconds += stage.CPUSeconds
			s.PeakMemoryBytes = max(s.PeakMemoryBytes, stage.PeakMemoryBytes)
		}
		s.CPUSeconds = round(s.CPUSeconds)
		return s
	}
	spent, memory := processUse()
	s.CPUSeconds, s.PeakMemoryBytes = round((spent - before).Seconds()), memory
	return s
}

const (
	mostFiles   = 10     // files of a kind that a summary names
	mostOrdered = 10_000 // files that it names where they are not in the order of their names
)

// noteFiles says which files were read, and names some that were not, or only in part.
func noteFiles(s *Summary, inputs *documents.Inputs, damaged map[string]int64) {
	isSorted, last := true, corpus.File{}
	for i := range inputs.Files {
		for _, file := range inputs.Files[i].All() {
			isSorted = isSorted && (file.Reference != last.Reference || file.Name >= last.Name)
			if last = file; s.Files.Read < mostOrdered {
				s.Files.Order = append(s.Files.Order, quoting.Text(file.Name))
			}
			s.Files.Read++
			// no mark tells it
			if name := file.Charset; name != "" && !strings.HasPrefix(name, "utf-") && s.Config.Encoding == "" {
				findings.Merge(&s.Counts.GuessedEncodings, map[string]int64{name: 1})
				if s.Files.GuessedEncodings == nil {
					s.Files.GuessedEncodings = map[string]string{}
				}
				s.Files.GuessedEncodings[name] = cmp.Or(s.Files.GuessedEncodings[name], quoting.Text(file.Name))
			}
		}
	}
	if isSorted {
		s.Files.Order = nil
	}
	s.Files.Fields = inputs.Fields
	s.Counts.FilesRejected = int64(len(inputs.Unread))
	s.Counts.FilesDamaged = int64(len(damaged))
	s.Counts.PassedOver = inputs.Passed.Counts
	s.Counts.Archives, s.Files.PassedOver = inputs.Archives(), inputs.Passed.Examples
	for _, pattern := range slices.Concat(s.Config.Include, s.Config.Exclude) {
		if !inputs.Passed.Matched[pattern] {
			s.Files.Unmatched = append(s.Files.Unmatched, quoting.Text(pattern))
		}
	}
	for _, file := range inputs.Unread[:min(len(inputs.Unread), mostFiles)] {
		s.Files.Rejected = append(s.Files.Rejected, finished.FileFault{
			File:  quoting.Text(file.Name),
			Error: quoting.Text(file.Fault),
		})
	}
	names := slices.Sorted(maps.Keys(damaged))
	s.Files.Damaged = names[:min(len(names), mostFiles)]
}

// processUse returns the CPU time and the largest size in bytes of this process so far, 0 if unknown.
func processUse() (spent time.Duration, memory int64) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), maxResident(usage.Maxrss)
}

func planOf(config job.Config, scheme lshbands.Scheme, blocks []int, allPairs bool) finished.Plan {
	p := finished.Plan{Keys: config.Method(), Scheme: scheme}
	if allPairs {
		p.Keys = methods.All
	}
	method, _ := methods.Of(p.Keys) // Validate has checked the name
	promise := method.Promise(&methods.Parameters{
		Threshold: config.Threshold,
		Scheme:    scheme,
		Shingle:   config.Shingle,
		Passage:   config.Passage,
		Scoring:   config.Scoring(),
	})
	p.ExpectedRecall, p.Words = promise.Recall, promise.Words
	if method.Settings.Distance {
		p.Bits, p.Distance = config.Bits, config.Hamming
		p.Blocks = blocks
		if len(blocks) == 0 {
			blocks = config.Blocks
		}
		if tables, err := lshbands.PlanTables(p.Bits, p.Distance, blocks...); err == nil {
			p.Tables = tables.Tables()
		}
	}
	return p
}

// round drops fractions of a millisecond, which nobody reads.
func round(seconds float64) float64 {
	return math.Round(seconds*1000) / 1000
}
