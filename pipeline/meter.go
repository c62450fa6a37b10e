package pipeline

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/look/finished"
)

// metered is what the metrics say of a stage. Its Seconds are not set.
type metered struct {
	finished.Stage
	// expected is the number of tasks that are known so far.
	expected int64
	// span has the times at which tasks began and ended, in milliseconds since 1970.
	span metrics.DistributionValue
}

// meter sums up the metrics of the stages, in the order of the data. Those of a job on its way count as well.
func meter(of *metrics.Results) []metered {
	all := make([]metered, len(work.Stages))
	place := map[string]*metered{}
	for i, name := range work.Stages {
		all[i].Name = string(name)
		place[all[i].Name] = &all[i]
	}
	if of == nil {
		return all
	}
	found := of.AllMetrics()
	for _, counter := range found.Counters() {
		if stage := place[counter.Key.Namespace]; stage != nil {
			stage.add(counter.Key.Name, counter.Result())
		}
	}
	for _, distribution := range found.Distributions() {
		if stage := place[distribution.Key.Namespace]; stage != nil && distribution.Result().Count > 0 {
			stage.extend(distribution.Key.Name, distribution.Result())
		}
	}
	return all
}

func (m *metered) add(name string, value int64) {
	if name == "cpu_ns" {
		m.CPUSeconds += float64(value) / 1e9
		return
	}
	sum := map[string]*int64{
		"tasks": &m.Tasks, "expected": &m.expected, "recalled": &m.Recalled, "records": &m.Records, "bytes": &m.Bytes,
		"pieces": &m.Pieces, "read_bytes": &m.ReadBytes, "written_bytes": &m.WrittenBytes,
	}[name]
	if sum != nil {
		*sum += value
	}
}

// extend takes in the values of a distribution that is not empty.
func (m *metered) extend(name string, values metrics.DistributionValue) {
	switch name {
	case "resident_bytes":
		m.PeakMemoryBytes = max(m.PeakMemoryBytes, values.Max)
	case "unix_ms":
		if m.span.Count > 0 {
			values.Min, values.Max = min(values.Min, m.span.Min), max(values.Max, m.span.Max)
		}
		values.Count += m.span.Count
		m.span = values
	}
}
