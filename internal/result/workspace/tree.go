package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"mirrorbeam.dev/internal/schema/output"
)

// The outputs of a job in the layout [output.Tree] are folders in the output folder. A result in such a folder has a
// name with slashes. Its folders are made when it gets the name, and go with the last file in them. So all in a tree is
// of the job: results in a tree to which somebody has added a file are not replaced.

func trees(names []string) (folders []string) {
	for _, name := range names {
		if tree, _, inTree := strings.Cut(name, "/"); inTree && !slices.Contains(folders, tree) {
			folders = append(folders, tree)
		}
	}
	return folders
}

// foldersOf returns all folders of the trees that results with these names are in, in the order of their names: the
// outer ones first.
func foldersOf(names []string) []string {
	known := map[string]bool{}
	for _, name := range names {
		for folder := path.Dir(name); folder != "." && !known[folder]; folder = path.Dir(folder) {
			known[folder] = true
		}
	}
	folders := make([]string, 0, len(known))
	for folder := range known {
		folders = append(folders, folder)
	}
	slices.Sort(folders)
	return folders
}

func unlisted(name string) error {
	return foreign("in the folder of an output there is %s, which %s does not list", name, ManifestName)
}

// checkTrees returns an error if there is something else in the trees than results with these names.
func (t target) checkTrees(names []string) error {
	isResult := map[string]bool{}
	for _, name := range slices.Concat(names, foldersOf(names)) {
		isResult[name] = true
	}
	for _, tree := range trees(names) {
		err := filepath.WalkDir(t.at(tree), func(path string, entry fs.DirEntry, err error) error {
			name, _ := filepath.Rel(t.path, path) // the path is below that of the target
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case !isResult[name] || !entry.IsDir() && !entry.Type().IsRegular():
				return unlisted(name)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (p publication) names() []string {
	names := make([]string, len(p.moves))
	for i, m := range p.moves {
		names[i] = m.To
	}
	return names
}

// makeRoom makes the folders of a new result in a tree, unless they were made for the one before it. Nothing may have
// its name: two names may be one where capital letters do not count.
func (t target) makeRoom(name, before string) error {
	if !output.IsTreeName(name) {
		return nil
	}
	if t.disk.exists(t.at(name)) {
		return &os.PathError{Op: "publish", Path: t.at(name), Err: syscall.EEXIST}
	}
	if path.Dir(name) == path.Dir(before) {
		return nil
	}
	return t.disk.mkdirIn(t.path, path.Dir(name))
}

// removeParents removes the folders of a tree that a result has left empty, the inner ones first.
func (t target) removeParents(name string) error {
	if !output.IsTreeName(name) {
		return nil
	}
	for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
		err := t.disk.removeIn("rmdir", t.path, folder)
		if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// syncFolders waits until the names of results are on the device: in the folders of their trees, and in the target.
func (t target) syncFolders(names []string) error {
	for _, folder := range slices.Backward(foldersOf(names)) {
		// of results that may be missing
		if err := t.disk.sync(t.at(folder)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return t.disk.sync(t.path)
}
