package documents

import (
	"fmt"
	"slices"
	"sort"
	"strconv"

	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/packed"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/work"
)

// Inputs are the files of a job, in document order, and their cuts into splits. Files of a reference corpus come first.
// The driver writes them once. Workers read them from the job's folder, since data does not belong in a pipeline.
type Inputs struct {
	Files  []corpus.File
	Splits []corpus.Split
	// Segments, with a state, are the segments of each split, one for each of its stretches; nil for a split to read.
	Segments [][]Segment
	// Sources are the sources of the files, by their numbers.
	Sources []sources.Source
	// StopWords is the list of stop words as the user wrote it. It is empty if there is none.
	StopWords string
	// Ignored are the shingles of texts that do not count, packed as in a sketch block and ascending, if there are any.
	Ignored []byte
	// Unread are files that cannot be read, each with its Fault: they are rejects. Passed are files of searched folders
	// that are passed over, and Sides those among these that describe the data of the input.
	Unread []corpus.File
	Passed corpus.PassedFiles
	Sides  []corpus.File
	// Order names the inputs, the reference first, by the numbers that files have of their input.
	Order []string
	// Fields are the settings of fields that the user left open and the records decided.
	Fields []string
	// Ranking is the list of preferred sources as the user wrote it, empty for none.
	Ranking string
	Sites   SiteLists
	// Originals are the protected sites of the last run with a state, by name. The traces of their pages are stored.
	Originals []string
	// Known is about how many documents there are, if a state knows, 0 if nobody knows.
	Known int64
	// Past says what has become of the files of the last run with a state, if that has kept pairs with their passages,
	// or documents shared an id.
	Past Past
}

// Past is what has become of the files of the last run with a state.
type Past struct {
	// Numbers are the present numbers of these files by their former numbers; IsGone for a gone or changed one.
	Numbers []int
	// Gone are the segments of gone and changed files, as they were.
	Gone []Segment
}

// IsGone is the number of a file that is gone, or has changed.
const IsGone = -1

// Now returns what a document of the last run is called now, if its file has not changed.
func (p *Past) Now(then docref.Ref) (now docref.Ref, isThere bool) {
	file := then.File()
	if file >= len(p.Numbers) || p.Numbers[file] == IsGone {
		return 0, false
	}
	now, err := docref.New(p.Numbers[file], then.Position())
	return now, err == nil
}

// IsInOrder reports whether the files that are still there are in the order in which they were.
func (p *Past) IsInOrder() bool {
	return slices.IsSorted(slices.DeleteFunc(slices.Clone(p.Numbers), func(number int) bool {
		return number == IsGone
	}))
}

// SiteLists are the lists of ranked and protected sites and of allowed mirrors, as the user wrote them, empty for none.
type SiteLists struct{ Rank, Protected, Allowed string }

// WriteInputs writes the inputs to path, which stages have as Inputs. Paths are bytes in no particular encoding.
func WriteInputs(path string, inputs Inputs) error {
	if err := storage.WriteFile(path, packed.Append(nil, &inputs)); err != nil {
		return fmt.Errorf("write list of inputs: %w", err)
	}
	return nil
}

func readInputs(path string) (*Inputs, error) {
	b, err := storage.ReadFile(path)
	inputs := new(Inputs)
	if err == nil {
		_, err = packed.Next(b, inputs)
	}
	if err != nil {
		return nil, fmt.Errorf("read list of inputs: %w", err)
	}
	return inputs, nil
}

// allInputs are the inputs of the jobs at work in this process. A runner sets up many workers. A list of a
// hundred thousand files is read once for all of them, and freed after the last.
var allInputs work.Shared[Inputs]

// OpenInputs returns the inputs that WriteInputs wrote to path. The caller must not change them.
func OpenInputs(path string) (*Inputs, error) { return allInputs.Get(path, readInputs) }

// Layout is what stages need to know about the inputs. They read it in their Setup.
type Layout struct {
	Inputs     *Inputs
	Starts     []docref.Ref // first refs of the splits, see [Inputs.SplitStarts]
	FirstInput docref.Ref   // first ref of the input, after the reference corpus
}

func (l *Layout) Read(path string) (err error) {
	if l.Inputs, err = OpenInputs(path); err != nil {
		return err
	}
	if l.FirstInput, err = l.Inputs.FirstInput(); err != nil {
		return err
	}
	l.Starts, err = l.Inputs.SplitStarts()
	return err
}

// TextBytes returns about how many bytes of text the files hold, before compression.
func (in *Inputs) TextBytes() int64 { return in.sum((*corpus.File).TextSize) }

func (in *Inputs) sum(of func(*corpus.File) int64) (sum int64) {
	for i := range in.Files {
		sum += of(&in.Files[i])
	}
	return sum
}

// AuditShares returns the shares of the documents that an audit of about that sample looks at; sample 0: no audit.
func (in *Inputs) AuditShares(sample int) audit.Shares {
	return audit.NewShares(sample, in.TextBytes()).Of(in.Known)
}

// FreshBytes returns about how many bytes of text the files hold that no state knows.
func (in *Inputs) FreshBytes() int64 {
	sum, last := int64(0), -1
	for number, split := range in.Splits {
		if number < len(in.Segments) && len(in.Segments[number]) > 0 {
			continue
		}
		for _, stretch := range split {
			if stretch.File != last { // which several splits may share
				sum += in.Files[stretch.File].TextSize()
			}
			last = stretch.File
		}
	}
	return sum
}

