package corpus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"mirrorbeam.dev/internal/storage"
)

// walk matches the tree below one directory against a pattern, and collects the matching files.
//
// It visits the folders breadth first, and folders behind symbolic links last. It enters a folder once for
// each rest of the pattern. So the time is bounded whatever links there are, and a folder is known by the
// path with the fewest links.
type walk struct {
	lister *lister
	base   string       // the fixed part of the input
	all    bool         // the input is a folder: what is passed over is noted
	names  bool         // the pattern matches the first part of the names of the wanted files
	found  []*candidate // the matching files

	waiting, linked []place // to be entered: first the places without a further link
	entered         map[visit]bool
}

// place is a folder below the base, with the rest of the pattern that applies there.
type place struct {
	relative string
	elements []string
	links    int
	results  map[string]bool // files there that a job has written; nil for none
}

// visit is a folder, with the number of elements of the pattern that are left there.
type visit struct {
	folder   Identity
	elements int
}

func (l *lister) glob(ctx context.Context, pattern string) (matched bool, err error) {
	base := ""
	if filepath.IsAbs(pattern) {
		base = string(filepath.Separator)
	}
	fixed, elements, err := parsePattern(filepath.ToSlash(pattern))
	if err != nil {
		return false, badPattern(pattern, err)
	}
	base = filepath.Clean(filepath.Join(append([]string{base}, fixed...)...))
	return l.walk(ctx, walk{base: base}, elements, nil)
}

func badPattern(pattern string, err error) error {
	return fmt.Errorf("list inputs: %q: %w: close the bracket, or put a backslash before it", pattern, err)
}

func (l *lister) walk(ctx context.Context, w walk, elements []string, kinds []fileKind) (matched bool, err error) {
	w.lister, w.names = l, namesFiles(elements)
	if err := checkAbove(filepath.ToSlash(storage.AbsoluteIn(l.working, w.base)), false, hasFile); err != nil {
		return false, fmt.Errorf("list inputs: %w", err)
	}
	if err := w.run(ctx, elements); err != nil {
		return false, err
	}
	if matched, err = l.choose(w.found, kinds); err != nil {
		return false, fmt.Errorf("list inputs: %w", err)
	}
	return matched, nil
}

func hasFile(folder, suffix string) bool {
	entries, _ := os.ReadDir(folder)
	return slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return strings.HasSuffix(entry.Name(), suffix) })
}

// parsePattern cuts a pattern at its slashes. Fixed has the elements before the first one with a special
// meaning in globs. Elements has the rest.
func parsePattern(pattern string) (fixed, elements []string, err error) {
	for element := range strings.SplitSeq(pattern, "/") {
		if _, err := filepath.Match(element, ""); err != nil {
			return nil, nil, err
		}
		switch {
		case element == "" || element == ".":
		case len(elements) == 0 && !hasMeta(element):
			fixed = append(fixed, element)
		case element == "**" && len(elements) > 0 && elements[len(elements)-1] == "**":
		default:
			elements = append(elements, element)
		}
	}
	return fixed, elements, nil
}

// namesFiles reports whether a pattern matches the first part of the names of the wanted files.
func namesFiles(elements []string) bool { return !hasMeta(elements[len(elements)-1][:1]) }

func (w *walk) run(ctx context.Context, elements []string) error {
	links, err := linksTo(w.base)
	if err != nil {
		return err
	}
	w.entered = map[visit]bool{}
	w.linked = []place{{elements: elements, links: links}}
	for len(w.linked) > 0 {
		w.waiting, w.linked = w.linked, nil
		for len(w.waiting) > 0 {
			next := w.waiting[0]
			w.waiting = w.waiting[1:]
			if err := ctx.Err(); err != nil {
				return err
			}
			err := w.enter(next)
			if next.relative != "" && errors.Is(err, os.ErrPermission) {
				w.see(next.relative, next.links, advise(err, "folder"))
				w.found[len(w.found)-1].isFolder, err = true, nil
			}
			if err != nil {
				return fmt.Errorf("list inputs: %w", advise(err, "folder"))
			}
		}
	}
	return nil
}

func (w *walk) enter(p place) error {
	folder := filepath.Join(w.base, p.relative)
	info, err := os.Stat(folder)
	if isAbsent(err) || err == nil && !w.isNew(p, folder, storage.IdentityOf(info)) {
		return nil
	}
	if err != nil {
		return err
	}
	element, rest := p.elements[0], p.elements[1:]
	if !hasMeta(element) {
		return w.follow(p, element, rest, len(rest) == 0)
	}
	if element == "**" && len(rest) > 0 {
		w.waiting = append(w.waiting, place{relative: p.relative, elements: rest, links: p.links})
	}
	entries, err := os.ReadDir(folder)
	if isAbsent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if !w.names {
		has := map[string]bool{}
		for _, entry := range entries {
			has[entry.Name()] = true
		}
		if p.results, err = resultsIn(folder, has); err != nil {
			return err
		}
	}
	for _, entry := range entries {
		for i := range tableLogs {
			if log := &tableLogs[i]; entry.Name() == log.folder &&
				hasFile(filepath.Join(folder, log.folder), log.suffix) {
				return log.refusal(folder)
			}
		}
		if err := w.entry(p, entry); err != nil {
			return err
		}
	}
	return nil
}

