package query

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"mirrorbeam/internal/ground/storage"
)

// remake is the remedy of an index that a job has left.
const remake = "run the job again"

// mapIndex maps a file of the index that a job has left. A file that is not on the local disk is copied there first, to the
// user's folder for caches, and the copy serves until the file changes.
func mapIndex(path string) (mapped storage.Mapping, remedy string, err error) {
	if storage.Scheme(path) == "" {
		mapped, err = storage.Map(path)
		return mapped, remake, err
	}
	info, err := storage.Stat(path)
	if err != nil {
		return storage.Mapping{}, "", err
	}
	cache, err := cacheFolder()
	if err != nil {
		mapped, err = storage.Map(path) // it is read into memory
		return mapped, remake, err
	}
	of := item{info.Name, info.Generation + " " + strconv.FormatInt(info.Size, 10), 0}
	copied, err := of.get(cache, func(copied string) error { return fetch(info, copied) })
	if err != nil {
		return storage.Mapping{}, "", fmt.Errorf("copy %s to the local disk: %w", path, err)
	}
	mapped, err = storage.Map(copied)
	return mapped, fmt.Sprintf("remove %s, its copy, and ask again; if that does not help, %s", copied, remake), err
}

// mapCached maps a file of an index that a query has made in the user's folder for caches.
func mapCached(path string) (mapped storage.Mapping, remedy string, err error) {
	mapped, err = storage.Map(path)
	return mapped, fmt.Sprintf("remove %s and ask again, which makes it anew", path), err
}

func cacheFolder() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "runjob"), err
}

// item is a file of a cache: what it is made of, in which version, and which part of the whole it is.
type item struct {
	of, version string
	part        int
}

// get returns the path of the item in a folder. If it is not there, make makes it, at once. Other versions of the item go.
func (i item) get(folder string, make func(path string) error) (string, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	of := hashed(i.of) + "-"
	version := of + hashed(i.version) + "-"
	path := filepath.Join(folder, version+strconv.Itoa(i.part))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := make(path); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		if name := entry.Name(); strings.HasPrefix(name, of) && !strings.HasPrefix(name, version) {
			os.Remove(filepath.Join(folder, name)) // whoever has it mapped keeps it
		}
	}
	return path, nil
}

func fetch(info storage.Info, path string) error {
	file, err := storage.Reopen(info)
	if err != nil {
		return err
	}
	defer file.Close()
	w, err := storage.Create(path)
	if err != nil {
		return err
	}
	defer w.Abort()
	stream := file.From(0)
	n, err := io.Copy(w, stream)
	if err = errors.Join(err, stream.Close()); err != nil {
		return err
	}
	if n != info.Size {
		return io.ErrUnexpectedEOF
	}
	return w.Commit()
}

// hashed returns a name for a text of any length.
func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}
