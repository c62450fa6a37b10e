package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/bucket"
	"mirrorbeam.dev/internal/storage/gcs"
	"mirrorbeam.dev/internal/storage/storagetest"
)

// deadlyBucket is a server with a bucket of Cloud Storage. A process does not outlive a certain request to it.
type deadlyBucket struct {
	// requests counts the requests so far.
	requests atomic.Int64

	atWork, deadly atomic.Int64 // requests that are being served; the number of the deadly one
	kill           chan struct{}
}

// newDeadlyBucket starts a server with a bucket of that name for the rest of the test.
func newDeadlyBucket(t *testing.T, name string) *deadlyBucket {
	t.Helper()
	b := &deadlyBucket{kill: make(chan struct{}, 1)}
	serveBucket(t, name, func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		b.atWork.Add(1)
		defer b.atWork.Add(-1)
		if b.requests.Add(1) == b.deadly.Load() {
			b.kill <- struct{}{}
			panic(http.ErrAbortHandler) // the process dies before it asks again
		}
		server.ServeHTTP(w, r)
	})
	return b
}

// serveBucket starts a server with a bucket of that name for the rest of the test. Answer answers each request, perhaps
// by the server.
func serveBucket(t *testing.T, name string, answer func(w http.ResponseWriter, r *http.Request, server http.Handler)) {
	t.Helper()
	proxy := storagetest.NewProxy(t, nil)
	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{
		NoListener:  true,
		PublicHost:  proxy.Host,
		ExternalURL: proxy.URL,
		Writer:      io.Discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	server.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: name})
	conditional := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Cloud Storage knows this condition of a removal, and this server does not.
		if want := r.URL.Query().Get("ifGenerationMatch"); r.Method == http.MethodDelete && want != "" {
			recorder := httptest.NewRecorder()
			server.HTTPHandler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, r.URL.Path, nil))
			var found struct{ Generation string }
			if json.Unmarshal(recorder.Body.Bytes(), &found) == nil && found.Generation != "" &&
				found.Generation != want {
				w.WriteHeader(http.StatusPreconditionFailed)
				return
			}
		}
		server.HTTPHandler().ServeHTTP(w, r)
	})
	proxy.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r, conditional) }))
	t.Setenv("STORAGE_EMULATOR_HOST", proxy.Host)
	t.Cleanup(storage.Register("gs", gcs.New(bucket.Usual())))
}

// killAt starts a job, kills it at the request of that number, and waits until the server is at rest.
func (b *deadlyBucket) killAt(t *testing.T, job *started, number int64) {
	t.Helper()
	<-b.signalAt(t, job, number, syscall.SIGKILL)
}

// signalAt starts a job, sends it a signal at the request of that number, which is not answered, and waits until the
// server is at rest. The channel has the end of the job.
func (b *deadlyBucket) signalAt(t *testing.T, job *started, number int64, signal syscall.Signal) (ended chan error) {
	t.Helper()
	b.requests.Store(0)
	b.deadly.Store(number)
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	ended = make(chan error, 1)
	go func() { ended <- job.Wait() }()
	select {
	case <-b.kill:
		if err := job.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
	case err := <-ended:
		t.Fatalf("the job ended before request %d: %v: %s", number, err, &job.stderr)
	}
	b.deadly.Store(0)
	// The server still does what it was asked, except that a stopped process may owe it the rest of a request.
	for before := int64(-1); before != b.requests.Load() || b.atWork.Load() > 0 && signal == syscall.SIGKILL; {
		before = b.requests.Load()
		time.Sleep(20 * time.Millisecond)
	}
	return ended
}

// mute is a way to give no answer of use.
type mute int

const (
	refusing mute = iota // each request gets a 503
	silent               // none gets anything
)

// muteBucket is a server with a bucket of Cloud Storage that answers no more from a certain request on.
type muteBucket struct {
	// requests counts the requests so far.
	requests atomic.Int64

	last  atomic.Int64 // number of the last request that is answered; 0: all are
	way   mute
	heard chan struct{}
	back  chan struct{} // is closed when it answers again
}

// newMuteBucket starts a server with a bucket of that name for the rest of the test.
func newMuteBucket(t *testing.T, name string) *muteBucket {
	t.Helper()
	b := &muteBucket{}
	serveBucket(t, name, func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		last := b.last.Load()
		if number := b.requests.Add(1); last == 0 || number < last {
			server.ServeHTTP(w, r)
			return
		}
		select {
		case b.heard <- struct{}{}:
		default:
		}
		if b.way == refusing {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		<-b.back
		panic(http.ErrAbortHandler)
	})
	return b
}

// interruptAt starts a job and sends it a signal when the request of that number gets no answer. It returns how long
// the job takes to end, its exit code and its messages.
func (b *muteBucket) interruptAt(t *testing.T, job *started, number int64, way mute,
	signal os.Signal,
) (took time.Duration, code int, message string) {
	t.Helper()
	b.way, b.heard, b.back = way, make(chan struct{}, 1), make(chan struct{})
	b.requests.Store(0)
	b.last.Store(number)
	defer b.last.Store(0)
	defer close(b.back)
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	<-b.heard
	time.Sleep(200 * time.Millisecond) // others wait as well then
	begun := time.Now()
	if err := job.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	_ = job.Wait()
	return time.Since(begun), job.ProcessState.ExitCode(), job.stderr.String()
}
