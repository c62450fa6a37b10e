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

// Stretch is a part of one file that is read in one go. It has the records from position Start up to, but not
// including, End. Of a plain file of lines it has the lines whose first byte is in that range, of Parquet
// the rows, of a [Group] the files. Any other file is read whole: Start is 0, and End is its size on disk.
type Stretch struct {
	File       int
	Start, End int64
}

// Part is a part of a file that can be read by itself, such as a row group of Parquet.
type Part struct {
	// Start is the position of its first record. Bytes is about the length of its text.
	Start, Bytes int64
}

// Split is the work of one worker. Its stretches are in document order: by file number, then by position.
type Split []Stretch

// Inflation is how much larger the decoded text of a compressed file is taken to be.
const Inflation = 4

// leastInflation is an inflation that nearly all compressed text reaches.
const leastInflation = 2

// A split has at most splitFiles files or, of very many, a part of manySplits: opening even a small file takes time.
const (
	splitFiles = 1000
	manySplits = 1024
)

// Splits cuts files into splits of about target decoded bytes, in document order. Files smaller than target are grouped
// with their neighbours, up to a number of files. A larger plain file of lines is cut into nearly equal parts, Parquet
// at row groups, and a [Group] between its files. Other files are never cut. Empty files are in no split.
//
// The cuts depend on the files, their sizes and compression alone. So they are the same for every number of workers. A
// target below 1 counts as 1.
func Splits(files []File, target int64) []Split {
	target = max(target, 1)
	var splits []Split
	var group Split
	var weight int64
	opened, most := 0, mostFiles(countFiles(files))
	flush := func() {
		if len(group) > 0 {
			splits = append(splits, group)
			group, weight, opened = nil, 0, 0
		}
	}
	for number := range files {
		file := &files[number]
		if file.IsCut() && file.Size > target {
			flush()
			splits = append(splits, cut(number, file.Size, target)...)
			continue
		}
		for i, part := range file.parts() {
			opens := i == 0 || file.Members != nil
			goesOn := i == 0 && number > 0 && file.follows(&files[number-1])
			if !goesOn && (weight+part.size > target || opens && opened == most) {
				flush()
			}
			if opens || len(group) == 0 {
				opened++
			}
			if n := len(group); n > 0 && group[n-1].File == number {
				group[n-1].End = part.End
			} else {
				part.File = number
				group = append(group, part.Stretch)
			}
			weight += part.size
		}
	}
	flush()
	return splits
}

func mostFiles(all int) int { return max(splitFiles, all/manySplits) }

func countFiles(files []File) int {
	count := 0
	for i := range files {
		count += max(len(files[i].Members), 1)
	}
	return count
}

// cut divides a large plain file into the fewest parts of at most target bytes. The lengths of two parts
// differ by at most one byte.
func cut(number int, size, target int64) []Split {
	parts := (size-1)/target + 1
	least, longer := size/parts, size%parts
	splits := make([]Split, 0, parts)
	for start := int64(0); start < size; {
		end := start + least
		if int64(len(splits)) < longer {
			end++
		}
		splits = append(splits, Split{{File: number, Start: start, End: end}})
		start = end
	}
	return splits
}

// IsCut reports whether the file can be cut at any byte.
func (f *File) IsCut() bool { return f.isPlain() && f.Format.IsLines() }

// isPlain reports whether the stored bytes are the decoded ones, so that reading can begin anywhere.
func (f *File) isPlain() bool { return f.Compression == None && f.Charset == "" && f.isSeekable() }

type sized struct {
	Stretch
	size int64
}

// parts returns the smallest stretches into which a file can be cut, if it cannot be cut at any byte.
func (f *File) parts() []sized {
	var parts []sized
	switch {
	case f.Members != nil:
		for i := range f.Members {
			size := f.Members[i].TextSize()
			if i > 0 && f.Members[i].follows(&f.Members[i-1]) {
				parts[len(parts)-1].End++
				parts[len(parts)-1].size += size
				continue
			}
			parts = append(parts, sized{Stretch{Start: int64(i), End: int64(i) + 1}, size})
		}
	case f.Parts != nil:
		for i, part := range f.Parts[:len(f.Parts)-1] {
			parts = append(parts, sized{Stretch{Start: part.Start, End: f.Parts[i+1].Start}, part.Bytes})
		}
	case f.Size > 0:
		parts = append(parts, sized{Stretch{End: f.Size}, f.TextSize()})
	}
	return parts
}

