// Package storagetest has what tests of storage need: the test that every storage has to pass, and a storage
// in memory.
package storagetest

import (
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"mirrorbeam.dev/internal/storage"
)

// Memory is a storage in memory. It has none of the optional abilities. So tests with it show that a job does
// without them.
type Memory struct {
	// Ask, if it is not nil, is called before each operation: list, stat, open, read, create, write, commit,
	// copy, remove or lease. If it returns an error, the operation fails with it. It may count the
	// operations. Several goroutines call it. It must be set before the storage is used.
	Ask func(operation, name string) error

	mutex  sync.Mutex
	files  map[string]memoryFile
	leases map[string]*memoryLease
	writes int // so far, for generations
}

// memories numbers the storages of a process.
var memories atomic.Int64

// NewMemory registers a storage in memory for as long as the test runs. It returns a folder in it. The scheme
// of the folder belongs to this storage alone.
func NewMemory(t testing.TB) (m *Memory, folder string) {
	m = &Memory{files: map[string]memoryFile{}, leases: map[string]*memoryLease{}}
	scheme := fmt.Sprintf("memory%d", memories.Add(1))
	t.Cleanup(storage.Register(scheme, m))
	return m, scheme + "://bucket/folder"
}

// memoryFile is the content of a file at the time when it was opened. It never changes.
type memoryFile struct {
	memory  *Memory
	info    storage.Info
	content []byte
}

func (m *Memory) ask(operation, name string) error {
	if m.Ask == nil {
		return nil
	}
	if err := m.Ask(operation, name); err != nil {
		return &fs.PathError{Op: operation, Path: name, Err: err}
	}
	return nil
}

// find returns a file.
func (m *Memory) find(operation, name string) (memoryFile, error) {
	if err := m.ask(operation, name); err != nil {
		return memoryFile{}, err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	file, found := m.files[name]
	if !found {
		return memoryFile{}, &fs.PathError{Op: operation, Path: name, Err: fs.ErrNotExist}
	}
	return file, nil
}

// put gives a content its name.
func (m *Memory) put(name string, content []byte, options storage.Options) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if _, taken := m.files[name]; taken && options.IfAbsent {
		return &fs.PathError{Op: "commit", Path: name, Err: fs.ErrExist}
	}
	m.writes++
	m.files[name] = memoryFile{m, storage.Info{
		Name:       name,
		Size:       int64(len(content)),
		Generation: strconv.Itoa(m.writes),
	}, content}
	return nil
}

// List yields the files below a folder, ordered by name.
func (m *Memory) List(folder string) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		if err := m.ask("list", folder); err != nil {
			yield(storage.Info{}, err)
			return
		}
		var found []storage.Info
		m.mutex.Lock()
		for name, file := range m.files {
			if strings.HasPrefix(name, strings.TrimSuffix(folder, "/")+"/") {
				found = append(found, file.info)
			}
		}
		m.mutex.Unlock()
		slices.SortFunc(found, func(a, b storage.Info) int { return strings.Compare(a.Name, b.Name) })
		for _, info := range found {
			if !yield(info, nil) {
				return
			}
		}
	}
}

// Stat describes a file.
func (m *Memory) Stat(name string) (storage.Info, error) {
	file, err := m.find("stat", name)
	return file.info, err
}

// Open opens a file. Later writes under its name do not change it.
func (m *Memory) Open(name string) (storage.File, error) {
	file, err := m.find("open", name)
	if err != nil {
		return nil, err
	}
	return file, nil
}

