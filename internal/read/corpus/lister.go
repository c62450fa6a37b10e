package corpus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mirrorbeam/internal/ground/storage"
)

// lister collects the files that inputs stand for.
type lister struct {
	format   string // see Options
	stdin    string
	found    map[string]candidate // by absolute path
	searched map[Identity]string  // folders searched at any depth
	stored   []string             // such folders in other storages, each with a slash at its end
	passed   PassedFiles          // files of folders that the format does not take
	passing  PassedFiles          // found by the present search
	count    atomic.Int64         // the length of found, for other goroutines to read
}

// quiet is how long listing goes on before it reports progress.
const quiet = 5 * time.Second

// report calls progress from time to time, until the caller calls the function that it returns.
func (l *lister) report(progress func(files int64)) (end func()) {
	if progress == nil {
		return func() {}
	}
	done := make(chan struct{})
	var reporter sync.WaitGroup
	reporter.Go(func() {
		ticker := time.NewTicker(quiet)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				progress(l.count.Load())
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		reporter.Wait()
	}
}

// add expands one input and reports whether it stands for any file.
func (l *lister) add(ctx context.Context, input string) (matched bool, err error) {
	switch {
	case input == "":
		return false, errors.New("list inputs: an input is empty")
	case input == Stdin && l.stdin != "":
		return true, l.put(l.stdin, Stdin, 0)
	case input == Stdin:
		return false, errors.New("list inputs: the standard input cannot be read here: write it to a file first")
	case strings.Contains(input, "://"):
		return l.inStorage(ctx, input)
	}
	info, err := os.Stat(input)
	switch {
	case err == nil && info.IsDir():
		return l.folders(func(takes func(string) bool) (bool, error) { return l.folder(ctx, filepath.Clean(input), takes) })
	case err == nil && info.Mode().IsRegular():
		path := filepath.Clean(input)
		links, err := linksTo(path)
		if err != nil {
			return false, err
		}
		return true, l.put(path, filepath.Base(path), links)
	case err == nil:
		return false, fmt.Errorf("list inputs: %w", irregular(input, info.Mode()))
	case hasMeta(input):
		return l.glob(ctx, input)
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	}
	return false, fmt.Errorf("list inputs: %w", err)
}

// linksTo returns 1 if a path leads through symbolic links, else 0. A missing file gives 0.
func linksTo(path string) (int, error) {
	real, err := filepath.EvalSymlinks(path)
	switch {
	case isAbsent(err), err == nil && real == path:
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("list inputs: %w", err)
	}
	return 1, nil
}

// put records the file at a path under its name relative to the input.
func (l *lister) put(path, relative string, links int) error {
	return l.putListed(path, relative, links, storage.Info{})
}

// putListed does what put does, for a file that its storage has described.
func (l *lister) putListed(path, relative string, links int, listed storage.Info) error {
	absolute, err := storage.Absolute(path)
	if err != nil {
		return fmt.Errorf("list inputs: %w", err)
	}
	c := candidate{File: File{Path: path, Name: dropCompressionSuffix(filepath.ToSlash(relative))}, links: links, listed: listed}
	if known, ok := l.found[absolute]; ok && known.compare(c) <= 0 {
		return nil
	}
	l.found[absolute] = c
	l.count.Store(int64(len(l.found)))
	return nil
}

// dropCompressionSuffix makes a compressed file and its plain copy share a name.
func dropCompressionSuffix(name string) string {
	for _, suffix := range []string{".gz", ".zst"} {
		if stem := len(name) - len(suffix); stem > 0 && strings.EqualFold(name[stem:], suffix) {
			return name[:stem]
		}
	}
	return name
}

// folders searches a folder for the files of the format, by their names.
func (l *lister) folders(search func(takes func(name string) bool) (matched bool, err error)) (matched bool, err error) {
	l.passing = PassedFiles{}
	defer func() { l.passed = l.passed.Add(l.passing) }()
	wanted, isFormat := ParseFormat(l.format)
	if isFormat {
		return search(func(name string) bool {
			named, known := nameFormat(name)
			return wanted == Text || known && named == wanted
		})
	}
	// A folder of data may also hold notes and pages about the data. These are not documents.
	for _, whole := range []bool{false, true} {
		clear(l.passing)
		matched, err = search(func(name string) bool {
			named, known := nameFormat(name)
			return known && named.IsWhole() == whole
		})
		if matched || err != nil {
			break
		}
	}
	return matched, err
}

// PassedFiles counts files of searched folders that no format takes, by the endings of their names.
type PassedFiles map[string]int64

// What stands for names without an ending, for endings that are no words, and for those beyond mostEndings.
const (
	noEnding    = "(none)"
	otherEnding = "(other)"
	mostEndings = 100
)

// add counts a file.
func (p PassedFiles) add(name string) {
	ending := nameEnding(name)
	const longest, letters = 12, "abcdefghijklmnopqrstuvwxyz0123456789_-"
	switch _, known := p[ending]; {
	case ending == "" || ending == ".":
		ending = noEnding
	case len(ending) > longest, strings.Trim(ending[1:], letters) != "", !known && len(p) >= mostEndings:
		ending = otherEnding
	}
	p[ending]++
}

// Add adds other counts, and returns the sum. The receiver may be nil.
func (p PassedFiles) Add(other PassedFiles) PassedFiles {
	if p == nil && len(other) > 0 {
		p = PassedFiles{}
	}
	for ending, files := range other {
		p[ending] += files
	}
	return p
}
