package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mirrorbeam.dev/internal/storage"
)

type lister struct {
	Options
	working  string                // the working folder
	found    map[string]*candidate // by absolute path
	searched map[Identity]string   // folders searched at any depth
	stored   []string              // such folders in other storages, each with a slash at its end
	passed   map[string]passed     // files that are passed over, by absolute path
	matched  map[string]bool       // patterns that match a file
	sides    map[string]File       // files that describe others, in the same way
	input    int                   // the number of the present input
	count    atomic.Int64          // the length of found, for other goroutines to read
}

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

// add expands one input. It reports whether it stands for any file, and whether it is the name of one.
func (l *lister) add(ctx context.Context, input string) (matched, isFile bool, err error) {
	switch {
	case input == "":
		return false, false, errors.New("list inputs: an input is empty")
	case input == Stdin && l.Stdin != "":
		l.put(&candidate{File: File{Path: l.Stdin, Name: Stdin}, relative: Stdin, unpacks: true})
		return true, true, nil
	case input == Stdin:
		return false, false, errors.New("list inputs: the standard input cannot be read here: write it to a file first")
	case strings.Contains(input, "://"):
		return l.inStorage(ctx, input)
	}
	info, err := os.Stat(input)
	switch {
	case err == nil && info.IsDir():
		matched, err = l.walk(ctx, walk{base: filepath.Clean(input), all: true}, []string{"**"}, l.kinds())
		return matched, false, err
	case err == nil && info.Mode().IsRegular():
		path := filepath.Clean(input)
		links, err := linksTo(path)
		if err != nil {
			return false, false, err
		}
		matched, err = l.choose([]*candidate{{
			File:     File{Path: path},
			relative: filepath.Base(path),
			links:    links,
			unpacks:  true,
		}}, nil)
		return matched, true, err
	case err == nil:
		return false, false, fmt.Errorf("list inputs: %w", irregular(input, info.Mode()))
	case hasMeta(input):
		matched, err = l.glob(ctx, input)
		return matched, false, err
	case errors.Is(err, os.ErrNotExist):
		return false, false, nil
	}
	return false, false, fmt.Errorf("list inputs: %w", advise(err, "folder"))
}

