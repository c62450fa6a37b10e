package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"slices"
	"sync"
	"time"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/checksum"
)

type file struct {
	store *Store
	key   Key
	name  string

	mutex  sync.Mutex
	object Object // its generation is empty until the first answer, if Reopen was not told it
}

// Open opens a file, by one request. All reads are of the generation that it meets.
func (s *Store) Open(name string) (storage.File, error) {
	key, object, err := s.stat("open", name)
	if err != nil {
		return nil, err
	}
	return &file{store: s, key: key, name: name, object: object}, nil
}

// Reopen opens a described file without a request. If its generation is unknown, the first read finds it.
func (s *Store) Reopen(info storage.Info) (storage.File, error) {
	key, err := s.key("open", info.Name)
	if err != nil {
		return nil, err
	}
	object := Object{Name: key.Name, Size: info.Size, Generation: info.Generation}
	return &file{store: s, key: key, name: info.Name, object: object}, nil
}

func (f *file) pinned() Object {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.object
}

// meet fails if an answer is of another generation than earlier ones.
func (f *file) meet(generation string) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.object.Generation == "" {
		f.object.Generation = generation
	}
	if f.object.Generation != generation {
		return storage.ErrChanged
	}
	return nil
}

// sum notes the sum of the object that an answer tells, and returns the length of the object.
func (f *file) sum(crc32c uint32) (size int64) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if !f.object.Summed {
		f.object.CRC32C, f.object.Summed = crc32c, true
	}
	return f.object.Size
}

// Stat describes the generation that was opened.
func (f *file) Stat() (storage.Info, error) { return f.store.info(f.key, f.pinned()), nil }

// Close does nothing: each stream has its own connection.
func (f *file) Close() error { return nil }

func (f *file) From(offset int64) io.ReadCloser {
	return f.stream(context.Background(), offset, f.pinned().Size)
}

func (f *file) ReadAt(b []byte, offset int64) (int, error) {
	size := f.pinned().Size
	switch {
	case offset < 0:
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: fmt.Errorf("offset %d: %w", offset, fs.ErrInvalid)}
	case offset > size:
		return 0, io.EOF
	}
	inside := b[:min(int64(len(b)), size-offset)]
	stream := f.stream(context.Background(), offset, offset+int64(len(inside)))
	defer stream.Close()
	n, err := io.ReadFull(stream, inside)
	if err == nil && len(inside) < len(b) {
		err = io.EOF
	}
	return n, err
}

// ReadRanges reads several ranges by as few requests as is sensible, some of them side by side. It holds no more memory
// than the ranges themselves: what is between them is read and dropped.
func (f *file) ReadRanges(ranges []storage.Range) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		size := f.pinned().Size
		for i, r := range ranges {
			if r.Offset < 0 || r.Offset+int64(len(r.Bytes)) > size {
				yield(i, &fs.PathError{Op: "read", Path: f.name, Err: io.ErrUnexpectedEOF})
				return
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		requests, results := make(chan []int), make(chan result)
		var workers sync.WaitGroup
		plan := f.store.limits.combine(ranges)
		for range min(f.store.limits.InFlight, len(plan)) {
			workers.Go(func() {
				for request := range requests {
					f.readTogether(ctx, ranges, request, results)
				}
			})
		}
		workers.Go(func() {
			defer close(requests)
			for _, request := range plan {
				select {
				case requests <- request:
				case <-ctx.Done():
					return
				}
			}
		})
		var end sync.WaitGroup
		end.Go(func() {
			workers.Wait()
			close(results)
		})
		defer end.Wait()
		defer cancel() // a worker sends to results or sees that it is over
		for r := range results {
			if !yield(r.number, r.err) || r.err != nil {
				return
			}
		}
	}
}

type result struct {
	number int
	err    error
}

// combine returns the numbers of the ranges of each request, by offset. The ranges of one request do not overlap: a
// caller may already use the first when the second is read.
func (l Limits) combine(ranges []storage.Range) (requests [][]int) {
	order := make([]int, len(ranges))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ranges[a].Offset, ranges[b].Offset) })
	var from, to int64 // of the last request
	for _, i := range order {
		r := ranges[i]
		end := r.Offset + int64(len(r.Bytes))
		if last := len(requests) - 1; last >= 0 && r.Offset >= to && r.Offset-to <= l.Gap && end-from <= l.Request {
			requests[last] = append(requests[last], i)
		} else {
			requests = append(requests, []int{i})
			from = r.Offset
		}
		to = end
	}
	return requests
}

// readTogether reads ranges by one request, and sends the number of each.
func (f *file) readTogether(ctx context.Context, ranges []storage.Range, numbers []int, results chan<- result) {
	last := ranges[numbers[len(numbers)-1]]
	stream := f.stream(ctx, ranges[numbers[0]].Offset, last.Offset+int64(len(last.Bytes)))
	defer stream.Close()
	for _, i := range numbers {
		_, err := io.CopyN(io.Discard, stream, ranges[i].Offset-stream.at)
		if err == nil {
			_, err = io.ReadFull(stream, ranges[i].Bytes)
		}
		select {
		case results <- result{i, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

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

// Read returns at least a byte, or an error. Patience starts again with each byte.
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
		connected, cancel := context.WithCancel(ctx)
		stop := s.file.store.cutAtEnd(cancel)
		ctx, s.cut = connected, func() { stop(); cancel() }
	}
	watch := time.AfterFunc(min(s.file.store.limits.Stall, s.file.store.answer()), s.cut)
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
	s.file.store.service.Meter().read.Add(int64(n))
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

func (s *stream) connect(ctx context.Context) error {
	f := s.file
	span := Span{Key: f.key, Generation: f.pinned().Generation, Offset: s.at, Length: s.end - s.at}
	body, err := f.store.service.Read(ctx, span)
	if err != nil {
		switch status := f.store.service.Judge(err).Status; {
		case status == http.StatusRequestedRangeNotSatisfiable, // the span is within what was opened
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
	if err := f.meet(body.Generation); err != nil {
		return err
	}
	if s.at == 0 && body.Summed {
		s.whole = f.sum(body.CRC32C) == s.end
	}
	return nil
}

// check returns an error unless an answer is of the span, and of an object of that size.
func (s Span) check(body Body, size int64) error {
	switch {
	case body.Offset != s.Offset:
		return fmt.Errorf("the answer begins at %d and not at %d: the service reads no ranges", body.Offset, s.Offset)
	case body.Size >= 0 && body.Size != size:
		return fmt.Errorf("%w: it had %d bytes, and the answer comes from a file of %d", storage.ErrChanged, size,
			body.Size)
	case body.Length > s.Length:
		return tooLong(s.Length)
	case body.Encoding != "" && body.Length != s.Length:
		// A file that is stored in this coding has as many bytes in a range as any other.
		return fmt.Errorf(
			"%w: somebody has applied the coding %s to the answer on its way: switch that off in the service, "+
				"or in the proxy before it", storage.ErrDamaged, body.Encoding)
	}
	return nil
}

func tooLong(wanted int64) error {
	return fmt.Errorf(
		"%w: the answer has more than the %d bytes that were asked for: the file has another length than the service "+
			"says", storage.ErrDamaged, wanted)
}

func (s *stream) disconnect() {
	if s.body != nil {
		s.body.Close()
		s.body = nil
	}
	s.cut()
}

func (s *stream) Close() error {
	if s.body != nil {
		s.disconnect()
	}
	s.at = s.end
	return nil
}