// follows reports whether the file begins in the compressed archive, decoded that far, in which another one ends.
func (f *File) follows(other *File) bool {
	if len(f.Members) > 0 {
		f = &f.Members[0]
	}
	if n := len(other.Members); n > 0 {
		other = &other.Members[n-1]
	}
	return f.IsSequential() && other.IsSequential() && f.Member.Archive == other.Member.Archive
}

// TextSize returns about how many bytes of decoded text the file holds.
func (f *File) TextSize() (sum int64) {
	for i := range f.Members {
		sum += f.Members[i].TextSize()
	}
	for _, part := range f.Parts {
		sum += part.Bytes
	}
	switch {
	case f.Members != nil || f.Parts != nil:
		return sum
	case f.Compression != None:
		return Inflation * f.Size
	}
	return f.Size
}

// LeastTextSize returns how many bytes of decoded text the file holds if the text of a compressed file is only twice as
// large as the file, which is less than usual.
func (f *File) LeastTextSize() (sum int64) {
	for _, file := range f.All() {
		if file.Parts != nil || file.Compression != None {
			sum += file.TextSize() / Inflation * leastInflation
		} else {
			sum += file.Size
		}
	}
	return sum
}

// Whole returns the stretch of the whole file. Number is the number of the file.
func (f *File) Whole(number int) Stretch {
	s := Stretch{File: number, End: f.Size}
	switch {
	case f.Members != nil:
		s.End = int64(len(f.Members))
	case f.Parts != nil:
		s.End = f.Parts[len(f.Parts)-1].Start
	}
	return s
}

// IsWhole reports whether the file is only read from its beginning to its end.
func (f *File) IsWhole() bool { return !f.IsCut() && f.Members == nil && f.Parts == nil }

// Around returns the smallest stretch that has the record at a position and can be read by itself, and about how many
// bytes of text that has.
func (f *File) Around(number int, position int64) (s Stretch, size int64) {
	s = Stretch{File: number, Start: position, End: position + 1}
	if f.IsCut() {
		return s, BatchBytes
	}
	for _, part := range f.parts() {
		// The size on disk of a compressed file says nothing of positions in its text.
		if part.Start <= position && (position < part.End || f.IsWhole()) {
			s.Start, s.End, size = part.Start, part.End, part.size
		}
	}
	return s, size
}

const groupFiles = 1 << 16

// Group joins files that are one document each into groups. A job can number billions of documents, but only millions
// of files. All files of a group have one format, and all or none of them are of the reference. The position of a
// document in a group is the number of its file there. Groups stay what they are. Files must be in the order of [List]
// or [WithReference], and keep it. A group takes the place of its first file. Inputs stay in their order.
func Group(files []File) []File {
	type kind struct {
		format    Format
		reference bool
	}
	grouped, open := make([]File, 0, len(files)), map[kind]int{}
	for i := range files {
		file := &files[i]
		if !file.Format.IsWhole() || file.Members != nil {
			grouped = append(grouped, *file)
			continue
		}
		of := kind{file.Format, file.Reference}
		at, isOpen := open[of]
		if isOpen {
			members := grouped[at].Members
			isOpen = len(members) < groupFiles &&
				(members[len(members)-1].Input == file.Input || at == len(grouped)-1)
		}
		if !isOpen {
			at = len(grouped)
			open[of] = at
			grouped = append(grouped, File{Name: file.Name, Format: file.Format, Reference: file.Reference})
		}
		grouped[at].Members = append(grouped[at].Members, *file)
	}
	return grouped
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
	if len(files) > MaxFiles && len(Group(files)) > MaxFiles {
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
			of := files[i : i+1]
			if files[i].Members != nil {
				of = files[i].Members
			}
			for j := range of {
				if !yield(&of[j]) {
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
