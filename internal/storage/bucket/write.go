package bucket

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/checksum"
)

type writer struct {
	store  *Store
	name   string
	put    Put
	buffer []byte
	room   int    // the length at which the buffer is sent
	upload Upload // nil as long as the file may be one request
	err    error  // after it the file can only be aborted
	done   bool
}

var errDone = errors.New("the file was committed or aborted")

// Create begins a file. It makes no request. What is written is durable when Commit returns.
func (s *Store) Create(name string, options storage.Options) (storage.Writer, error) {
	key, err := s.target("create", name)
	if err != nil {
		return nil, err
	}
	put := Put{Key: key, IfAbsent: options.IfAbsent, Token: rand.Text()}
	return &writer{store: s, name: name, put: put, room: s.limits.Put}, nil
}

// Write sends a part whenever there is enough for one.
func (w *writer) Write(b []byte) (written int, err error) {
	if w.done {
		return 0, &fs.PathError{Op: "write", Path: w.name, Err: errDone}
	}
	for w.err == nil && len(b) > 0 {
		if len(w.buffer) == w.room {
			w.err = w.full()
			continue
		}
		n := min(len(b), w.room-len(w.buffer))
		w.grow(n)
		w.buffer = append(w.buffer, b[:n]...)
		w.put.CRC32C = checksum.Add(w.put.CRC32C, b[:n])
		written, b = written+n, b[n:]
	}
	return written, w.err
}

// grow makes room for n more bytes. A short file has a small buffer: many writers may be open at a time.
func (w *writer) grow(n int) {
	const least = 16 << 10
	if need := len(w.buffer) + n; need > cap(w.buffer) {
		larger := make([]byte, len(w.buffer), min(max(need, 2*cap(w.buffer), least), w.room))
		copy(larger, w.buffer)
		w.buffer = larger
	}
}

// full begins the upload when there is too much for one request, and sends the buffer when it has a part.
func (w *writer) full() error {
	if w.upload == nil {
		w.put.Patience = w.store.patience()
		err := w.store.request("create", w.name, func(ctx context.Context) (err error) {
			w.upload, err = w.store.writes.Begin(ctx, w.put)
			return err
		})
		if err != nil {
			return err
		}
	}
	return w.send(w.upload.PartBytes())
}

// send sends the buffer as parts until it has fewer bytes than that. The rest stays in it.
func (w *writer) send(least int) error {
	rest := w.buffer
	for len(rest) >= least {
		part := rest[:min(len(rest), w.upload.PartBytes())]
		err := w.store.request("write", w.name, func(ctx context.Context) error { return w.upload.Part(ctx, part) })
		if err != nil {
			return err
		}
		w.store.service.Meter().written.Add(int64(len(part)))
		rest = rest[len(part):]
	}
	if w.room = w.upload.PartBytes(); cap(w.buffer) > w.room {
		w.buffer = nil
	}
	w.buffer = append(w.buffer[:0], rest...)
	return nil
}

func (w *writer) Commit() error {
	if w.err == nil && w.done {
		w.err = &fs.PathError{Op: "commit", Path: w.name, Err: errDone}
	}
	if w.err == nil && w.upload != nil {
		w.err = w.send(1)
	}
	if w.err == nil {
		w.err = w.finish()
	}
	err := w.err
	w.Abort()
	return err
}

func (w *writer) finish() error {
	_, err := w.store.write("commit", w.put, func(ctx context.Context) (string, error) {
		if w.upload == nil {
			return w.store.writes.Put(ctx, w.put, w.buffer)
		}
		return "", w.upload.Finish(ctx, w.put.CRC32C)
	})
	if w.done = err == nil; w.done && w.upload == nil {
		w.store.service.Meter().written.Add(int64(len(w.buffer)))
	}
	if w.put.IfAbsent && errors.Is(err, errUnmet) {
		err = &fs.PathError{Op: "commit", Path: w.name, Err: fs.ErrExist}
	}
	return err
}

// write makes a request that makes an object, until it succeeds. If an answer was lost, the next try may be refused
// because of what the first has made: the token of the object tells.
func (s *Store) write(op string, put Put,
	attempt func(context.Context) (string, error),
) (generation string, err error) {
	lost := false
	err = s.request(op, s.name(put.Key), func(ctx context.Context) (err error) {
		if generation, err = attempt(ctx); err == nil {
			return nil
		}
		if (lost || errors.As(err, new(spent))) && !s.again(err) {
			if object, statErr := s.service.Stat(ctx, put.Key); statErr == nil && object.Token == put.Token {
				generation = object.Generation
				return nil
			} else if statErr != nil && s.again(statErr) {
				return statErr
			}
		}
		lost = true
		return err
	})
	return generation, err
}

func (w *writer) Abort() {
	if w.upload != nil && !w.done {
		w.store.bounded(w.upload.Abort)
	}
	w.upload, w.buffer, w.done = nil, nil, true
}
