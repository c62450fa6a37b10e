package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"mirrorbeam/internal/ground/setting"
	"mirrorbeam/internal/ground/storage"
)

// openTempFolder makes the run's folder of temporary files, wherever it is.
func (w *Workspace) openTempFolder(parent string) (err error) {
	if storage.Scheme(parent) == "" {
		err = w.openTemp(parent)
	} else if b, held := openBucketTemp(parent, w.token, w.Output); held == nil {
		w.temp, w.Temp = b, b.folder
	} else {
		err = held
	}
	if err != nil {
		return setting.Errorf("the temporary folder %s cannot be used: %w: name another one with {temp}", parent, err)
	}
	return nil
}

// openTemp makes the run's own folder of temporary files. It first takes a lock beside the folder. The lock
// tells other runs that this run is alive.
func (w *Workspace) openTemp(parent string) error {
	// Another run may have made the parent, and may just be removing it.
	for range 3 {
		err := w.makeTemp(parent)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return w.makeTemp(parent)
}

func (w *Workspace) makeTemp(parent string) error {
	parent, err := filepath.Abs(parent)
	if err != nil {
		return err
	}
	made, err := makeFolder(parent, 0o755)
	w.made = append(w.made, made...)
	if err != nil {
		return err
	}
	if err := storage.CheckFolder(parent); err != nil {
		return err
	}
	sweeper{w.disk, w.Output}.clearTemp(parent)
	temp := filepath.Join(parent, runPrefix+w.token)
	lock, err := storage.Lock(temp+lockSuffix, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	w.Temp, w.temp = temp, &tempFolder{w.disk, temp, lock}
	if _, err := lock.Write(w.record().encode()); err != nil {
		return err
	}
	if err := w.record().mark(w.disk, temp); err != nil {
		return err
	}
	return checkRoom(temp)
}

// tempFolder is a run's folder of temporary files on the local disk, with the lock beside it.
type tempFolder struct {
	disk disk
	path string
	lock *os.File
}

func (f *tempFolder) close(isNeeded bool) {
	if !isNeeded && f.disk.removeFolder(f.path) == nil {
		_ = f.disk.remove(f.path + lockSuffix) // kept otherwise: it leads the next job to the folder
	}
	f.lock.Close()
}
