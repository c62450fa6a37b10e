package jobservice

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/metricsx"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/protobuf/encoding/protojson"

	"mirrorbeam/pipeline/engine"
)

// metering is the longest time between two questions about the metrics of a job. The first ones come sooner.
const metering = 5 * time.Second

// meter reports the metrics of the job now and then until the context ends. They are a comfort: if they cannot be had,
// the user is told so once, and the job goes on. Workers in this process need no questions.
func (w *watch) meter(ctx context.Context) {
	if w.server.isLoopback() {
		return
	}
	for n := 0; engine.Sleep(ctx, min(time.Second<<min(n, 3), metering)) == nil; n++ {
		found, err := w.server.metricsSoFar(ctx, w.client, w.id)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			w.report(engine.State{Metrics: found})
		case !w.blind:
			w.blind = true
			w.report(engine.State{Message: fmt.Sprintf("how far the stages have come cannot be shown: %v", err)})
		}
	}
}

// metricsSoFar returns the metrics of a job that runs. The job server of Flink has none before the end of the job, so
// Flink itself is asked. That of Spark has none either.
func (s *Server) metricsSoFar(ctx context.Context, client jobpb.JobServiceClient, id string) (*metrics.Results, error) {
	if !s.Options.Flink {
		return metricsOf(ctx, client, id)
	}
	found, err := metricsOnFlink(ctx, s.flinkREST(), nameOnFlink(id))
	if err != nil {
		return nil, fmt.Errorf("%w: name Flink's own address with --flink_rest HOST:PORT", err)
	}
	return found, nil
}

func metricsOf(ctx context.Context, client jobpb.JobServiceClient, id string) (*metrics.Results, error) {
	answer, err := client.GetJobMetrics(ctx, &jobpb.GetJobMetricsRequest{JobId: id})
	if err != nil {
		return nil, err
	}
	return resultsOf(answer), nil
}

// resultsOf takes the metrics out of an answer. The pipeline would only serve to name collections, whose metrics nobody
// reads.
func resultsOf(answer *jobpb.GetJobMetricsResponse) *metrics.Results {
	return metricsx.FromMonitoringInfos(nil, answer.GetMetrics().GetAttempted(), answer.GetMetrics().GetCommitted())
}

// beamAccumulator is the accumulator in which Beam's runner gathers the metrics of the subtasks that have ended.
const beamAccumulator = "__metricscontainers"

// metricsOnFlink returns the metrics of the subtasks of a job that have ended. Flink shows an accumulator as text, and
// the text of Beam's is the answer that its job server would give, as JSON.
func metricsOnFlink(ctx context.Context, address, name string) (*metrics.Results, error) {
	job, err := jobOnFlink(ctx, address, name)
	if err != nil {
		return nil, err
	}
	var list struct {
		Accumulators []struct{ Name, Value string } `json:"user-task-accumulators"`
	}
	if job.ID != "" { // else Flink does not know it yet
		if err := askFlink(ctx, http.MethodGet, "http://"+address+"/jobs/"+job.ID+"/accumulators", &list); err != nil {
			return nil, err
		}
	}
	answer := &jobpb.GetJobMetricsResponse{}
	for _, a := range list.Accumulators {
		if a.Name == beamAccumulator {
			if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal([]byte(a.Value), answer); err != nil {
				return nil, fmt.Errorf("read the metrics that Flink shows of job %s: %w", job.ID, err)
			}
		}
	}
	return resultsOf(answer), nil
}
