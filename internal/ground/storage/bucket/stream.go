package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"mirrorbeam/internal/ground/checksum"
	"mirrorbeam/internal/ground/storage"
)

// stream reads a stretch of a file. When its connection is cut, or the answer is short, it goes on with another one.
type stream struct {
	file    *file
	ctx     context.Context // of the caller
	at, end int64
	began   int64              // where the connection began
	body    io.ReadCloser      // nil while there is no connection
	cut     context.CancelFunc // ends the connection of the body
	whole   bool               // it began with the first byte and ends with the last one
	sum     uint32             // of the bytes so far, if it is whole
}

// stream begins to read at the first Read.
func (f *file) stream(ctx context.Context, from, to int64) *stream {
	object := f.pinned()
	return &stream{file: f, ctx: ctx, at: from, end: to, whole: object.Summed && from == 0 && to == object.Size}
}

// Read returns at least a byte, or an error. Patience begins anew with each byte.
func (s *stream) Read(b []byte) (n int, err error) {
	switch {
	case s.at >= s.end:
		return 0, io.EOF
	case len(b) == 0:
		return 0, nil
	}
	b = b[:min(int64(len(b)), s.end-s.at)]
	err = s.file.store.try(s.ctx, "read", s.file.name, func(ctx context.Context) (err error) {
		n, err = s.read(ctx, b)
		return err
	})
	s.at += int64(n)
	if s.whole {
		s.sum = checksum.Add(s.sum, b[:n])
		if want := s.file.pinned().CRC32C; s.at == s.end && s.sum != want {
			err := fmt.Errorf("%w: their CRC32C is %08x, that of the file is %08x", storage.ErrDamaged, s.sum, want)
			return 0, s.file.store.failure("read", s.file.name, err)
		}
	}
	return n, err
}

// read reads from the connection, and makes one first if there is none. A connection that gives nothing for too long
// is cut. After any failure there is no connection.
func (s *stream) read(ctx context.Context, b []byte) (n int, err error) {
	if s.body == nil {
		ctx, s.cut = context.WithCancel(ctx)
	}
	watch := time.AfterFunc(s.file.store.limits.Stall, s.cut)
	defer watch.Stop()
	if s.body == nil {
		if err := s.connect(ctx); err != nil {
			s.disconnect()
			return 0, err
		}
	}
	for n == 0 && err == nil {
		n, err = s.body.Read(b)
	}
	if s.at+int64(n) == s.end && err == nil {
		if more, _ := s.body.Read(make([]byte, 1)); more > 0 {
			s.disconnect()
			return 0, tooLong(s.end - s.began)
		}
	}
	if err != nil {
		s.disconnect()
	}
	switch {
	case n > 0:
		return n, nil // a fault will show again, if bytes are missing
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return 0, transient{err}
}

// connect asks for what is still to be read.
func (s *stream) connect(ctx context.Context) error {
	f := s.file
	span := Span{Key: f.key, Generation: f.pinned().Generation, Offset: s.at, Length: s.end - s.at}
	body, err := f.store.service.Read(ctx, span)
	if err != nil {
		switch status := f.store.service.Judge(err).Status; {
		case status == http.StatusRequestedRangeNotSatisfiable, // the span lies within what was opened
			span.Generation != "" && (status == http.StatusNotFound || status == http.StatusPreconditionFailed):
			return fmt.Errorf("%w (%w)", storage.ErrChanged, err)
		}
		if ctx.Err() != nil {
			err = transient{err}
		}
		return err
	}
	s.body, s.began = body, s.at
	if err := span.check(body, f.pinned().Size); err != nil {
		return err
	}
	return f.meet(body.Generation)
}

// check returns an error unless an answer is of the span, and of an object of that size.
func (s Span) check(body Body, size int64) error {
	switch {
	case body.Offset != s.Offset:
		return fmt.Errorf("the answer begins at %d and not at %d: the service reads no ranges", body.Offset, s.Offset)
	case body.Size >= 0 && body.Size != size:
		return fmt.Errorf("%w: it had %d bytes, and the answer is of a file of %d", storage.ErrChanged, size, body.Size)
	case body.Length > s.Length:
		return tooLong(s.Length)
	case body.Encoding != "" && body.Length != s.Length:
		// A file that is stored in this coding has as many bytes in a range as any other.
		return fmt.Errorf("%w: somebody has applied the coding %s to the answer on its way: switch that off in the service, or in the proxy before it", storage.ErrDamaged, body.Encoding)
	}
	return nil
}

// tooLong is the error of an answer of more bytes than were asked for.
func tooLong(wanted int64) error {
	return fmt.Errorf("%w: the answer has more than the %d bytes that were asked for: the file has another length than the service says", storage.ErrDamaged, wanted)
}

func (s *stream) disconnect() {
	if s.body != nil {
		s.body.Close()
		s.body = nil
	}
	s.cut()
}

// Close ends the connection.
func (s *stream) Close() error {
	if s.body != nil {
		s.disconnect()
	}
	s.at = s.end
	return nil
}
