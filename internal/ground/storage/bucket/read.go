package bucket

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"mirrorbeam/internal/ground/storage"
)

// file is an object that is open for reading.
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

// Reopen opens a file that is already described, without a request. If its generation is not known, the first read
// finds it.
func (s *Store) Reopen(info storage.Info) (storage.File, error) {
	key, err := s.key("open", info.Name)
	if err != nil {
		return nil, err
	}
	object := Object{Name: key.Name, Size: info.Size, Generation: info.Generation}
	return &file{store: s, key: key, name: info.Name, object: object}, nil
}

// pinned returns the object.
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

// Stat describes the generation that was opened.
func (f *file) Stat() (storage.Info, error) { return f.store.info(f.key, f.pinned()), nil }

// Close does nothing: each stream has its own connection.
func (f *file) Close() error { return nil }

// From returns the bytes from an offset to the end.
func (f *file) From(offset int64) io.ReadCloser {
	return f.stream(context.Background(), offset, f.pinned().Size)
}

// ReadAt reads a range by one request.
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
