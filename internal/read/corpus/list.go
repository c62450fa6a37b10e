package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mirrorbeam/internal/ground/setting"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/read/sources"
)

// MaxFiles is how many files a corpus can hold. The names of documents have 24 bits for the number of a file.
const MaxFiles = 1 << 24

// File is one input file.
type File struct {
	// Path opens the file. It is relative if the input was. Its bytes have no particular encoding.
	Path string
	// Name stands for the file in the names of documents. It is the path relative to the fixed part of the
	// input, with slashes, without .gz or .zst. It is unique in the list.
	Name string
	// Size is the length on disk in bytes.
	Size int64
	// Generation changes when the content does, see [storage.Info]. It is empty if it is unknown.
	Generation string
	// Identity is the same for all paths to the file on this machine.
	Identity Identity
	// Compression is how the content is stored, whatever the name of the file.
	Compression Compression
	// Format says how the content holds documents.
	Format Format
	// CR says that the lines of a plain file end with a carriage return alone. That of a compressed file is found when it is read.
	CR bool
	// Charset is the name of the encoding of a text of records; empty for UTF-8, and for formats that tell it themselves.
	Charset string
	// Members are the files of a group, see [Group]. A group has no path, size or
	// compression of its own.
	Members []File
	// Parts are where a [Parquet] file can be cut. The first is at position 0. An empty one at the end closes
	// them.
	Parts []Part
	// Reference marks a file of the reference corpus, with which the input is compared.
	Reference bool
	// Unlisted marks a file that no input names, and that is of the corpus since an earlier job has read it.
	Unlisted bool
	// Member says where the file lies in an archive; nil: it lies in none.
	Member *Member
	// Recalled marks a file that was not opened, since it is as an earlier job has listed it.
	Recalled bool
	// Source is the number of the source of its documents, see [AssignSources]. A group has none of its own.
	Source sources.Number
	// IsArchive marks an archive of tar or zip while inputs are listed. Its files take its place.
	IsArchive bool `json:",omitempty"`
}

// Listing is the result of List.
type Listing struct {
	// Files are sorted by Name.
	Files []File
	// Passed counts files of searched folders that the format does not take. Hidden and marked ones do not count. A folder that
	// two inputs name counts twice.
	Passed PassedFiles

	searched map[Identity]string // the path of each folder searched at any depth
	stored   []string            // such folders in other storages than the local disk
}

// Searched reports whether a path is a folder that was searched at any depth, or lies in one, whatever links
// lead there. It returns that folder, the outermost of several. The path need not exist.
func (l Listing) Searched(path string) (folder string, found bool, err error) {
	if storage.Scheme(path) != "" {
		for _, folder := range l.stored {
			if strings.HasPrefix(strings.TrimRight(path, "/")+"/", folder) {
				return folder, true, nil
			}
		}
		return "", false, nil
	}
	above, err := existing(path)
	if err != nil {
		return "", false, fmt.Errorf("find out where %s is: %w", path, err)
	}
	for {
		info, err := os.Stat(above)
		if err != nil {
			return "", false, fmt.Errorf("find out where %s is: %w", path, err)
		}
		if searched, is := l.searched[storage.IdentityOf(info)]; is {
			folder, found = searched, true
		}
		if above == filepath.Dir(above) {
			return folder, found, nil
		}
		above = filepath.Dir(above)
	}
}

// NoMatchError says which inputs match no file.
type NoMatchError struct {
	// Inputs are the inputs without a match, in the order given.
	Inputs []string
	// Folders are the Inputs that are folders of the disk.
	Folders []string
}

