package gcs

import (
	"io"
	"net/http"
	"strings"
	"testing"
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
	content := strings.NewReader(strings.Repeat("0123456789", 10))
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
	if content.Len() != 90 {
		t.Errorf("%d bytes are unread, not 90", content.Len())
	}
}
