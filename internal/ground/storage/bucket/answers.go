package bucket

import (
	"fmt"
	"io"
	"net/http"
)

// mostAnswer is the longest answer of a service that is not the content of an object, in bytes. A page of a listing names 1,000
// objects, and a name has up to 1,024 bytes, which may take three bytes each.
const mostAnswer = 16 << 20

// Bound cuts an answer that is longer than any service gives, so that it is not held: reading it ends with an error.
func Bound(answer *http.Response) *http.Response {
	answer.Body = &boundedBody{ReadCloser: answer.Body, left: mostAnswer}
	return answer
}

// boundedBody is the body of an answer.
type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, fmt.Errorf("the service's answer has more than %d MiB: it is no answer of an object storage; check the endpoint", mostAnswer>>20)
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
