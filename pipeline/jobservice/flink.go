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

	"mirrorbeam/pipeline/engine"
)

// flinkPort is the port at which Flink's REST interface usually answers.
const flinkPort = "8081"

// longestREST is the longest that Flink may take for an answer.
const longestREST = 10 * time.Second

// flinkJob is a job in Flink's own list.
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
			return fmt.Errorf("the job server has let go of job %s, and Flink goes on with it: %w: cancel it there, or name Flink's own address with --flink_rest HOST:PORT", id, err)
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

// flinkREST returns the address of Flink's REST interface.
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
