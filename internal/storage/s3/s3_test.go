package s3_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/bucket"
	"mirrorbeam.dev/internal/storage/s3"
	"mirrorbeam.dev/internal/storage/storagetest"
)

// hasty are limits for tests: a server on this machine answers soon.
func hasty() bucket.Limits {
	limits := bucket.Usual()
	limits.Put, limits.Pause, limits.LongestPause = 256<<10, time.Millisecond, 10*time.Millisecond
	limits.Stall = 200 * time.Millisecond
	return limits
}

// environment lets the tests see nothing of the user's, and an address.
func environment(t *testing.T, url string) {
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_S3":         url,
		"AWS_REGION":                  "us-east-1",
		"AWS_ACCESS_KEY_ID":           "user",
		"AWS_SECRET_ACCESS_KEY":       "secret",
		"AWS_CONFIG_FILE":             "/dev/null",
		"AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
		"AWS_EC2_METADATA_DISABLED":   "true",
		"AWS_PROFILE":                 "",
		"AWS_SESSION_TOKEN":           "",
		"AWS_REQUEST_PAYER":           "",
		"MIRRORBEAM_S3_KMS_KEY":       "",
		"MIRRORBEAM_S3_ACL":           "",
	} {
		t.Setenv(name, value)
	}
}

// places returns what makes a place in a bucket of its own.
func places(create func(name string) error, limits bucket.Limits) func(t *testing.T) storagetest.Place {
	store := s3.New(limits)
	return func(t *testing.T) storagetest.Place {
		name := "bucket-" + strings.ToLower(rand.Text())
		if err := create(name); err != nil {
			t.Fatal(err)
		}
		return storagetest.Place{Storage: store, Folder: "s3://" + name + "/a folder"}
	}
}

// fake starts a server in this process. It accepts any signature, reads whatever has the name, and removes and copies
// without conditions.
func fake(t *testing.T) (proxy *storagetest.Proxy, server *s3mem.Backend) {
	server = s3mem.New()
	proxy = storagetest.NewProxy(t, gofakes3.New(server).Server())
	environment(t, proxy.URL)
	return proxy, server
}

func TestConform(t *testing.T) {
	_, server := fake(t)
	storagetest.Conform(t, places(server.CreateBucket, hasty()))
}

// TestConformThroughFaults: every fifth request is hurt, and nobody sees it.
func TestConformThroughFaults(t *testing.T) {
	proxy, server := fake(t)
	for seed := range uint64(3) {
		if testing.Short() && seed > 0 {
			break
		}
		proxy.Hurt(5, seed)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			storagetest.Conform(t, places(server.CreateBucket, hasty()))
		})
	}
	t.Logf("hurt: %v", proxy.Hurts())
}

func TestConformBucket(t *testing.T) {
	proxy, server := fake(t)
	t.Cleanup(storage.Register("s3", s3.New(hasty())))
	storagetest.ConformBucket(t, proxy, storagetest.LatePrecondition, places(server.CreateBucket, hasty()))
}

// TestLies: a service that breaks its word about a file is not believed.
func TestLies(t *testing.T) {
	proxy, server := fake(t)
	storagetest.Lies(t, proxy, places(server.CreateBucket, hasty())(t))
}
