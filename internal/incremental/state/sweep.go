package state

import (
	"errors"
	"fmt"
	"slices"

	"mirrorbeam.dev/internal/storage"
)

// keptGenerations is the number of the newest generations whose files stay.
const keptGenerations = 2

// sweep removes all listed files that the newest generations, as many as kept says, do not need. An older one that is
// damaged goes, too.
//
// A run in a bucket that has lost its lease, and does not know it yet, may still be about to write a generation that
// names what is swept. So sweep first takes that number, with a generation of the same content.
func (s *State) sweep(all listed, kept int) error {
	if err := s.removeUnfinished(); err != nil {
		return err
	}
	old := all.generations[:max(len(all.generations)-kept, 0)]
	needed := s.Last.names()
	for _, g := range all.generations[len(old):] {
		if g.number == s.Last.Number {
			continue
		}
		content, err := g.read(s.Folder)
		if _, isBroken := errors.AsType[brokenError](err); isBroken {
			old = append(old, g) // nobody can read it, and no run needs it
			continue
		}
		if err != nil {
			return err
		}
		for name := range content.names() {
			needed[name] = true
		}
	}
	unneeded := slices.DeleteFunc(all.others, func(name string) bool { return needed[name] })
	if len(unneeded) > 0 && s.Last.Number > 0 && storage.Scheme(s.Folder) != "" {
		if err := s.Commit(s.Last); err != nil {
			return err
		}
	}
	for _, g := range old {
		if err := storage.Remove(generationName(s.Folder, g.number)); err != nil {
			return err
		}
	}
	for _, name := range unneeded {
		if err := storage.Remove(s.Path(name)); err != nil {
			return err
		}
	}
	return nil
}

// removeUnfinished removes the files that a killed run was writing on the local disk.
func (s *State) removeUnfinished() error {
	if storage.Scheme(s.Folder) != "" {
		return nil
	}
	return errors.Join(storage.RemoveUnfinished(s.Folder), storage.RemoveUnfinished(s.Segments()))
}

// Prune removes all generations but the newest one. It returns the bytes of the state before and after.
func (s *State) Prune() (before, after int64, err error) {
	if before, err = s.bytes(); err != nil {
		return 0, 0, err
	}
	all, err := list(s.Folder)
	if err == nil {
		err = s.sweep(all, 1)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("prune the state: %w", err)
	}
	after, err = s.bytes()
	return before, after, err
}

func (s *State) bytes() (sum int64, err error) {
	for info, err := range infos(s.Folder) {
		if err != nil {
			return 0, err
		}
		sum += info.Size
	}
	return sum, nil
}