// ReadAt reads a range. A read that fails reads half.
func (f memoryFile) ReadAt(b []byte, offset int64) (int, error) {
	if err := f.memory.ask("read", f.info.Name); err != nil {
		return copy(b[:len(b)/2], f.content[min(offset, f.info.Size):]), err
	}
	if offset > f.info.Size {
		return 0, io.EOF
	}
	n := copy(b, f.content[offset:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// ReadRanges reads several ranges by one operation. It yields the last one first.
func (f memoryFile) ReadRanges(ranges []storage.Range) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		if err := f.memory.ask("read", f.info.Name); err != nil {
			yield(0, err)
			return
		}
		for i, r := range slices.Backward(ranges) {
			if r.Offset+int64(len(r.Bytes)) > f.info.Size {
				yield(i, &fs.PathError{Op: "read", Path: f.info.Name, Err: io.ErrUnexpectedEOF})
				return
			}
			copy(r.Bytes, f.content[r.Offset:])
			if !yield(i, nil) {
				return
			}
		}
	}
}

// From returns the bytes from an offset on. Each read is an operation.
func (f memoryFile) From(offset int64) io.ReadCloser {
	return io.NopCloser(io.NewSectionReader(f, offset, max(f.info.Size-offset, 0)))
}

// Stat describes the file that was opened.
func (f memoryFile) Stat() (storage.Info, error) {
	return f.info, f.memory.ask("stat", f.info.Name)
}

// Close does nothing.
func (f memoryFile) Close() error { return nil }

// memoryWriter is a file that is not finished.
type memoryWriter struct {
	memory  *Memory
	name    string
	options storage.Options
	content []byte
}

// Create begins a file.
func (m *Memory) Create(name string, options storage.Options) (storage.Writer, error) {
	if err := m.ask("create", name); err != nil {
		return nil, err
	}
	return &memoryWriter{memory: m, name: name, options: options}, nil
}

// Write appends to the file. A write that fails appends half.
func (w *memoryWriter) Write(b []byte) (int, error) {
	if err := w.memory.ask("write", w.name); err != nil {
		w.content = append(w.content, b[:len(b)/2]...)
		return len(b) / 2, err
	}
	w.content = append(w.content, b...)
	return len(b), nil
}

// Commit gives the file its name.
func (w *memoryWriter) Commit() error {
	if err := w.memory.ask("commit", w.name); err != nil {
		return err
	}
	return w.memory.put(w.name, w.content, w.options)
}

// Abort drops the file.
func (w *memoryWriter) Abort() { w.content = nil }

// Copy makes a second file.
func (m *Memory) Copy(from, to string) error {
	file, err := m.find("copy", from)
	if err != nil {
		return err
	}
	return m.put(to, file.content, storage.Options{})
}

// Remove removes a file.
func (m *Memory) Remove(name string) error { return m.RemoveGeneration(name, "") }

// RemoveGeneration removes a file of this generation, or any if it is empty.
func (m *Memory) RemoveGeneration(name, generation string) error {
	if err := m.ask("remove", name); err != nil {
		return err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if file, is := m.files[name]; is && generation != "" && file.info.Generation != generation {
		return &fs.PathError{Op: "remove", Path: name, Err: storage.ErrChanged}
	}
	delete(m.files, name)
	return nil
}

// memoryLease is a name that somebody holds.
type memoryLease struct {
	memory       *Memory
	name, holder string
}

// Lease takes a lease. No file shows it.
func (m *Memory) Lease(name, holder string) (storage.Lease, error) {
	if err := m.ask("lease", name); err != nil {
		return nil, err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if held, taken := m.leases[name]; taken {
		return nil, &storage.HeldError{Name: name, Holder: held.holder}
	}
	m.leases[name] = &memoryLease{m, name, holder}
	return m.leases[name], nil
}

// Expire takes the lease of a name away from its holder, as if its time had ended.
func (m *Memory) Expire(name string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.leases, name)
}

// Check returns an error if the lease has expired.
func (l *memoryLease) Check() error {
	l.memory.mutex.Lock()
	defer l.memory.mutex.Unlock()
	if l.memory.leases[l.name] != l {
		return &fs.PathError{Op: "lease", Path: l.name, Err: fs.ErrNotExist}
	}
	return nil
}

// Release gives the lease back, unless somebody else holds it by now.
func (l *memoryLease) Release() error {
	l.memory.mutex.Lock()
	defer l.memory.mutex.Unlock()
	if l.memory.leases[l.name] == l {
		delete(l.memory.leases, l.name)
	}
	return nil
}
