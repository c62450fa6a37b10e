package storage

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// On the local disk, the name of an unfinished file ends with a random part and a suffix. So two writers of
// one name never use the same file.
const (
	unfinished     = ".partial"
	randomLength   = 8
	randomAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" // alphabet of rand.Text
)

func unfinishedName(path string) string {
	return path + "-" + rand.Text()[:randomLength] + unfinished
}

// isUnfinished reports whether a path has the form that unfinishedName makes.
func isUnfinished(path string) bool {
	stem, found := strings.CutSuffix(path, unfinished)
	dash := len(stem) - randomLength - 1
	return found && dash > 0 && stem[dash] == '-' && strings.Trim(stem[dash+1:], randomAlphabet) == ""
}

// RemoveUnfinished removes the unfinished files of a folder of the local disk, which processes that were killed have
// left. Nobody else may be writing to the folder. A missing folder has none.
func RemoveUnfinished(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if entry.Type().IsRegular() && isUnfinished(entry.Name()) {
			err = errors.Join(err, os.Remove(filepath.Join(folder, entry.Name())))
		}
	}
	return err
}

type localWriter struct {
	path    string
	options Options
	file    *os.File // nil when it is done
}

// Create makes an unfinished file next to the final one.
func (Local) Create(path string, options Options) (Writer, error) {
	file, err := os.OpenFile(unfinishedName(path), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, naming(path, err)
	}
	return &localWriter{path, options, file}, nil
}

// naming makes an error name the final file, since nobody knows the unfinished name.
func naming(path string, err error) error {
	if failed, is := errors.AsType[*fs.PathError](err); is {
		failed.Path = path
	}
	return err
}

func (w *localWriter) Write(b []byte) (int, error) {
	n, err := w.file.Write(b)
	return n, naming(w.path, err)
}

// ReadFrom copies by the system's own means, if there are any.
func (w *localWriter) ReadFrom(r io.Reader) (int64, error) {
	n, err := w.file.ReadFrom(r)
	return n, naming(w.path, err)
}

// Commit renames the file. Its name appears with the whole content or not at all.
func (w *localWriter) Commit() error {
	file := w.file
	w.file = nil
	var err error
	if w.options.Durable {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = w.rename(file.Name())
	}
	if err == nil && w.options.Durable {
		err = syncFolder(w.path)
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return naming(w.path, err)
}

// rename gives the file its name. A hard link, unlike a rename, replaces no other file.
func (w *localWriter) rename(from string) error {
	if !w.options.IfAbsent {
		return os.Rename(from, w.path)
	}
	err := os.Link(from, w.path)
	if err == nil {
		os.Remove(from)
	}
	return err
}

func (w *localWriter) Abort() {
	if w.file != nil {
		w.file.Close()
		os.Remove(w.file.Name())
		w.file = nil
	}
}

// syncFolder waits until the names in the folder of a path are on the device. It is no error if the file
// system cannot do that.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, folder.Close())
}
