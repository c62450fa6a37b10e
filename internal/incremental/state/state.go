// Package state stores what an incremental run reuses of the last run: see docs/how-to/incremental.md.
//
// A state is a folder, on the local disk or in a bucket:
//
//	lock                   the lease of the run that may write
//	generation-0000000007  what the state holds: its files, and where the segments of each are
//	segments/run-...       sketch blocks, as package documents makes them; and what [State.Keep] has stored
//	clusters-...           the clusters of the last run, see [Follow]
//	pairs-...              its similar pairs, see [CachedPairs]
//	mirrors-...            the groups of mirrors of the last run that was about sites
//	suspects-...           the alerts of all such runs
//	notifications-...      changes that nobody has acknowledged, see [Notifications]
//
// A group, such as a cluster of documents or of mirrors, keeps its lineage, a short text, for as long as it can be
// followed from run to run. So does an alert, which has an id. A similar pair is known by the digests of its documents,
// which stay the same however files come and go.
//
// A file of a state never changes. A run writes new files next to the old ones, and in the end the next generation,
// under a number that must be free. So the change from one generation to the next is one step, and a run that dies
// before it leaves only files that no generation names. The next run removes them.
//
// The generation before the current one stays until the run after the next, for programs that still read it. Nothing
// depends on it: if it is damaged, it goes at once.
package state

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mirrorbeam.dev/internal/storage"
)

const (
	lockName            = "lock"
	generationPrefix    = "generation-"
	generationDigits    = 10
	segmentsName        = "segments"
	clustersPrefix      = "clusters-"
	cachedPairsPrefix   = "pairs-"
	mirrorsPrefix       = "mirrors-"
	suspectsPrefix      = "suspects-"
	notificationsPrefix = "notifications-"
	formerSegments      = "units" // of earlier versions, whose states are refused for their layout
	formerNames         = formerSegments + `/run-|standing-|verdicts-|outbox-`
)

// State is a state that a run may write to: the run holds its lease.
type State struct {
	// Folder is the name of the folder. A local one is absolute.
	Folder string
	// Last is the newest generation. Of a new state it holds nothing, and its number is 0.
	Last Content

	lease storage.Lease
	// sizes are the lengths of the files that the folder had when it was opened, by their names relative to it.
	sizes  map[string]int64
	isMade bool
}

// Open opens the state in a folder, which is made if it is missing, and takes its lease. It removes what runs that died
// have left. Holder tells others who holds the lease. The error is a *storage.HeldError if another run is at work.
func Open(folder, holder string) (_ *State, err error) {
	if folder, err = storage.Absolute(folder); err != nil {
		return nil, err
	}
	if err = checkOwners(folder); err != nil {
		return nil, err
	}
	all, err := list(folder)
	if err == nil {
		err = checkFolder(folder, all)
	}
	if err != nil {
		return nil, err
	}
	st := &State{Folder: folder}
	if storage.Scheme(folder) == "" {
		_, err := os.Lstat(folder)
		st.isMade = errors.Is(err, fs.ErrNotExist)
		if err := os.MkdirAll(filepath.Join(folder, segmentsName), 0o777); err != nil {
			return nil, err
		}
	}
	s, err := storage.Of(folder)
	if err != nil {
		return nil, err
	}
	if st.lease, err = s.Lease(storage.Join(folder, lockName), holder); err != nil {
		return nil, err
	}
	if err = st.load(); err != nil {
		return nil, errors.Join(err, st.lease.Release())
	}
	return st, nil
}

// Close gives the lease back. A folder that Open has made goes with it, if nothing was written there.
func (s *State) Close() error {
	err := s.lease.Release()
	if s.isMade && s.Last.Number == 0 {
		for _, folder := range []string{s.Segments(), s.Folder} {
			os.Remove(folder) // stays if it holds anything, such as the lease of another run
		}
	}
	return err
}

// IsEmpty reports whether the folder held no file of a state when it was opened, other than the lease.
func (s *State) IsEmpty() bool { return s.Last.Number == 0 && len(s.sizes) == 0 }

// Segments returns the folder in which a run makes segments.
func (s *State) Segments() string { return storage.Join(s.Folder, segmentsName) }

// Path returns the whole name of a file of the state.
func (s *State) Path(name string) string { return storage.Join(s.Folder, name) }

// Names are names of files that a run writes, relative to the folder; see [Content].
type Names struct{ Clusters, Pairs, Mirrors, Suspects, Notifications string }

// NewNames returns names that no other run has.
func NewNames() Names {
	random := rand.Text()
	return Names{
		clustersPrefix + random, cachedPairsPrefix + random, mirrorsPrefix + random, suspectsPrefix + random,
		notificationsPrefix + random,
	}
}

// relative returns the name, relative to the folder, of a file in it.
func relative(folder, path string) string {
	return filepath.ToSlash(strings.TrimPrefix(path, strings.TrimRight(folder, "/")+"/"))
}

// load reads the newest generation, if there is one, and removes what runs that died have left.
func (s *State) load() error {
	all, err := list(s.Folder)
	if err != nil {
		return err
	}
	if len(all.generations) > 0 {
		last, err := all.newest(s.Folder)
		if err != nil {
			return err
		}
		s.Last = *last
	}
	s.sizes = all.sizes
	return s.sweep(all, keptGenerations)
}

// ErrNone says that a folder holds no state. It is an [fs.ErrNotExist], as is a missing part of a state.
var ErrNone = fmt.Errorf("the folder has no generation of a state: %w", fs.ErrNotExist)

