package dataflowtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"google.golang.org/protobuf/proto"
)

// Run makes the service run the jobs that come. All that it knows of a job is what was sent and staged: the pipeline
// runs on Beam's Prism, with a worker that is started from the staged program.
func (s *Server) Run() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.runs = true
}

// staged is what the options of a job say about its pipeline.
type staged struct {
	Options struct {
		PipelineURL       string `json:"pipelineUrl"`
		PipelineProtoHash string `json:"pipelineProtoHash"`
	} `json:"options"`
}

// run starts a job. The test waits for its end. The caller holds the mutex.
func (s *Server) run(job *Job) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		state := "JOB_STATE_DONE"
		if err := s.work(ctx, job); ctx.Err() != nil {
			state = "JOB_STATE_CANCELLED"
		} else if err != nil {
			s.tell(job, "JOB_MESSAGE_ERROR", err.Error())
			state = "JOB_STATE_FAILED"
		}
		s.become(job, state)
	}()
	job.cancel = func() {
		job.states = []string{"JOB_STATE_CANCELLING"}
		cancel()
	}
	s.t.Cleanup(func() {
		cancel()
		<-ended
	})
}

func (s *Server) become(job *Job, state string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	job.states = []string{state}
}

// tell adds a message to a job.
func (s *Server) tell(job *Job, importance, text string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	job.said = append(job.said[:len(job.said):len(job.said)], message(len(job.said), importance, text))
}

// work runs a job to its end.
func (s *Server) work(ctx context.Context, job *Job) error {
	pipeline, err := s.pipeline(job)
	if err != nil {
		return err
	}
	binary, err := s.program(job)
	if err != nil {
		return err
	}
	pool, err := startPool(binary)
	if err != nil {
		return err
	}
	defer pool.stop()
	payload, err := proto.Marshal(&pipepb.ExternalPayload{Endpoint: &pipepb.ApiServiceDescriptor{Url: pool.address}})
	if err != nil {
		return err
	}
	for _, environment := range pipeline.GetComponents().GetEnvironments() {
		environment.Urn, environment.Payload, environment.Dependencies = "beam:env:external:v1", payload, nil
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	client, err := prism.CreateJobServer(ctx, prism.Options{Port: port})
	if err != nil {
		return err
	}
	prepared, err := client.Prepare(ctx, &jobpb.PrepareJobRequest{Pipeline: pipeline, JobName: job.Sent.Name})
	if err != nil {
		return err
	}
	running, err := client.Run(ctx, &jobpb.RunJobRequest{PreparationId: prepared.GetPreparationId()})
	if err != nil {
		return err
	}
	s.become(job, "JOB_STATE_RUNNING")
	defer context.AfterFunc(ctx, func() {
		// The pool ends the workers even if this comes too late.
		_, _ = client.Cancel(context.WithoutCancel(ctx), &jobpb.CancelJobRequest{JobId: running.GetJobId()})
	})()
	if err := s.follow(ctx, client, job, running.GetJobId()); err != nil {
		return err
	}
	return s.count(ctx, client, job, running.GetJobId())
}

// pipeline reads the staged pipeline.
func (s *Server) pipeline(job *Job) (*pipepb.Pipeline, error) {
	var where staged
	if err := json.Unmarshal(job.Sent.Environment.SdkPipelineOptions, &where); err != nil {
		return nil, fmt.Errorf("read the options of the job: %w", err)
	}
	content, err := s.Object(where.Options.PipelineURL)
	if err != nil {
		return nil, err
	}
	if got := hash(content); got != where.Options.PipelineProtoHash {
		return nil, fmt.Errorf("the pipeline %s has the hash %s, not %s", where.Options.PipelineURL, got,
			where.Options.PipelineProtoHash)
	}
	pipeline := &pipepb.Pipeline{}
	return pipeline, proto.Unmarshal(content, pipeline)
}

// program fetches the staged program. It is called runjob, as the tests of the command want it.
func (s *Server) program(job *Job) (path string, err error) {
	worker := job.Sent.Environment.WorkerPools[0].Packages[0]
	content, err := s.Object(worker.Location)
	if err != nil {
		return "", err
	}
	if got := hash(content); got != worker.Sha256 {
		return "", fmt.Errorf("the program %s has the hash %s, not %s", worker.Location, got, worker.Sha256)
	}
	path = filepath.Join(s.t.TempDir(), "runjob")
	return path, os.WriteFile(path, content, 0o700)
}

func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// freePort returns a port that nobody listens on.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// follow hands on the messages of a job that runs until it ends.
func (s *Server) follow(ctx context.Context, client jobpb.JobServiceClient, job *Job, id string) error {
	stream, err := client.GetMessageStream(ctx, &jobpb.JobMessagesRequest{JobId: id})
	if err != nil {
		return err
	}
	var fault error
	for {
		update, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return fault
		}
		if err != nil {
			return err
		}
		if message := update.GetMessageResponse(); message.GetImportance() >= jobpb.JobMessage_JOB_MESSAGE_ERROR {
			fault = errors.New(message.GetMessageText())
		} else if message != nil {
			s.tell(job, "JOB_MESSAGE_BASIC", message.GetMessageText())
		}
		switch update.GetStateResponse().GetState() {
		case jobpb.JobState_DONE:
			return nil
		case jobpb.JobState_CANCELLED:
			return errors.New("the job was cancelled")
		case jobpb.JobState_FAILED:
			if fault == nil {
				fault = errors.New("the job failed and said nothing")
			}
		}
	}
}
