// Package s3 stores files in Amazon S3 and compatible services. A name is as in s3://bucket/folder/file.
//
// Everything is chosen by the environment, so that the workers of a cluster need no flags:
//
//   - Credentials and the region are as in all AWS programs: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY,
//     AWS_PROFILE, AWS_REGION, or the machine's own. Where there are no credentials, requests are anonymous, which
//     public buckets allow. A bucket in another region is found.
//   - AWS_REQUEST_PAYER=requester agrees to pay for requests to buckets whose requester pays.
//   - AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL is the address of another service. The name of the bucket is then a part
//     of the path.
//   - AWS_REQUEST_CHECKSUM_CALCULATION=when_required leaves out check sums, which older services do not know.
package s3

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/bucket"
)

// Register makes it the storage of s3://. Nothing is connected before the first use.
func Register() { storage.Register("s3", New(bucket.Usual())) }

// New returns the storage of s3://.
func New(limits bucket.Limits) *bucket.Store {
	return bucket.New("s3", &service{sizes: usualSizes}, limits)
}

type service struct {
	sizes sizes
	meter bucket.Meter

	mutex     sync.Mutex
	client    *s3.Client // nil until the first use
	anonymous bool
	summed    bool // check sums are sent

	regions sync.Map // of buckets that are in another region than the client's
}

// tokenKey is the name of a writer's token among the metadata of an object.
const tokenKey = "mirrorbeam-writer"

func (s *service) connect(ctx context.Context) (*s3.Client, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.client != nil {
		return s.client, nil
	}
	const connections = 100 // of one host that are kept
	transport := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConnsPerHost = connections
	})
	settings, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(transport),
		config.WithDefaultRegion("us-east-1"),
		config.WithLogger(logging.Nop{})) // it would tell of connections that are cut, which is our matter
	if err != nil {
		return nil, err
	}
	if aws.IsCredentialsProvider(settings.Credentials, (*ec2rolecreds.Provider)(nil)) {
		// Nothing names credentials: the machine's own serve, or none.
		if _, err := settings.Credentials.Retrieve(ctx); err != nil {
			s.anonymous, settings.Credentials = true, aws.AnonymousCredentials{}
		}
	}
	s.summed = settings.RequestChecksumCalculation != aws.RequestChecksumCalculationWhenRequired
	s.client = s3.NewFromConfig(settings, func(o *s3.Options) {
		o.HTTPClient = metered{o.HTTPClient, &s.meter}
		o.UsePathStyle = o.BaseEndpoint != nil
		o.Retryer = aws.NopRetryer{} // bucket.Store tries again
		// Sums are made and compared here: sums of parts say nothing of a stretch.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	})
	return s.client, nil
}

type metered struct {
	s3.HTTPClient
	meter *bucket.Meter
}

func (m metered) Do(request *http.Request) (*http.Response, error) {
	return m.meter.Send(kindOf(request), request, m.HTTPClient.Do)
}

func kindOf(request *http.Request) storage.Kind {
	switch {
	case request.Method == http.MethodDelete:
		return storage.Removing
	case request.Method == http.MethodHead:
		return storage.Describing
	case request.Method == http.MethodGet && request.URL.Query().Has("list-type"):
		return storage.Listing
	case request.Method == http.MethodGet:
		return storage.Reading
	case request.Header.Get("X-Amz-Copy-Source") != "":
		return storage.Copying
	}
	return storage.Writing
}

func (s *service) Meter() *bucket.Meter { return &s.meter }

// payer is empty unless this side pays.
func payer() types.RequestPayer {
	if strings.EqualFold(os.Getenv("AWS_REQUEST_PAYER"), "requester") {
		return types.RequestPayerRequester
	}
	return ""
}

// call makes a request about a bucket, which goes to the region of the bucket if that is known to be another one.
func call[In, Out any](ctx context.Context, s *service, bucket string,
	request func(*s3.Client, context.Context, *In, ...func(*s3.Options)) (*Out, error), input *In,
) (*Out, error) {
	client, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	out, err := request(client, ctx, input, func(o *s3.Options) {
		if region, known := s.regions.Load(bucket); known {
			o.Region = region.(string)
		}
	})
	return out, s.elsewhere(bucket, err)
}

func (s *service) List(ctx context.Context, prefix bucket.Key, mark string) ([]bucket.Object, string, error) {
	input := &s3.ListObjectsV2Input{
		Bucket:       &prefix.Bucket,
		Prefix:       &prefix.Name,
		RequestPayer: payer(),
		EncodingType: types.EncodingTypeUrl, // XML has no way to write some characters
	}
	if mark != "" {
		input.ContinuationToken = &mark
	}
	page, err := call(ctx, s, prefix.Bucket, (*s3.Client).ListObjectsV2, input)
	if err != nil {
		return nil, "", err
	}
	objects := make([]bucket.Object, len(page.Contents))
	for i, item := range page.Contents {
		name, err := decode(aws.ToString(item.Key), page.EncodingType)
		if err != nil {
			return nil, "", err
		}
		objects[i] = bucket.Object{Name: name, Size: aws.ToInt64(item.Size), Generation: generation(item.ETag)}
	}
	return objects, aws.ToString(page.NextContinuationToken), nil
}

func (s *service) Stat(ctx context.Context, key bucket.Key) (bucket.Object, error) {
	head, err := call(ctx, s, key.Bucket, (*s3.Client).HeadObject, &s3.HeadObjectInput{
		Bucket:       &key.Bucket,
		Key:          &key.Name,
		RequestPayer: payer(),
		ChecksumMode: types.ChecksumModeEnabled,
	})
	if err != nil {
		return bucket.Object{}, s.inWords(ctx, key, err)
	}
	if head.ContentLength == nil {
		return bucket.Object{}, errors.New("the service does not report the size")
	}
	object := bucket.Object{
		Name:       key.Name,
		Size:       aws.ToInt64(head.ContentLength),
		Generation: generation(head.ETag),
		Token:      head.Metadata[tokenKey],
	}
	if head.ChecksumType != types.ChecksumTypeComposite { // which is a sum of the sums of parts
		object.CRC32C, object.Summed = decodeSum(head.ChecksumCRC32C)
	}
	return object, nil
}

// inWords returns a refusal in the words of the service: the refusal of a HEAD request has no body.
func (s *service) inWords(ctx context.Context, key bucket.Key, refused error) error {
	status := s.Judge(refused).Status
	if errors.As(refused, new(moved)) || status != http.StatusForbidden && status != http.StatusBadRequest {
		return refused
	}
	body, told := s.Read(ctx, bucket.Span{Key: key, Length: 1})
	if told == nil {
		body.Close()
		return refused
	}
	return told
}

func (s *service) Read(ctx context.Context, span bucket.Span) (bucket.Body, error) {
	input := &s3.GetObjectInput{Bucket: &span.Bucket, Key: &span.Name, RequestPayer: payer()}
	input.Range = aws.String(bucket.Range(span.Offset, span.Length))
	if span.Generation != "" {
		input.IfMatch = &span.Generation
	}
	answer, err := call(ctx, s, span.Bucket, (*s3.Client).GetObject, input)
	if err != nil {
		return bucket.Body{}, err
	}
	body := bucket.Body{
		ReadCloser: answer.Body,
		Generation: generation(answer.ETag),
		Length:     -1,
		Encoding:   aws.ToString(answer.ContentEncoding),
	}
	if answer.ContentLength != nil {
		body.Length = *answer.ContentLength
	}
	if body.Size = body.Length; answer.ContentRange != nil {
		body.Offset, body.Size, err = bucket.ContentRange(*answer.ContentRange)
	}
	if err != nil {
		answer.Body.Close()
		return bucket.Body{}, err
	}
	return body, nil
}

// Remove removes an object. A service that does not know the condition removes any generation.
func (s *service) Remove(ctx context.Context, key bucket.Key, generation string) error {
	input := &s3.DeleteObjectInput{Bucket: &key.Bucket, Key: &key.Name, RequestPayer: payer()}
	if generation != "" {
		input.IfMatch = &generation
	}
	_, err := call(ctx, s, key.Bucket, (*s3.Client).DeleteObject, input)
	return err
}

// generation is the etag of an object. Some services leave out its quotes in lists.
func generation(etag *string) string { return `"` + strings.Trim(aws.ToString(etag), `"`) + `"` }

func encodeSum(sum uint32) *string {
	return aws.String(base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, sum)))
}

