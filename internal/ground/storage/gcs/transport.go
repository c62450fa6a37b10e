package gcs

import (
	"io"
	"net/http"
	"sync"

	"mirrorbeam/internal/ground/storage/bucket"
)

// newTransport returns the transport of a process: many connections to one host, each body sealed by its answer.
func newTransport() http.RoundTripper {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxIdleConnsPerHost = 100
	return sealing{bounding{base}}
}

// bounding bounds all answers but the content of objects.
type bounding struct{ base http.RoundTripper }

func (b bounding) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := b.base.RoundTrip(request)
	if err != nil || answer.StatusCode < http.StatusMultipleChoices && request.URL.Query().Get("alt") != "json" {
		return answer, err
	}
	return bucket.Bound(answer), nil
}

// sealing lets nobody read the body of a request once its answer is there. After an early answer, such as a 503,
// net/http may go on reading for a moment, while the client library already fills the buffer with the next chunk.
type sealing struct{ base http.RoundTripper }

func (s sealing) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body == nil || request.Body == http.NoBody {
		return s.base.RoundTrip(request)
	}
	seal := &seal{}
	sealed := request.Clone(request.Context())
	sealed.Body = body{request.Body, seal}
	if request.GetBody != nil {
		sealed.GetBody = func() (io.ReadCloser, error) {
			again, err := request.GetBody()
			return body{again, seal}, err
		}
	}
	defer seal.close()
	return s.base.RoundTrip(sealed)
}

// seal is closed by the answer to a request.
type seal struct {
	mutex  sync.Mutex
	closed bool
}

func (s *seal) close() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.closed = true
}

// body is the body of a request, which ends where the seal is closed.
type body struct {
	io.ReadCloser
	seal *seal
}

func (b body) Read(p []byte) (int, error) {
	b.seal.mutex.Lock()
	defer b.seal.mutex.Unlock()
	if b.seal.closed {
		return 0, io.EOF
	}
	return b.ReadCloser.Read(p)
}
