package state

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"mirrorbeam.dev/internal/storage"
)

// checkOwners refuses a local folder in which other users could exchange the files of the state.
func checkOwners(folder string) error {
	if storage.Scheme(folder) != "" {
		return nil
	}
	parent := filepath.Dir(folder)
	if err := storage.CheckFolder(parent); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("its parent folder %s: %w: choose a state in a folder of your own", parent, err)
	}
	for _, path := range []string{folder, filepath.Join(folder, segmentsName)} {
		if err := storage.CheckOwner(path); err != nil {
			return fmt.Errorf("%s: %w: name another folder", path, err)
		}
	}
	return nil
}

// checkKinds refuses a local folder in which a link or a folder has the name of a file of a state.
func checkKinds(folder string) error {
	if storage.Scheme(folder) != "" {
		return nil
	}
	for _, within := range []string{"", segmentsName} {
		entries, err := os.ReadDir(filepath.Join(folder, within))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, entry := range entries {
			name := storage.Join(within, entry.Name())
			path := filepath.Join(folder, name)
			switch {
			case name == segmentsName && !entry.IsDir():
				return brokenError{fmt.Errorf("%s is no folder, as a state has there: remove it", path)}
			case name != segmentsName && isOfState(name) && !entry.Type().IsRegular():
				return brokenError{fmt.Errorf("%w: remove it", &storage.IrregularError{Path: path, Mode: entry.Type()})}
			}
		}
	}
	return nil
}

// infos yields the files of a folder, by their names relative to it. The folder itself may be a link.
func infos(folder string) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		root := folder
		s, err := storage.Of(folder)
		if err == nil && storage.Scheme(folder) == "" {
			root, err = filepath.EvalSymlinks(folder)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return
		case err != nil:
			yield(storage.Info{}, err)
			return
		}
		for info, err := range s.List(root) {
			info.Name = relative(root, info.Name)
			if !yield(info, err) || err != nil {
				return
			}
		}
	}
}

func isOfState(name string) bool {
	_, isGeneration := generationNumber(name)
	return isGeneration || name == lockName || otherNames.MatchString(name)
}

// checkFolder refuses a folder that holds other things than a state.
func checkFolder(folder string, all listed) error {
	foreign := all.foreign
	if storage.Scheme(folder) == "" {
		entries, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, entry := range entries {
			if entry.IsDir() && entry.Name() != segmentsName && entry.Name() != formerSegments {
				foreign = append(foreign, entry.Name())
			}
		}
	}
	if len(foreign) > 0 {
		return fmt.Errorf("%s contains %s, which is not part of a state: name a folder that is empty or new", folder,
			slices.Min(foreign))
	}
	return nil
}
