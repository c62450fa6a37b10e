package corpus

import (
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"sort"

	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/quoting"
)

const groupFiles = 1 << 16

// Group joins files that are one document each into groups. A job can number billions of documents, but only millions
// of files. All files of a group have one format, and all or none of them are of the reference. The position of a
// document in a group is the number of its file there. Groups stay what they are. Files must be in the order of [List]
// or [WithReference], and keep it. A group takes the place of its first file. No file of an earlier input comes behind
// one of a later input.
func Group(files []File) []File {
	grouped := make([]File, 0, len(files))
	var g grouping
	for i := range files {
		file := &files[i]
		if !file.Format.IsWhole() || file.Members != nil {
			g.entries++
			grouped = append(grouped, *file)
			continue
		}
		at := g.add(file)
		if at == len(grouped) {
			grouped = append(grouped, File{Name: file.Name, Format: file.Format, Reference: file.Reference})
		}
		grouped[at].Members = append(grouped[at].Members, *file)
	}
	return grouped
}

type grouping struct {
	entries int // groups and other files
	open    map[groupKind]openGroup
}

type groupKind struct {
	format    Format
	reference bool
}

type openGroup struct{ at, files, input int }

func (g *grouping) add(file *File) int {
	kind := groupKind{file.Format, file.Reference}
	one, isOpen := g.open[kind]
	if !isOpen || one.files == groupFiles || one.input != file.Input && one.at != g.entries-1 {
		one = openGroup{at: g.entries}
		g.entries++
	}
	if g.open == nil {
		g.open = map[groupKind]openGroup{}
	}
	g.open[kind] = openGroup{one.at, one.files + 1, file.Input}
	return one.at
}

// Alone makes a group of each file that is one document. So its documents do not depend on what other files there are.
func Alone(files []File) []File {
	alone := slices.Clone(files)
	for i, file := range files {
		if file.Format.IsWhole() && file.Members == nil {
			alone[i] = File{Name: file.Name, Format: file.Format, Reference: file.Reference, Members: files[i : i+1]}
		}
	}
	return alone
}

// Joined returns files of two lists: the files of the second, whose paths are absolute, unless the first has the same
// path. Names become unique again, and the order is as in [List]. All or none of the files are of the reference. A file
// of both lists has the place of the second.
func Joined(files, others []File) ([]File, error) {
	listed := make(map[string]int, len(files))
	for i, file := range files {
		path, err := storage.Absolute(file.Path)
		if err != nil {
			return nil, fmt.Errorf("list inputs: %w", err)
		}
		listed[path] = i
	}
	joined := slices.Clone(files)
	for _, file := range others {
		if i, is := listed[file.Path]; is {
			joined[i].Input = min(joined[i].Input, file.Input)
		} else {
			joined = append(joined, file)
		}
	}
	sortFiles(joined)
	separateNames(joined)
	return joined, nil
}

func checkNumber(files []File) error {
	var g grouping
	for i := range files {
		if files[i].Format.IsWhole() {
			g.add(&files[i])
		} else {
			g.entries++
		}
	}
	number := g.entries
	if number > MaxFiles {
		return fmt.Errorf(
			"list inputs: %d files are more than the %d that a job can hold: "+
				"concatenate small files or split the corpus", len(files), MaxFiles)
	}
	return nil
}

// Place returns the name of the file that holds a document, and the position in that file.
func (f *File) Place(position int64) (name string, inFile int64) {
	if f.Members == nil {
		return f.Name, position
	}
	return f.Members[position].Name, 0
}

// At returns the file that holds the document at a position: the file itself, or one of a group.
func (f *File) At(position int64) *File {
	if f.Members == nil {
		return f
	}
	return &f.Members[position]
}

// All returns the file itself, or the files of a group.
func (f *File) All() []File {
	if f.Members == nil {
		return []File{*f}
	}
	return f.Members
}

// AssignSources gives files, also in groups, the numbers of their sources, and returns the sources. The reference
// and the input, which follow each other as in [WithReference], have different ones.
func AssignSources(files []File) []sources.Source {
	input := sort.Search(len(files), func(i int) bool { return !files[i].Reference })
	all := assign(nil, files[:input], sources.MostReference)
	for i := range all {
		all[i].Reference = true
	}
	return assign(all, files[input:], sources.MostInput)
}

func assign(all []sources.Source, files []File, most int) []sources.Source {
	d := sources.Divide(func(yield func(sources.File) bool) {
		for file := range single(files) {
			if !yield(file.ofSource()) {
				return
			}
		}
	}, most)
	for file := range single(files) {
		file.Source = sources.Number(len(all)) + d.Number(file.ofSource())
	}
	for _, source := range d.Sources {
		source.Name = string(quoting.AppendText(nil, source.Name))
		all = append(all, source)
	}
	return all
}

func single(files []File) iter.Seq[*File] {
	return func(yield func(*File) bool) {
		for i := range files {
			one := &files[i]
			if one.Members == nil {
				if !yield(one) {
					return
				}
				continue
			}
			for j := range one.Members {
				if !yield(&one.Members[j]) {
					return
				}
			}
		}
	}
}

func (f *File) ofSource() sources.File {
	return sources.File{Path: filepath.ToSlash(f.Path), Bytes: f.TextSize(), IsDocument: f.Format.IsWhole()}
}

// SourceAt returns the source of the document at a position of the file, or of the group.
func (f *File) SourceAt(position int64) sources.Number {
	if f.Members == nil {
		return f.Source
	}
	return f.Members[position].Source
}
