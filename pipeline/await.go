package pipeline

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/pipeline/engine"
)

// await waits until a job on an engine has ended, tells the user of each new state, and shows the progress.
func (r *run) await(ctx context.Context, e engine.Engine, s Submission) (*metrics.Results, error) {
	look := &distant{begun: map[work.Stage]time.Time{}}
	stages := look.stages
	if r.job != nil && jobopts.IsLoopback() { // the tasks run in this process
		progress, end := work.Watch(r.job.Runs.Folder)
		defer end()
		stages = progress.Stages
	}
	if r.Config.Monitor != nil {
		defer r.Config.Monitor(stages)()
	}
	found, err := e.Wait(ctx, s.ID, func(state engine.State) {
		if state.Metrics != nil {
			look.see(state.Metrics, time.Now())
		}
		if line := strings.TrimSpace(strings.ToLower(state.Name) + " " + state.Message); line != "" {
			r.say(s, line)
		}
	})
	if err == nil && found != nil {
		look.see(found, time.Now())
	}
	return found, err
}

// distant is how far the stages of a job elsewhere have come, as was seen last.
type distant struct {
	mutex sync.Mutex
	seen  []work.StageProgress
	begun map[work.Stage]time.Time // when tasks of a stage were first expected
}

func (d *distant) stages() []work.StageProgress {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return slices.Clone(d.seen)
}

// see notes the metrics of a job. No task of the stage at work may have ended yet: then it is taken to have begun when
// its tasks were first heard of.
func (d *distant) see(found *metrics.Results, now time.Time) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.seen = nil
	for _, s := range meter(found) {
		done := s.Tasks + s.Recalled
		if s.expected == 0 && done == 0 {
			continue
		}
		p := work.StageProgress{
			Stage:    work.Stage(s.Name),
			Tasks:    max(s.expected, done),
			Done:     done,
			Records:  s.Records,
			Bytes:    s.Bytes,
			Written:  s.WrittenBytes,
			Resident: s.PeakMemoryBytes,
		}
		if d.begun[p.Stage].IsZero() {
			d.begun[p.Stage] = now
		}
		p.Begun, p.Ended = d.begun[p.Stage], now
		if s.span.Count > 0 {
			p.Begun, p.Ended = time.UnixMilli(s.span.Min), time.UnixMilli(s.span.Max)
		}
		d.seen = append(d.seen, p)
	}
	slices.SortStableFunc(d.seen, func(a, b work.StageProgress) int {
		return cmp.Compare(a.Begun.UnixMilli(), b.Begun.UnixMilli())
	})
}

// metered is what the metrics say of a stage. Its Seconds are not set.
type metered struct {
	finished.Stage
	// expected is the number of tasks that are known so far.
	expected int64
	// span has the times at which tasks began and ended, in milliseconds since 1970.
	span metrics.DistributionValue
	// spent is what its tasks asked of buckets.
	spent storage.Spent
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
		"tasks":            &m.Tasks,
		"expected":         &m.expected,
		"recalled":         &m.Recalled,
		"records":          &m.Records,
		"bytes":            &m.Bytes,
		"pieces":           &m.Pieces,
		"read_bytes":       &m.ReadBytes,
		"written_bytes":    &m.WrittenBytes,
		work.ReceivedBytes: &m.spent.ReadBytes,
		work.SentBytes:     &m.spent.WrittenBytes,
		work.FetchedBytes:  &m.spent.FetchedBytes,
		work.AnsweringNS:   (*int64)(&m.spent.Answering),
	}[name]
	if sum != nil {
		*sum += value
	}
	for _, kind := range storage.Kinds() {
		if name == work.RequestsMetric(kind) {
			m.spent.Requests[kind] += value
			m.Requests += value
		}
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
