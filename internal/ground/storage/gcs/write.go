package gcs

import (
	"bytes"
	"context"
	"time"

	gcs "cloud.google.com/go/storage"
	"github.com/googleapis/gax-go/v2"

	"mirrorbeam/internal/ground/storage/bucket"
)

// writer returns a writer of an object under the conditions of put.
func (s *service) writer(ctx context.Context, put bucket.Put, options ...gcs.RetryOption) (*gcs.Writer, error) {
	object, err := s.object(put.Key, "")
	if err != nil {
		return nil, err
	}
	switch {
	case put.IfAbsent:
		object = object.If(gcs.Conditions{DoesNotExist: true})
	case put.IfGeneration != "":
		number, err := parse(put.IfGeneration)
		if err != nil {
			return nil, err
		}
		object = object.If(gcs.Conditions{GenerationMatch: number})
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
		Initial: s.limits.Pause, Max: s.limits.LongestPause, Multiplier: 2,
	}))
	if err != nil {
		cancel()
		return nil, err
	}
	w.ChunkSize = chunk
	w.ChunkRetryDeadline = s.limits.Patience
	w.ChunkTransferTimeout = max(s.limits.Answer/4, time.Second)
	return &upload{w, cancel}, nil
}

// PartBytes is small: the library gathers chunks.
func (u *upload) PartBytes() int { return 256 << 10 }

// Part hands bytes to the library.
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

// Copy copies the generation of the object.
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
