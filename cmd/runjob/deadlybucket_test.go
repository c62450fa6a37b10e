package main

import (
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/ground/storage/bucket"
	"mirrorbeam/internal/ground/storage/gcs"
	"mirrorbeam/internal/ground/storage/storagetest"
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
	proxy := storagetest.NewProxy(t, nil)
	server, err := fakestorage.NewServerWithOptions(fakestorage.Options{NoListener: true, PublicHost: proxy.Host, ExternalURL: proxy.URL, Writer: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	server.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: name})
	proxy.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.atWork.Add(1)
		defer b.atWork.Add(-1)
		if b.requests.Add(1) == b.deadly.Load() {
			b.kill <- struct{}{}
			panic(http.ErrAbortHandler) // the process dies before it asks again
		}
		server.HTTPHandler().ServeHTTP(w, r)
	}))
	t.Setenv("STORAGE_EMULATOR_HOST", proxy.Host)
	t.Cleanup(storage.Register("gs", gcs.New(bucket.Usual())))
	return b
}

// killAt starts a job, kills it at the request of that number, and waits until the server is at rest.
func (b *deadlyBucket) killAt(t *testing.T, job *started, number int64) {
	t.Helper()
	b.requests.Store(0)
	b.deadly.Store(number)
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- job.Wait() }()
	select {
	case <-b.kill:
		if err := job.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-ended
	case err := <-ended:
		t.Fatalf("the job ended before request %d: %v: %s", number, err, &job.stderr)
	}
	b.deadly.Store(0)
	// The server still does what it was asked.
	for before := int64(-1); before != b.requests.Load() || b.atWork.Load() > 0; {
		before = b.requests.Load()
		time.Sleep(20 * time.Millisecond)
	}
}
