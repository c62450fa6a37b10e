package jobservice

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"mirrorbeam.dev/pipeline/engine"
)

// fakeServer is a job server with one job.
type fakeServer struct {
	jobpb.UnimplementedJobServiceServer

	mutex   sync.Mutex
	streams [][]*jobpb.JobMessagesResponse // what each stream tells before it breaks
	broken  error                          // the error of a stream at its end
	silent  bool                           // a stream has no end
	state   jobpb.JobState_Enum
}

func serve(t *testing.T, f *fakeServer) *Server {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	jobpb.RegisterJobServiceServer(server, f)
	go func() { _ = server.Serve(listener) }() // ends with Stop
	t.Cleanup(server.Stop)
	return &Server{Address: listener.Addr().String()}
}

func (f *fakeServer) GetMessageStream(_ *jobpb.JobMessagesRequest,
	stream jobpb.JobService_GetMessageStreamServer,
) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if len(f.streams) == 0 {
		return f.broken
	}
	for _, event := range f.streams[0] {
		if err := stream.Send(event); err != nil {
			return err
		}
	}
	f.streams = f.streams[1:]
	if f.silent {
		f.mutex.Unlock()
		<-stream.Context().Done()
		f.mutex.Lock()
		return stream.Context().Err()
	}
	return f.broken
}

func (f *fakeServer) GetJobMetrics(context.Context, *jobpb.GetJobMetricsRequest) (*jobpb.GetJobMetricsResponse, error) {
	return &jobpb.GetJobMetricsResponse{Metrics: &jobpb.MetricResults{}}, nil
}

func (f *fakeServer) Cancel(context.Context, *jobpb.CancelJobRequest) (*jobpb.CancelJobResponse, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.state = jobpb.JobState_CANCELLED
	return &jobpb.CancelJobResponse{}, nil
}

func (f *fakeServer) GetState(context.Context, *jobpb.GetJobStateRequest) (*jobpb.JobStateEvent, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return &jobpb.JobStateEvent{State: f.state}, nil
}

func state(s jobpb.JobState_Enum) *jobpb.JobMessagesResponse {
	return &jobpb.JobMessagesResponse{Response: &jobpb.JobMessagesResponse_StateResponse{StateResponse: &jobpb.JobStateEvent{State: s}}}
}

func message(importance jobpb.JobMessage_MessageImportance, text string) *jobpb.JobMessagesResponse {
	return &jobpb.JobMessagesResponse{Response: &jobpb.JobMessagesResponse_MessageResponse{MessageResponse: &jobpb.JobMessage{
		Importance:  importance,
		MessageText: text,
	}}}
}

