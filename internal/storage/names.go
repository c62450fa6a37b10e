package storage

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

var registered = struct {
	sync.RWMutex
	storages map[string]Storage
	waiting  Waiting
}{storages: map[string]Storage{}}

// Register makes s the storage of all names with a scheme, such as gs, until undo is called. It panics if the scheme
// already has a storage: that is a mistake of a programmer, and no name brings it about.
func Register(scheme string, s Storage) (undo func()) {
	registered.Lock()
	defer registered.Unlock()
	if _, taken := registered.storages[scheme]; taken {
		panic("storage: two storages for " + scheme + "://")
	}
	registered.storages[scheme] = s
	if waiter, is := s.(Waiter); is {
		waiter.SetWaiting(registered.waiting)
	}
	return func() {
		registered.Lock()
		defer registered.Unlock()
		delete(registered.storages, scheme)
	}
}

// Of returns the storage of a name: the storage of its scheme, or the local disk if it has no scheme.
func Of(name string) (Storage, error) {
	scheme := Scheme(name)
	if scheme == "" {
		return Local{}, nil
	}
	registered.RLock()
	defer registered.RUnlock()
	s, known := registered.storages[scheme]
	if !known {
		return nil, fmt.Errorf("%s: this version reads and writes no %s://", name, scheme)
	}
	return s, nil
}

// IsReadOnly reports whether a name is of a storage to which nothing can be written.
func IsReadOnly(name string) bool {
	s, err := Of(name)
	asked, can := s.(ReadOnly)
	return err == nil && can && asked.IsReadOnly()
}

// Scheme returns the part of a name before ://, or "" for a local path.
func Scheme(name string) string {
	scheme, _, found := strings.Cut(name, "://")
	if !found || scheme == "" || strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+-.") != "" {
		return ""
	}
	return scheme
}

// WithoutQuery returns an address of the web without the question mark and what follows it, which is no part of the
// name of a file. Other names stay as they are.
func WithoutQuery(name string) string {
	if Scheme(name) == "https" {
		name, _, _ = strings.Cut(name, "?")
	}
	return name
}

// Join returns the name of an item in a folder.
func Join(folder, name string) string {
	if Scheme(folder) == "" {
		return filepath.Join(folder, name)
	}
	return strings.TrimSuffix(folder, "/") + "/" + name
}

// Clean returns the shortest equal name of a local path. It leaves other names as they are.
func Clean(name string) string {
	if Scheme(name) != "" {
		return name
	}
	return filepath.Clean(name)
}

// Absolute returns a name by which other processes find a file. A local path may be relative to the working
// folder of this process.
func Absolute(name string) (string, error) {
	if Scheme(name) != "" {
		return name, nil
	}
	return filepath.Abs(name)
}

// AbsoluteIn returns what Absolute does for a process that works in the folder. Where there are many names, the system
// is asked once for that folder, as Absolute(".").
func AbsoluteIn(folder, name string) string {
	switch {
	case Scheme(name) != "":
		return name
	case filepath.IsAbs(name):
		return filepath.Clean(name)
	}
	return filepath.Join(folder, name)
}

// Contains reports whether a name is in a folder, or is its name. It follows no links.
func Contains(folder, name string) bool {
	folder, err := Absolute(folder)
	if err != nil {
		return false
	}
	if name, err = Absolute(name); err != nil {
		return false
	}
	return strings.HasPrefix(name+"/", strings.TrimRight(folder, "/")+"/")
}

// Stat describes a file of any storage.
func Stat(name string) (Info, error) {
	s, err := Of(name)
	if err != nil {
		return Info{}, err
	}
	return s.Stat(name)
}

// Open opens a file of any storage.
func Open(name string) (File, error) {
	s, err := Of(name)
	if err != nil {
		return nil, err
	}
	return s.Open(name)
}

// Reopen opens the file that an earlier Stat or List has described. Reads fail with [ErrChanged] if it has another size
// or generation by now; if its storage has to be asked for it, Reopen itself does.
func Reopen(info Info) (File, error) {
	s, err := Of(info.Name)
	if err != nil {
		return nil, err
	}
	if reopener, can := s.(Reopener); can {
		return reopener.Reopen(info)
	}
	file, err := s.Open(info.Name)
	if err != nil {
		return nil, err
	}
	now, err := file.Stat()
	if err == nil && (now.Size != info.Size || info.Generation != "" && now.Generation != info.Generation) {
		err = &fs.PathError{Op: "open", Path: info.Name, Err: ErrChanged}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// Create begins a file of any storage.
func Create(name string) (Writer, error) { return CreateWith(name, Options{}) }

// CreateWith begins a file of any storage, with options.
func CreateWith(name string, options Options) (Writer, error) {
	s, err := Of(name)
	if err != nil {
		return nil, err
	}
	return s.Create(name, options)
}

// Remove removes a file of any storage. A missing file is no error.
func Remove(name string) error {
	s, err := Of(name)
	if err != nil {
		return err
	}
	return s.Remove(name)
}

// RemoveFolder removes a folder of any storage with all files in it. A missing folder is no error.
func RemoveFolder(name string) error {
	s, err := Of(name)
	if err != nil {
		return err
	}
	if s == (Local{}) {
		return os.RemoveAll(name)
	}
	for info, err := range s.List(name) {
		if err != nil {
			return err
		}
		if err := s.Remove(info.Name); err != nil {
			return err
		}
	}
	return nil
}

// ReadFile returns the content of a file of any storage.
func ReadFile(name string) ([]byte, error) {
	file, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	stream := file.From(0)
	defer stream.Close()
	var b bytes.Buffer
	if Scheme(name) == "" { // elsewhere it might take a request
		if info, err := file.Stat(); err == nil {
			b.Grow(int(info.Size) + bytes.MinRead)
		}
	}
	_, err = b.ReadFrom(stream)
	return b.Bytes(), err
}

// ReadBeginning returns the first n bytes of a file, or all if it has fewer.
func ReadBeginning(name string, n int) ([]byte, error) {
	file, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() // it was only read
	b := make([]byte, n)
	n, err = file.ReadAt(b, 0)
	if err == io.EOF {
		err = nil
	}
	return b[:n], err
}

// WriteFile makes a file of any storage in one step. It has the whole content, or there is no file.
func WriteFile(name string, content []byte) error { return WriteFileWith(name, content, Options{}) }

// WriteFileWith does what WriteFile does, with options.
func WriteFileWith(name string, content []byte, options Options) error {
	w, err := CreateWith(name, options)
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := w.Write(content); err != nil {
		return err
	}
	return w.Commit()
}

// Used returns the bytes that the files of a folder take. Files of unknown size count as nothing.
func Used(folder string) int64 {
	s, err := Of(folder)
	if err != nil {
		return 0
	}
	if s == (Local{}) {
		return usedOnDisk(folder)
	}
	sum := int64(0)
	for info, err := range s.List(folder) {
		if err != nil {
			break
		}
		sum += info.Size
	}
	return sum
}
