package s3_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/s3"
)

// stub starts a server that answers as the test says, and keeps the requests.
func stub(t *testing.T, answer http.HandlerFunc) (requests func() []*http.Request) {
	var mutex sync.Mutex
	var kept []*http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		kept = append(kept, r)
		mutex.Unlock()
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	environment(t, server.URL)
	return func() []*http.Request {
		mutex.Lock()
		defer mutex.Unlock()
		return kept
	}
}

// TestRegion: a bucket that is in another region is asked for there, from the second request on.
func TestRegion(t *testing.T) {
	requests := stub(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Authorization"), "/eu-west-1/s3/") {
			w.Header().Set("X-Amz-Bucket-Region", "eu-west-1")
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		w.Header().Set("Etag", `"e"`)
		w.Header().Set("Content-Length", "7")
	})
	store := s3.New(hasty())
	for range 2 {
		if info, err := store.Stat("s3://bucket/a"); err != nil || info.Size != 7 || info.Generation != `"e"` {
			t.Errorf("%+v, %v", info, err)
		}
	}
	if got := len(requests()); got != 3 {
		t.Errorf("%d requests", got)
	}
}

// TestAnonymous: without credentials requests are not signed, and a refusal says what to do.
func TestAnonymous(t *testing.T) {
	requests := stub(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "0")
		if r.Method == http.MethodPut {
			w.WriteHeader(http.StatusForbidden)
		}
	})
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	store := s3.New(hasty())
	if _, err := store.Stat("s3://bucket/a"); err != nil {
		t.Error(err)
	}
	w, err := store.Create("s3://bucket/a", storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = w.Commit()
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "AWS_PROFILE") {
		t.Errorf("%v", err)
	}
	for _, r := range requests() {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("%s is signed", r.Method)
		}
	}
}

// TestExpired: a token that has expired may pass, also where the answer has no words.
func TestExpired(t *testing.T) {
	for code, want := range map[string]bool{"ExpiredToken": true, "AccessDenied": false} {
		stub(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			if r.Method != http.MethodHead {
				fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
			}
		})
		_, err := s3.New(hasty()).Stat("s3://bucket/a")
		if err == nil || errors.Is(err, storage.ErrUnavailable) != want || !strings.Contains(err.Error(), code) {
			t.Errorf("%s: %v", code, err)
		}
	}
}

// TestUnusableCredentials: credentials that are named and cannot be used are an error.
func TestUnusableCredentials(t *testing.T) {
	requests := stub(t, func(http.ResponseWriter, *http.Request) {})
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	t.Setenv("AWS_PROFILE", "there-is-no-such-profile")
	_, err := s3.New(hasty()).Stat("s3://bucket/a")
	if err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "there-is-no-such-profile") {
		t.Errorf("%v", err)
	}
	if len(requests()) > 0 {
		t.Error("it asked without credentials")
	}
}

