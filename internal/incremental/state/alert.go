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
	// Pages is the number of pages that speak for the alert. An alert of an earlier run, which has gone since, has
	// none.
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