// isNew reports whether a folder has not been entered yet with that many elements left. It notes the visit.
func (w *walk) isNew(p place, path string, folder Identity) bool {
	v := visit{folder, len(p.elements)}
	if w.entered[v] {
		return false
	}
	w.entered[v] = folder != Identity{}
	if _, known := w.lister.searched[folder]; !known && p.elements[0] == "**" && folder != (Identity{}) {
		w.lister.searched[folder] = path
	}
	return true
}

func (w *walk) entry(p place, entry fs.DirEntry) error {
	element, below := p.elements[0], p.elements[1:]
	name, isEnd := entry.Name(), len(below) == 0
	if element == "**" {
		below = p.elements
	}
	matches, _ := filepath.Match(element, name)
	reason := reasonOf(name)
	switch {
	case w.all && reason != "":
		w.pass(filepath.Join(p.relative, name), reason)
		return nil
	case !matches, reason == leftOver, !w.all && isHidden(name) && !strings.HasPrefix(element, "."):
		return nil
	case entry.Type().IsRegular():
		// The common case needs no system call.
		if isEnd {
			w.put(p, name, p.links)
		}
		return nil
	}
	return w.follow(p, name, below, isEnd)
}

func (w *walk) pass(relative, reason string) {
	_ = filepath.WalkDir(filepath.Join(w.base, relative), func(path string, entry fs.DirEntry, err error) error {
		if info, _ := os.Stat(path); err == nil && !entry.IsDir() && (info == nil || !info.IsDir()) {
			below, _ := filepath.Rel(w.base, path) // it is below
			w.lister.pass(&candidate{File: File{Path: path}, relative: filepath.ToSlash(below)}, reason)
		}
		return nil // what cannot be entered is not read
	})
}

// follow goes on at a name that has matched so far. The name may be a file, a directory or a link to either.
// Elements that are left apply in a directory. A file matches only if isEnd is set.
func (w *walk) follow(p place, name string, elements []string, isEnd bool) error {
	relative := filepath.Join(p.relative, name)
	path := filepath.Join(w.base, relative)
	direct, err := os.Lstat(path)
	if isAbsent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	info, links, queue := direct, p.links, &w.waiting
	if direct.Mode()&fs.ModeSymlink != 0 {
		links, queue = links+1, &w.linked
		info, err = os.Stat(path)
		isLost := isAbsent(err) || errors.Is(err, syscall.ELOOP)
		switch {
		case isLost && isEnd:
			w.see(relative, links,
				errors.New("the symbolic link is broken: its documents are lost: fix the link or remove it"))
			return nil
		case isLost:
			return nil
		case isEnd && errors.Is(err, os.ErrPermission):
			w.see(relative, links, advise(err, "file"))
			return nil
		case err != nil:
			return err
		}
	}
	switch {
	case info.IsDir() && len(elements) > 0:
		*queue = append(*queue, place{relative: relative, elements: elements, links: links})
	case info.Mode().IsRegular() && isEnd:
		w.put(p, name, links)
	case !info.IsDir() && isEnd:
		w.see(relative, links, irregular(path, info.Mode()))
	}
	return nil
}

func (w *walk) see(relative string, links int, fault error) {
	c := &candidate{
		File:     File{Path: filepath.Join(w.base, relative)},
		relative: filepath.ToSlash(relative),
		links:    links,
		unpacks:  !w.all,
	}
	if fault != nil {
		c.Fault = FaultText(c.Path, fault)
	}
	w.found = append(w.found, c)
}

func (w *walk) put(p place, name string, links int) {
	w.see(filepath.Join(p.relative, name), links, nil)
	w.found[len(w.found)-1].isResult = p.results[name]
}

func hasMeta(path string) bool { return strings.ContainsAny(path, `*?[\`) }

func isHidden(name string) bool { return strings.HasPrefix(name, ".") }

func holdsResults(folder, name string) error {
	return fmt.Errorf(
		"%s contains results of an earlier job, such as %s: name the files that you want, such as %s, "+
			"or leave the folder out",
		folder, name, storage.Join(folder, "unique-*"))
}

const manifestName, summaryName, successName = "manifest.json", "summary.json", "_SUCCESS"

// resultsIn returns the names of the files that a job has written in a folder, according to its manifest. It
// returns nil if no job has. Has says which names are in the folder.
func resultsIn(folder string, has map[string]bool) (map[string]bool, error) {
	if !has[manifestName] || !has[summaryName] && !has[successName] {
		return nil, nil
	}
	b, err := storage.ReadFile(storage.Join(folder, manifestName))
	if isAbsent(err) {
		return nil, nil // a job is replacing it right now
	}
	if err != nil {
		return nil, fmt.Errorf("check whether %s contains results of a job: %w", folder, err)
	}
	var manifest struct {
		Files []struct{ Name, Output string }
	}
	if json.Unmarshal(b, &manifest) != nil {
		return nil, nil // the manifest of another program
	}
	results := map[string]bool{}
	for _, file := range manifest.Files {
		if file.Name != "" && file.Output != "" {
			results[file.Name] = true
		}
	}
	if len(results) == 0 {
		return nil, nil
	}
	results[manifestName], results[summaryName] = true, true
	return results, nil
}

// isLeftover reports whether a killed job has left a file or folder: it has the name of a job's working
// folder, "run-" and 26 random characters, or of the lock of such a folder.
func isLeftover(name string) bool {
	const randomLength, alphabet = 26, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	random, isRun := strings.CutPrefix(strings.TrimPrefix(strings.TrimSuffix(name, ".lock"), ".partial-"), "run-")
	return isRun && len(random) == randomLength && strings.Trim(random, alphabet) == ""
}
