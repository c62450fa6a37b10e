package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/setting"
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
	Size int64
	// Generation changes when the content does, see [storage.Info]. It is empty if it is unknown.
	Generation string
	// Identity is the same for all paths to the file on this machine.
	Identity    Identity
	Compression Compression
	Format      Format
	// CR says that lines end with a carriage return alone. A compressed file shows it when it is read.
	CR bool
	// Charset is the encoding of a text of records; empty for UTF-8 and for formats that declare their own.
	Charset string
	// Members are the files of a group, see [Group]. A group has no path, size or
	// compression of its own.
	Members []File
	// Parts are where a [Parquet] file can be cut, the first at position 0, with an empty one at the end.
	Parts     []Part
	Reference bool
	// Unlisted marks a file that no input names, and that is of the corpus since an earlier job has read it.
	Unlisted bool
	// Member says where in an archive the file is; nil: in none.
	Member *Member
	// Recalled marks a file that was not opened, since it is as an earlier job has listed it.
	Recalled bool
	// Unopened marks an object that was not opened, since its name is enough, see [Options].
	Unopened bool `json:",omitempty"`
	// Source is the number of the source of its documents, see [AssignSources]. A group has none of its own.
	Source sources.Number
	// Short is the name unless another file has it, too; then it is Long, the path as the input named it, with slashes.
	Short, Long string `json:",omitempty"`
	// Input is the number of the first input that the file is reached by. Files of an earlier input come first.
	Input int `json:",omitempty"`
	// Below is the length of the end of Path that is below the fixed part of the input.
	Below int `json:",omitempty"`
	// Fault says why the file cannot be read at all; empty: it can.
	Fault string `json:",omitempty"`
	// IsArchive marks an archive of tar or zip while inputs are listed. Its files take its place.
	IsArchive bool `json:",omitempty"`
}

// Listing is the result of List.
type Listing struct {
	// Files are sorted by input, then by path.
	Files []File
	// Unread are the files that cannot be read, each with its Fault, in the same order.
	Unread []File
	// Passed are the files of searched folders that are in neither of the two other lists.
	Passed PassedFiles
	// Sides are files that describe the data of their folder.
	Sides []File
	// Named says of each input whether it is the name of one file.
	Named []bool

	searched map[Identity]string // the path of each folder searched at any depth
	stored   []string            // such folders in other storages than the local disk
}

// Searched reports whether a path is a folder that was searched at any depth, or is in one, whatever links
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
	Inputs []string
	// Folders are the Inputs that are folders of the disk.
	Folders []string
	Passed  PassedFiles
}

