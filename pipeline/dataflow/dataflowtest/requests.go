package dataflowtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	df "google.golang.org/api/dataflow/v1b3"
)

// job returns the job with an id, or nil. The caller holds the mutex.
func (s *Server) job(id string) *Job {
	for _, job := range s.jobs {
		if job.id == id {
			return job
		}
	}
	return nil
}

// refusal is an answer with an error.
type refusal struct {
	code int
	text string
}

func (r refusal) Error() string { return r.text }

// serve answers a request of a client.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	answer, err := s.answer(r)
	w.Header().Set("Content-Type", "application/json")
	var refused refusal
	if errors.As(err, &refused) {
		w.WriteHeader(refused.code)
		answer = map[string]any{"error": map[string]any{"code": refused.code, "message": refused.text}}
	} else if err != nil {
		s.t.Error(err)
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		s.t.Error(err)
	}
}

// answer does what a request asks for.
func (s *Server) answer(r *http.Request) (any, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if r.URL.Path == "/token" {
		return map[string]any{"access_token": "token", "token_type": "Bearer", "expires_in": 3600}, nil
	}
	if s.busy > 0 {
		s.busy--
		return nil, refusal{http.StatusServiceUnavailable, "busy"}
	}
	if r.Header.Get("Authorization") != "Bearer token" {
		return nil, refusal{http.StatusUnauthorized, "who are you?"}
	}
	rest, ours := strings.CutPrefix(r.URL.Path, "/v1b3/projects/"+Project+"/locations/"+Region+"/jobs")
	if !ours {
		return nil, refusal{http.StatusNotFound, "no such project or region: " + r.URL.Path}
	}
	if rest == "" {
		if r.Method == http.MethodPost {
			return s.create(r)
		}
		return s.list(), nil
	}
	id, what, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	job := s.job(id)
	if job == nil {
		return nil, refusal{http.StatusNotFound, "no such job: " + id}
	}
	switch {
	case what == "messages":
		return df.ListJobMessagesResponse{JobMessages: job.said}, nil
	case what == "metrics":
		return df.JobMetrics{Metrics: job.found}, nil
	case r.Method == http.MethodPut:
		return s.update(r, job)
	}
	shown := job.describe()
	if len(job.states) > 1 {
		job.states = job.states[1:]
	}
	return shown, nil
}

func (j *Job) describe() *df.Job {
	return &df.Job{Id: j.id, Name: j.Sent.Name, CurrentState: j.states[0], ClientRequestId: j.Sent.ClientRequestId}
}

// list lists the jobs that run.
func (s *Server) list() df.ListJobsResponse {
	var all df.ListJobsResponse
	for _, job := range s.jobs {
		if !ended(job.states[0]) {
			all.Jobs = append(all.Jobs, job.describe())
		}
	}
	return all
}

func ended(state string) bool {
	return state == "JOB_STATE_DONE" || state == "JOB_STATE_FAILED" || state == "JOB_STATE_CANCELLED"
}

// create takes a job.
func (s *Server) create(r *http.Request) (any, error) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	job, err := s.take(raw, fmt.Sprintf("2026-01-01_00_00_00-%d", len(s.jobs)+1))
	if err != nil {
		return nil, err
	}
	if s.deaf {
		s.deaf = false
		return nil, refusal{http.StatusServiceUnavailable, "the answer got lost"}
	}
	return job.describe(), nil
}

// take begins a job. The caller holds the mutex.
func (s *Server) take(raw []byte, id string) (*Job, error) {
	job := &Job{Sent: &df.Job{}, Raw: raw, id: id, states: s.states, said: s.said, found: s.found}
	if err := json.Unmarshal(raw, job.Sent); err != nil {
		return nil, refusal{http.StatusBadRequest, err.Error()}
	}
	for _, other := range s.list().Jobs {
		if other.Name == job.Sent.Name {
			return nil, refusal{http.StatusConflict, "there is a job of this name: " + other.Id}
		}
	}
	s.jobs = append(s.jobs, job)
	if s.runs {
		job.states = []string{"JOB_STATE_PENDING"}
		s.run(job)
	}
	return job, nil
}

// update changes a job: it cancels it, the only change there is.
func (s *Server) update(r *http.Request, job *Job) (any, error) {
	var wanted df.Job
	if err := json.NewDecoder(r.Body).Decode(&wanted); err != nil {
		return nil, refusal{http.StatusBadRequest, err.Error()}
	}
	if wanted.RequestedState != "JOB_STATE_CANCELLED" {
		return nil, refusal{http.StatusBadRequest, "cannot become " + wanted.RequestedState}
	}
	if ended(job.states[0]) {
		return nil, refusal{http.StatusBadRequest, "the job has ended"}
	}
	if job.cancel != nil {
		job.cancel()
		return job.describe(), nil
	}
	job.states = []string{"JOB_STATE_CANCELLING", "JOB_STATE_CANCELLED"}
	return job.describe(), nil
}
