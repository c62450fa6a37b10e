package state

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/schema/output"
)

// Alert is a suspect of a run.
type Alert struct {
	// ID is the same in all runs. As text it is the lineage of the alert.
	ID uint64
	// Pages is the number of pages that speak for the alert, 0 for an alert of an earlier run that has gone.
	Pages int64
	// Site is the site that is suspected. Of a campaign it is what its sites have in common, and Pages is their number.
	Site string
	// Campaign is the ID of the alert that stands for this one, 0 for none.
	Campaign uint64
	// Urgent says that the suspect's severity is high.
	Urgent bool
	// Unseen says that the last run could not tell whether the alert still holds. Pages is as it was.
	Unseen bool
	// Copied are traces of pages of the protected site that were copied: some of them, if there are many.
	Copied []Trace
	// Evidence are digests of the addresses of some pages that speak for it. A run that has not seen all cannot tell
	// that it has gone.
	Evidence []uint64
	// First is when a run has first had the alert. It is of the state only: the run does not know it.
	First Sighting
}

// Trace is a sketch of a page, by which a later run knows it again.
type Trace [32]byte

// Sighting is the run that has seen something.
type Sighting struct {
	// Generation is the generation of the state that the run has written, 0 if an earlier version of the program has.
	Generation int64
	// Seconds is when the run began, in seconds since 1970.
	Seconds int64
}

// Original says how many distinct pages a run has found of a protected site, and how many of these are like no other
// page of it. So the next run can tell whether the site is still the same.
type Original struct {
	Site          string
	Pages, Unlike int64
}

// Lineage returns the id as outputs have it.
func (a Alert) Lineage() string { return fmt.Sprintf("%016x", a.ID) }

func (a Alert) compare(other Alert) int {
	return cmp.Or(strings.Compare(a.Site, other.Site), cmp.Compare(a.ID, other.ID))
}

// FollowAlerts returns what has changed since the last run, and all alerts that any run has had. Known are those that
// the last run returned, now those of this run, which is the sighting of those that are new. Of is the output that has
// them. IsUnseen says of a known alert which this run does not have that the run could not have had it: such an alert
// stays as it was. All lists are by site and id; FollowAlerts sorts now.
//
// A new alert that an earlier run has had, too, names itself as the previous one. An alert that a campaign stands for
// is no change, unless an earlier run has told of it by itself: then it goes on to be told. So does an alert that joins
// a campaign which was told of before, or nobody would hear of a new suspect behind an old flood; of one run that is
// the first [mostJoining]. An alert that becomes urgent is new once more.
func FollowAlerts(of string, known, now []Alert, isUnseen func(Alert) bool,
	run Sighting,
) (changes []output.Change, all []Alert) {
	slices.SortFunc(now, Alert.compare)
	isLost := lost(known, now, isUnseen)
	told, joined := map[uint64]bool{}, 0
	for _, a := range known {
		told[a.ID] = a.Pages > 0
	}
	for len(known) > 0 || len(now) > 0 {
		before, after := Alert{First: run}, Alert{}
		isKnown := len(now) == 0 || len(known) > 0 && known[0].compare(now[0]) <= 0
		isNow := len(known) == 0 || len(now) > 0 && now[0].compare(known[0]) <= 0
		if isNow {
			after, now = now[0], now[1:]
		}
		if isKnown {
			before, known = known[0], known[1:]
			after.ID, after.Site = before.ID, before.Site
		}
		after.First = before.First
		switch {
		case !isNow && isLost(before):
			after = before
			after.Unseen = true
		case !isNow && before.Campaign != 0:
			continue // nobody was told of it
		case before.Campaign != 0:
			before.Pages = 0
		case before.Pages > 0:
			after.Campaign = 0
		case told[after.Campaign] && joined < mostJoining:
			after.Campaign = 0
			joined++
		}
		all = append(all, after)
		becomesUrgent := after.Urgent && !before.Urgent && before.Pages > 0
		if isNews := before.Pages != after.Pages || after.Unseen && !before.Unseen ||
			becomesUrgent; after.Campaign != 0 || !isNews {
			continue
		}
		change := after.change(of, before.Pages)
		if becomesUrgent {
			change.Change = output.New
		}
		changes = append(changes, change)
		if isKnown {
			changes[len(changes)-1].Previous = []string{before.Lineage()}
		}
	}
	return changes, all
}

// mostJoining is the number of alerts of a run that are told although a known campaign stands for them.
const mostJoining = 100

// lost returns what tells of a known alert that this run does not have whether the run could not have had it. Of a
// campaign it could not if that is so of one of its sites.
func lost(known, now []Alert, isUnseen func(Alert) bool) func(Alert) bool {
	ids, campaigns := map[uint64]bool{}, map[uint64]bool{}
	for _, a := range now {
		ids[a.ID] = true
	}
	for _, a := range known {
		if a.Campaign != 0 {
			campaigns[a.Campaign] = campaigns[a.Campaign] || !ids[a.ID] && isUnseen(a)
		}
	}
	return func(a Alert) bool {
		if hasUnseen, isCampaign := campaigns[a.ID]; isCampaign {
			return hasUnseen && a.Pages > 0
		}
		return a.Pages > 0 && isUnseen(a)
	}
}

// change returns the change of an alert that had the given number of other pages in the last run.
func (a Alert) change(of string, before int64) output.Change {
	c := output.Change{
		Of:      of,
		Lineage: a.Lineage(),
		Name:    a.Site,
		Size:    a.Pages,
		Before:  before,
		Added:   max(a.Pages-before, 0),
		Removed: max(before-a.Pages, 0),
	}
	switch {
	case a.Unseen:
		c.Change = output.Unseen
	case before == 0:
		c.Change = output.New
	case a.Pages == 0:
		c.Change = output.Gone
	case a.Pages > before:
		c.Change = output.Grown
	default:
		c.Change = output.Shrunk
	}
	return c
}

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

// Acknowledge returns what is open once all changes up to a generation are acknowledged, except in some lineages.
func (o Notifications) Acknowledge(generation int, except ...string) (left Notifications) {
	stays := map[string]bool{}
	for _, lineage := range except {
		stays[lineage] = true
	}
	for _, c := range o {
		if c.Lineage != "" && stays[c.Lineage] {
			left = append(left, c)
		} else if c.Generation > int64(generation) {
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
func (s *State) Acknowledge(generation int, except ...string) (left Notifications, err error) {
	open, err := s.Last.Unacknowledged(s.Folder)
	if err != nil {
		return nil, err
	}
	left = open.Acknowledge(generation, except...)
	if slices.EqualFunc(open, left, func(a, b output.Change) bool { return a.Since == b.Since }) {
		return left, nil
	}
	next := s.Last
	if next.Notifications, err = s.WriteNotifications(left, NewNames()); err != nil {
		return nil, err
	}
	return left, s.Commit(next)
}

// WriteNotifications writes unacknowledged changes, and returns the name of their file, "" if there are none.
func (s *State) WriteNotifications(o Notifications, names Names) (name string, err error) {
	if len(o) == 0 {
		return "", nil
	}
	return names.Notifications, WriteNotifications(s.Path(names.Notifications), o)
}
