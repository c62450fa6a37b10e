package corpus

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// MaxFiles is the number of files that a corpus can hold: file numbers have
// 24 bits in the names of documents.
const MaxFiles = 1 << 24

// File is one input file.
type File struct {
	// Path opens the file. It is relative where the input was.
	Path string
	// Name stands for the file in the names of documents: its path relative
	// to the fixed part of its input, with slashes, without .gz or .zst.
	// It is unique in the list.
	Name string
	// Size is the length on disk in bytes.
	Size int64
	// Modified is when the content last changed, in nanoseconds of Unix time; 0
	// where it is not known.
	Modified int64
	// Compression is how the content is stored, whatever the file is called.
	Compression Compression
	// Reference marks a file of the reference corpus, which the input is
	// compared with.
	Reference bool `json:",omitempty"`
}

// NoMatchError says which inputs stand for no file.
type NoMatchError struct {
	// Inputs are the inputs without a match, in the order given.
	Inputs []string
}

// Error names every input without a match and says what would match.
func (e *NoMatchError) Error() string {
	quoted := make([]string, len(e.Inputs))
	for i, input := range e.Inputs {
		quoted[i] = fmt.Sprintf("%q", input)
	}
	return fmt.Sprintf("no file matches %s: check the path; a directory is searched for *.jsonl, *.ndjson and *.json, "+
		"each also with .gz or .zst; any other name needs a glob such as 'corpus/**/*.txt'", strings.Join(quoted, ", "))
}

// List expands inputs into files, sorted by Name. An input is a file, a
// directory or a glob.
//
//   - A directory stands for its *.jsonl, *.ndjson and *.json files at any
//     depth, each also with .gz or .zst, but for names that start with "." or
//     "_". Symbolic links are followed.
//   - In a glob *, ? and [a-z] match inside one path element as in
//     [filepath.Match], and ** stands for any number of directories. As in a
//     shell, hidden names are matched only by an element that starts with ".".
//     A glob matches files, not directories.
//
// The result does not depend on the order of the inputs, and a file that
// several of them match is listed once, under the longest of its names. Files
// that would share a Name carry their whole path, with its suffix, instead.
//
// The error is a [NoMatchError] where inputs match nothing. It is also an
// error when a file cannot be read, is neither plain nor gzip nor zstd, or
// when there are more than [MaxFiles].
func List(inputs []string) ([]File, error) {
	l := lister{found: map[string]File{}}
	var missing []string
	for _, input := range inputs {
		switch matched, err := l.add(input); {
		case err != nil:
			return nil, err
		case !matched && !slices.Contains(missing, input):
			missing = append(missing, input)
		}
	}
	if len(missing) > 0 {
		return nil, &NoMatchError{Inputs: missing}
	}
	if len(l.found) == 0 {
		return nil, errors.New("list inputs: no input is given")
	}
	if len(l.found) > MaxFiles {
		return nil, fmt.Errorf("list inputs: %d files are more than the %d that a job can hold: concatenate small files or split the corpus", len(l.found), MaxFiles)
	}
	files := make([]File, 0, len(l.found))
	for _, file := range l.found {
		files = append(files, file)
	}
	separateNames(files)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	if err := inspectAll(files); err != nil {
		return nil, err
	}
	return files, nil
}

