package gcs_test

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/bucket"
	"mirrorbeam.dev/internal/storage/gcs"
	"mirrorbeam.dev/internal/storage/storagetest"
)

// hasty are limits for tests: a server on this machine answers soon.
func hasty() bucket.Limits {
	limits := bucket.Usual()
	limits.Put, limits.Pause, limits.LongestPause = 256<<10, time.Millisecond, 10*time.Millisecond
	limits.Stall = 200 * time.Millisecond
	return limits
}

// serve starts a server behind a proxy, and returns a maker of buckets in it.
func serve(t *testing.T) (*storagetest.Proxy, *fakestorage.Server) {
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
	proxy.Serve(shortPages(server.HTTPHandler()))
	t.Setenv("STORAGE_EMULATOR_HOST", proxy.Host)
	return proxy, server
}

// shortPages gives pages of 100 files, as a service may. The time of this server for a file grows with their number.
func shortPages(server http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if query := r.URL.Query(); query.Has("maxResults") {
			query.Set("maxResults", "100")
			r.URL.RawQuery = query.Encode()
		}
		server.ServeHTTP(w, r)
	})
}

// places returns what makes a place in a bucket of its own.
func places(server *fakestorage.Server, limits bucket.Limits) func(t *testing.T) storagetest.Place {
	store := gcs.New(limits)
	return func(*testing.T) storagetest.Place {
		name := "bucket-" + strings.ToLower(rand.Text())
		server.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: name})
		return storagetest.Place{Storage: store, Folder: "gs://" + name + "/a folder"}
	}
}

func TestConform(t *testing.T) {
	_, server := serve(t)
	storagetest.Conform(t, places(server, hasty()))
}

// TestConformThroughFaults: every fifth request is hurt, and nobody sees it.
func TestConformThroughFaults(t *testing.T) {
	proxy, server := serve(t)
	for seed := range uint64(3) {
		if testing.Short() && seed > 0 {
			break
		}
		proxy.Hurt(5, seed)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			storagetest.Conform(t, places(server, hasty()))
		})
	}
	t.Logf("hurt: %v", proxy.Hurts())
}

func TestConformBucket(t *testing.T) {
	proxy, server := serve(t)
	t.Cleanup(storage.Register("gs", gcs.New(hasty())))
	storagetest.ConformBucket(t, proxy, storagetest.LongPages, places(server, hasty()))
}

// TestLies: a service that breaks its word about a file is not believed.
func TestLies(t *testing.T) {
	proxy, server := serve(t)
	storagetest.Lies(t, proxy, places(server, hasty())(t))
}
