// Package finished reads back what a job has left in its output folder.
package finished

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/ground/setting"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/start/workspace"
	"mirrorbeam/sketch"
)

// Folder is the output folder of a job that succeeded.
type Folder struct {
	// Path is where it is.
	Path    string
	Summary Summary

	files []output.File
}

// mostOpenings bounds how often results are opened that a job replaces meanwhile.
const mostOpenings = 10

// Open reads the manifest and the summary of the results in a folder. It is an
// error if there are none, if the job did not succeed, or if a file that the
// manifest lists is not there in its full length.
func Open(path string) (f *Folder, err error) {
	success := storage.Join(path, workspace.SuccessName)
	for range mostOpenings {
		before, _ := storage.Stat(success)
		f, err = open(path)
		// A job that overwrites the results puts other files in their place.
		if after, _ := storage.Stat(success); before == (storage.Info{}) || after == (storage.Info{}) || before == after {
			break
		}
	}
	return f, err
}

// open opens the results in a folder that may be exchanged meanwhile.
func open(path string) (*Folder, error) {
	f := &Folder{Path: path}
	if _, err := storage.Stat(storage.Join(path, workspace.SuccessName)); err != nil {
		return nil, missing(path)
	}
	var manifest workspace.Manifest
	if err := f.readJSON(workspace.ManifestName, &manifest); err != nil {
		return nil, err
	}
	if err := f.readJSON(workspace.SummaryName, &f.Summary); err != nil {
		return nil, err
	}
	f.files = manifest.Files
	for _, file := range f.files {
		if err := f.check(file); err != nil {
			return nil, fmt.Errorf("results in %s are not whole: %w: run the job again", path, err)
		}
	}
	return f, nil
}

// missing is the error of a folder without the mark of success. A storage without
// folders knows none by its name.
func missing(path string) error {
	_, err := storage.Stat(path)
	var special *storage.IrregularError
	switch isSpecial := errors.As(err, &special); {
	case errors.Is(err, fs.ErrNotExist):
		return setting.Errorf("there is no folder %s: name the {output} of an earlier 'runjob run'", path)
	case err != nil && !isSpecial:
		return fmt.Errorf("open results: %w", err)
	case err == nil, !special.Mode.IsDir():
		return setting.Errorf("%s is no folder: name the {output} of an earlier 'runjob run'", path)
	case workspace.IsInterrupted(path):
		return setting.Errorf("the results in %s are not whole: the job was killed while it published them: run it again with the same {output}, which finishes that first", path)
	}
	return fmt.Errorf("no results of a job are in %s: there is no _SUCCESS in it: run the job, or wait for its end", path)
}

// check returns an error unless a file is there in its full length.
func (f *Folder) check(file output.File) error {
	info, err := storage.Stat(f.path(file))
	if err == nil && info.Size != file.Bytes {
		err = fmt.Errorf("%s has %d bytes and manifest.json says %d", file.Name, info.Size, file.Bytes)
	}
	return err
}

// Has reports whether the job has written an output, such as pairs.
func (f *Folder) Has(name string) bool {
	return slices.ContainsFunc(f.files, func(file output.File) bool { return file.Output == name })
}

// Paths returns where the files of an output are, in order.
func (f *Folder) Paths(name string) (paths []string) {
	for _, file := range f.files {
		if file.Output == name {
			paths = append(paths, f.path(file))
		}
	}
	return paths
}

// path returns where a file is. Its name may not lead out of the folder.
func (f *Folder) path(file output.File) string {
	return storage.Join(f.Path, path.Base(file.Name))
}

// readJSON reads a file of the folder that holds one JSON value.
func (f *Folder) readJSON(name string, value any) error {
	b, err := storage.ReadFile(storage.Join(f.Path, name))
	if err == nil {
		err = json.Unmarshal(b, value)
	}
	if err != nil {
		return fmt.Errorf("results in %s cannot be read: %s: %w", f.Path, name, err)
	}
	return nil
}

// Shingles returns shingles that did not count, [output.IgnoredShingles] or [output.CommonShingles], in ascending order. It is an
// error if the job has not written them.
func (f *Folder) Shingles(name string) (*sketch.Shingles, error) {
	paths := f.Paths(name)
	if len(paths) != 1 {
		return nil, fmt.Errorf("results in %s do not say which shingles were left out: run the job again with this version of the program", f.Path)
	}
	packed, err := storage.ReadFile(paths[0])
	if err != nil {
		return nil, fmt.Errorf("results in %s cannot be read: %w", f.Path, err)
	}
	return sketch.NewShingles(sketchblock.AppendSet(nil, packed))
}

// Need is an error unless the job has written at least one of the outputs.
func (f *Folder) Need(names ...string) error {
	if slices.ContainsFunc(names, f.Has) {
		return nil
	}
	return setting.Errorf("the job in %s has written only %s, and %s is required: run it again with {emit} %s",
		f.Path, strings.Join(f.Summary.Config.Emit, ", "), strings.Join(names, " or "), strings.Join(names, ","))
}
