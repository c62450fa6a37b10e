package transforms

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam/internal/carry/work"
)

// stage is a stage that is being laid out, or a part of one. Its scope and its metrics have the name of the stage.
type stage struct {
	beam.Scope
	name work.Stage
	job  *Job
}

// stage begins to lay out a stage.
func (j *Job) stage(s beam.Scope, name work.Stage) stage {
	return stage{s.Scope(string(name)), name, j}
}

// part returns a part of the stage.
func (s stage) part(name string) stage {
	s.Scope = s.Scope.Scope(name)
	return s
}

// meter holds the metrics of a stage.
type meter struct {
	tasks, records, bytes, cpuNS beam.Counter
	pieces, read, written        beam.Counter
	recalled                     beam.Counter // tasks that an earlier run had done
	span, resident               beam.Distribution
}

// meters has the metrics of each stage.
var meters = map[work.Stage]*meter{}

func init() {
	for _, name := range append([]work.Stage{work.Pack}, work.Stages...) {
		meters[name] = newMeter(name)
	}
}

func newMeter(name work.Stage) *meter {
	return &meter{
		tasks:   beam.NewCounter(string(name), "tasks"),
		records: beam.NewCounter(string(name), "records"),
		bytes:   beam.NewCounter(string(name), "bytes"),
		cpuNS:   beam.NewCounter(string(name), "cpu_ns"),
		span:    beam.NewDistribution(string(name), "unix_ms"),

		pieces:  beam.NewCounter(string(name), "pieces"),
		read:    beam.NewCounter(string(name), "read_bytes"),
		written: beam.NewCounter(string(name), "written_bytes"),

		recalled: beam.NewCounter(string(name), "recalled"),
		resident: beam.NewDistribution(string(name), "resident_bytes"),
	}
}

// count adds the figures of a task to the metrics of the stage. Beam allows this only in the goroutine that it has
// called.
func (m *meter) count(ctx context.Context, f work.Figures) {
	m.tasks.Inc(ctx, 1)
	m.records.Inc(ctx, f.Records)
	m.bytes.Inc(ctx, f.Bytes)
	m.cpuNS.Inc(ctx, int64(f.CPU))
	m.pieces.Inc(ctx, f.Pieces)
	m.read.Inc(ctx, f.Read)
	m.written.Inc(ctx, f.Written)
	m.span.Update(ctx, f.Begun.UnixMilli())
	m.span.Update(ctx, f.Ended.UnixMilli())
	m.resident.Update(ctx, f.Resident)
}

// expect notes that a stage will have a number of further tasks: for those who watch this process, and for those who ask the
// runner for its metrics.
func expect(ctx context.Context, runs work.Runs, name work.Stage, tasks int) {
	runs.Expect(name, tasks)
	if name != "" && tasks > 0 {
		beam.NewCounter(string(name), "expected").Inc(ctx, int64(tasks))
	}
}