// TestWait follows jobs to their ends: each state and message is reported once, whatever the connection does.
func TestWait(t *testing.T) {
	running, note := state(jobpb.JobState_RUNNING), message(jobpb.JobMessage_JOB_MESSAGE_WARNING, "slow")
	fault := message(jobpb.JobMessage_JOB_MESSAGE_ERROR, "stage: out of luck")
	lost := status.Error(codes.Unavailable, "connection lost")
	for _, c := range []struct {
		name   string
		server *fakeServer
		told   string
		ended  *engine.EndedError // nil: done, unless the error is another one
		fault  string             // of that other one
	}{
		{
			"done", &fakeServer{streams: [][]*jobpb.JobMessagesResponse{{running, note, state(jobpb.JobState_DONE)}}},
			"RUNNING slow DONE", nil, "",
		},
		{"a broken connection", &fakeServer{
			broken:  lost,
			streams: [][]*jobpb.JobMessagesResponse{{running, note}, {running, note, state(jobpb.JobState_DONE)}},
		}, "RUNNING slow DONE", nil, ""},
		{
			"failed",
			&fakeServer{streams: [][]*jobpb.JobMessagesResponse{{running, fault, state(jobpb.JobState_FAILED)}}},
			"RUNNING stage: out of luck FAILED", &engine.EndedError{
				State:   "FAILED",
				Message: "stage: out of luck",
			}, "",
		},
		{
			"the cause comes later",
			&fakeServer{streams: [][]*jobpb.JobMessagesResponse{{state(jobpb.JobState_FAILED), fault}}},
			"FAILED stage: out of luck", &engine.EndedError{
				State:   "FAILED",
				Message: "stage: out of luck",
			}, "",
		},
		{"silent at the end", &fakeServer{
			silent:  true,
			state:   jobpb.JobState_DONE,
			streams: [][]*jobpb.JobMessagesResponse{{running}},
		}, "RUNNING DONE", nil, ""},
		{
			"cancelled", &fakeServer{streams: [][]*jobpb.JobMessagesResponse{{state(jobpb.JobState_CANCELLED)}}},
			"CANCELLED", &engine.EndedError{State: "CANCELLED"}, "",
		},
		{
			"forgotten", &fakeServer{broken: status.Error(codes.NotFound, "no such job")}, "", nil,
			"no such job: a job server forgets",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var told []string
			_, err := serve(t, c.server).Wait(t.Context(), "id", func(s engine.State) {
				if s.Metrics == nil { // they come now and then
					told = append(told, s.Name+s.Message)
				}
			})
			if got := strings.Join(told, " "); got != c.told {
				t.Errorf("reported %q, want %q", got, c.told)
			}
			ended, hasEnded := errors.AsType[*engine.EndedError](err)
			switch {
			case c.fault != "":
				if hasEnded || err == nil || !strings.Contains(err.Error(), c.fault) {
					t.Errorf("error %v, want %q", err, c.fault)
				}
			case (c.ended == nil) != (err == nil) || c.ended != nil && (!hasEnded || *ended != *c.ended):
				t.Errorf("error %v, want %v", err, c.ended)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, &fakeServer{broken: lost, streams: [][]*jobpb.JobMessagesResponse{{running}}})
	if _, err := s.Wait(ctx, "id", func(engine.State) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled wait: %v", err)
	}
}

// TestCancel: a job on Flink has not ended before Flink says so, under the name that the job server has made.
func TestCancel(t *testing.T) {
	if err := serve(t, &fakeServer{}).Cancel(t.Context(), "id"); err != nil {
		t.Error(err)
	}
	state, asked := "RUNNING", []string{}
	flink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.String())
		if r.Method == http.MethodPatch {
			state = "CANCELED"
			return
		}
		fmt.Fprintf(w,
			`{"jobs":[{"jid":"a","name":"other-root-1","state":"RUNNING"},{"jid":"b","name":"mine_x-root-1","state":%q}]}`, state)
	}))
	defer flink.Close()
	s := serve(t, &fakeServer{})
	s.Options = Options{Flink: true, FlinkREST: strings.TrimPrefix(flink.URL, "http://")}
	if err := s.Cancel(t.Context(), "mine_x-root-1_1f0c"); err != nil {
		t.Error(err)
	}
	if want := []string{"GET /jobs/overview", "PATCH /jobs/b?mode=cancel", "GET /jobs/overview"}; !slices.Equal(asked,
		want) {
		t.Errorf("Flink was asked %v, want %v", asked, want)
	}
	flink.Close()
	if err := s.Cancel(t.Context(), "mine_x-root-1_1f0c"); err == nil ||
		!strings.Contains(err.Error(), "--flink_rest") {
		t.Errorf("Flink does not answer: %v", err)
	}
}

// TestProbe tells job servers from what people take for one.
func TestProbe(t *testing.T) {
	web := func(content string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, content)
		}))
		t.Cleanup(server.Close)
		return strings.TrimPrefix(server.URL, "http://")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return // the test has ended
			}
			_, _ = connection.Read(make([]byte, 1000))
			connection.Close()
		}
	}()
	for address, want := range map[string]string{
		serve(t, &fakeServer{}).Address:   "",
		web(`{"flink-version":"1.19.0"}`): "that is the address of Flink",
		web("Spark Master at spark://x"):  "a web server answers there",
		listener.Addr().String():          "hangs up, as a master of Spark does",
	} {
		err := Probe(t.Context(), address)
		if want == "" && err != nil ||
			want != "" && (!errors.Is(err, ErrOther) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := Probe(t.Context(), "127.0.0.1:1"); err == nil || errors.Is(err, ErrOther) {
		t.Errorf("nothing answers: %v", err)
	}
}

// TestWorkerBinary: workers run this program unless another one is named.
func TestWorkerBinary(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	before := *jobopts.WorkerBinary
	t.Cleanup(func() { *jobopts.WorkerBinary = before })
	for named, want := range map[string]string{"": self, "other": "other"} {
		*jobopts.WorkerBinary = named
		got, err := workerBinary()
		if named == "" && runtime.GOOS != "linux" {
			if err == nil {
				t.Error("workers would run a program of another system")
			}
		} else if err != nil || got != want {
			t.Errorf("--worker_binary %q: workers run %q, want %q (%v)", named, got, want, err)
		}
	}
}
