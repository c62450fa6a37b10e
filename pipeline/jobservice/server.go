// Package jobservice hands pipelines to the job server of an engine, such as Flink or Spark, and follows them there. It
// speaks Beam's job API. What it tells a job server beyond Beam's own runners is in [Options].
package jobservice

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/extworker"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/pipeline/engine"
)

// Server is a job server. It implements [engine.Engine].
type Server struct {
	// Address is where it answers, HOST:PORT.
	Address string
	// Options are settings for the engine.
	Options Options

	loopback atomic.Pointer[extworker.Loopback] // the workers in this process, if the job uses any
}

var _ engine.Engine = (*Server)(nil)

// Options are settings for the engine.
type Options struct {
	// Parallelism is the number of tasks that the engine works on at a time; 0 leaves the number to the engine. Flink
	// then takes parallelism.default of its configuration, which is 1 unless somebody has set it.
	Parallelism int
	Experiments []string
	// RetainContainers keeps the containers of workers after the job.
	RetainContainers bool
	// Flink says that the engine is Flink.
	Flink bool
	// FlinkREST is the address of Flink's REST interface, HOST:PORT, where jobs are cancelled. If it is "", that is
	// port 8081 on the machine of the job server.
	FlinkREST string
}

// connect opens a connection to the job server. No request waits for longer than its context if nothing answers.
func (s *Server) connect() (jobpb.JobServiceClient, io.Closer, error) {
	connection, err := grpc.NewClient(s.Address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, nil, fmt.Errorf("job server %s: %w", s.Address, err)
	}
	return jobpb.NewJobServiceClient(connection), connection, nil
}

// fault describes a request that failed. A cancelled context is not the fault of the job server.
func (s *Server) fault(ctx context.Context, request string, err error) error {
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	told := fmt.Errorf("job server %s: %s: %w", s.Address, request, wordsOf(err))
	if isGone(err) {
		return storage.Unavailable(told)
	}
	return told
}

// wordsOf returns the message of an answer without the envelope of gRPC.
func wordsOf(err error) error {
	answer, ok := status.FromError(err)
	if !ok || answer.Message() == "" {
		return err
	}
	return answered{errors.New(answer.Message()), err}
}

// answered is an error with the words of one error, which is also another one.
type answered struct {
	error
	whole error
}

func (a answered) Unwrap() error { return a.whole }

func hasEnded(state jobpb.JobState_Enum) bool {
	switch state {
	case jobpb.JobState_DONE, jobpb.JobState_FAILED, jobpb.JobState_CANCELLED, jobpb.JobState_DRAINED,
		jobpb.JobState_UPDATED:
		return true
	}
	return false
}

// isGone reports whether a request failed because nothing answers. It may be repeated.
func isGone(err error) bool { return status.Code(err) == codes.Unavailable }

// isLoopback reports whether the workers belong to this process.
func (s *Server) isLoopback() bool { return s.loopback.Load() != nil }

// release ends the workers of this process, if there are any. The job has ended.
func (s *Server) release(ctx context.Context) error {
	loopback := s.loopback.Swap(nil)
	if loopback == nil {
		return nil
	}
	if err := loopback.Stop(ctx); err != nil {
		return fmt.Errorf("end the workers in this process: %w", err)
	}
	return nil
}

const (
	// longestDial is the longest that a job server may take to answer. Beam itself waits two minutes and says nothing.
	longestDial = 5 * time.Second
	// longestProbe is how long a server may take to show that it is none.
	longestProbe = time.Second
)

// ErrOther says that something answers that is no job server.
var ErrOther = errors.New("no job server")

// Probe returns an error unless something answers that may be a job server. The error is [ErrOther] if something else
// answers, such as Flink itself, and says what to do. People who know the addresses of their cluster often name those.
func Probe(ctx context.Context, address string) error {
	dialer := net.Dialer{Timeout: longestDial}
	connection, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer connection.Close()
	defer context.AfterFunc(ctx, func() { connection.Close() })()
	_ = connection.SetDeadline(time.Now().Add(longestProbe)) // a server that stays silent may be a job server
	_, err = fmt.Fprintf(connection, "GET /overview HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", address)
	var answer []byte
	if err == nil {
		answer, err = io.ReadAll(io.LimitReader(connection, 1<<16))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case bytes.Contains(answer, []byte("flink-version")):
		return fmt.Errorf(
			"that is the address of Flink, and %w: start Beam's job server for it, and give the address of that, "+
				"which is often port 8099: see docs/how-to/flink-spark.md", ErrOther)
	case bytes.HasPrefix(answer, []byte("HTTP/1.")):
		return fmt.Errorf(
			"a web server answers there, and %w: the job server of Flink is often at port 8099: "+
				"see docs/how-to/flink-spark.md",
			ErrOther)
	case len(answer) == 0 && !errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf(
			"something answers there that hangs up, as a master of Spark does, and %w: "+
				"start Beam's job server for it, and give the address of that: see docs/how-to/flink-spark.md",
			ErrOther)
	}
	return nil
}
