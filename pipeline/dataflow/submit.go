package dataflow

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"
	df "google.golang.org/api/dataflow/v1b3"
	"google.golang.org/api/googleapi"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/pipeline/engine"
)

// templateFlag is the flag of Beam that says where to write a job instead of sending it.
const templateFlag = "template_location"

// launchPlace finds the job's id in the place where the launcher of a Flex Template wants the job.
var launchPlace = regexp.MustCompile(`^gs://.*/template_launches/([^/]+)/job_object$`)

// launched returns the id of the job that the launcher of a Flex Template is to start, if --template_location says that
// there is one. The launcher starts the job when this process has ended, so such a job cannot be waited for here. Any
// other template is an error of the kind [failure.Usage].
func launched() (id string, err error) {
	location := flag.Lookup(templateFlag).Value.String()
	if location == "" {
		return "", nil
	}
	if found := launchPlace.FindStringSubmatch(location); found != nil {
		return found[1], nil
	}
	return "", failure.Errorf(failure.Usage,
		"--%s %s: is for the launcher of a Flex Template; a classic template would run later and more than once, "+
			"and this job has one list of inputs and one temporary folder", templateFlag, location)
}

// Submit stages the program and the pipeline and sends the job. It returns the job's id when the service has taken the
// job, or when the launcher of a Flex Template can start it. An empty name lets Beam choose one.
//
// The flags of Beam that lay out the job belong to the whole process. So one job at a time may be submitted.
func (Engine) Submit(ctx context.Context, p *beam.Pipeline, name string) (id string, err error) {
	s, err := open(ctx)
	if err != nil {
		return "", err
	}
	return s.submit(ctx, p, name)
}

func (s *service) submit(ctx context.Context, p *beam.Pipeline, name string) (id string, err error) {
	id, err = launched()
	if err != nil {
		return "", err
	}
	program, err := engine.Program()
	if err != nil {
		return "", err
	}
	defer set(jobopts.WorkerBinary, program)()
	if name != "" {
		defer set(jobopts.JobName, name)()
	}
	if id != "" {
		return id, s.stage(ctx, p)
	}
	template := storage.Join(s.staging, "job-"+strings.ToLower(rand.Text())+".json")
	if err := flag.Set(templateFlag, template); err != nil {
		return "", fmt.Errorf("lay out the job: %w", err)
	}
	err = s.stage(ctx, p)
	if err := flag.Set(templateFlag, ""); err != nil {
		return "", fmt.Errorf("lay out the job: %w", err)
	}
	if err != nil {
		return "", err
	}
	job, err := readJob(template)
	if err != nil {
		return "", err
	}
	return s.send(ctx, job)
}

func set[T any](variable *T, value T) (undo func()) {
	before := *variable
	*variable = value
	return func() { *variable = before }
}

// stage lets Beam's runner stage the program and the pipeline, and write the job where templateFlag says.
func (s *service) stage(ctx context.Context, p *beam.Pipeline) error {
	// The result of a template is nothing.
	if _, err := dataflow.Execute(ctx, p); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return failure.Errorf(failure.Storage, "stage the job in %s: %w", s.staging, err)
	}
	return nil
}

func readJob(template string) (*df.Job, error) {
	content, err := storage.ReadFile(template)
	if err == nil {
		err = storage.Remove(template)
	}
	if err != nil {
		return nil, failure.Errorf(failure.Storage, "read the job that was laid out: %w", err)
	}
	job := &df.Job{}
	if err := json.Unmarshal(content, job); err != nil {
		return nil, fmt.Errorf("read the job that was laid out in %s: %w", template, err)
	}
	return job, nil
}

// send sends a job. An interruption does not stop a request: the id of the job is needed to cancel it.
func (s *service) send(ctx context.Context, job *df.Job) (id string, err error) {
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	job.ClientRequestId = rand.Text()
	err = s.try(context.WithoutCancel(ctx), mostTries, func(request context.Context) error {
		taken, err := s.client.Projects.Locations.Jobs.Create(s.project, s.region, job).Context(request).Do()
		if err != nil {
			return err
		}
		// The service may answer a job that has the name of a running one with the running one.
		if taken.ClientRequestId != "" && taken.ClientRequestId != job.ClientRequestId {
			return &googleapi.Error{Code: http.StatusConflict, Message: "a job of this name is running: " + taken.Id}
		}
		id = taken.Id
		return nil
	})
	if err != nil {
		// An earlier try may have succeeded although it seemed to fail.
		if id, found := s.find(context.WithoutCancel(ctx), job); found {
			return id, nil
		}
	}
	if err != nil {
		return "", fmt.Errorf("send the job %s to Dataflow in %s, project %s: %w", job.Name, s.region, s.project, err)
	}
	return id, nil
}

func (s *service) find(ctx context.Context, job *df.Job) (id string, found bool) {
	jobs := s.client.Projects.Locations.Jobs
	err := s.try(ctx, fewTries, func(request context.Context) error {
		return jobs.List(s.project, s.region).Filter("ACTIVE").Pages(request, func(page *df.ListJobsResponse) error {
			for _, listed := range page.Jobs {
				if listed.Name != job.Name {
					continue
				}
				whole, err := jobs.Get(s.project, s.region, listed.Id).View("JOB_VIEW_ALL").Context(request).Do()
				if err != nil {
					return err
				}
				if whole.ClientRequestId == job.ClientRequestId {
					id = whole.Id
				}
			}
			return nil
		})
	})
	return id, err == nil && id != ""
}