// Error names every input without a match, and says what would match.
func (e *NoMatchError) Error() string {
	quoted := make([]string, len(e.Inputs))
	for i, input := range e.Inputs {
		quoted[i] = fmt.Sprintf("%q", input)
	}
	advice := "check the path"
	if len(e.Folders) > 0 {
		advice += fmt.Sprintf("; a folder is searched for *.jsonl, *.json, *.csv, *.parquet, *.warc and the like, each also with .gz or .zst, or else "+
			"for texts and web pages; name other files with a pattern such as '%s'", storage.Join(e.Folders[0], "*"))
	}
	return fmt.Sprintf("no file matches %s: %s", strings.Join(quoted, ", "), advice)
}

// Stdin is the input that stands for the standard input. It is also the name of the file in the names of documents.
const Stdin = "-"

// Options say how to list inputs.
type Options struct {
	// Format is the name of the format of all files, or [AutoFormat]. Empty means AutoFormat.
	Format string
	// Charset names the encoding of all files that have no byte order mark; empty: each file shows its own.
	Charset string
	// MaxExpanded is how many bytes a compressed archive may expand to while it is listed; 0: no limit.
	MaxExpanded int64
	// Stdin is the path of a copy of the standard input, for the input [Stdin]. It is empty if there is none.
	Stdin string
	// Known are files of an earlier list with the same Format, by their absolute paths. What has the size and the generation of
	// one of them is not opened: it has the same format.
	Known map[string]File
	// Progress, if not nil, is called every few seconds with the number of files found so far. It must not block.
	Progress func(files int64)

	// unpacks says that an archive stands for its files.
	unpacks bool
	// holdWindow is as in [Limits]. One file at a time has a large window while it is inspected.
	holdWindow func() (release func(), err error)
}

// List expands inputs into files. An input is a file, a directory or a glob.
//
//   - A directory stands for all files below it, at any depth, whose names have an ending of the
//     format, with or without .gz or .zst behind it. Names that start with "." or "_" are left out.
//     For [AutoFormat] these are files of many documents or, if there are none, texts and web
//     pages. For [Text] these are all files. Symbolic links are followed.
//   - In a glob *, ? and [a-z] match inside one path element as in
//     [filepath.Match], and ** stands for any number of directories. As in a
//     shell, hidden names are matched only by an element that starts with ".".
//     A glob matches files, not directories.
//
// The result does not depend on the order of the inputs. A file is listed once, however many inputs match it
// and links lead to it. It is listed under the path that leads through the fewest links and, among several
// such paths, under the longest name. No folder is searched twice for the same input. Files that would share
// a Name get their whole path, with its suffix, instead. The working folders that a killed job has left are
// skipped.
//
// The error is a [NoMatchError] if inputs match nothing. It is also an error if there are more than
// [MaxFiles] files or the context ends. Some files are errors too: a file that cannot be read or has a
// compression that is not read, something other than a regular file, and a result of a job that the input
// does not name. With an error comes a listing without files. It still knows the folders that were searched.
func List(ctx context.Context, inputs []string, options Options) (Listing, error) {
	var window sync.Mutex
	options.holdWindow = func() (func(), error) { window.Lock(); return window.Unlock, nil }
	working, err := storage.Absolute(".")
	if err != nil {
		return Listing{}, fmt.Errorf("list inputs: %w", err)
	}
	l := lister{format: options.Format, stdin: options.Stdin, working: working, found: map[string]candidate{}, searched: map[Identity]string{}}
	listing := Listing{searched: l.searched}
	defer l.report(options.Progress)()
	var missing NoMatchError
	for _, input := range inputs {
		matched, err := l.add(ctx, input)
		listing.stored = l.stored
		switch {
		case err != nil:
			return listing, err
		case !matched && !slices.Contains(missing.Inputs, input):
			missing.Inputs = append(missing.Inputs, input)
			if info, err := os.Stat(input); err == nil && info.IsDir() {
				missing.Folders = append(missing.Folders, input)
			}
		}
	}
	if len(missing.Inputs) > 0 {
		return listing, &missing
	}
	if len(l.found) == 0 {
		return listing, errors.New("list inputs: no input is given")
	}
	found := withoutDescriptions(slices.SortedFunc(maps.Values(l.found), candidate.compare))
	if err := inspectAll(ctx, found, options); err != nil {
		return listing, err
	}
	files, err := l.expand(ctx, distinct(found), options)
	if err != nil {
		return listing, err
	}
	if err := checkNumber(files); err != nil {
		return listing, err
	}
	separateNames(files)
	sortByName(files)
	listing.Files, listing.Passed = files, l.passed
	return listing, nil
}

