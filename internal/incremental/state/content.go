package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/packed"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/work"
)

// Content is what a generation of a state holds.
type Content struct {
	// Number is the number of the generation, from 1.
	Number int
	// Made is when the run that wrote it ended. Program is the version of the program.
	Made    time.Time
	Program string
	// Sketches identifies what decides the segments: settings, lists of words and sources, and the layout of a segment.
	Sketches string
	// StopWords is the list of stop words as the user wrote it. Ignored are the shingles of base texts, packed as in a
	// sketch block and ascending, and Common those that very many documents have, of the run that counted them. Sketch
	// and Unicode are the versions of hashes and of words, and MainText the version of the main text of pages.
	StopWords string
	Ignored   []byte
	Common    []byte
	Sketch    int
	Unicode   string
	MainText  int
	// Config is the configuration of that run, as JSON.
	Config []byte
	// Fields are its settings that the user left open and the first records decided.
	Fields []string `json:",omitempty"`
	// Files are the files of the corpus, in document order. Order names the inputs that their numbers stand for.
	Files []File
	Order []string
	// Documents is the number of documents of the corpus. Grouped is what it was when a run last grouped all of them by
	// their keys. OversizedPairs is the number of pairs of oversized groups that it met; of SimHash distances, at least
	// the number of pairs under one key.
	Documents, Grouped, OversizedPairs int64
	SimilarPairs                       int64
	// IntegerNames says that the rows of that run call documents by whole numbers.
	IntegerNames bool
	// SharedIDs is the number of ids that several documents have, ids of the reference included.
	SharedIDs int64
	// Names of files, relative to the folder. Clusters are the clusters of that run, and Pairs its similar pairs, "" if
	// the run has not compared all candidates. Mirrors and Suspects are of the last run that was about sites: its
	// groups of mirrors, and the alerts of all such runs; "" if there was none. Notifications are the changes that
	// nobody has acknowledged, "" for none.
	Clusters, Pairs, Mirrors, Suspects, Notifications string
	// Kept is the run file, relative to the folder, with what else the next run is to know, see [State.Keep]; "" for
	// nothing. It has the hashes of shared ids if KnowsIDs says so.
	Kept     string
	KnowsIDs bool
	// Originals are what that run has left of the protected sites, by name.
	Originals []Original
	// Results identifies what decides which pairs are similar, and Lists the lists of sites.
	Results, Lists string
}

// File is a file of the corpus and its segments.
type File struct {
	corpus.File

	// Stable says that the generation of the file tells whether it has changed.
	Stable    bool
	Stretches []Stretch
	// MadeAs is the name that the file had when its segments were made, "" if it is still the name.
	MadeAs string
	// Memory is how many bytes a document could take then, if some took more; 0 if none did.
	Memory int64
}

// madeAs returns the name that the file had when its segments were made.
func (f *File) madeAs() string { return cmp.Or(f.MadeAs, only(&f.File).Name) }

// Stretch is a part of a file, in positions, and the place of its segment.
type Stretch struct {
	Start, End int64
	// Run is the run file, relative to the folder. Shard is the number of the segment there.
	Run   string
	Shard int
}

// magic begins a generation. The number in it is the number of the layout, and changes with it.
const magic = "mirrorbeam state 2\n"

func (c *Content) encode() []byte { return Seal(packed.Append([]byte(magic), c)) }

func decode(b []byte) (*Content, error) {
	body, err := Unseal(b, magic)
	if errors.Is(err, ErrVersion) {
		err = fmt.Errorf("%w: run the version that made it, or name another folder", err)
	}
	if err != nil {
		return nil, err
	}
	c := new(Content)
	if _, err := packed.Next(body, c); err != nil {
		return nil, errors.Join(ErrDamaged, err)
	}
	return c, nil
}

// brokenError says that a state cannot be opened before somebody has removed a file. Its text says what to do.
type brokenError struct{ error }

func (e brokenError) Unwrap() error { return e.error }

// Remedy returns an error that says what to do about a file of the state in a folder that is damaged or missing. It
// returns nil if err is about something else.
func Remedy(folder string, err error) error {
	_, isBroken := errors.AsType[brokenError](err)
	_, isDamaged := errors.AsType[*storage.DamagedError](err)
	switch {
	case isBroken:
		return fmt.Errorf("the state %s: %w", folder, err)
	case isDamaged && errors.Is(err, ErrVersion):
		return fmt.Errorf(
			"a file of the state %s comes from another version of this program: run the job with --rebuild (%w)",
			folder, err)
	case isDamaged, errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrNone):
		return fmt.Errorf("a file of the state %s is damaged or missing: run its job with --rebuild (%w)", folder, err)
	}
	return nil
}

// generation is the file of a generation, as its folder lists it.
type generation struct {
	number int
	info   storage.Info
}

