package s3

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"mirrorbeam/internal/ground/storage/bucket"
)

// rangeOf is a stretch in the words of HTTP.
func rangeOf(offset, length int64) string { return fmt.Sprintf("bytes=%d-%d", offset, offset+length-1) }

// place returns where the answer to a request for a range begins, and the size of the whole object, -1 if it does not tell.
// Without a range it is the whole object.
func place(contentRange *string, length int64) (offset, size int64, err error) {
	text := aws.ToString(contentRange)
	if text == "" {
		return 0, length, nil
	}
	var last int64
	if _, err := fmt.Sscanf(text, "bytes %d-%d/%d", &offset, &last, &size); err == nil {
		return offset, size, nil
	}
	if _, err := fmt.Sscanf(text, "bytes %d-%d/*", &offset, &last); err != nil {
		return 0, 0, fmt.Errorf("the answer is of the range %q: %w", text, err)
	}
	return offset, -1, nil
}

// decode returns the name of an object in a list.
func decode(name string, encoding types.EncodingType) (string, error) {
	if encoding != types.EncodingTypeUrl {
		return name, nil
	}
	decoded, err := url.QueryUnescape(name)
	if err != nil {
		return "", fmt.Errorf("the list has a name that cannot be read: %w", err)
	}
	return decoded, nil
}

// moved is the answer for a bucket that is in another region. The next try goes there.
type moved struct {
	region string
	error
}

func (m moved) Unwrap() error { return m.error }

// elsewhere notes the region of a bucket, if an error names another one than the last time.
func (s *service) elsewhere(name string, err error) error {
	answer, is := errors.AsType[*smithyhttp.ResponseError](err)
	if !is || answer.Response == nil {
		return err
	}
	region := answer.Response.Header.Get("X-Amz-Bucket-Region")
	switch answer.HTTPStatusCode() {
	case http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusBadRequest:
		if known, _ := s.regions.Swap(name, region); region != "" && known != region {
			return moved{region, err}
		}
	}
	return err
}

// passing are the codes of faults that may pass, besides those that the client library knows.
var passing = []string{"InternalError", "ServiceUnavailable", "ConditionalRequestConflict", "OperationAborted"}

// Judge knows the errors of the service and of connections.
func (s *service) Judge(err error) (verdict bucket.Verdict) {
	if answer, is := errors.AsType[*smithyhttp.ResponseError](err); is {
		verdict.Status = answer.HTTPStatusCode()
	}
	code := ""
	if told, is := errors.AsType[smithy.APIError](err); is {
		code, verdict.Text = told.ErrorCode(), told.ErrorCode()
		if message := told.ErrorMessage(); message != "" && message != code {
			verdict.Text += ": " + message
		}
	}
	if sent, is := errors.AsType[*url.Error](err); is {
		verdict.Text = sent.Error() // without the words around it, which tell of an answer
	}
	switch status := verdict.Status; {
	case errors.As(err, new(moved)), errors.Is(err, io.ErrUnexpectedEOF), slices.Contains(passing, code):
		verdict.Again = true
	case status == http.StatusNotImplemented:
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		verdict.Again = true
	case status < 300: // there is no answer, or it ends too early
		verdict.Again = retry.RetryableConnectionError{}.IsErrorRetryable(err) == aws.TrueTernary ||
			errors.Is(err, io.EOF)
	}
	for retryable := range retry.DefaultRetryableErrorCodes {
		verdict.Again = verdict.Again || retryable == code
	}
	for throttle := range retry.DefaultThrottleErrorCodes {
		verdict.Again = verdict.Again || throttle == code
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.anonymous && (verdict.Status == http.StatusForbidden || verdict.Status == http.StatusUnauthorized) {
		verdict.Advice = "no credentials were found, so the request was anonymous: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
	}
	return verdict
}
