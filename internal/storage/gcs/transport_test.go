package gcs

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"mirrorbeam.dev/internal/storage/bucket"
)

// early answers before it has read the body of a request, as a busy service does.
type early struct {
	body io.Reader
	read int
}

func (e *early) RoundTrip(request *http.Request) (*http.Response, error) {
	e.body = request.Body
	n, err := io.ReadFull(e.body, make([]byte, e.read))
	if err != nil || n != e.read {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: http.NoBody}, nil
}

// TestSealing: the transport reads the body before the answer, and nothing of it afterwards.
func TestSealing(t *testing.T) {
	base := &early{read: 10}
	content := strings.NewReader(strings.Repeat("0123456789", 1000))
	request, err := http.NewRequest(http.MethodPut, "http://storage.invalid/", content)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := sealing{base}.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("status %d", answer.StatusCode)
	}
	if n, err := base.body.Read(make([]byte, 10)); n != 0 || err != io.EOF {
		t.Errorf("%d bytes after the answer, %v", n, err)
	}
	if content.Len() != 9990 {
		t.Errorf("%d bytes are unread, not 9990", content.Len())
	}
}

// written keeps what is written to a connection, and sends none of it.
type written struct {
	net.Conn
	pieces chan<- string
}

func (w written) Write(p []byte) (int, error) {
	w.pieces <- string(p)
	return len(p), nil
}

// TestCopyInOnePiece: a copy goes out whole by one write. So a process that is stopped has asked for it, or has not.
func TestCopyInOnePiece(t *testing.T) {
	pieces := make(chan string, 16)
	usual := http.DefaultTransport.(*http.Transport)
	transport := usual.Clone()
	transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		t.Cleanup(func() { far.Close() })
		return written{near, pieces}, nil
	}
	http.DefaultTransport = transport
	defer func() { http.DefaultTransport = usual }()
	t.Setenv("STORAGE_EMULATOR_HOST", "storage.invalid")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // nothing answers
	defer cancel()
	from, to := bucket.Key{Bucket: "corpora", Name: "a"}, bucket.Put{Key: bucket.Key{Bucket: "corpora", Name: "b"}}
	if _, err := (&service{}).Copy(from, bucket.Object{}, to).Step(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if len(pieces) != 1 {
		t.Fatalf("%d pieces, first %q", len(pieces), <-pieces)
	}
	request, err := http.ReadRequest(bufio.NewReader(strings.NewReader(<-pieces)))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(request.Body)
	if err != nil || request.ContentLength <= 0 || len(body) != int(request.ContentLength) {
		t.Errorf("%s %s has %d of %d bytes of its body: %v", request.Method, request.URL, len(body),
			request.ContentLength, err)
	}
}