// read reads the content. What is wrong with it is a brokenError.
func (g generation) read(folder string) (*Content, error) {
	name := generationName(folder, g.number)
	file, err := storage.Reopen(storage.Info{Name: name, Size: g.info.Size, Generation: g.info.Generation})
	if err != nil {
		return nil, err
	}
	defer file.Close() // it was only read
	b := make([]byte, g.info.Size)
	if _, err := file.ReadAt(b, 0); err != nil {
		return nil, err
	}
	c, err := decode(b)
	if err == nil && c.Number != g.number {
		err = fmt.Errorf("it says that it is number %d", c.Number)
	}
	if err != nil {
		return nil, brokenError{fmt.Errorf("%s: %w", name, err)}
	}
	return c, nil
}

// newest reads the newest generation. If it is damaged, the error says what to do.
func (all *listed) newest(folder string) (*Content, error) {
	last := len(all.generations) - 1
	c, err := all.generations[last].read(folder)
	if _, isBroken := errors.AsType[brokenError](err); !isBroken || errors.Is(err, ErrVersion) {
		return c, err
	}
	for _, older := range slices.Backward(all.generations[:last]) {
		if _, olderErr := older.read(folder); olderErr == nil {
			return nil, fmt.Errorf("%w: remove this file, and the state is as generation %d left it", err, older.number)
		}
	}
	return nil, fmt.Errorf("%w: no generation is whole, so remove the state, or name another folder", err)
}

// Unacknowledged reads the changes that nobody has acknowledged, of the content of a state in a folder.
func (c *Content) Unacknowledged(folder string) (Notifications, error) {
	if c.Notifications == "" {
		return nil, nil
	}
	return ReadNotifications(storage.Join(folder, c.Notifications))
}

// segments returns the numbers of the segments that the content needs, by their run files.
func (c *Content) segments() map[string]map[int]bool {
	segments := map[string]map[int]bool{}
	for i := range c.Files {
		for _, stretch := range c.Files[i].Stretches {
			if segments[stretch.Run] == nil {
				segments[stretch.Run] = map[int]bool{}
			}
			segments[stretch.Run][stretch.Shard] = true
		}
	}
	return segments
}

// names returns the files that the content needs, relative to the folder.
func (c *Content) names() map[string]bool {
	names := map[string]bool{}
	for run := range c.segments() {
		names[run] = true
	}
	for _, name := range []string{c.Clusters, c.Pairs, c.Mirrors, c.Suspects, c.Notifications, c.Kept} {
		if name != "" {
			names[name] = true
		}
	}
	return names
}

// keptKinds are the kinds of the records that [State.Keep] copies.
var keptKinds = []runfile.Kind{records.LastingKeys, records.KeptPairs, records.SharedIDs, records.KeptCopies}

// Keep copies what the next run is to know from the run files of tasks into a run file of the state: ids that several
// documents have and, of a job that looks for passages, the pairs with their passages, and keys under which all
// documents meet again. Keep returns the name of the file, relative to the folder.
func (s *State) Keep(ctx context.Context, runs []work.Path) (string, error) {
	out, reader := runfile.NewWriter(s.Segments(), heldBytes), runfile.Reader{Stopped: ctx.Err}
	out.Durable = true
	defer out.Abort()
	defer reader.Close()
	var buffer []byte
	for _, run := range runs {
		pieces, err := runfile.Pieces(string(run))
		if err != nil {
			return "", err
		}
		for _, piece := range pieces {
			if !slices.Contains(keptKinds, piece.Kind) {
				continue
			}
			if buffer, err = reader.Read(buffer[:0], piece); err == nil {
				err = out.Section(piece.Kind, 0, buffer)
			}
			if err != nil {
				return "", fmt.Errorf("write the checkpoint for the next run: %w", err)
			}
		}
	}
	// there may be no record, and a file without a section is none
	if err := out.Section(records.KeptPairs, 0); err != nil {
		return "", fmt.Errorf("write the checkpoint for the next run: %w", err)
	}
	path, err := out.Close()
	return relative(s.Folder, path), err
}

// Past says what has become of the files of the last generation in the inputs of a run.
func (s *State) Past(in *documents.Inputs) documents.Past {
	now, unchanged := make(map[string]int, len(in.Files)), in.Unchanged()
	for number := range in.Files {
		now[only(&in.Files[number]).Path] = number
	}
	past := documents.Past{Numbers: make([]int, len(s.Last.Files))}
	for i := range s.Last.Files {
		file := &s.Last.Files[i]
		number, isThere := now[only(&file.File).Path]
		if isThere && unchanged[number] {
			past.Numbers[i] = number
			continue
		}
		past.Numbers[i] = documents.IsGone
		for _, stretch := range file.Stretches {
			past.Gone = append(past.Gone, documents.Segment{
				Run:   s.Path(stretch.Run),
				Shard: stretch.Shard,
				Size:  s.sizes[stretch.Run],
			})
		}
	}
	return past
}
