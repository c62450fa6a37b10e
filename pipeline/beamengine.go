package pipeline

import (
	"context"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"mirrorbeam/pipeline/dataflow"
	"mirrorbeam/pipeline/engine"
)

// engineOf returns the engine of a runner.
func engineOf(runner string) engine.Engine {
	if isDataflow(runner) {
		return dataflow.Engine{}
	}
	return &beamEngine{runner: runner}
}

type beamEngine struct {
	runner string
	mutex  sync.Mutex
	p      *beam.Pipeline
}

func (b *beamEngine) Submit(ctx context.Context, p *beam.Pipeline, name string) (string, error) {
	binary, err := workerBinary()
	if err != nil {
		return "", err
	}
	*jobopts.WorkerBinary = binary
	b.p = p
	return name, nil
}

func (b *beamEngine) Wait(ctx context.Context, id string, report func(engine.State)) (*metrics.Results, error) {
	result, err := beam.Run(ctx, b.runner, b.p)
	if err != nil {
		return nil, &engine.EndedError{Message: err.Error()}
	}
	m := result.Metrics()
	return &m, nil
}

func (b *beamEngine) Cancel(ctx context.Context, id string) error { return nil }
