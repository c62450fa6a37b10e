package dataflowtest

import (
	"bytes"
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/coder"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	df "google.golang.org/api/dataflow/v1b3"
)

// count fetches the counters of a job, and writes them as the service does.
func (s *Server) count(ctx context.Context, client jobpb.JobServiceClient, job *Job, id string) error {
	response, err := client.GetJobMetrics(ctx, &jobpb.GetJobMetricsRequest{JobId: id})
	if err != nil {
		return err
	}
	var found []*df.MetricUpdate
	for _, info := range response.GetMetrics().GetCommitted() {
		update, err := metric(info)
		if err != nil {
			return fmt.Errorf("metric %s: %w", info.GetUrn(), err)
		}
		if update != nil {
			found = append(found, update)
		}
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	job.found = found
	return nil
}

// metric translates a counter or distribution of the user, and returns nil for any other metric.
func metric(info *pipepb.MonitoringInfo) (*df.MetricUpdate, error) {
	labels := info.GetLabels()
	update := &df.MetricUpdate{Name: &df.MetricStructuredName{
		Origin:  "user",
		Name:    labels["NAME"],
		Context: map[string]string{"step": labels["PTRANSFORM"], "namespace": labels["NAMESPACE"]},
	}}
	var names []string
	switch info.GetUrn() {
	case "beam:metric:user:sum_int64:v1":
		names = []string{"sum"}
	case "beam:metric:user:distribution_int64:v1":
		names = []string{"count", "sum", "min", "max"}
	default:
		return nil, nil
	}
	values, payload := map[string]int64{}, bytes.NewReader(info.GetPayload())
	for _, name := range names {
		value, err := coder.DecodeVarInt(payload)
		if err != nil {
			return nil, err
		}
		values[name] = value
	}
	if len(names) == 1 {
		update.Scalar = values["sum"]
	} else {
		update.Distribution = values
	}
	return update, nil
}
