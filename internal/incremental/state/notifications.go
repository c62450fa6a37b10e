package state

import (
	"slices"

	"mirrorbeam.dev/internal/schema/output"
)

// Notifications holds the changes that nobody has acknowledged. Each run tells of them again.
//
// It has one row for each kind of change of a group, with the newest figures: a group that comes and goes with every
// run takes two rows. Of each output it has [mostOpen] rows at most. Further changes are told once, and counted from
// then on: a row without a lineage stands for as many changes as its size says.
type Notifications []output.Change

// mostOpen is the number of rows that a queue of notifications has of an output.
const mostOpen = 100_000

// changeKey tells the rows of a queue of notifications apart: it has one for each key.
type changeKey struct{ of, change, lineage string }

func keyOf(c *output.Change) changeKey { return changeKey{c.Of, c.Change, c.Lineage} }

// Tell returns what the run of a generation tells: its own changes, which it dates, and those that it repeats. Next is
// the notifications of that generation. Keeps says whether new changes of an output and of a kind are to be
// acknowledged; others are told once.
func (o Notifications) Tell(now []output.Change, generation int,
	keeps func(of, change string) bool,
) (told []output.Change, next Notifications) {
	return o.tell(now, int64(generation), mostOpen, keeps)
}

func (o Notifications) tell(now []output.Change, generation int64, most int,
	keeps func(of, change string) bool,
) (told []output.Change, next Notifications) {
	places, rows := map[changeKey]int{}, map[string]int{}
	open := func(c output.Change) {
		places[keyOf(&c)] = len(next)
		rows[c.Of]++
		next = append(next, c)
	}
	for _, c := range o {
		open(c)
	}
	for i := range now {
		c := &now[i]
		c.Generation, c.Since = generation, generation
		place, isOpen := places[keyOf(c)]
		switch {
		case isOpen:
			c.Since = next[place].Since
			next[place] = *c
		case !keeps(c.Of, c.Change):
		case rows[c.Of] < most:
			open(*c)
		default:
			rest := output.Change{Of: c.Of, Change: c.Change, Since: generation}
			if place, isOpen = places[keyOf(&rest)]; !isOpen {
				place = len(next)
				open(rest)
			}
			next[place].Size++
			next[place].Added++
			next[place].Generation = generation
		}
	}
	for place, c := range o {
		if c.Lineage == "" || next[place].Generation < generation {
			now = append(now, c)
		}
	}
	return now, next
}

// Acknowledge returns what is open once all changes up to a generation are acknowledged.
func (o Notifications) Acknowledge(generation int) (left Notifications) {
	for _, c := range o {
		if c.Generation > int64(generation) {
			c.Since = max(c.Since, int64(generation)+1)
			left = append(left, c)
		}
	}
	return left
}

// Counts counts the changes by output and kind.
func (o Notifications) Counts() map[string]map[string]int64 {
	counts := map[string]map[string]int64{}
	for _, c := range o {
		if counts[c.Of] == nil {
			counts[c.Of] = map[string]int64{}
		}
		if c.Lineage == "" {
			counts[c.Of][c.Change] += c.Size
		} else {
			counts[c.Of][c.Change]++
		}
	}
	return counts
}

// Acknowledge takes the changes up to a generation out of the queue of notifications, and returns what is left there.
// The result is the next generation, unless none of these changes is in the queue of notifications.
func (s *State) Acknowledge(generation int) (left Notifications, err error) {
	open, err := s.Last.Unacknowledged(s.Folder)
	if err != nil {
		return nil, err
	}
	left = open.Acknowledge(generation)
	if slices.EqualFunc(open, left, func(a, b output.Change) bool { return a.Since == b.Since }) {
		return left, nil
	}
	next := s.Last
	if next.Notifications, err = s.WriteNotifications(left, NewNames()); err != nil {
		return nil, err
	}
	return left, s.Commit(next)
}

// WriteNotifications writes changes that nobody has acknowledged, and returns the name of their file, "" if there are
// none.
func (s *State) WriteNotifications(o Notifications, names Names) (name string, err error) {
	if len(o) == 0 {
		return "", nil
	}
	return names.Notifications, WriteNotifications(s.Path(names.Notifications), o)
}
