// Package dataflow hands jobs to Google Cloud Dataflow, waits for them and cancels them.
//
// Beam's own runner does the part that depends on its flags: it stages the program and the pipeline, and lays out the
// job as a template. This package sends the job itself. So the job's id is known as soon as the service has taken the
// job, a job of somebody else that has the same name is never taken for ours, and each wait can be interrupted.
package dataflow

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/gcpopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow/dataflowlib"
	"golang.org/x/oauth2"
	df "google.golang.org/api/dataflow/v1b3"
	"google.golang.org/api/googleapi"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/pipeline/engine"
)

// Engine hands jobs to the service that the flags of Beam name. Its zero value is ready.
type Engine struct{}

type service struct {
	project, region, staging string

	client *df.Service
	// official is false if --dataflow_endpoint names another service, whose jobs Google's console does not show.
	official bool
	// pause is how long to wait before the n-th look at a job, and before the n-th try of a request that has failed.
	pause func(n int) time.Duration
}

// Check says which flags of Beam are missing for a job, or wrong, in an error of the kind [failure.Usage]. The project
// and the region may also come from the settings of gcloud. Check then sets the flags, so that a process that takes up
// the job finds it.
func Check(ctx context.Context) error {
	staging := stagingLocation()
	var missing []string
	if staging == "" {
		missing = append(missing, "--staging_location gs://BUCKET/FOLDER")
	}
	for _, need := range []struct {
		name   string
		lookUp func(context.Context) string
	}{{"project", gcpopts.GetProjectFromFlagOrEnvironment}, {"region", gcpopts.GetRegion}} {
		found := flag.Lookup(need.name).Value.String()
		// Asking gcloud takes seconds, so it is asked only if everything else is there.
		if found == "" && staging != "" {
			found = need.lookUp(ctx)
		}
		if found == "" {
			missing = append(missing, "--"+need.name+" NAME")
		} else if err := flag.Set(need.name, found); err != nil {
			return fmt.Errorf("set --%s: %w", need.name, err)
		}
	}
	if len(missing) > 0 {
		return failure.Errorf(failure.Usage,
			"--runner dataflow: give %s, and --temp_location gs://BUCKET/FOLDER unless files of the job may lie in "+
				"the staging location", strings.Join(missing, ", "))
	}
	if !strings.HasPrefix(staging, "gs://") {
		return failure.Errorf(failure.Usage, "--staging_location %s: must be gs://BUCKET/FOLDER", staging)
	}
	if *jobopts.WorkerBinary == "" && runtime.GOOS+"/"+runtime.GOARCH != workers {
		return failure.Errorf(failure.Usage,
			"--runner dataflow: this program is for %s/%s, and workers are %s: "+
				"give --worker_binary with a program for them", runtime.GOOS, runtime.GOARCH, workers)
	}
	_, err := launched()
	return err
}

// workers is the system and the processor of workers, unless Arm machines are asked for.
const workers = "linux/amd64"

// open returns the service. It uses the Application Default Credentials, and asks the service nothing yet. The error is
// of the kind [failure.Usage] if flags are missing, and [failure.Storage] if there are no credentials.
func open(ctx context.Context) (*service, error) {
	if err := Check(ctx); err != nil {
		return nil, err
	}
	endpoint := flag.Lookup("dataflow_endpoint").Value.String()
	if endpoint != "" && !strings.HasSuffix(endpoint, "/") {
		endpoint += "/" // else the client joins its paths to the port
	}
	// The client keeps the context for its credentials, and must be able to cancel a job after an interruption.
	client, err := dataflowlib.NewClient(context.WithoutCancel(ctx), endpoint)
	if err != nil {
		return nil, failure.Errorf(failure.Storage,
			"--runner dataflow: no credentials: %w: run 'gcloud auth application-default login', "+
				"or set GOOGLE_APPLICATION_CREDENTIALS", err)
	}
	return &service{
		project:  *gcpopts.Project,
		region:   *gcpopts.Region,
		staging:  stagingLocation(),
		client:   client,
		official: endpoint == "",
		pause:    usualPause,
	}, nil
}

func stagingLocation() string { return flag.Lookup("staging_location").Value.String() }

// page is where a job can be watched; empty if the service is not Google's.
func (s *service) page(id string) string {
	if !s.official {
		return ""
	}
	return fmt.Sprintf("https://console.cloud.google.com/dataflow/jobs/%s/%s?project=%s", url.PathEscape(s.region),
		url.PathEscape(id), url.QueryEscape(s.project))
}

// usualPause grows: a short job is seen to end soon, and a long one costs few requests.
func usualPause(n int) time.Duration {
	return min(500*time.Millisecond<<min(n, 5), 15*time.Second)
}

const (
	// fewTries is how often a request is tried that the job can do without.
	fewTries = 3
	// mostTries is how often a request is tried while the service cannot be reached: for some ten minutes.
	mostTries      = 40
	longestRequest = time.Minute
)

// try sends a request until the service answers it, at most the given number of times. The error is of the kind
// [failure.Unavailable] if the service never answers, [failure.Storage] if it refuses. If the context ends, try returns
// its error at once.
func (s *service) try(ctx context.Context, times int, send func(context.Context) error) error {
	for n := 1; ; n++ {
		limited, end := context.WithTimeout(ctx, longestRequest)
		err := send(limited)
		end()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !passing(err):
			return failure.New(failure.Storage, err)
		case n == times:
			return failure.New(failure.Unavailable, err)
		}
		if err := engine.Sleep(ctx, s.pause(n)); err != nil {
			return err
		}
	}
}

// passing reports whether a fault may pass: the service is busy or out of order, or cannot be reached.
func passing(err error) bool {
	var answer *googleapi.Error
	if errors.As(err, &answer) {
		return busy(answer.Code)
	}
	var token *oauth2.RetrieveError
	if errors.As(err, &token) && token.Response != nil {
		return busy(token.Response.StatusCode)
	}
	var network *url.Error
	return errors.As(err, &network)
}

func busy(code int) bool {
	return code == http.StatusTooManyRequests || code == http.StatusRequestTimeout ||
		code >= http.StatusInternalServerError
}