func (e *NoMatchError) Error() string {
	quoted := make([]string, len(e.Inputs))
	for i, input := range e.Inputs {
		quoted[i] = fmt.Sprintf("%q", input)
	}
	advice := "check the path"
	if slices.ContainsFunc(e.Inputs, func(input string) bool {
		return strings.Contains(input, "[") && !strings.Contains(input, `\[`)
	}) {
		advice += `; in a pattern [ begins a set of characters: write \[ for the character itself`
	}
	if len(e.Folders) > 0 {
		advice += fmt.Sprintf(
			"; a folder is searched for *.jsonl, *.json, *.csv, *.parquet, *.warc and the like, "+
				"each also with .gz or .zst, or else "+
				"for texts and web pages; name other files with a pattern such as '%s'",
			storage.Join(e.Folders[0], "*"))
	}
	for _, reason := range []string{excluded, notIncluded} {
		if n := e.Passed.Counts[reason]; n > 0 {
			advice += fmt.Sprintf(
				"; %d files are %s, such as %s: patterns of --include and --exclude are for paths below the folder", n,
				strings.Trim(reason, "()"), e.Passed.Examples[reason])
		}
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
	// Known are files of an earlier list with the same Format, by their absolute paths. What has the size and the
	// generation of one of them is not opened: it has the same format.
	Known map[string]File
	// Include and Exclude hold patterns for the paths below a folder or the fixed part of a pattern, and for the names
	// of files. Without a slash they match names at any depth. What is in a folder that matches does, too.
	Include, Exclude []string
	// PrefersTexts says that a folder stands for its texts and pages, if it has any, whatever data it has.
	PrefersTexts bool
	// NamesOnly says that, of objects whose names tell their format, only the first are opened.
	NamesOnly bool
	// Progress, if not nil, is called every few seconds with the number of files found so far. It must not block.
	Progress func(files int64)

	// unpacks says that an archive stands for its files, isGuessed that a name does not tell whether it is a document.
	unpacks, isGuessed bool
	// holdWindow is as in [Limits]. One file at a time has a large window while it is inspected.
	holdWindow func() (release func(), err error)
}

// List expands inputs into files. An input is a file, a directory or a glob.
//
//   - A directory stands for all files below it, at any depth, whose names have an ending of the format, with or without .gz
//     or the like. Hidden names and markers such as _SUCCESS are passed over. For [AutoFormat] these are files of many
//     documents or, if these are few compared with the texts, texts and web pages. For [Text] these are all files.
//   - In a glob *, ? and [a-z] match inside one path element as in [filepath.Match], and ** stands for any number of
//     directories. Hidden names are matched only by an element that starts with ".". A glob matches files, not directories.
//
// Files come in the order of their inputs. Symbolic links are followed. A file is listed once, and belongs to the first
// input that matches it. It is listed under the path that leads through the fewest links and, among several such paths,
// under the longest name. Files that would share a Name get their whole path, with its suffix, instead.
//
// A file that cannot be read, such as one of a compression that is not read, is in Unread. The error is a
// [NoMatchError] if inputs match nothing. It is also an error if no file can be read, if there are more than [MaxFiles]
// files, if a storage fails, if a folder is a table with a log, or if the context ends; and so is a result of a job
// that the input does not name. With an error comes a listing without files. It still knows the folders that were
// searched.
func List(ctx context.Context, inputs []string, options Options) (Listing, error) {
	var window sync.Mutex
	options.holdWindow = func() (func(), error) { window.Lock(); return window.Unlock, nil }
	working, err := storage.Absolute(".")
	if err != nil {
		return Listing{}, fmt.Errorf("list inputs: %w", err)
	}
	l := lister{
		Options:  options,
		working:  working,
		found:    map[string]*candidate{},
		passed:   map[string]passed{},
		sides:    map[string]File{},
		searched: map[Identity]string{},
	}
	listing := Listing{searched: l.searched, Named: make([]bool, len(inputs))}
	defer l.report(options.Progress)()
	var missing NoMatchError
	for i, input := range inputs {
		l.input = i
		matched, isFile, err := l.add(ctx, plainInput(input))
		listing.stored, listing.Named[i] = l.stored, isFile
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
	if missing.Passed = l.passedFiles(); len(missing.Inputs) > 0 {
		return listing, &missing
	}
	switch {
	case len(l.found) == 0 && len(l.passed) > 0:
		return listing, setting.Errorf("list inputs: {include} and {exclude} leave no file")
	case len(l.found) == 0:
		return listing, errors.New("list inputs: no input is given")
	}
	found := slices.SortedFunc(maps.Values(l.found), (*candidate).compare)
	if err := inspectAll(ctx, found, options); err != nil {
		return listing, err
	}
	files, err := l.expand(ctx, l.distinct(l.ofKnownTypes(found)), options)
	if err != nil {
		return listing, err
	}
	sortFiles(files)
	if err := checkNumber(files); err != nil {
		return listing, err
	}
	for i := range files {
		files[i].Short, files[i].Long = files[i].Name, filepath.ToSlash(files[i].Path)
	}
	separateNames(files)
	err = l.complete(&listing, files, inputs)
	return listing, err
}

func (l *lister) complete(listing *Listing, files []File, inputs []string) error {
	read, unread := CutUnread(files)
	switch {
	case len(files) == 0:
		return &NoMatchError{Inputs: inputs, Folders: inputs, Passed: l.passedFiles()}
	case len(read) == 0:
		return fmt.Errorf("list inputs: %w", Unreadable(unread))
	}
	listing.Files, listing.Unread, listing.Passed = read, unread, l.passedFiles()
	listing.Sides = slices.Collect(maps.Values(l.sides))
	sortFiles(listing.Sides)
	separateNames(listing.Sides)
	return nil
}

// CutUnread divides files into those that can be read and those that cannot.
func CutUnread(files []File) (read, unread []File) {
	isUnread := func(f File) bool { return f.Fault != "" }
	if !slices.ContainsFunc(files, isUnread) {
		return files, nil
	}
	for _, file := range files {
		if isUnread(file) {
			unread = append(unread, file)
		} else {
			read = append(read, file)
		}
	}
	return read, unread
}

// Unreadable returns the error of files that are all unreadable.
func Unreadable(files []File) error {
	more := ""
	if n := len(files) - 1; n > 0 {
		more = fmt.Sprintf(" (further unreadable files: %d)", n)
	}
	return fmt.Errorf("%s: %s%s", files[0].Path, files[0].Fault, more)
}

func (l *lister) distinct(candidates []*candidate) []File {
	files := make([]File, 0, len(candidates))
	met := make(map[Identity]int, len(candidates))
	for _, c := range candidates {
		if at, is := met[c.Identity]; is {
			files[at].Input = min(files[at].Input, c.Input)
			l.pass(c, sameFile)
			continue
		}
		if files = append(files, c.File); c.Identity != (Identity{}) {
			met[c.Identity] = len(files) - 1
		}
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
			return nil, setting.Errorf(
				"list inputs: %s of {input} and %s of {reference} are one file: "+
					"every document would be a copy of itself", file.Path, path)
		}
		files = append(files, file)
	}
	if err := checkNumber(files); err != nil {
		return nil, err
	}
	separateNames(files)
	return files, nil
}

// sortFiles sorts files of one corpus by their inputs, then by their paths without .gz and the like. A compressed
// archive is read from its beginning, so its files come in its order, at the place of the archive.
func sortFiles(files []File) {
	type key struct {
		path  string
		start int64
		index int
	}
	working, _ := storage.Absolute(".") // without it paths are compared as they are
	keys := make([]key, len(files))
	for i := range files {
		keys[i] = key{files[i].Path, -1, i}
		if files[i].IsSequential() {
			keys[i].path, keys[i].start = files[i].Member.Archive, files[i].Member.Start
		}
		keys[i].path = dropCompressionSuffix(storage.AbsoluteIn(working, keys[i].path))
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(files[a.index].Input, files[b.index].Input), strings.Compare(a.path, b.path),
			cmp.Compare(a.start, b.start),
			strings.Compare(files[a.index].Path, files[b.index].Path))
	})
	unsorted := slices.Clone(files)
	for i := range keys {
		files[i] = unsorted[keys[i].index]
	}
}

