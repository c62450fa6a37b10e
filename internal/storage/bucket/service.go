package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/checksum"
)

// Service is what a service of objects can do, by one request a call. It tries nothing again: [Store] does. Any number
// of goroutines may use a Service.
type Service interface {
	Reader

	// Put makes an object of the content of put, and returns its generation.
	Put(ctx context.Context, put Put, content []byte) (generation string, err error)

	// Begin begins an object that is sent in parts. The object of put is not seen before Finish.
	Begin(ctx context.Context, put Put) (Upload, error)

	// Copy begins a copy of an object of this generation within the service. It makes no request. The copy has the
	// token of the object or, if that has none, the one of to, or none.
	Copy(from Key, object Object, to Put) Copying

	// Remove removes an object or, if the generation is not empty, that generation of it.
	Remove(ctx context.Context, key Key, generation string) error
}

// Reader is the part of a [Service] that reads.
type Reader interface {
	// List returns a page of the objects whose names begin with prefix.Name, in any order, and the mark of the next
	// page, which is empty after the last one. The first page has an empty mark.
	List(ctx context.Context, prefix Key, mark string) (objects []Object, next string, err error)

	// Stat describes an object.
	Stat(ctx context.Context, key Key) (Object, error)

	// Read returns bytes of an object as they are stored. It fails if the service knows that the generation is another
	// one; the Store looks again. The context ends the body as well.
	Read(ctx context.Context, span Span) (Body, error)

	// Meter counts each request that is made.
	Meter() *Meter

	// Judge says what an error of this Service means. It is never called with nil.
	Judge(err error) Meaning
}

// Key is the place of an object.
type Key struct{ Bucket, Name string }

// Object describes an object.
type Object struct {
	// Name is the name in the bucket, Size the length in bytes.
	Name string
	Size int64
	// Generation is another one after each change of the content.
	Generation string
	// CRC32C is the sum of the content (Castagnoli) if Summed.
	CRC32C uint32
	Summed bool
	// Token is what the writer gave as Put.Token. Lists may leave it out.
	Token string
}

// Span is a stretch of an object.
type Span struct {
	Key
	// Generation is the one to read. If it is empty any will do.
	Generation string
	// Offset is where the stretch begins, Length its bytes, at least 1. The stretch is within the object.
	Offset, Length int64
}

// Body is the answer to a read.
type Body struct {
	io.ReadCloser
	// Generation is the one that is read, and Offset where the answer begins.
	Generation string
	Offset     int64
	// Length is the number of bytes of the answer, Size of the whole object; -1 if the answer does not tell.
	Length, Size int64
	// CRC32C is the sum of the whole object, as it is stored, if Summed.
	CRC32C uint32
	Summed bool
	// Encoding is the coding that the answer says it has, such as gzip, or empty. What is stored may have it, and
	// somebody on the way may have applied it.
	Encoding string
}

// Put says which object a content becomes.
type Put struct {
	Key
	// IfAbsent makes it fail with the status 412 if there is an object of this name.
	IfAbsent bool
	// IfGeneration, if not empty, makes it fail with the status 412 unless the object has this generation.
	IfGeneration string
	// Token is kept with the object. It tells whose object it is after an answer was lost.
	Token string
	// CRC32C is the sum of the content. Begin does not know it.
	CRC32C uint32
	// Patience is how long an Upload that makes its own tries goes on without progress.
	Patience time.Duration
}

// Upload is an object that is sent in parts. It belongs to one goroutine.
type Upload interface {
	// PartBytes is the length of the next part. Only the last one may have another length.
	PartBytes() int
	// Part sends the next part, and is done with the content when it returns. After an error that Judge calls worth
	// another try it may be called again with the same content.
	Part(ctx context.Context, content []byte) error
	// Finish makes the object. The sum is over the whole content.
	Finish(ctx context.Context, crc32c uint32) error
	// Abort drops the parts. It is called after a failed Finish, too.
	Abort(ctx context.Context)
}

// Copying is a copy in one or more steps. It belongs to one goroutine.
type Copying interface {
	// Step goes one step on. After an error that Judge calls worth another try it may be called again.
	Step(ctx context.Context) (done bool, err error)
	// Abort drops what an unfinished copy has left.
	Abort(ctx context.Context)
}

// Meaning is the meaning of an error.
type Meaning struct {
	// Status is the HTTP status of the answer, 0 if there was none.
	Status int
	// Again says that the fault may pass: the request is worth another try. After, if not 0, is how long the service
	// wants to be left alone before it.
	Again bool
	After time.Duration
	// IsExpired says that the credentials have expired: the request may succeed when somebody has renewed them.
	IsExpired bool
	// Text is the error in few words.
	Text string
	// Advice, if not empty, says what a user can do about it.
	Advice string
}

