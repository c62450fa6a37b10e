package jobservice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/metricsx"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/protobuf/encoding/protojson"

	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/pipeline/engine"
)

// flinkPort is the port at which Flink's REST interface usually answers.
const flinkPort = "8081"

const longestREST = 10 * time.Second

type flinkJob struct {
	ID    string `json:"jid"`
	Name  string `json:"name"`
	State string `json:"state"`
}

// cancelOnFlink cancels a job where it runs, and waits for its end. Beam's job server calls a job cancelled when it has
// stopped to wait for it, and Flink goes on with it.
func (s *Server) cancelOnFlink(ctx context.Context, id string) error {
	address, name := s.flinkREST(), nameOnFlink(id)
	var refused error
	for {
		job, err := jobOnFlink(ctx, address, name)
		switch {
		case ctx.Err() != nil:
			return errors.Join(ctx.Err(), refused)
		case err != nil:
			return fmt.Errorf(
				"the job server has let go of job %s, and Flink still runs it: %w: cancel it there, "+
					"or name Flink's own address with --flink_rest HOST:PORT", id, err)
		case job.ID == "" || slices.Contains([]string{"FINISHED", "FAILED", "CANCELED"}, job.State):
			return nil
		}
		if job.State != "CANCELLING" {
			// Flink refuses this if the job has ended meanwhile.
			refused = askFlink(ctx, http.MethodPatch, "http://"+address+"/jobs/"+job.ID+"?mode=cancel", nil)
		}
		if err := engine.Sleep(ctx, pause); err != nil {
			return errors.Join(err, refused)
		}
	}
}

func (s *Server) flinkREST() string {
	if s.Options.FlinkREST != "" {
		return s.Options.FlinkREST
	}
	host, _, _ := net.SplitHostPort(s.Address)
	return net.JoinHostPort(host, flinkPort)
}

// nameOnFlink returns the name that a job has on Flink. The job server adds a suffix to it.
func nameOnFlink(id string) string { return id[:max(0, strings.LastIndexByte(id, '_'))] }

// jobOnFlink returns the job of a name, which is of one job only. Its ID is empty if Flink has no such job.
func jobOnFlink(ctx context.Context, address, name string) (flinkJob, error) {
	var list struct {
		Jobs []flinkJob `json:"jobs"`
	}
	if err := askFlink(ctx, http.MethodGet, "http://"+address+"/jobs/overview", &list); err != nil {
		return flinkJob{}, err
	}
	i := slices.IndexFunc(list.Jobs, func(j flinkJob) bool { return j.Name == name })
	if i < 0 {
		return flinkJob{}, nil
	}
	return list.Jobs[i], nil
}

// askFlink sends a request to Flink's REST interface. The answer is read into a value, unless that is nil.
func askFlink(ctx context.Context, method, url string, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, longestREST)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: %.200s", response.Status, content) // the rest is a stack of calls in Java
	}
	if err == nil && answer != nil {
		err = json.Unmarshal(content, answer)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, url, err)
	}
	return nil
}

// hindrance is what Flink says of a job that does not come on: it waits for slots, or has failed and is tried again.
// It is empty for another job.
func hindrance(ctx context.Context, address, name string) (string, error) {
	job, err := jobOnFlink(ctx, address, name)
	if err != nil || job.ID == "" {
		return "", err
	}
	var failed struct {
		Root string `json:"root-exception"`
	}
	of := "http://" + address + "/jobs/" + job.ID
	if err := askFlink(ctx, http.MethodGet, of+"/exceptions?maxExceptions=1", &failed); err != nil {
		return "", err
	}
	if failed.Root != "" {
		cause, _, _ := strings.Cut(failed.Root, "\n") // of a stack of calls
		if fault, is := work.FaultOf(errors.New(failed.Root)); is {
			cause = fault.Text
		}
		return "Flink tries again what has failed: " + cause, nil
	}
	var graph struct {
		Vertices []struct {
			Parallelism int    `json:"parallelism"`
			Status      string `json:"status"`
		} `json:"vertices"`
	}
	if err := askFlink(ctx, http.MethodGet, of, &graph); err != nil {
		return "", err
	}
	slots := 0
	for _, v := range graph.Vertices {
		if v.Status != "CREATED" && v.Status != "SCHEDULED" {
			return "", nil
		}
		slots = max(slots, v.Parallelism)
	}
	var cluster struct {
		Free int `json:"slots-available"`
	}
	if err := askFlink(ctx, http.MethodGet, "http://"+address+"/overview", &cluster); err != nil || slots == 0 {
		return "", err
	}
	return fmt.Sprintf("the job waits for slots of Flink: it asks for up to %d, and %d are free",
		slots, cluster.Free), nil
}

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
		if n < 2 || err != nil || !w.server.Options.Flink { // a job that has just begun waits for its slots
			continue
		}
		held, err := hindrance(ctx, w.server.flinkREST(), nameOnFlink(w.id))
		if err == nil && held != "" && held == w.held && held != w.complaint { // for some seconds
			w.complaint = held
			w.report(engine.State{Message: held})
		}
		w.held = held
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

// resultsOf takes the metrics out of an answer. Only metrics of collections, which nobody reads, need the pipeline.
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
			err := protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal([]byte(a.Value), answer)
			if err != nil {
				return nil, fmt.Errorf("read the metrics that Flink shows of job %s: %w", job.ID, err)
			}
		}
	}
	return resultsOf(answer), nil
}