func decodeSum(text *string) (sum uint32, ok bool) {
	b, err := base64.StdEncoding.DecodeString(aws.ToString(text))
	if err != nil || len(b) != 4 {
		return 0, false
	}
	return binary.BigEndian.Uint32(b), true
}

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
type moved struct{ error }

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
		if region == "" {
			return err
		}
		if known, _ := s.regions.Swap(name, region); known != region {
			return moved{err}
		}
	}
	return err
}

// passing are the codes of faults that may pass, in addition to those that the client library knows. versitygw gives
// the last one to an object whose folder another request has just removed, since that was empty.
var passing = []string{
	"InternalError", "ServiceUnavailable", "ConditionalRequestConflict", "OperationAborted",
	"ExistingObjectIsDirectory",
}

var expired = []string{"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"}

func (s *service) Judge(err error) (meaning bucket.Meaning) {
	if answer, is := errors.AsType[*smithyhttp.ResponseError](err); is {
		meaning.Status = answer.HTTPStatusCode()
	}
	code := ""
	if told, is := errors.AsType[smithy.APIError](err); is {
		code, meaning.Text = told.ErrorCode(), told.ErrorCode()
		if message := told.ErrorMessage(); message != "" && message != code {
			meaning.Text += ": " + message
		}
	}
	if sent, is := errors.AsType[*url.Error](err); is {
		meaning.Text = sent.Error() // without the words around it, which tell of an answer
	}
	switch status := meaning.Status; {
	case errors.As(err, new(moved)), errors.Is(err, io.ErrUnexpectedEOF), slices.Contains(passing, code):
		meaning.Again = true
	case status == http.StatusNotImplemented:
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		meaning.Again = true
	case status < 300: // there is no answer, or it ends too early
		meaning.Again = retry.RetryableConnectionError{}.IsErrorRetryable(err) == aws.TrueTernary ||
			errors.Is(err, io.EOF)
	}
	for retryable := range retry.DefaultRetryableErrorCodes {
		meaning.Again = meaning.Again || retryable == code
	}
	for throttle := range retry.DefaultThrottleErrorCodes {
		meaning.Again = meaning.Again || throttle == code
	}
	meaning.IsExpired = slices.Contains(expired, code)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.anonymous && (meaning.Status == http.StatusForbidden || meaning.Status == http.StatusUnauthorized) {
		meaning.Advice = "no credentials were found, so the request was anonymous: set AWS_PROFILE, " +
			"or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
	}
	return meaning
}
