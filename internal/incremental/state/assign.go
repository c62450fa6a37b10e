package state

import (
	"time"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/storage"
)

// Difference counts how the files of a corpus differ from the last generation's.
type Difference struct {
	// Unchanged counts the files that are as they were. They are not read, unless all files are to be read again.
	Unchanged int `json:"unchanged"`
	// New counts the files that the last generation lacks.
	New int `json:"new"`
	// Changed counts the files that are read again.
	Changed int `json:"changed"`
	// Removed counts the files that are not of the corpus any more.
	Removed int `json:"removed"`
	// Reordered says that known files come in another order than in the last generation.
	Reordered bool `json:"-"`
	// Renamed says that a known file has another name than in the last generation, as if another input leads to it.
	Renamed bool `json:"-"`
}

// Reading is what may change from run to run about how files are read.
type Reading struct {
	// RanksNames says that segments depend on the names of files, as the ids of files that are one document always do.
	// Then a file that has another name is read again, if it is still there.
	RanksNames bool
	// Memory is how many bytes a document may take. A file with documents that an earlier run had no room for is read
	// again if there is more.
	Memory int64
}

// isMade reports whether the segments of a file are as this run would make them. A file that no input names need not be
// there any more.
func (r *Reading) isMade(entry *File, file *corpus.File) bool {
	isNamed := entry.madeAs() == file.Name || !r.RanksNames && !file.Format.IsWhole()
	if isNamed && (entry.Memory == 0 || r.Memory != 0 && r.Memory <= entry.Memory) {
		return true
	}
	if !file.Unlisted || file.Member != nil {
		return file.Unlisted
	}
	info, err := storage.Stat(file.Path)
	return err != nil || info.Size != file.Size || info.Generation != file.Generation
}

// Assign cuts files into splits of about target decoded bytes, in document order. A split is to be read, and Units has
// nil for it, or all its stretches have segments.
func (s *State) Assign(files []corpus.File, target int64,
	reading Reading,
) (splits []corpus.Split, segments [][]documents.Segment, d Difference) {
	known := make(map[string]int, len(s.Last.Files))
	for i := range s.Last.Files {
		known[only(&s.Last.Files[i].File).Path] = i
	}
	d.Removed = len(known)
	last := 0
	c := cutting{state: s, files: files, target: target}
	for number := range files {
		before, found := known[only(&files[number]).Path]
		var entry *File
		if found {
			d.Removed--
			entry, d.Reordered, last = &s.Last.Files[before], d.Reordered || before < last, before
			d.Renamed = d.Renamed || only(&entry.File).Name != only(&files[number]).Name
		}
		switch {
		case found && (entry.Stable || only(&files[number]).Unlisted) &&
			isSame(only(&entry.File), only(&files[number])) && reading.isMade(entry, only(&files[number])):
			d.Unchanged++
			c.recall(number, entry)
		case found:
			d.Changed++
			c.read(number)
		default:
			d.New++
			c.read(number)
		}
	}
	c.flush(len(files))
	return c.splits, c.segments, d
}

// only returns the file itself, or the one file of a group.
func only(file *corpus.File) *corpus.File {
	if len(file.Members) > 0 {
		return &file.Members[0]
	}
	return file
}

// isSame reports whether a file is the known one. The same generation and size mean the same content.
func isSame(known, file *corpus.File) bool {
	return known.Size == file.Size && known.Generation == file.Generation &&
		known.Compression == file.Compression && known.Format == file.Format && known.CR == file.CR &&
		known.Charset == file.Charset && known.Reference == file.Reference &&
		(known.Below == file.Below || !file.Format.IsWhole()) // it says the site of a page
}

type cutting struct {
	state    *State
	files    []corpus.File
	target   int64
	splits   []corpus.Split
	segments [][]documents.Segment

	unread []corpus.File // the last files, if they are to be read

	recalled corpus.Split // the last stretches, if they have segments
	of       []documents.Segment
	size     int64 // about how many bytes of text they hold
}

func (c *cutting) read(number int) {
	if len(c.recalled) > 0 {
		c.flush(number)
	}
	c.unread = append(c.unread, c.files[number])
}