// descriptions are what Hugging Face's library writes beside the files of a data set that it saves.
var descriptions = []string{"dataset_dict.json", "dataset_info.json", "state.json"}

// withoutDescriptions leaves out what describes files of Arrow in the same folder, or in those in it, unless it was named.
func withoutDescriptions(found []candidate) []candidate {
	described := map[string]bool{}
	for _, c := range found {
		if nameEnding(c.Path) == ".arrow" {
			described[path.Dir(c.absolute)], described[path.Dir(path.Dir(c.absolute))] = true, true
		}
	}
	return slices.DeleteFunc(found, func(c candidate) bool {
		return !c.unpacks && described[path.Dir(c.absolute)] && slices.Contains(descriptions, path.Base(c.absolute))
	})
}

// distinct returns each file once, as its first candidate.
func distinct(candidates []candidate) []File {
	files := make([]File, 0, len(candidates))
	met := make(map[Identity]bool, len(candidates))
	for _, c := range candidates {
		if !met[c.Identity] {
			files = append(files, c.File)
		}
		met[c.Identity] = c.Identity != Identity{}
	}
	return files
}

// WithReference puts the files of a reference corpus before the files of the input, and marks them. Both lists
// come from [List]. Names become unique among all files. It returns an error if a file is in both lists, by
// whatever path.
func WithReference(reference, input []File) ([]File, error) {
	known := make(map[Identity]string, len(reference))
	files := make([]File, 0, len(reference)+len(input))
	for _, file := range reference {
		known[file.Identity] = file.Path
		file.Reference = true
		files = append(files, file)
	}
	delete(known, Identity{})
	for _, file := range input {
		if path, isBoth := known[file.Identity]; isBoth {
			return nil, setting.Errorf("list inputs: %s of {input} and %s of {reference} are one file: every document would be a copy of itself", file.Path, path)
		}
		files = append(files, file)
	}
	if err := checkNumber(files); err != nil {
		return nil, err
	}
	separateNames(files)
	sortByName(files[:len(reference)])
	sortByName(files[len(reference):])
	return files, nil
}

func sortByName(files []File) {
	// A compressed archive is read from its beginning, so its files stand in its order, where it would stand itself.
	place := func(f *File) (name string, start int64) {
		if f.IsSequential() {
			return f.Member.Of, f.Member.Start
		}
		return f.Name, -1
	}
	slices.SortFunc(files, func(a, b File) int {
		aName, aStart := place(&a)
		bName, bStart := place(&b)
		return cmp.Or(strings.Compare(aName, bName), cmp.Compare(aStart, bStart), strings.Compare(a.Name, b.Name))
	})
}

// separateNames gives files that share a name their whole path. That path may be the name of another file. So
// this is repeated until all names differ. It ends since all paths differ.
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

type candidate struct {
	File
	absolute string // its path
	links    int    // symbolic links on the path below its input
	// unpacks says that the file stands for its files if it is an archive: it was not found in a folder of documents.
	unpacks bool
	// listed is what the storage said of the file when it listed its folder; without a name if the folder was not listed.
	listed storage.Info
}

// compare orders candidates. The first of the paths to one file is listed. Longer names come first, since
// they say the most. The order does not depend on the order of inputs.
func (c candidate) compare(other candidate) int {
	return cmp.Or(
		cmp.Compare(c.links, other.links),
		cmp.Compare(len(other.Name), len(c.Name)),
		strings.Compare(c.Name, other.Name),
		strings.Compare(c.Path, other.Path))
}