// Read returns the newest generation of the state in a folder. It needs no lease. As [Open], it refuses a state
// whose files other users could exchange. The error is ErrNone if there is no state.
func Read(folder string) (*Content, error) {
	folder, err := storage.Absolute(folder)
	if err == nil {
		err = checkOwners(folder)
	}
	if err != nil {
		return nil, err
	}
	all, err := list(folder)
	switch {
	case err == nil && len(all.generations) == 0:
		return nil, fmt.Errorf("read the state %s: %w", folder, ErrNone)
	case err != nil:
		return nil, err
	}
	return all.newest(folder)
}

// Commit makes the content the next generation, in one step. Its files must be whole. If it returns an error, the last
// generation is still the newest, unless a storage behind a network has lost the answer.
func (s *State) Commit(next Content) error {
	if err := s.lease.Check(); err != nil {
		return fmt.Errorf("the lease of the state is lost, so it stays as it was: %w", err)
	}
	next.Number = s.Last.Number + 1
	err := storage.WriteFileWith(generationName(s.Folder, next.Number), next.encode(), storage.Options{
		IfAbsent: true,
		Durable:  true,
	})
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("another run has written generation %d of the state: %w", next.Number, err)
	}
	if err != nil {
		return err
	}
	s.Last = next
	return nil
}

type listed struct {
	// generations ascend.
	generations []generation
	// others are segments and what [Names] names, and foreign all files that are not of a state, except leases. Their
	// names are relative to the folder.
	others, foreign []string
	// sizes are the lengths of the others.
	sizes map[string]int64
}

// list lists the files of a folder. It is an error if something of a state is no file.
func list(folder string) (all listed, err error) {
	if err := checkKinds(folder); err != nil {
		return all, err
	}
	all.sizes = map[string]int64{}
	for info, err := range infos(folder) {
		if err != nil {
			return all, err
		}
		name := info.Name
		number, isGeneration := generationNumber(name)
		switch {
		case isGeneration:
			all.generations = append(all.generations, generation{number, info})
		case otherNames.MatchString(name):
			all.others = append(all.others, name)
			all.sizes[name] = info.Size
		case name != lockName:
			all.foreign = append(all.foreign, name)
		}
	}
	slices.SortFunc(all.generations, func(a, b generation) int { return cmp.Compare(a.number, b.number) })
	return all, nil
}

// otherNames matches the names, relative to the folder, of all files but generations and leases. They end with random
// text, so that results of a job, which begin alike, are not taken for them.
var otherNames = regexp.MustCompile(`^(` + segmentsName + `/run-|` + clustersPrefix + `|` + cachedPairsPrefix + `|` +
	mirrorsPrefix + `|` + suspectsPrefix + `|` + notificationsPrefix + `|` + formerNames + `)[A-Z2-7]{26}$`)

func generationName(folder string, number int) string {
	return storage.Join(folder, fmt.Sprintf("%s%0*d", generationPrefix, generationDigits, number))
}

// generationNumber returns the number of the generation that a name, relative to the folder, is of.
func generationNumber(name string) (number int, is bool) {
	digits, found := strings.CutPrefix(name, generationPrefix)
	number, err := strconv.Atoi(digits)
	return number, found && err == nil && len(digits) == generationDigits
}

// checkOwners refuses a local folder in which other users could exchange the files of the state.
func checkOwners(folder string) error {
	if storage.Scheme(folder) != "" {
		return nil
	}
	parent := filepath.Dir(folder)
	if err := storage.CheckFolder(parent); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("its parent folder %s: %w: choose a state in a folder of your own", parent, err)
	}
	for _, path := range []string{folder, filepath.Join(folder, segmentsName)} {
		if err := storage.CheckOwner(path); err != nil {
			return fmt.Errorf("%s: %w: name another folder", path, err)
		}
	}
	return nil
}

// checkKinds refuses a local folder in which a link or a folder has the name of a file of a state.
func checkKinds(folder string) error {
	if storage.Scheme(folder) != "" {
		return nil
	}
	for _, within := range []string{"", segmentsName} {
		entries, err := os.ReadDir(filepath.Join(folder, within))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, entry := range entries {
			name := storage.Join(within, entry.Name())
			path := filepath.Join(folder, name)
			switch {
			case name == segmentsName && !entry.IsDir():
				return brokenError{fmt.Errorf("%s is no folder, as a state has there: remove it", path)}
			case name != segmentsName && isOfState(name) && !entry.Type().IsRegular():
				return brokenError{fmt.Errorf("%w: remove it", &storage.IrregularError{Path: path, Mode: entry.Type()})}
			}
		}
	}
	return nil
}

// infos yields the files of a folder, by their names relative to it. The folder itself may be a link.
func infos(folder string) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		root := folder
		s, err := storage.Of(folder)
		if err == nil && storage.Scheme(folder) == "" {
			root, err = filepath.EvalSymlinks(folder)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return
		case err != nil:
			yield(storage.Info{}, err)
			return
		}
		for info, err := range s.List(root) {
			info.Name = relative(root, info.Name)
			if !yield(info, err) || err != nil {
				return
			}
		}
	}
}

func isOfState(name string) bool {
	_, isGeneration := generationNumber(name)
	return isGeneration || name == lockName || otherNames.MatchString(name)
}

// checkFolder refuses a folder that holds other things than a state.
func checkFolder(folder string, all listed) error {
	foreign := all.foreign
	if storage.Scheme(folder) == "" {
		entries, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, entry := range entries {
			if entry.IsDir() && entry.Name() != segmentsName && entry.Name() != formerSegments {
				foreign = append(foreign, entry.Name())
			}
		}
	}
	if len(foreign) > 0 {
		return fmt.Errorf("%s contains %s, which is not part of a state: name a folder that is empty or new", folder,
			slices.Min(foreign))
	}
	return nil
}