func (c *cutting) recall(number int, entry *File) {
	if len(c.unread) > 0 {
		c.flush(number)
	}
	for _, stretch := range entry.Stretches {
		size := c.files[number].TextSize() / int64(len(entry.Stretches))
		if c.size+size > 4*c.target {
			c.flush(number)
		}
		c.recalled = append(c.recalled, corpus.Stretch{File: number, Start: stretch.Start, End: stretch.End})
		c.of = append(c.of, documents.Segment{
			Run:       c.state.Path(stretch.Run),
			Shard:     stretch.Shard,
			Size:      c.state.sizes[stretch.Run],
			IsRenamed: entry.madeAs() != only(&c.files[number]).Name,
		})
		c.size += size
	}
}

// flush ends the splits before the file of that number.
func (c *cutting) flush(number int) {
	if len(c.recalled) > 0 {
		c.splits, c.segments = append(c.splits, c.recalled), append(c.segments, c.of)
		c.recalled, c.of, c.size = nil, nil, 0
	}
	first := number - len(c.unread)
	for _, split := range corpus.Splits(c.unread, c.target) {
		for i := range split {
			split[i].File += first
		}
		c.splits, c.segments = append(c.splits, split), append(c.segments, nil)
	}
	c.unread = nil
}

// Files returns the files of a corpus with their segments. Made holds the runs of segments that were made, by split.
// Listed is when the files were listed. Cramped has the names of files with documents that took more than memory, in
// this run or an earlier one.
func (s *State) Files(in *documents.Inputs, made map[int]string, listed time.Time, cramped map[string]int64,
	memory int64,
) []File {
	last := make(map[string]*File, len(s.Last.Files))
	for i := range s.Last.Files {
		last[only(&s.Last.Files[i].File).Path] = &s.Last.Files[i]
	}
	files := make([]File, len(in.Files))
	for i := range in.Files {
		of := only(&in.Files[i])
		files[i] = File{File: in.Files[i], Stable: isStable(of, listed)}
		if of.Unlisted {
			entry := last[of.Path] // nil if all files were read again
			files[i].Stable = entry != nil && entry.Stable
		}
		if cramped[of.Name] > 0 {
			files[i].Memory = memory
		}
	}
	for number, split := range in.Splits {
		for i, stretch := range split {
			segment := documents.Segment{Run: made[number], Shard: i}
			if len(in.Segments[number]) > 0 {
				segment = in.Segments[number][i]
			}
			of := &files[stretch.File]
			if entry := last[only(&of.File).Path]; len(in.Segments[number]) > 0 && entry != nil {
				of.Memory = entry.Memory
				if segment.IsRenamed {
					of.MadeAs = entry.madeAs()
				}
			}
			of.Stretches = append(of.Stretches, Stretch{
				Start: stretch.Start,
				End:   stretch.End,
				Run:   relative(s.Folder, segment.Run),
				Shard: segment.Shard,
			})
		}
	}
	return files
}

// Corpus returns the files of the last generation's input, as [corpus.List] does, but unlisted.
func (s *State) Corpus() (files []corpus.File) {
	for i := range s.Last.Files {
		file := *only(&s.Last.Files[i].File)
		if file.Reference {
			continue
		}
		file.Identity = corpus.Identity{} // of a machine that may have been another one
		file.Unlisted, file.Recalled = true, false
		files = append(files, file)
	}
	return files
}

// Known returns the files of the last generation whose generation tells whether they have changed, by their paths.
func (s *State) Known() map[string]corpus.File {
	known := make(map[string]corpus.File, len(s.Last.Files))
	for i := range s.Last.Files {
		if file := only(&s.Last.Files[i].File); s.Last.Files[i].Stable {
			known[file.Path] = *file
		}
	}
	return known
}

// isStable reports whether a change of the file after it was listed gives it another generation. The time of a file of
// the local disk is only as fine as the clock of the file system, and may be in another time zone. So a file that was
// written just before, or will be soon, is read again by the next run.
func isStable(file *corpus.File, listed time.Time) bool {
	if storage.Scheme(file.Path) != "" {
		return file.Generation != ""
	}
	const coarsest = 2 * time.Second // the clock of FAT
	written, known := storage.LocalTime(file.Generation)
	age := listed.Sub(written)
	return known && (age > coarsest || age < -24*time.Hour)
}