// separateNames gives files that share a name their path as an input named it or, if that is not enough, their whole
// path. Either may be the name of another file. So this is repeated until all names differ, which they do in the end
// since all paths differ. Names that were longer in another list get short again if they may be: they do not depend on
// the lists that were made before.
func separateNames(files []File) {
	for i := range files {
		files[i].Name = cmp.Or(files[i].Short, files[i].Name)
	}
	count := make(map[string]int, len(files))
	for _, longer := range []func(*File) string{
		func(f *File) string { return cmp.Or(f.Long, filepath.ToSlash(f.Path)) },
		func(f *File) string { return filepath.ToSlash(f.Path) },
	} {
		for isChanged := true; isChanged; {
			clear(count)
			for i := range files {
				count[files[i].Name]++
			}
			isChanged = false
			for i := range files {
				if name := longer(&files[i]); count[files[i].Name] > 1 && files[i].Name != name {
					files[i].Name, isChanged = name, true
				}
			}
		}
	}
}

type candidate struct {
	File
	absolute string // its path
	relative string // its path below the fixed part of the input, with slashes
	links    int    // symbolic links on the path below its input
	isResult bool   // a job has written it
	isFolder bool   // a folder that cannot be read
	// isGuessed says that the name of a found file tells nothing, isOther that its content is no document.
	isGuessed, isOther bool
	// unpacks says that the file stands for its files if it is an archive: it was not found in a folder of documents.
	unpacks bool
	// listed is what the storage said of the file when it listed its folder; its name is empty otherwise.
	listed storage.Info
}

// compare orders candidates. The first of the paths to one file is listed: the longest name, which says most.
func (c *candidate) compare(other *candidate) int {
	return cmp.Or(
		cmp.Compare(c.links, other.links),
		cmp.Compare(len(other.Name), len(c.Name)),
		strings.Compare(c.Name, other.Name),
		strings.Compare(c.Path, other.Path))
}