// plainInput returns an input with the usual name of its storage: s3 for s3a, gs for gcs, a path for file://.
func plainInput(input string) string {
	scheme, rest, _ := strings.Cut(input, "://")
	switch strings.ToLower(scheme) {
	case "s3a", "s3n":
		return "s3://" + rest
	case "gcs":
		return "gs://" + rest
	case "file":
		if path, err := url.PathUnescape(strings.TrimPrefix(rest, "localhost")); err == nil {
			return path
		}
	}
	return input
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

func (l *lister) put(c *candidate) {
	c.absolute, c.Input = storage.AbsoluteIn(l.working, c.Path), l.input
	c.Name, c.Below = dropCompressionSuffix(c.relative), len(c.relative)
	if known, is := l.found[c.absolute]; is {
		if c.Input = known.Input; known.compare(c) <= 0 {
			return
		}
	}
	l.found[c.absolute] = c
	l.count.Store(int64(len(l.found)))
}

// dropCompressionSuffix makes a compressed file and its plain copy share a name.
func dropCompressionSuffix(name string) string {
	for _, about := range compressions {
		if stem := len(name) - len(about.suffix); stem > 0 && strings.EqualFold(name[stem:], about.suffix) {
			return name[:stem]
		}
	}
	return name
}

// MostListBytes is the size of the largest list of words, sources or sites. It is held in memory.
const MostListBytes = 256 << 20

// ReadList returns a list with an item on each line, such as stop words, which may be plain, gzip or zstd. All its
// lines end with "\n", whatever they end with in the file. It is an error if the file is no text, or too large.
func ReadList(path string) (string, error) {
	content, err := readList(path)
	if _, isOther := errors.AsType[*storage.IrregularError](err); isOther {
		return "", fmt.Errorf("%w: write the list to a file, and name that", err)
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", fmt.Errorf("%w: check the path", err)
	case errors.Is(err, os.ErrPermission):
		return "", fmt.Errorf("%w: make the file readable", err)
	case err != nil:
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	content = bytes.TrimPrefix(content, []byte(ByteOrderMark))
	if bytes.IndexByte(content, '\r') >= 0 {
		content = bytes.ReplaceAll(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	}
	return string(content), nil
}

var errLongList = fmt.Errorf("the list has more than %d bytes: name a list with an item on each line", MostListBytes)

func readList(path string) ([]byte, error) {
	file, err := storage.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // it was only read
	if info, err := file.Stat(); err != nil {
		return nil, err
	} else if info.Size > MostListBytes {
		return nil, errLongList
	}
	stored := file.From(0)
	defer stored.Close()
	decoded, err := Decoded(stored)
	if err != nil {
		return nil, err
	}
	defer decoded.Close()
	content, err := io.ReadAll(io.LimitReader(decoded, MostListBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(content) > MostListBytes:
		return nil, errLongList
	case bytes.IndexByte(content, 0) >= 0:
		return nil, errors.New(
			"the file is no text, since it has a zero byte: name a list with an item on each line, in UTF-8")
	}
	return content, nil
}

func (l *lister) inStorage(ctx context.Context, input string) (matched, isFile bool, err error) {
	s, err := storage.Of(input)
	switch {
	case err != nil:
		return false, false, fmt.Errorf("list inputs: %w: download the files, and name them", err)
	case s == (storage.Local{}):
		return false,
			false, fmt.Errorf("list inputs: %q is no address: name a path, or a bucket as in s3://bucket/folder", input)
	}
	switch info, err := s.Stat(input); {
	case err == nil:
		name := path.Base(storage.WithoutQuery(input))
		matched, err = l.choose([]*candidate{{File: File{Path: input}, relative: name, listed: info, unpacks: true}},
			nil)
		return matched, true, err
	case !errors.Is(err, fs.ErrNotExist):
		return false, false, fmt.Errorf("list inputs: %w", err)
	}
	folder, elements, kinds := input, []string{"**"}, l.kinds()
	if hasMeta(input) {
		var fixed []string
		scheme, rest, _ := strings.Cut(input, "://")
		if fixed, elements, err = parsePattern(rest); err != nil {
			return false, false, badPattern(input, err)
		}
		folder, kinds = scheme+"://"+strings.Join(fixed, "/"), nil
	}
	if matched, err = l.below(ctx, s, folder, elements, kinds); err != nil {
		return false, false, fmt.Errorf("list inputs: %w", err)
	}
	return matched, false, nil
}

func hasStored(s storage.Storage) func(folder, suffix string) bool {
	return func(folder, suffix string) bool {
		for info, err := range s.List(folder) {
			if err == nil && strings.HasSuffix(info.Name, suffix) {
				return true
			}
		}
		return false
	}
}

// below expands a pattern below a folder of a storage other than the local disk. There are no folders and no links, only
// files.
func (l *lister) below(ctx context.Context, s storage.Storage, folder string, elements []string,
	kinds []fileKind,
) (matched bool, err error) {
	start := strings.TrimSuffix(folder, "/") + "/"
	if elements[0] == "**" {
		l.stored = append(l.stored, start)
	}
	if err := checkAbove(folder, true, hasStored(s)); err != nil {
		return false, err
	}
	// the files that say whether a job has written there, by the whole name of the folder
	inFolder := map[string]map[string]bool{}
	var found []*candidate
	for info, err := range s.List(folder) {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return false, err
		}
		folder, name := cutFolder(info.Name)
		if name == manifestName || name == summaryName || name == successName {
			if inFolder[folder] == nil {
				inFolder[folder] = map[string]bool{}
			}
			inFolder[folder][name] = true
		}
		parts := strings.Split(strings.TrimPrefix(info.Name, start), "/")
		for i := range parts {
			if log := logOf(parts[i:]); log != nil {
				return false, log.refusal(strings.TrimSuffix(start+strings.Join(parts[:i], "/"), "/"))
			}
		}
		c := &candidate{
			File:     File{Path: info.Name},
			relative: strings.Join(parts, "/"),
			listed:   info,
			unpacks:  kinds == nil,
		}
		switch {
		case kinds != nil && reasonOf(parts...) != "":
			l.pass(c, reasonOf(parts...))
		case kinds != nil || matchParts(elements, parts, isHidden):
			found = append(found, c)
		}
	}
	results := map[string]map[string]bool{}
	for i := range found {
		folder, name := cutFolder(found[i].Path)
		if _, known := results[folder]; !known && !namesFiles(elements) {
			if results[folder], err = resultsIn(folder, inFolder[folder]); err != nil {
				return false, err
			}
		}
		found[i].isResult = results[folder][name]
	}
	return l.choose(found, kinds)
}

// Reaches reports whether an input stands for a file if it is read in full. Both are whole names.
func Reaches(input, path string) bool {
	fixed, elements, err := parsePattern(filepath.ToSlash(input))
	parts := strings.FieldsFunc(filepath.ToSlash(path), func(r rune) bool { return r == '/' })
	if err != nil || !hasMeta(input) {
		return path == input || strings.HasPrefix(path, strings.TrimRight(input, "/")+"/")
	}
	return len(parts) > len(fixed) && slices.Equal(parts[:len(fixed)], fixed) &&
		matchParts(elements, parts[len(fixed):], isHidden)
}

func cutFolder(whole string) (folder, name string) {
	slash := strings.LastIndexByte(whole, '/')
	return whole[:slash], whole[slash+1:]
}

// matchParts reports whether the parts of a name match elements. Only an element that says so matches a hidden part.
func matchParts(elements, parts []string, isHidden func(string) bool) bool {
	if len(elements) == 0 || len(parts) == 0 {
		return len(elements) == 0 && len(parts) == 0
	}
	element, part := elements[0], parts[0]
	matches, _ := filepath.Match(element, part)
	if !matches || isHidden(part) && !strings.HasPrefix(element, ".") || isLeftover(part) && hasMeta(element) {
		return element == "**" && len(elements) > 1 && matchParts(elements[1:], parts, isHidden)
	}
	if element != "**" {
		return matchParts(elements[1:], parts[1:], isHidden)
	}
	return matchParts(elements[1:], parts, isHidden) || matchParts(elements, parts[1:], isHidden) ||
		len(elements) == 1 && len(parts) == 1
}
