package gcs_test

import (
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/gcs"
)

// TestEncoded: what has a Content-Encoding is read as it is stored.
func TestEncoded(t *testing.T) {
	_, server := serve(t)
	stored := "\x1f\x8b these are no words"
	server.CreateObject(fakestorage.Object{
		ObjectAttrs: fakestorage.ObjectAttrs{BucketName: "bucket", Name: "a.gz", ContentEncoding: "gzip"},
		Content:     []byte(stored),
	})
	t.Cleanup(storage.Register("gs", gcs.New(hasty())))
	if got, err := storage.ReadFile("gs://bucket/a.gz"); err != nil || string(got) != stored {
		t.Errorf("%q, %v", got, err)
	}
}

// TestUnusableCredentials: credentials that are named and cannot be used are an error that says what to do.
func TestUnusableCredentials(t *testing.T) {
	t.Setenv("STORAGE_EMULATOR_HOST", "")
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "key.json"))
	_, err := gcs.New(hasty()).Stat("gs://bucket/a")
	if err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "key.json") ||
		!strings.Contains(err.Error(), "gcloud auth application-default login") {
		t.Errorf("%v", err)
	}
}

// TestPayer: all requests name the project that pays, if the environment does.
func TestPayer(t *testing.T) {
	proxy, server := serve(t)
	server.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: "bucket"})
	requests := 0
	proxy.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		if r.URL.Query().Get("userProject") != "payer" && r.Header.Get("X-Goog-User-Project") != "payer" {
			t.Errorf("%s %s names nobody", r.Method, r.URL)
		}
		server.HTTPHandler().ServeHTTP(w, r)
	}))
	t.Setenv("GOOGLE_CLOUD_QUOTA_PROJECT", "payer")
	t.Cleanup(storage.Register("gs", gcs.New(hasty())))
	err := storage.WriteFile("gs://bucket/a", []byte("x"))
	if _, readErr := storage.ReadFile("gs://bucket/a"); err != nil || readErr != nil || requests != 3 {
		t.Errorf("%v, %v after %d requests", err, readErr, requests)
	}
}

// TestRewrite: a copy that takes several requests goes on where it was.
func TestRewrite(t *testing.T) {
	proxy, server := serve(t)
	server.CreateObject(fakestorage.Object{
		ObjectAttrs: fakestorage.ObjectAttrs{BucketName: "bucket", Name: "a"},
		Content:     []byte("text"),
	})
	var tokens []string
	proxy.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, "/rewriteTo/") {
			server.HTTPHandler().ServeHTTP(w, r)
			return
		}
		token := r.URL.Query().Get("rewriteToken")
		tokens = append(tokens, token)
		switch len(tokens) {
		case 1:
			_, _ = w.Write(
				[]byte(
					`{"kind":"storage#rewriteResponse","totalBytesRewritten":"2","objectSize":"4","done":false,"rewriteToken":"half"}`))
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			server.HTTPHandler().ServeHTTP(w, r)
		}
	}))
	t.Cleanup(storage.Register("gs", gcs.New(hasty())))
	err := gcs.New(hasty()).Copy("gs://bucket/a", "gs://bucket/b")
	if got := strings.Join(tokens, " "); err != nil || got != " half half" {
		t.Errorf("the tokens are %q, %v", got, err)
	}
	if got, err := storage.ReadFile("gs://bucket/b"); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestLargeThroughFaults: an upload in chunks goes on where it was.
func TestLargeThroughFaults(t *testing.T) {
	proxy, server := serve(t)
	proxy.Hurt(4, 1)
	t.Cleanup(storage.Register("gs", gcs.New(hasty())))
	folder := places(server, hasty())(t).Folder
	content := strings.Repeat("0123456789", 2_000_000)
	for range 5 {
		name := storage.Join(folder, "large")
		if err := storage.WriteFile(name, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := storage.ReadFile(name); err != nil || string(got) != content {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
	t.Logf("hurt: %v of %v", proxy.Hurts(), proxy.Requests())
}
