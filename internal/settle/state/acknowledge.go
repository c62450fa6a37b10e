package state

import (
	"slices"

	"mirrorbeam/internal/carry/output"
)

// Acknowledge takes the changes up to a generation out of the outbox, and returns what is left there. The result is the next
// generation, unless none of these changes is in the outbox.
func (s *State) Acknowledge(generation int) (left Outbox, err error) {
	open, err := s.Last.Unacknowledged(s.Folder)
	if err != nil {
		return nil, err
	}
	left = open.Acknowledge(generation)
	if slices.EqualFunc(open, left, func(a, b output.Change) bool { return a.Since == b.Since }) {
		return left, nil
	}
	next := s.Last
	if next.Outbox, err = s.WriteOutbox(left, NewNames()); err != nil {
		return nil, err
	}
	return left, s.Commit(next)
}

// WriteOutbox writes changes that nobody has acknowledged, and returns the name of their file, "" if there are none.
func (s *State) WriteOutbox(o Outbox, names Names) (name string, err error) {
	if len(o) == 0 {
		return "", nil
	}
	return names.Outbox, WriteOutbox(s.Path(names.Outbox), o)
}
