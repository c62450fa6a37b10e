package dataflow

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow/dataflowlib"
	df "google.golang.org/api/dataflow/v1b3"
	"google.golang.org/api/googleapi"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/pipeline/engine"
)

// The states of the service in which a job is at its end.
const (
	done      = "JOB_STATE_DONE"
	failed    = "JOB_STATE_FAILED"
	cancelled = "JOB_STATE_CANCELLED"
	drained   = "JOB_STATE_DRAINED"
	replaced  = "JOB_STATE_UPDATED"
)

func terminal(state string) bool {
	return slices.Contains([]string{done, failed, cancelled, drained, replaced}, state)
}

// Wait waits until a job has ended, and reports where it can be watched, each new state and message, and the counters
// so far with each look. A job that did not succeed is an [engine.EndedError] with the messages of the service. It is
// of the kind [failure.Storage], as is a service that cannot be reached for ten minutes; the job may then go on. If the
// context ends, Wait returns its error at once, and the job goes on.
//
// Metrics that the service does not give are left out: they change no result.
func (Engine) Wait(ctx context.Context, id string, report func(engine.State)) (*metrics.Results, error) {
	s, err := open(ctx)
	if err != nil {
		return nil, err
	}
	return s.wait(ctx, id, report)
}

func (s *service) wait(ctx context.Context, id string, report func(engine.State)) (*metrics.Results, error) {
	if page := s.page(id); page != "" {
		report(engine.State{Message: page})
	}
	var state string
	said := messages{service: s, id: id, seen: map[string]bool{}}
	for n := 0; ; n++ {
		job, err := s.get(ctx, id)
		if err != nil {
			return nil, err
		}
		// The messages come first. So all are known when the job is said to have ended.
		for _, text := range said.next(ctx) {
			report(engine.State{Message: text})
		}
		if job.CurrentState != state {
			state, n = job.CurrentState, 0
			report(engine.State{Name: plain(state)})
		}
		switch {
		case state == done:
			return s.metrics(ctx, id, fewTries), ctx.Err()
		case terminal(state):
			return nil, failure.New(failure.Storage, &engine.EndedError{State: plain(state), Message: said.errors()})
		}
		if found := s.metrics(ctx, id, 1); found != nil {
			report(engine.State{Metrics: found})
		}
		if err := engine.Sleep(ctx, s.pause(n)); err != nil {
			return nil, err
		}
	}
}

// plain is the name of a state without what all names begin with.
func plain(state string) string { return strings.TrimPrefix(state, "JOB_STATE_") }

func (s *service) get(ctx context.Context, id string) (job *df.Job, err error) {
	err = s.try(ctx, mostTries, func(request context.Context) error {
		job, err = s.client.Projects.Locations.Jobs.Get(s.project, s.region, id).Context(request).Do()
		return err
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("ask Dataflow in %s, project %s, for the job %s: %w", s.region, s.project, id, err)
	}
	return job, nil
}

// Cancel returns when the job is at its end or the context ends. A job that has ended before is no error.
func (Engine) Cancel(ctx context.Context, id string) error {
	s, err := open(ctx)
	if err != nil {
		return err
	}
	return s.cancel(ctx, id)
}

func (s *service) cancel(ctx context.Context, id string) error {
	err := s.try(ctx, mostTries, func(request context.Context) error {
		_, err := s.client.Projects.Locations.Jobs.Update(s.project, s.region, id,
			&df.Job{RequestedState: cancelled}).Context(request).Do()
		return err
	})
	var refused *googleapi.Error
	if errors.As(err, &refused) && refused.Code == http.StatusBadRequest {
		// The service refuses to cancel a job that has ended.
		if job, fault := s.get(ctx, id); fault == nil && terminal(job.CurrentState) {
			return nil
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("cancel the job %s on Dataflow: %w", id, err)
	}
	for n := 0; ; n++ {
		job, err := s.get(ctx, id)
		if err != nil {
			return err
		}
		if terminal(job.CurrentState) {
			return nil
		}
		if err := engine.Sleep(ctx, s.pause(min(n, 2))); err != nil {
			return err
		}
	}
}

// metrics asks for the counters of a job. It returns nil if the service does not give them: a job can do without.
func (s *service) metrics(ctx context.Context, id string, times int) *metrics.Results {
	var found *df.JobMetrics
	err := s.try(ctx, times, func(request context.Context) error {
		var err error
		found, err = s.client.Projects.Locations.Jobs.GetMetrics(s.project, s.region, id).Context(request).Do()
		return err
	})
	if err != nil {
		return nil
	}
	// Beam looks up the names of steps in the pipeline, which another process does not have. The service's own names of
	// steps will do, since stages are told apart by the namespaces of their counters.
	steps := map[string]*pipepb.PTransform{}
	for _, metric := range found.Metrics {
		if step, ok := metric.Name.Context["step"]; ok {
			steps[step] = &pipepb.PTransform{UniqueName: step}
		}
	}
	return dataflowlib.FromMetricUpdates(found.Metrics,
		&pipepb.Pipeline{Components: &pipepb.Components{Transforms: steps}})
}

// The importance of messages: about the workers' life and stages, and about failures.
const (
	basic   = "JOB_MESSAGE_BASIC"
	serious = "JOB_MESSAGE_ERROR"
)

// mostErrors is how many errors of a job are told. A task that fails is tried four times, and says the same each time.
const mostErrors = 10

type messages struct {
	service *service
	id      string

	seen   map[string]bool // by id
	latest string          // the time of the latest one, from which on the service is asked
	faults []string        // distinct errors
}

// next returns the texts that are new. The messages are a comfort: if they cannot be had, there are none.
func (m *messages) next(ctx context.Context) (texts []string) {
	var found []*df.JobMessage
	err := m.service.try(ctx, fewTries, func(request context.Context) error {
		found = nil
		call := m.service.client.Projects.Locations.Jobs.Messages.List(m.service.project, m.service.region,
			m.id).MinimumImportance(basic)
		if m.latest != "" {
			call.StartTime(m.latest)
		}
		return call.Pages(request, func(page *df.ListJobMessagesResponse) error {
			found = append(found, page.JobMessages...)
			return nil
		})
	})
	if err != nil {
		return nil
	}
	for _, message := range found {
		if m.seen[message.Id] {
			continue
		}
		m.seen[message.Id], m.latest = true, max(m.latest, message.Time)
		texts = append(texts, message.MessageText)
		if message.MessageImportance == serious && !slices.Contains(m.faults, message.MessageText) {
			m.faults = append(m.faults, message.MessageText)
		}
	}
	return texts
}

// errors returns the errors so far. The last one, which says why the job ended, comes first.
func (m *messages) errors() string {
	last := slices.Clone(m.faults[max(0, len(m.faults)-mostErrors):])
	slices.Reverse(last)
	return strings.Join(last, "\n")
}
