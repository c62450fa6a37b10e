package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/schema/schemas"
	"mirrorbeam.dev/internal/storage"
)

// successMetric tells when a run last ended well. It is the first of the metrics of results.
const successMetric = "runjob_last_success_time_seconds"

// endMetric comes first in a file of metrics, so that it can be told from a file of somebody else.
const endMetric = "runjob_last_end_time_seconds"

const mostMetrics = 1 << 20

// checkMetricsFile returns an error if a file is there that holds no metrics of a run: writeMetrics would replace it.
func checkMetricsFile(path string) error {
	if err := checkOthers(path); err != nil {
		return failure.Errorf(failure.Storage, "--metrics-file: %w", err)
	}
	const begin = "# HELP " + endMetric
	content, err := storage.ReadBeginning(path, len(begin))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && len(content) > 0 && string(content) != begin:
		err = fmt.Errorf("%s exists and has no metrics of a run: name another file", path)
	}
	if err != nil {
		return failure.Errorf(failure.Storage, "--metrics-file: %w", err)
	}
	return nil
}

type ending struct {
	begun, at time.Time
	code      int
	// summary is nil unless the results are published.
	summary *finished.Summary
}

// writeMetrics replaces a file of metrics in the text format of Prometheus, as its node exporter reads them. The metrics
// of the last run come first, then the metrics of the last results, which outlive runs that fail.
func writeMetrics(path string, e ending) error {
	if err := checkOthers(path); err != nil { // hours may have passed since the last time
		return failure.Errorf(failure.Storage, "--metrics-file: %w", err)
	}
	var run exposition
	run.gauge(endMetric, "When the last run ended.", unixSeconds(e.at))
	run.gauge("runjob_last_begin_time_seconds", "When the last run began.", unixSeconds(e.begun))
	run.gauge("runjob_last_exit_code", "The exit code of the last run.", float64(e.code))
	results := lastResults(path)
	if e.summary != nil {
		results = metricsOf(e.summary, e.at)
	}
	if err := storage.WriteFile(path, append(run, results...)); err != nil {
		return failure.Errorf(failure.Storage, "--metrics-file: %w", err)
	}
	return nil
}

func metricsOf(s *finished.Summary, at time.Time) (b exposition) {
	b.gauge(successMetric, "When a run last published its results, or found them up to date.", unixSeconds(at))
	b.gauge("runjob_last_seconds", "Duration of the run that made the results.", s.Seconds)
	b.gauge("runjob_cpu_seconds", "CPU time of the run that made the results.", s.CPUSeconds)
	b.gauge("runjob_peak_memory_bytes", "Largest resident size of the run that made the results.",
		float64(s.PeakMemoryBytes))
	b.gauge("runjob_temp_bytes", "Largest size of the temporary files of the run that made the results.",
		float64(s.TempBytes))
	b.head("runjob_requests", "Requests to buckets and web servers of the run that made the results.")
	for _, r := range s.Requests {
		b = fmt.Appendf(b, "runjob_requests{kind=%q} %d\n", r.Kind, r.Requests)
	}
	for _, figure := range slices.Concat(findings.Figures(s.Totals), findings.Figures(s.Extras)) {
		b.gauge("runjob_"+figure.Metric, schemas.Description("summary", figure.Path...), float64(figure.Value))
	}
	if s.State == nil {
		return b
	}
	b.gauge("runjob_state_generation", "The generation that the last results belong to.", float64(s.State.Generation))
	b.gauge("runjob_results_kept", "1 if nothing had changed since the last run, whose results remain.",
		map[bool]float64{true: 1}[s.State.IsKept])
	b.gauge("runjob_suspects_unseen", "Suspects of earlier runs that this run could not check.",
		float64(s.State.Unseen))
	b.changes("runjob_changes",
		"Clusters, groups of mirrors and suspects that have changed since the run before.", s.State.Changes)
	b.changes("runjob_unacknowledged_changes",
		"Unacknowledged changes of this run and earlier ones.", s.State.Unacknowledged)
	return b
}

type exposition []byte

func (b *exposition) head(name, help string) {
	*b = fmt.Appendf(*b, "# HELP %s %s\n# TYPE %[1]s gauge\n", name, help)
}

func (b *exposition) gauge(name, help string, value float64) {
	b.head(name, help)
	*b = fmt.Appendf(*b, "%s %s\n", name, strconv.FormatFloat(value, 'f', -1, 64))
}

func (b *exposition) changes(name, help string, changes map[string]map[string]int64) {
	b.head(name, help)
	for _, of := range output.Followed {
		if changes[of] == nil {
			continue
		}
		for _, kind := range output.ChangeKindsOf(of) {
			*b = fmt.Appendf(*b, "%s{of=%q,change=%q} %d\n", name, of, kind, changes[of][kind])
		}
	}
}

func lastResults(path string) []byte {
	content, err := storage.ReadBeginning(path, mostMetrics)
	if err != nil {
		return nil
	}
	first := bytes.Index(content, []byte("# HELP "+successMetric+" "))
	if first < 0 {
		return nil
	}
	return content[first:]
}

func unixSeconds(at time.Time) float64 { return float64(at.UnixMilli()) / 1000 }
