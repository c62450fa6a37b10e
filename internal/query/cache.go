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

	"mirrorbeam/internal/storage"
)

// mapIndex maps a file of an index into memory. A file that is not on the local disk is copied there first, to the
// user's folder for caches, and the copy serves until the file changes.
func mapIndex(path string) (storage.Mapping, error) {
	if storage.Scheme(path) == "" {
		return storage.Map(path)
	}
	info, err := storage.Stat(path)
	if err != nil {
		return storage.Mapping{}, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return storage.Map(path) // it is read into memory
	}
	copied, err := cached(filepath.Join(cache, "runjob"), info)
	if err != nil {
		return storage.Mapping{}, fmt.Errorf("copy %s to the local disk: %w", path, err)
	}
	return storage.Map(copied)
}

// cached returns the path of a copy of a file in a folder, and makes the copy if it is not there. Copies of other
// generations of the file go.
func cached(folder string, info storage.Info) (string, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	of := hashed(info.Name) + "-"
	path := filepath.Join(folder, of+hashed(info.Generation+" "+strconv.FormatInt(info.Size, 10)))
	if copied, err := os.Stat(path); err == nil && copied.Size() == info.Size {
		return path, nil
	}
	if err := fetch(info, path); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		if name := filepath.Join(folder, entry.Name()); strings.HasPrefix(entry.Name(), of) && name != path {
			os.Remove(name) // whoever has it mapped keeps it
		}
	}
	return path, nil
}

// fetch copies a file to a path of the local disk, at once.
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
