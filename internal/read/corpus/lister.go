package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
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
	working  string               // the working folder
	found    map[string]candidate // by absolute path
	searched map[Identity]string  // folders searched at any depth
	stored   []string             // such folders in other storages, each with a slash at its end
	passed   PassedFiles          // files of folders that the format does not take
	passing  PassedFiles          // found by the present search
	// inDocuments says that the present search is for documents, and not for archives.
	inDocuments bool
	count       atomic.Int64 // the length of found, for other goroutines to read
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
	return false, fmt.Errorf("list inputs: %w", advise(err, "folder"))
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
	absolute := storage.AbsoluteIn(l.working, path)
	c := candidate{File: File{Path: path, Name: dropCompressionSuffix(filepath.ToSlash(relative))}, absolute: absolute, links: links, listed: listed, unpacks: !l.inDocuments}
	if known, ok := l.found[absolute]; ok && known.compare(c) <= 0 {
		return nil
	}
	l.found[absolute] = c
	l.count.Store(int64(len(l.found)))
	return nil
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

// folders searches a folder for the files of the format, by their names.
func (l *lister) folders(search func(takes func(name string) bool) (matched bool, err error)) (matched bool, err error) {
	l.passing = PassedFiles{}
	defer func() { l.passed = l.passed.Add(l.passing) }()
	defer func() { l.inDocuments = false }()
	kinds := l.kinds()
	for i, takes := range append(kinds, isArchiveName) {
		l.inDocuments = i < len(kinds)
		clear(l.passing)
		if matched, err = search(takes); matched || err != nil {
			break
		}
	}
	return matched, err
}

// kinds returns which files of a folder are documents, by their names. The first kind that has a file counts.
func (l *lister) kinds() []func(name string) bool {
	if wanted, isFormat := ParseFormat(l.format); isFormat {
		d := wanted.Definition()
		return []func(string) bool{func(name string) bool { return d.AllNames || slices.Contains(d.Endings, nameEnding(name)) }}
	}
	// A folder of data may also hold notes and pages about the data. These are not documents.
	ofDocuments := func(areWhole bool) func(string) bool {
		return func(name string) bool {
			named, known := nameFormat(name)
			return known && named.IsWhole() == areWhole
		}
	}
	return []func(string) bool{ofDocuments(false), ofDocuments(true)}
}

// isArchiveName reports whether a file of that name may be an archive of tar or zip.
func isArchiveName(name string) bool {
	return slices.Contains([]string{".tar", ".tgz", ".txz", ".tbz2", ".zip", ".wacz"}, nameEnding(name))
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

// MostListBytes is the size of the largest list of words, sources or sites. It is held in memory.
const MostListBytes = 256 << 20

// ReadList returns a list with an item on each line, such as stop words, which may be plain, gzip or zstd. All its lines end with
// "\n", whatever they end with in the file. A file that is no text, or too large for a list, is an error.
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

// errLongList says that a file is too large for a list.
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
		return nil, errors.New("the file is no text, since it has a zero byte: name a list with an item on each line, in UTF-8")
	}
	return content, nil
}

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
	switch info, err := s.Stat(input); {
	case err == nil:
		return true, l.putListed(input, path.Base(storage.WithoutQuery(input)), 0, info)
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