// LeastTextBytes returns how many bytes of text the files hold at least, by their sizes.
func (in *Inputs) LeastTextBytes() int64 { return in.sum((*corpus.File).LeastTextSize) }

// Archives returns the number of web archives among the files. These say from where they have fetched documents.
func (in *Inputs) Archives() (n int64) {
	for i := range in.Files {
		if in.Files[i].Format == corpus.WARC {
			n++
		}
	}
	return n
}

// References returns the number of files that belong to the reference corpus.
func (in *Inputs) References() int {
	return sort.Search(len(in.Files), func(i int) bool { return !in.Files[i].Reference })
}

// FirstInput returns the first ref of the input. All documents before it are of the reference corpus.
func (in *Inputs) FirstInput() (docref.Ref, error) {
	first, err := docref.New(in.References(), 0)
	if err != nil {
		return 0, fmt.Errorf("number of reference files: %w", err)
	}
	return first, nil
}

// SplitStarts returns the first ref of each split. All documents before it belong to earlier splits.
func (in *Inputs) SplitStarts() ([]docref.Ref, error) {
	starts := make([]docref.Ref, len(in.Splits))
	for i, split := range in.Splits {
		var err error
		if starts[i], err = docref.New(split[0].File, split[0].Start); err != nil {
			return nil, fmt.Errorf("file %s: %w", in.Files[split[0].File].Path, err)
		}
	}
	return starts, nil
}

// SplitOf returns the split that holds the document. Starts come from [Inputs.SplitStarts].
func SplitOf(starts []docref.Ref, ref docref.Ref) int {
	return sort.Search(len(starts), func(i int) bool { return starts[i] > ref }) - 1
}

// FilesOf returns the range of files whose unique records the task of a split writes. These are the files that start in
// the split. An empty file has no stretch, so it belongs to the last split before it.
func (in *Inputs) FilesOf(split int, starts []docref.Ref) (from, to int) {
	owner := func(file int) int {
		first, _ := docref.New(file, 0) // making the splits has checked the number
		return max(SplitOf(starts, first), 0)
	}
	from = sort.Search(len(in.Files), func(file int) bool { return owner(file) >= split })
	to = sort.Search(len(in.Files), func(file int) bool { return owner(file) > split })
	return from, to
}

// Unchanged says of each file, by its number, whether the last run knew it as it is. Of nil, no file is unchanged.
type Unchanged []bool

// Has reports whether a document is in an unchanged file.
func (u Unchanged) Has(ref docref.Ref) bool { return u != nil && u[ref.File()] }

// Both reports whether two documents are in unchanged files: the last run knows whether such a pair is similar.
func (u Unchanged) Both(a, b docref.Ref) bool { return u.Has(a) && u.Has(b) }

// Unchanged returns which files a state has all segments of.
func (in *Inputs) Unchanged() Unchanged {
	unchanged := make(Unchanged, len(in.Files))
	for i, split := range in.Splits {
		for _, stretch := range split {
			unchanged[stretch.File] = i < len(in.Segments) && len(in.Segments[i]) > 0
		}
	}
	return unchanged
}

// SourceOf returns the number of the source of a document.
func (in *Inputs) SourceOf(ref docref.Ref) sources.Number {
	return in.Files[ref.File()].SourceAt(ref.Position())
}

// RefText writes the ref as users see it: path:position.
func (in *Inputs) RefText(b []byte, ref docref.Ref) []byte {
	name, position := in.Files[ref.File()].Place(ref.Position())
	return strconv.AppendInt(append(append(b, name...), ':'), position, 10)
}

// Name returns the name by which users know a document: path:position.
func (in *Inputs) Name(ref docref.Ref) string { return string(in.RefText(nil, ref)) }

// Starred describes a dense group whose documents are compared only with the first one.
func (l *Layout) Starred(group []candidates.Record, pairs int64) findings.Skipped {
	var s SkippedGroup
	for i := range group {
		s.Note(group[i].Ref)
	}
	return l.Skipped(&s, pairs-int64(len(group)-1))
}

// SkippedGroup describes a dense group to the user.
type SkippedGroup struct {
	Documents     int64
	First, Second docref.Ref
}

// Note notes a document of the group.
func (s *SkippedGroup) Note(ref docref.Ref) {
	switch s.Documents++; {
	case s.Documents == 1:
		s.First = ref
	case ref < s.First:
		s.First, s.Second = ref, s.First
	case s.Documents == 2 || ref < s.Second:
		s.Second = ref
	}
}

// Skipped describes a dense group with skipped pairs.
func (l *Layout) Skipped(s *SkippedGroup, pairs int64) findings.Skipped {
	return findings.Skipped{Pairs: pairs, Groups: 1, Example: &findings.SkippedGroup{
		Documents: s.Documents,
		First:     string(l.Inputs.RefText(nil, s.First)),
		Second:    string(l.Inputs.RefText(nil, s.Second)),
	}}
}

// Mark writes that a document belongs to a kind: [records.Unchecked] or [records.PartlyListed].
func (l *Layout) Mark(run *runfile.Writer, kind runfile.Kind, ref docref.Ref) error {
	return records.Write(run, kind, SplitOf(l.Starts, ref), &ref)
}
