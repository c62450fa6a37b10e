// Package gcs stores files in Google Cloud Storage. A name is as in gs://bucket/folder/file.
//
// Everything is chosen by the environment, so that the workers of a cluster need no flags:
//
//   - Credentials are Application Default Credentials: GOOGLE_APPLICATION_CREDENTIALS, gcloud's, or the
//     machine. Where there are none, requests are anonymous, which public buckets allow.
//   - GOOGLE_CLOUD_QUOTA_PROJECT is the project that pays for requests to buckets whose requester pays.
//   - STORAGE_EMULATOR_HOST is the address of another server, for tests.
package gcs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"cloud.google.com/go/auth/credentials"
	"cloud.google.com/go/auth/httptransport"
	gcs "cloud.google.com/go/storage"
	"github.com/googleapis/gax-go/v2"
	"golang.org/x/oauth2"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/bucket"
)

// Register makes it the storage of gs://. Nothing is connected before the first use.
func Register() { storage.Register("gs", New(bucket.Usual())) }

// New returns the storage of gs://.
func New(limits bucket.Limits) *bucket.Store {
	return bucket.New("gs", &service{limits: limits}, limits)
}

type service struct {
	limits bucket.Limits
	meter  bucket.Meter

	mutex     sync.Mutex
	client    *gcs.Client // nil until the first use
	anonymous bool
	payer     string // the project that pays, may be empty
}

// tokenKey is the name of a writer's token among the metadata of an object.
const tokenKey = "mirrorbeam-writer"

func (s *service) connect() (*gcs.Client, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.client != nil {
		return s.client, nil
	}
	connections := &httptransport.Options{BaseRoundTripper: s.newTransport(), DisableAuthentication: true}
	options := []option.ClientOption{option.WithoutAuthentication()}
	if os.Getenv("STORAGE_EMULATOR_HOST") == "" {
		found, err := credentials.DetectDefault(&credentials.DetectOptions{Scopes: []string{gcs.ScopeReadWrite}})
		switch {
		case err == nil:
			connections.Credentials, connections.DisableAuthentication = found, false
			options[0] = option.WithAuthCredentials(found)
		case hasCredentials():
			return nil, err
		default:
			s.anonymous = true
		}
	}
	authorized, err := httptransport.NewClient(connections)
	if err != nil {
		return nil, err
	}
	client, err := gcs.NewClient(context.Background(), append(options, option.WithHTTPClient(authorized))...)
	if err != nil {
		return nil, err
	}
	client.SetRetry(gcs.WithPolicy(gcs.RetryNever)) // bucket.Store tries again
	s.client, s.payer = client, os.Getenv("GOOGLE_CLOUD_QUOTA_PROJECT")
	return client, nil
}

// hasCredentials reports whether a user has named credentials, or made them with gcloud. If these cannot be used that
// is an error, and no reason to go without them.
func hasCredentials() bool {
	if os.Getenv("GOOGLE_APPLICATION_CREDENTIALS") != "" {
		return true
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join(home, ".config", "gcloud", "application_default_credentials.json"))
	return !errors.Is(err, fs.ErrNotExist)
}

func (s *service) bucket(name string) (*gcs.BucketHandle, error) {
	client, err := s.connect()
	if err != nil {
		return nil, err
	}
	handle := client.Bucket(name)
	if s.payer != "" {
		handle = handle.UserProject(s.payer)
	}
	return handle, nil
}

// object returns an object for requests, of one generation if that is not empty.
func (s *service) object(key bucket.Key, generation string) (*gcs.ObjectHandle, error) {
	handle, err := s.bucket(key.Bucket)
	if err != nil {
		return nil, err
	}
	object := handle.Object(key.Name)
	if generation != "" {
		number, err := parse(generation)
		if err != nil {
			return nil, err
		}
		object = object.Generation(number)
	}
	return object, nil
}

func parse(generation string) (int64, error) {
	number, err := strconv.ParseInt(generation, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("generation %q is no number", generation)
	}
	return number, nil
}

func format(generation int64) string { return strconv.FormatInt(generation, 10) }

func describe(attributes *gcs.ObjectAttrs) bucket.Object {
	return bucket.Object{
		Name:       attributes.Name,
		Size:       attributes.Size,
		Generation: format(attributes.Generation),
		CRC32C:     attributes.CRC32C,
		Summed:     true,
		Token:      attributes.Metadata[tokenKey],
	}
}

// List asks for a page of 1,000 objects, with no more than is needed of each.
func (s *service) List(ctx context.Context, prefix bucket.Key, mark string) ([]bucket.Object, string, error) {
	handle, err := s.bucket(prefix.Bucket)
	if err != nil {
		return nil, "", err
	}
	query := &gcs.Query{Prefix: prefix.Name, Projection: gcs.ProjectionNoACL}
	if err := query.SetAttrSelection([]string{"Name", "Size", "Generation"}); err != nil {
		return nil, "", err
	}
	const page = 1000 // the most that the service gives
	var listed []*gcs.ObjectAttrs
	next, err := iterator.NewPager(handle.Objects(ctx, query), page, mark).NextPage(&listed)
	if err != nil {
		return nil, "", err
	}
	objects := make([]bucket.Object, len(listed))
	for i, attributes := range listed {
		objects[i] = describe(attributes)
	}
	return objects, next, nil
}

