package corpus

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"mirrorbeam/internal/ground/storage"
)

// pattern says which names below a folder an input matches, in a storage other than the local disk. There are
// no folders and no links there, only files.
type pattern struct {
	folder   string
	elements []string
	isHidden func(name string) bool
	takes    func(name string) bool
	names    bool // the pattern matches the first part of the names of the wanted files
}

func folderPattern(folder string, takes func(name string) bool) pattern {
	return pattern{folder: folder, elements: []string{"**"}, isHidden: isHiddenOrMarked, takes: takes}
}

func globPattern(input string) (pattern, error) {
	scheme, rest, _ := strings.Cut(input, "://")
	fixed, elements, err := parsePattern(rest)
	if err != nil {
		return pattern{}, fmt.Errorf("%q: %w: close the bracket, or put a backslash before it", input, err)
	}
	return pattern{
		folder: scheme + "://" + strings.Join(fixed, "/"), elements: elements, isHidden: isHidden, takes: anything, names: namesFiles(elements),
	}, nil
}

// inStorage expands an input in a storage other than the local disk. It follows the rules of the local disk.
func (l *lister) inStorage(ctx context.Context, input string) (matched bool, err error) {
	s, err := storage.Of(input)
	switch {
	case err != nil:
		return false, fmt.Errorf("list inputs: %w: download the files, and name them", err)
	case s == (storage.Local{}):
		return false, fmt.Errorf("list inputs: %q is no address: name a path, or a bucket as in s3://bucket/folder", input)
	}
	switch _, err := s.Stat(input); {
	case err == nil:
		return true, l.put(input, path.Base(input), 0)
	case !errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("list inputs: %w", err)
	}
	if hasMeta(input) {
		var p pattern
		if p, err = globPattern(input); err == nil {
			matched, err = l.below(ctx, s, p)
		}
	} else {
		matched, err = l.folders(func(takes func(string) bool) (bool, error) { return l.below(ctx, s, folderPattern(input, takes)) })
	}
	if err != nil {
		return false, fmt.Errorf("list inputs: %w", err)
	}
	return matched, nil
}

// below puts the files whose names match a pattern.
func (l *lister) below(ctx context.Context, s storage.Storage, p pattern) (matched bool, err error) {
	start := strings.TrimSuffix(p.folder, "/") + "/"
	if p.elements[0] == "**" {
		l.stored = append(l.stored, start)
	}
	inFolder := map[string][]string{} // the files that say whether a job has written there, by the whole name of the folder
	var found []storage.Info
	for info, err := range s.List(p.folder) {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return false, err
		}
		folder, name := cutFolder(info.Name)
		if isOfResults(name) {
			inFolder[folder] = append(inFolder[folder], name)
		}
		relative := strings.TrimPrefix(info.Name, start)
		switch {
		case !p.matches(p.elements, strings.Split(relative, "/")):
		case p.takes(name):
			found = append(found, info)
		default:
			l.passing.add(name)
		}
	}
	results := map[string]map[string]bool{}
	for _, info := range found {
		folder, name := cutFolder(info.Name)
		if _, known := results[folder]; !known && !p.names {
			if results[folder], err = resultsIn(folder, inFolder[folder]); err != nil {
				return false, err
			}
		}
		if results[folder][name] {
			return false, holdsResults(folder, name)
		}
		if err := l.putListed(info.Name, strings.TrimPrefix(info.Name, start), 0, info); err != nil {
			return false, err
		}
	}
	return len(found) > 0, nil
}

// cutFolder cuts a name before its last part.
func cutFolder(whole string) (folder, name string) {
	slash := strings.LastIndexByte(whole, '/')
	return whole[:slash], whole[slash+1:]
}

// matches reports whether the parts of a name match elements.
func (p pattern) matches(elements, parts []string) bool {
	if len(elements) == 0 || len(parts) == 0 {
		return len(elements) == 0 && len(parts) == 0
	}
	element, part := elements[0], parts[0]
	matches, _ := filepath.Match(element, part)
	if !matches || p.isHidden(part) && !strings.HasPrefix(element, ".") || isLeftover(part) && hasMeta(element) {
		return element == "**" && len(elements) > 1 && p.matches(elements[1:], parts)
	}
	if element != "**" {
		return p.matches(elements[1:], parts[1:])
	}
	return p.matches(elements[1:], parts) || p.matches(elements, parts[1:]) || len(elements) == 1 && len(parts) == 1
}