// WithReference puts the files of a reference corpus before those of the input,
// both as [List] gives them, and marks them. Names are made unique among all.
// It is an error when a file is in both.
func WithReference(reference, input []File) ([]File, error) {
	paths := make(map[string]bool, len(reference))
	files := make([]File, 0, len(reference)+len(input))
	for _, file := range reference {
		path, err := filepath.Abs(file.Path)
		if err != nil {
			return nil, fmt.Errorf("list reference: %w", err)
		}
		paths[path] = true
		file.Reference = true
		files = append(files, file)
	}
	for _, file := range input {
		path, err := filepath.Abs(file.Path)
		if err != nil {
			return nil, fmt.Errorf("list inputs: %w", err)
		}
		if paths[path] {
			return nil, fmt.Errorf("list inputs: %s is in --input and in --reference: every document would be a copy of itself", file.Path)
		}
		files = append(files, file)
	}
	if len(files) > MaxFiles {
		return nil, fmt.Errorf("list inputs: %d files of input and reference are more than the %d that a job can hold: concatenate small files", len(files), MaxFiles)
	}
	separateNames(files)
	for _, part := range [][]File{files[:len(reference)], files[len(reference):]} {
		slices.SortFunc(part, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	}
	return files, nil
}

// lister collects files by absolute path.
type lister struct {
	found map[string]File
}

// add expands one input and reports whether it stands for any file.
func (l *lister) add(input string) (matched bool, err error) {
	switch {
	case input == "":
		return false, errors.New("list inputs: an input is empty")
	case input == "-":
		return false, errors.New("list inputs: standard input cannot be read in this version: write it to a file first")
	case strings.Contains(input, "://"):
		return false, fmt.Errorf("list inputs: %q: only local files are read in this version: copy or mount it first", input)
	}
	info, err := os.Stat(input)
	switch {
	case err == nil && info.IsDir():
		w := walk{lister: l, base: filepath.Clean(input), isHidden: isHiddenOrMarked, takes: isJSONLines}
		err = w.match("", []string{"**"})
		return w.matched, err
	case err == nil && info.Mode().IsRegular():
		return true, l.put(filepath.Clean(input), filepath.Base(input))
	case err == nil:
		return false, fmt.Errorf("list inputs: %q is not a regular file: write its content to one first", input)
	case hasMeta(input):
		return l.glob(input)
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	}
	return false, fmt.Errorf("list inputs: %w", err)
}

// put records the file at path under its name relative to the input. Of
// several names for a file the longest stays: it tells the most, and the
// choice does not depend on the order of inputs.
func (l *lister) put(path, relative string) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("list inputs: %w", err)
	}
	file := File{Path: path, Name: dropCompressionSuffix(filepath.ToSlash(relative))}
	if known, ok := l.found[absolute]; ok {
		order := cmp.Or(
			cmp.Compare(len(known.Name), len(file.Name)),
			strings.Compare(file.Name, known.Name),
			strings.Compare(file.Path, known.Path))
		if order >= 0 {
			return nil
		}
	}
	l.found[absolute] = file
	return nil
}

// separateNames gives files that share a name their whole path. A path may in
// turn be the name of another file, so this goes on until all names differ;
// paths do, so it ends.
func separateNames(files []File) {
	for {
		count := make(map[string]int, len(files))
		for _, file := range files {
			count[file.Name]++
		}
		if len(count) == len(files) {
			return
		}
		for i, file := range files {
			if count[file.Name] > 1 {
				files[i].Name = filepath.ToSlash(file.Path)
			}
		}
	}
}

// inspectAll fills in Size, Modified and Compression. Files are opened side by side,
// for network file systems. The error is that of the first faulty file.
func inspectAll(files []File) error {
	faults := make([]error, len(files))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(len(files), 4*runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
				faults[i] = inspect(&files[i])
			}
		})
	}
	workers.Wait()
	var first error
	more := -1
	for _, err := range faults {
		if err != nil {
			first = cmp.Or(first, err)
			more++
		}
	}
	if more > 0 {
		return fmt.Errorf("list inputs: %w (and %d more files with faults)", first, more)
	}
	if first != nil {
		return fmt.Errorf("list inputs: %w", first)
	}
	return nil
}

// inspect fills in Size, Modified and Compression of one file.
func inspect(file *File) error {
	handle, err := os.Open(file.Path)
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("%w: make the file readable, or leave it out", err)
	}
	if err != nil {
		return err
	}
	defer handle.Close()
	info, err := handle.Stat()
	if err != nil {
		return err
	}
	file.Size, file.Modified = info.Size(), info.ModTime().UnixNano()
	file.Compression, err = sniff(handle)
	if err != nil {
		return fmt.Errorf("%s: %w", file.Path, err)
	}
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

// isJSONLines reports whether a directory's file is taken for documents.
func isJSONLines(name string) bool {
	switch strings.ToLower(filepath.Ext(dropCompressionSuffix(name))) {
	case ".jsonl", ".ndjson", ".json":
		return true
	}
	return false
}
