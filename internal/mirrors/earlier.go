package mirrors

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/input/site"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/work"
)

// StateFiles are the files of a state that the watch of a scheduled job reads, each empty if there is none.
type StateFiles struct {
	// Suspects has the alerts of earlier runs. Copies is a run file with the copies that the last one has found.
	Suspects, Copies work.Path
}

// earlier is what was read of these files. Tasks of a process share it.
type earlier struct {
	suspects map[string]bool         // the hosts of alerts, whose names are never cut
	evidence map[uint64]bool         // of the alerts
	copies   map[xxh3.Uint128][]byte // packed, by what [Watching.keyOf] returns
}

var allEarlier work.Shared[earlier]

// mostKept is how many bytes of copies a process takes from a state. If there are more, pages are compared again.
const mostKept = 64 << 20

// copiesVersion is raised when the copies of a page are others than an earlier version of the program has found.
const copiesVersion = 1

// keyOf identifies the pages of a piece, and what they are compared with. A piece of a state stays at its place, in a
// file with a random name, until its pages change or the state is compacted.
func (v *Watching) keyOf(piece runfile.Piece, all *guards) xxh3.Uint128 {
	return xxh3.HashString128(fmt.Sprint(path.Base(piece.Path), piece.Offset, v.Rule, all.digest, v.lists.digest,
		copiesVersion))
}

func (f StateFiles) read(w *work.TaskContext) (*earlier, error) {
	all, err := allEarlier.Get(fmt.Sprint(f), func(string) (*earlier, error) {
		all := &earlier{map[string]bool{}, map[uint64]bool{}, map[xxh3.Uint128][]byte{}}
		if err := all.readSuspects(string(f.Suspects)); err != nil {
			return nil, err
		}
		return all, all.readCopies(string(f.Copies))
	})
	if err == nil {
		w.Hold(all)
	}
	return all, err
}

func (e *earlier) readSuspects(name string) error {
	if name == "" {
		return nil
	}
	alerts, err := state.ReadAlerts(name)
	_, isDamaged := errors.AsType[*storage.DamagedError](err)
	if isDamaged || errors.Is(err, fs.ErrNotExist) {
		return nil // who follows the alerts says what to do
	}
	for i := range alerts {
		for _, page := range alerts[i].Evidence {
			e.suspects[site.HostOf(alerts[i].Site)] = true
			e.evidence[page] = true
		}
	}
	return err
}

func (e *earlier) readCopies(name string) error {
	if name == "" {
		return nil
	}
	pieces, err := runfile.Pieces(name)
	if err != nil || runfile.SizeOf(pieces, records.KeptCopies) > mostKept {
		return err
	}
	var reader runfile.Reader
	defer reader.Close()
	packed, err := reader.ReadKind(nil, pieces, records.KeptCopies)
	if err != nil {
		return err
	}
	for kept := range records.All[records.PieceCopies](packed) {
		e.copies[kept.Of] = kept.Packed
	}
	return nil
}

// seePages writes which pages of a split were evidence in an earlier run.
func (e *earlier) seePages(w *work.TaskContext, names *siteNames) error {
	if len(e.evidence) == 0 {
		return nil
	}
	packed, err := w.Read(0, records.Pages)
	if err != nil {
		return err
	}
	for page := range records.All[records.SplitPage](packed) {
		if !e.suspects[site.HostOf(names.of(&page.Page).name)] {
			continue
		}
		if of := pageDigest(string(page.Address)); e.evidence[of] {
			if err := records.Write(&w.Run, records.SeenPages, 0, &of); err != nil {
				return err
			}
		}
	}
	return nil
}
