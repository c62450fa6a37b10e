package corpus

import (
	"iter"
	"path/filepath"
	"sort"

	"mirrorbeam/internal/ground/quoting"
	"mirrorbeam/internal/read/sources"
)

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

// assign divides files into sources, which it appends to all.
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

// single yields the files that are no groups, and the files of groups.
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

// ofSource returns what the source of a file depends on.
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
