package jobservice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"mirrorbeam.dev/pipeline/engine"
)

const (
	// patience is how long a job server may be out of reach while its job runs.
	patience = 2 * time.Minute
	// pause is the time between two attempts to reach it, or two questions about a job.
	pause = time.Second
	// lastWords is how long the message about a failure may come after the failure.
	lastWords = 5 * time.Second
	// attention is the time between two questions about a job whose stream says nothing.
	attention = 2 * time.Second
)

// Wait waits until a job has ended. It outlasts interruptions of the connection.
func (s *Server) Wait(ctx context.Context, id string, report func(engine.State)) (*metrics.Results, error) {
	client, connection, err := s.connect()
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	w := &watch{server: s, client: client, id: id, report: inTurn(report), told: map[string]bool{}}
	if err := s.outlast(ctx, w); err != nil {
		return nil, err
	}
	if err := s.release(ctx); err != nil {
		return nil, err
	}
	if w.state != jobpb.JobState_DONE {
		if err := s.settle(ctx); err != nil {
			return nil, err
		}
		return nil, &engine.EndedError{State: w.state.String(), Message: w.fault}
	}
	found, err := metricsOf(ctx, client, id)
	if err != nil {
		return nil, s.fault(ctx, "ask for the metrics of job "+id, err)
	}
	return found, nil
}

func inTurn(report func(engine.State)) func(engine.State) {
	var turn sync.Mutex
	return func(s engine.State) {
		turn.Lock()
		defer turn.Unlock()
		report(s)
	}
}

// outlast follows a job to its end, again and again if the connection breaks.
func (s *Server) outlast(ctx context.Context, w *watch) error {
	for heard := time.Now(); ; {
		any, err := w.follow(ctx)
		if any {
			heard = time.Now()
		}
		if !hasEnded(w.state) {
			w.ask(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case hasEnded(w.state):
			return nil
		case status.Code(err) == codes.NotFound:
			return s.fault(ctx, "follow job "+w.id,
				fmt.Errorf(
					"%w: a job server forgets its jobs when it ends, and they may still run: "+
						"look at the pages of the engine", wordsOf(err)))
		case !isGone(err) && !errors.Is(err, io.EOF) || time.Since(heard) > patience:
			return s.fault(ctx, "follow job "+w.id, err)
		}
		if err := engine.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

type watch struct {
	server *Server
	client jobpb.JobServiceClient
	id     string
	report func(engine.State)

	state     jobpb.JobState_Enum
	fault     string          // the last error that the engine told of
	told      map[string]bool // messages reported so far: a new stream may repeat them
	blind     bool            // the user knows that there are no metrics
	held      string          // what hindered the job a moment ago
	complaint string          // what the user was last told of that
}

// follow reports states and messages until the job has ended or the stream breaks. It says whether there were any.
func (w *watch) follow(ctx context.Context) (heard bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	asking.Go(func() { w.awaitEnd(ctx, cancel) })
	asking.Go(func() { w.meter(ctx) })
	stream, err := w.client.GetMessageStream(ctx, &jobpb.JobMessagesRequest{JobId: w.id})
	if err != nil {
		return false, err
	}
	for {
		event, err := stream.Recv()
		if err != nil {
			return heard, err
		}
		heard = true
		if told := event.GetStateResponse(); told != nil && told.GetState() != w.state {
			w.state = told.GetState()
			w.report(engine.State{Name: w.state.String()})
		}
		if told := event.GetMessageResponse(); told != nil {
			w.tell(told)
		}
		switch {
		case w.state == jobpb.JobState_FAILED && w.fault == "":
			// The cause may come after the state, and not every job server ends the stream.
			defer time.AfterFunc(lastWords, cancel).Stop()
		case hasEnded(w.state):
			return heard, nil
		}
	}
}

// awaitEnd ends a stream some time after the end of the job: not every job server tells it of that.
func (w *watch) awaitEnd(ctx context.Context, cancel context.CancelFunc) {
	for engine.Sleep(ctx, attention) == nil {
		answer, err := w.client.GetState(ctx, &jobpb.GetJobStateRequest{JobId: w.id})
		if err != nil || !hasEnded(answer.GetState()) {
			continue
		}
		words := pause
		if answer.GetState() == jobpb.JobState_FAILED {
			words = lastWords
		}
		_ = engine.Sleep(ctx, words)
		cancel()
		return
	}
}

func (w *watch) ask(ctx context.Context) {
	answer, err := w.client.GetState(ctx, &jobpb.GetJobStateRequest{JobId: w.id})
	if err == nil && hasEnded(answer.GetState()) {
		w.state = answer.GetState()
		w.report(engine.State{Name: w.state.String()})
	}
}

// tell reports a message, unless it was reported before or is a detail.
func (w *watch) tell(message *jobpb.JobMessage) {
	key := message.GetMessageId() + "\n" + message.GetTime() + "\n" + message.GetMessageText()
	if w.told[key] {
		return
	}
	w.told[key] = true
	importance := message.GetImportance()
	if importance >= jobpb.JobMessage_JOB_MESSAGE_ERROR {
		w.fault = message.GetMessageText()
	}
	if importance >= jobpb.JobMessage_JOB_MESSAGE_BASIC {
		w.report(engine.State{Message: message.GetMessageText()})
	}
}

// Cancel cancels a job and waits for its end.
func (s *Server) Cancel(ctx context.Context, id string) error {
	client, connection, err := s.connect()
	if err != nil {
		return err
	}
	defer connection.Close()
	// A job that has ended already cannot be cancelled. So its state decides.
	_, refused := client.Cancel(ctx, &jobpb.CancelJobRequest{JobId: id})
	for {
		state, err := client.GetState(ctx, &jobpb.GetJobStateRequest{JobId: id})
		switch {
		case err == nil && hasEnded(state.GetState()):
			if s.Options.Flink {
				err = s.cancelOnFlink(ctx, id)
			}
			return errors.Join(err, s.release(ctx), s.settle(ctx))
		case err != nil || refused != nil:
			return s.fault(ctx, "cancel job "+id, errors.Join(refused, err))
		}
		if err := engine.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// settle waits until workers have ended that Flink keeps after its job. They may be at work yet, for nobody.
func (s *Server) settle(ctx context.Context) error {
	if !s.Options.Flink {
		return nil
	}
	return engine.Sleep(ctx, idleWorker)
}