func (s *service) Stat(ctx context.Context, key bucket.Key) (bucket.Object, error) {
	object, err := s.object(key, "")
	if err != nil {
		return bucket.Object{}, err
	}
	attributes, err := object.Attrs(ctx)
	if err != nil {
		return bucket.Object{}, err
	}
	return describe(attributes), nil
}

// Read reads bytes as they are stored: an object whose Content-Encoding is gzip is not inflated on its way.
func (s *service) Read(ctx context.Context, span bucket.Span) (bucket.Body, error) {
	object, err := s.object(span.Key, span.Generation)
	if err != nil {
		return bucket.Body{}, err
	}
	reader, err := object.ReadCompressed(true).NewRangeReader(ctx, span.Offset, span.Length)
	if err != nil {
		return bucket.Body{}, err
	}
	attributes := reader.Attrs
	return bucket.Body{
		ReadCloser: reader,
		Generation: format(attributes.Generation),
		Offset:     attributes.StartOffset,
		Length:     reader.Remain(),
		Size:       attributes.Size,
		Encoding:   attributes.ContentEncoding,
		CRC32C:     attributes.CRC32C,
		Summed:     attributes.CRC32C != 0, // 0 stands for no sum
	}, nil
}

func (s *service) Remove(ctx context.Context, key bucket.Key, generation string) error {
	object, err := s.object(key, "")
	if err != nil {
		return err
	}
	if object, err = ifGeneration(object, generation); err != nil {
		return err
	}
	return object.Delete(ctx)
}

// ifGeneration makes requests fail unless the object has a generation; empty: any.
func ifGeneration(object *gcs.ObjectHandle, generation string) (*gcs.ObjectHandle, error) {
	if generation == "" {
		return object, nil
	}
	number, err := parse(generation)
	return object.If(gcs.Conditions{GenerationMatch: number}), err
}

