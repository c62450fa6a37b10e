package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// walk matches the tree below one directory against a pattern, and puts the
// files that match into the lister.
type walk struct {
	lister   *lister
	base     string                 // the fixed part of the input
	isHidden func(name string) bool // names that a pattern does not see by itself
	takes    func(name string) bool // file names that are wanted
	matched  bool                   // whether any file was put
}

// glob expands a pattern.
func (l *lister) glob(pattern string) (matched bool, err error) {
	base := ""
	if filepath.IsAbs(pattern) {
		base = string(filepath.Separator)
	}
	var elements []string
	for element := range strings.SplitSeq(filepath.ToSlash(pattern), "/") {
		if _, err := filepath.Match(element, ""); err != nil {
			return false, fmt.Errorf("list inputs: %q: %w: close the bracket, or put a backslash before it", pattern, err)
		}
		switch {
		case element == "" || element == ".":
		case len(elements) == 0 && !hasMeta(element):
			base = filepath.Join(base, element)
		case element == "**" && len(elements) > 0 && elements[len(elements)-1] == "**":
		default:
			elements = append(elements, element)
		}
	}
	anything := func(string) bool { return true }
	w := walk{lister: l, base: filepath.Clean(base), isHidden: isHidden, takes: anything}
	err = w.match("", elements)
	return w.matched, err
}

// match puts the files whose path below the directory at relative matches the
// elements.
func (w *walk) match(relative string, elements []string) error {
	element, rest := elements[0], elements[1:]
	if !hasMeta(element) {
		return w.follow(filepath.Join(relative, element), rest, len(rest) == 0)
	}
	anyDepth, isEnd, below := element == "**", len(rest) == 0, rest
	if anyDepth {
		below = elements
		if !isEnd {
			if err := w.match(relative, rest); err != nil {
				return err
			}
		}
	}
	entries, err := os.ReadDir(filepath.Join(w.base, relative))
	if isAbsent(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list inputs: %w", err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if w.isHidden(name) && !strings.HasPrefix(element, ".") {
			continue
		}
		path := filepath.Join(relative, name)
		switch matches, _ := filepath.Match(element, name); {
		case !matches:
		case entry.Type().IsRegular():
			// The common case needs no system call.
			if isEnd {
				err = w.put(path)
			}
		case entry.Type()&fs.ModeSymlink != 0 && anyDepth && w.isLoop(path):
		default:
			err = w.follow(path, below, isEnd)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// follow goes on at a path that matched so far, be it a file, a directory or a
// link to either: a directory with the elements, a file only at the end.
func (w *walk) follow(relative string, elements []string, isEnd bool) error {
	info, err := os.Stat(filepath.Join(w.base, relative))
	switch {
	case isAbsent(err) && !(isEnd && w.isLostFile(relative)):
		return nil
	case err != nil:
		return fmt.Errorf("list inputs: %w", err)
	case info.IsDir() && len(elements) > 0:
		return w.match(relative, elements)
	case info.Mode().IsRegular() && isEnd:
		return w.put(relative)
	}
	return nil
}

// put hands a matching file to the lister.
func (w *walk) put(relative string) error {
	if !w.takes(filepath.Base(relative)) {
		return nil
	}
	w.matched = true
	return w.lister.put(filepath.Join(w.base, relative), relative)
}

// isLostFile reports whether the path is a symbolic link by the name of a
// wanted file. If it leads nowhere, its documents are lost.
func (w *walk) isLostFile(relative string) bool {
	info, err := os.Lstat(filepath.Join(w.base, relative))
	return err == nil && info.Mode()&fs.ModeSymlink != 0 && w.takes(info.Name())
}

// isLoop reports whether a link leads to a directory that it lies in.
func (w *walk) isLoop(relative string) bool {
	target, err := os.Stat(filepath.Join(w.base, relative))
	if err != nil || !target.IsDir() {
		return false
	}
	for relative != "." {
		relative = filepath.Dir(relative)
		above, err := os.Stat(filepath.Join(w.base, relative))
		if err == nil && os.SameFile(target, above) {
			return true
		}
	}
	return false
}

// isAbsent reports whether a path does not exist, or leads through a file.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// hasMeta reports whether a path holds a character with a meaning in globs.
func hasMeta(path string) bool { return strings.ContainsAny(path, `*?[\`) }

// isHidden reports whether shells hide the name.
func isHidden(name string) bool { return strings.HasPrefix(name, ".") }

// isHiddenOrMarked reports whether a name is hidden, or marked as not being
// data, as _SUCCESS and _temporary are.
func isHiddenOrMarked(name string) bool { return isHidden(name) || strings.HasPrefix(name, "_") }