// TestPayer: all requests agree to pay if the environment does.
func TestPayer(t *testing.T) {
	requests := stub(t, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Content-Length", "0") })
	t.Setenv("AWS_REQUEST_PAYER", "requester")
	store := s3.New(hasty())
	if _, err := store.Stat("s3://bucket/a"); err != nil {
		t.Error(err)
	}
	if err := store.Remove("s3://bucket/a"); err != nil {
		t.Error(err)
	}
	for _, r := range requests() {
		if r.Header.Get("X-Amz-Request-Payer") != "requester" {
			t.Errorf("%s does not", r.Method)
		}
	}
}

// TestDemanded: each request that makes an object names the key and the access list that the environment demands.
func TestDemanded(t *testing.T) {
	server := s3mem.New()
	if err := server.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	requests := stub(t, gofakes3.New(server).Server().ServeHTTP)
	t.Setenv("MIRRORBEAM_S3_KMS_KEY", "a key")
	t.Setenv("MIRRORBEAM_S3_ACL", "bucket-owner-full-control")
	store := s3.New(hasty())
	for name, size := range map[string]int{"s3://bucket/small": 1, "s3://bucket/large": 1 << 20} {
		w, err := store.Create(name, storage.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Copy("s3://bucket/small", "s3://bucket/copied"); err != nil {
		t.Fatal(err)
	}
	made := 0
	for _, r := range requests() {
		if !r.URL.Query().Has("uploads") && (r.Method != http.MethodPut || r.URL.Query().Has("partNumber")) {
			continue
		}
		made++
		for header, want := range map[string]string{
			"Encryption": "aws:kms", "Encryption-Aws-Kms-Key-Id": "a key",
		} {
			if got := r.Header.Get("X-Amz-Server-Side-" + header); got != want {
				t.Errorf("%s %s: %s is %q", r.Method, r.URL, header, got)
			}
		}
		if got := r.Header.Get("X-Amz-Acl"); got != "bucket-owner-full-control" {
			t.Errorf("%s %s: the access list is %q", r.Method, r.URL, got)
		}
	}
	if made != 3 {
		t.Errorf("%d requests make an object, want 3", made)
	}
}

// TestSums: files are sent with their sums, unless the environment asks for none.
func TestSums(t *testing.T) {
	for _, wanted := range []string{"when_supported", "when_required"} {
		requests := stub(t, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Etag", `"e"`) })
		t.Setenv("AWS_REQUEST_CHECKSUM_CALCULATION", wanted)
		w, err := s3.New(hasty()).Create("s3://bucket/a", storage.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("123456789")); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Error(err)
		}
		want := map[string]string{"when_supported": "4waSgw=="}[wanted] // the check value of CRC-32C
		if got := requests()[0].Header.Get("X-Amz-Checksum-Crc32c"); got != want {
			t.Errorf("%s: %q", wanted, got)
		}
	}
}

// TestCodedNames: a list may have names in the coding of addresses.
func TestCodedNames(t *testing.T) {
	stub(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`<ListBucketResult><EncodingType>url</EncodingType>
			<Contents><Key>a%01b+c%2Bd%2Fe</Key><Size>3</Size><ETag>e</ETag></Contents></ListBucketResult>`))
	})
	for info, err := range s3.New(hasty()).List("s3://bucket") {
		if err != nil || info.Name != "s3://bucket/a\x01b c+d/e" || info.Generation != `"e"` {
			t.Errorf("%+v, %v", info, err)
		}
	}
}

// TestNoRanges: a server that answers with the whole file is not believed.
func TestNoRanges(t *testing.T) {
	stub(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Etag", `"e"`)
		_, _ = w.Write([]byte("content"))
	})
	file, err := s3.New(hasty()).Reopen(storage.Info{Name: "s3://bucket/a", Size: 7})
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 3)
	if _, err := file.ReadAt(b, 2); err == nil {
		t.Errorf("read %q", b)
	}
}

// TestEncoded: what has a Content-Encoding is read as it is stored.
func TestEncoded(t *testing.T) {
	stored := []byte("\x1f\x8b these are no words")
	stub(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"e"`)
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Length", strconv.Itoa(len(stored)))
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(stored)-1, len(stored)))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(stored)
		}
	})
	store := s3.New(hasty())
	t.Cleanup(storage.Register("s3", store))
	if got, err := storage.ReadFile("s3://bucket/a.gz"); err != nil || string(got) != string(stored) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestEndlessListing: a listing that never ends is cut off, and takes no memory to speak of.
func TestEndlessListing(t *testing.T) {
	var sent atomic.Int64
	stub(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<?xml version="1.0"?><ListBucketResult>`)
		item := strings.Repeat("<Contents><Key>name.jsonl</Key><Size>1</Size></Contents>", 1000)
		for {
			n, err := io.WriteString(w, item)
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	})
	listed := 0
	var fault error
	for _, err := range s3.New(hasty()).List("s3://bucket/") {
		if listed++; err != nil {
			fault = err
		}
	}
	if fault == nil || !strings.Contains(fault.Error(), "check the endpoint") || listed > 1 {
		t.Errorf("%d objects, error %v", listed, fault)
	}
	if most := int64(1 << 30); sent.Load() > most {
		t.Errorf("%d bytes were sent", sent.Load())
	}
}
