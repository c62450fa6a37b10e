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

	"mirrorbeam/internal/carry/work"
	"mirrorbeam/pipeline/engine"
)

// await waits until a job on an engine has ended. It tells the user of each new state, and shows how far the stages have
// come.
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

// stages returns how far the stages have come, in the order in which they began.
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
			Stage: work.Stage(s.Name), Tasks: max(s.expected, done), Done: done,
			Records: s.Records, Bytes: s.Bytes, Written: s.WrittenBytes, Resident: s.PeakMemoryBytes,
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
	slices.SortStableFunc(d.seen, func(a, b work.StageProgress) int { return cmp.Compare(a.Begun.UnixMilli(), b.Begun.UnixMilli()) })
}
