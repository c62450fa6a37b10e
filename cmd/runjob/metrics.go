package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/schema/schemas"
	"mirrorbeam.dev/internal/storage"
)

// successMetric tells when a run last ended well. A run that fails hands the value of the last file on.
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
	at   time.Time
	code int
	// summary is nil unless the results are published.
	summary *finished.Summary
}

// writeMetrics replaces a file of metrics in the text format of Prometheus, as its node exporter reads them.
func writeMetrics(path string, e ending) error {
	if err := checkOthers(path); err != nil { // hours may have passed since the last time
		return failure.Errorf(failure.Storage, "--metrics-file: %w", err)
	}
	var b []byte
	metric := func(name, help string, value float64) {
		b = fmt.Appendf(b, "# HELP %s %s\n# TYPE %s gauge\n%s %s\n", name, help, name, name,
			strconv.FormatFloat(value, 'f', -1, 64))
	}
	at := float64(e.at.UnixMilli()) / 1000
	metric(endMetric, "When the last run ended.", at)
	metric("runjob_last_exit_code", "The exit code of the last run.", float64(e.code))
	if success, known := lastSuccess(path); e.summary != nil {
		metric(successMetric, "When a run last published its results, or found them up to date.", at)
	} else if known {
		metric(successMetric, "When a run last published its results, or found them up to date.", success)
	}
	if s := e.summary; s != nil {
		metric("runjob_last_seconds", "Duration of the run that made the results.", s.Seconds)
		for _, figure := range slices.Concat(findings.Figures(s.Totals), findings.Figures(s.Extras)) {
			metric("runjob_"+figure.Metric, schemas.Description("summary", figure.Path...), float64(figure.Value))
		}
		if s.State != nil {
			metric("runjob_results_kept", "1 if nothing had changed since the last run, whose results remain.",
				oneIf(s.State.IsKept))
			metric("runjob_suspects_unseen", "Suspects of earlier runs that this run could not check.",
				float64(s.State.Unseen))
			b = appendChanges(b, "runjob_changes",
				"Clusters, groups of mirrors and suspects that have changed since the run before.", s.State.Changes)
			b = appendChanges(b, "runjob_unacknowledged_changes",
				"Unacknowledged changes of this run and earlier ones.", s.State.Unacknowledged)
		}
	}
	if err := storage.WriteFile(path, b); err != nil {
		return failure.Errorf(failure.Storage, "--metrics-file: %w", err)
	}
	return nil
}

func appendChanges(b []byte, name, help string, changes map[string]map[string]int64) []byte {
	b = fmt.Appendf(b, "# HELP %s %s\n# TYPE %[1]s gauge\n", name, help)
	for _, of := range output.Followed {
		if changes[of] == nil {
			continue
		}
		for _, kind := range output.ChangeKindsOf(of) {
			b = fmt.Appendf(b, "%s{of=%q,change=%q} %d\n", name, of, kind, changes[of][kind])
		}
	}
	return b
}

func lastSuccess(path string) (value float64, known bool) {
	content, err := storage.ReadBeginning(path, mostMetrics)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(content)) {
		if text, is := strings.CutPrefix(line, successMetric+" "); is {
			value, err = strconv.ParseFloat(strings.TrimSpace(text), 64)
			return value, err == nil
		}
	}
	return 0, false
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