func (s *service) Judge(err error) bucket.Meaning {
	meaning := bucket.Meaning{Again: gcs.ShouldRetry(err)}
	if errors.Is(err, gcs.ErrObjectNotExist) || errors.Is(err, gcs.ErrBucketNotExist) {
		meaning.Status = http.StatusNotFound
	}
	if answer, is := errors.AsType[*googleapi.Error](err); is {
		meaning.Status, meaning.Text = answer.Code, answer.Message
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	// The client asks for a new token by itself. A refusal of that has no status of the storage.
	meaning.IsExpired = !s.anonymous &&
		(meaning.Status == http.StatusUnauthorized || errors.As(err, new(*oauth2.RetrieveError)))
	switch {
	case s.client == nil:
		meaning.Advice = "these credentials cannot be used: see 'gcloud auth application-default login' and " +
			"GOOGLE_APPLICATION_CREDENTIALS"
	case s.anonymous && (meaning.Status == http.StatusUnauthorized || meaning.Status == http.StatusForbidden):
		meaning.Advice = "no credentials were found, so the request was anonymous: " +
			"run 'gcloud auth application-default login', or set GOOGLE_APPLICATION_CREDENTIALS"
	}
	return meaning
}

// newTransport returns the transport of a process: many connections to one host, each body sealed by its answer.
func (s *service) newTransport() http.RoundTripper {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxIdleConnsPerHost = 100
	return metered{sealing{base}, &s.meter}
}

type metered struct {
	http.RoundTripper
	meter *bucket.Meter
}

func (m metered) RoundTrip(request *http.Request) (*http.Response, error) {
	return m.meter.Send(kindOf(request), request, m.RoundTripper.RoundTrip)
}

// kindOf returns the kind of a request. Contents are read by the XML interface, and all else goes by JSON.
func kindOf(request *http.Request) storage.Kind {
	path := request.URL.EscapedPath() // the name of an object may have slashes
	isJSON := strings.HasPrefix(path, "/storage/v1/")
	switch {
	case request.Method == http.MethodDelete:
		return storage.Removing
	case strings.Contains(path, "/rewriteTo/"):
		return storage.Copying
	case request.Method != http.MethodGet:
		return storage.Writing
	case isJSON && strings.HasSuffix(path, "/o"):
		return storage.Listing
	case isJSON && request.URL.Query().Get("alt") != "media":
		return storage.Describing
	}
	return storage.Reading
}

func (s *service) Meter() *bucket.Meter { return &s.meter }

// sealing lets nobody read the body of a request once its answer is there. After an early answer, such as a 503,
// net/http may go on reading for a moment, while the client library already fills the buffer with the next chunk.
type sealing struct{ base http.RoundTripper }

// mostAtOnce is the most bytes of a body that go out together with the head of its request.
const mostAtOnce = 2 << 10

func (s sealing) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body == nil || request.Body == http.NoBody {
		return s.base.RoundTrip(request)
	}
	if n := request.ContentLength; n > 0 && n <= mostAtOnce {
		return s.sendAtOnce(request)
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

// sendAtOnce sends a request in one piece, as net/http does only with a body that it sees to be in memory. A process
// that is stopped between two pieces of a copy would finish it when it goes on, over what others have written since.
func (s sealing) sendAtOnce(request *http.Request) (*http.Response, error) {
	content, err := io.ReadAll(request.Body)
	if err = errors.Join(err, request.Body.Close()); err != nil {
		return nil, err
	}
	whole := request.Clone(request.Context())
	whole.Body = io.NopCloser(bytes.NewReader(content))
	whole.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	return s.base.RoundTrip(whole)
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

func (s *service) writer(ctx context.Context, put bucket.Put, options ...gcs.RetryOption) (*gcs.Writer, error) {
	object, err := s.object(put.Key, "")
	if err != nil {
		return nil, err
	}
	if put.IfAbsent {
		object = object.If(gcs.Conditions{DoesNotExist: true})
	} else if object, err = ifGeneration(object, put.IfGeneration); err != nil {
		return nil, err
	}
	if len(options) > 0 {
		object = object.Retryer(options...)
	}
	w := object.NewWriter(ctx)
	w.ContentType = "application/octet-stream"
	w.Metadata = map[string]string{tokenKey: put.Token}
	return w, nil
}

// Put sends the content by one request. The service compares the sum.
func (s *service) Put(ctx context.Context, put bucket.Put, content []byte) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // to close an unfinished writer would make an object of a part
	w, err := s.writer(ctx, put)
	if err != nil {
		return "", err
	}
	w.ChunkSize = 0 // one request, and no copy of the content
	w.SendCRC32C, w.CRC32C = true, put.CRC32C
	if _, err := bytes.NewReader(content).WriteTo(w); err != nil {
		cancel()
		w.Close()
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return format(w.Attrs().Generation), nil
}

// upload is a resumable upload. The client library tries again, by asking the service how much has arrived.
type upload struct {
	writer *gcs.Writer
	end    context.CancelFunc
}

// chunk is the number of bytes of a request. An upload holds so much memory.
const chunk = 8 << 20

// Begin begins an upload. The library compares the sum when it ends.
func (s *service) Begin(_ context.Context, put bucket.Put) (bucket.Upload, error) {
	ctx, cancel := context.WithCancel(context.Background())
	w, err := s.writer(ctx, put, gcs.WithPolicy(gcs.RetryAlways), gcs.WithBackoff(gax.Backoff{
		Initial:    s.limits.Pause,
		Max:        s.limits.LongestPause,
		Multiplier: 2,
	}))
	if err != nil {
		cancel()
		return nil, err
	}
	w.ChunkSize = chunk
	w.ChunkRetryDeadline = put.Patience
	w.ChunkTransferTimeout = max(put.Patience/4, time.Second)
	return &upload{w, cancel}, nil
}

// PartBytes is small: the library gathers chunks.
func (u *upload) PartBytes() int { return 256 << 10 }

func (u *upload) Part(ctx context.Context, content []byte) error {
	defer context.AfterFunc(ctx, u.end)()
	if _, err := u.writer.Write(content); err != nil {
		return bucket.Spent(err)
	}
	return nil
}

// Finish waits for the last chunk.
func (u *upload) Finish(ctx context.Context, _ uint32) error {
	defer context.AfterFunc(ctx, u.end)()
	if err := u.writer.Close(); err != nil {
		return bucket.Spent(err)
	}
	return nil
}

// Abort ends the upload. What has arrived goes away by itself.
func (u *upload) Abort(context.Context) {
	u.end()
	u.writer.Close()
}

// copying is a copy by requests that each rewrite as much as the service can at a time.
type copying struct {
	service  *service
	from, to bucket.Key
	of       string // generation
	copier   *gcs.Copier
}

func (s *service) Copy(from bucket.Key, object bucket.Object, to bucket.Put) bucket.Copying {
	return &copying{service: s, from: from, to: to.Key, of: object.Generation}
}

// Step makes one request. The copier keeps what the next one goes on with.
func (c *copying) Step(ctx context.Context) (done bool, err error) {
	if c.copier == nil {
		from, err := c.service.object(c.from, c.of)
		if err != nil {
			return false, err
		}
		to, err := c.service.object(c.to, "")
		if err != nil {
			return false, err
		}
		c.copier = to.CopierFrom(from)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	advanced := false
	c.copier.ProgressFunc = func(copied, size uint64) {
		advanced = true
		if copied < size {
			cancel() // the next request is the next step
		}
	}
	if _, err := c.copier.Run(ctx); err != nil && !advanced {
		return false, err
	} else if err != nil {
		return false, nil
	}
	return true, nil
}

// Abort does nothing: the service forgets an unfinished copy.
func (c *copying) Abort(context.Context) {}