// Range is a stretch in the words of HTTP.
func Range(offset, length int64) string { return fmt.Sprintf("bytes=%d-%d", offset, offset+length-1) }

// ContentRange returns where the answer for a range begins, and the size of the object, -1 if untold.
func ContentRange(text string) (offset, size int64, err error) {
	last := int64(0)
	if _, err := fmt.Sscanf(text, "bytes %d-%d/%d", &offset, &last, &size); err == nil {
		return offset, size, nil
	}
	if _, err := fmt.Sscanf(text, "bytes %d-%d/*", &offset, &last); err != nil {
		return 0, 0, fmt.Errorf("the answer has the range %q: the server reads no ranges", text)
	}
	return offset, -1, nil
}

// CRC32C returns the sum of a content.
func CRC32C(content []byte) uint32 { return checksum.Of(content) }

// mostAnswer is the longest answer of a service that is not the content of an object, in bytes. A page of a listing
// names 1,000 objects, and a name has up to 1,024 bytes, which may take three bytes each.
const mostAnswer = 16 << 20

// Bound cuts an answer that is longer than any service gives, so that it is not held: reading it ends with an error.
func Bound(answer *http.Response) *http.Response {
	answer.Body = &boundedBody{ReadCloser: answer.Body, left: mostAnswer}
	return answer
}

type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, fmt.Errorf(
			"the service's answer has more than %d MiB: it is no answer of an object storage; check the endpoint",
			mostAnswer>>20)
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// transient is a fault of a connection, which is worth another try whatever a Service says of it.
type transient struct{ error }

func (t transient) Unwrap() error { return t.error }

// spent is an error after which a Service has tried again for long enough.
type spent struct{ error }

func (s spent) Unwrap() error { return s.error }

// Spent marks an error of a Service that has made its own tries. It is not tried again, whatever Judge says of it.
func Spent(err error) error { return spent{err} }

// errUnmet is the cause of a failure for which a condition of the request is to blame.
var errUnmet = errors.New("the file is not the one that was expected")

func (s *Store) again(err error) bool {
	if errors.As(err, new(spent)) || errors.Is(err, storage.ErrChanged) || errors.Is(err, storage.ErrDamaged) {
		return false
	}
	return errors.As(err, new(transient)) || s.service.Judge(err).Again
}

// refusal is an error with the words of the service and the causes by which callers know it.
type refusal struct {
	text   string
	causes []error
}

func (r refusal) Error() string   { return r.text }
func (r refusal) Unwrap() []error { return r.causes }

// SecretError refuses a name that has a secret in it, with the reason. Messages show the name without what follows a
// question mark, and without a name or a password before the host.
type SecretError string

func (e SecretError) Error() string { return string(e) }

// shown returns what a message may show of a name that has a secret in it.
func shown(name string) string {
	scheme, rest, _ := strings.Cut(storage.WithoutQuery(name), "://")
	return scheme + "://" + rest[strings.LastIndex(rest, "@")+1:]
}

// failure returns the error of an operation. Only an answer of the service makes it an error of package fs: a file
// of credentials that is missing does not mean that the object is.
func (s *Store) failure(op, name string, err error) error {
	if errors.Is(err, storage.ErrChanged) || errors.Is(err, storage.ErrDamaged) {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	if _, hasSecret := errors.AsType[SecretError](err); hasSecret {
		name = shown(name)
	}
	meaning := s.service.Judge(err)
	told := refusal{text: s.words(err)}
	if meaning.Again || meaning.IsExpired || errors.As(err, new(transient)) {
		told.causes = append(told.causes, storage.ErrUnavailable)
	}
	if cause := causes[meaning.Status]; cause != nil {
		told.causes = append(told.causes, cause)
		told.text = fmt.Sprintf("%v (%s)", cause, told.text)
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrExist) {
		told.causes = append(told.causes, err)
	}
	if meaning.Advice != "" {
		told.text += ": " + meaning.Advice
	}
	return &fs.PathError{Op: op, Path: name, Err: told}
}

func (s *Store) words(err error) string {
	if sent, is := errors.AsType[*url.Error](err); is {
		return sent.Err.Error() // without the address, which has the name of the file
	}
	return cmp.Or(s.service.Judge(err).Text, err.Error())
}

// causes are the errors that callers look for, by status.
var causes = map[int]error{
	http.StatusNotFound:           fs.ErrNotExist,
	http.StatusUnauthorized:       fs.ErrPermission,
	http.StatusForbidden:          fs.ErrPermission,
	http.StatusPreconditionFailed: errUnmet,
}
