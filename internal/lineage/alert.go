package lineage

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"mirrorbeam/internal/output"
)

// Alert is a suspect of a run.
type Alert struct {
	// ID is the same in all runs. As text it is the lineage of the alert.
	ID uint64
	// Pages is the number of pages that speak for the alert. An alert of an earlier run, which has gone since, has none.
	Pages int64
	// Site is the site that is suspected.
	Site string
	// First is when a run has first had the alert. It is of the state only: the run does not know it.
	First Sighting
}

// Sighting is the run that has seen something.
type Sighting struct {
	// Generation is the generation of the state that the run has written, 0 if an earlier version of the program has.
	Generation int64
	// Seconds is when the run began, in seconds since 1970.
	Seconds int64
}

// Lineage returns the id as outputs have it.
func (a Alert) Lineage() string { return fmt.Sprintf("%016x", a.ID) }

func (a Alert) compare(other Alert) int {
	return cmp.Or(strings.Compare(a.Site, other.Site), cmp.Compare(a.ID, other.ID))
}

// FollowAlerts returns what has changed since the last run, and all alerts that any run has had. Known are those that
// the last run returned, now those of this run, which is the sighting of those that are new. Of is the output that has them.
// All lists are by site and id; FollowAlerts sorts now.
//
// A new alert that an earlier run has had, too, names itself as the previous one.
func FollowAlerts(of string, known, now []Alert, run Sighting) (changes []output.Change, all []Alert) {
	slices.SortFunc(now, Alert.compare)
	for len(known) > 0 || len(now) > 0 {
		before, after := Alert{First: run}, Alert{}
		isKnown := len(now) == 0 || len(known) > 0 && known[0].compare(now[0]) <= 0
		if isNow := len(known) == 0 || len(now) > 0 && now[0].compare(known[0]) <= 0; isNow {
			after, now = now[0], now[1:]
		}
		if isKnown {
			before, known = known[0], known[1:]
			after.ID, after.Site = before.ID, before.Site
		}
		after.First = before.First
		all = append(all, after)
		if before.Pages == after.Pages {
			continue
		}
		changes = append(changes, after.change(of, before.Pages))
		if isKnown {
			changes[len(changes)-1].Previous = []string{before.Lineage()}
		}
	}
	return changes, all
}

// change returns the change of an alert that had so many other pages in the last run.
func (a Alert) change(of string, before int64) output.Change {
	c := output.Change{
		Of: of, Lineage: a.Lineage(), Name: a.Site, Size: a.Pages, Before: before, Added: max(a.Pages-before, 0), Removed: max(before-a.Pages, 0),
	}
	switch {
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

// AppendAlert packs an alert: the id, the number of pages, the length of the name of the site, the name.
func AppendAlert(b []byte, a Alert) []byte {
	b = binary.LittleEndian.AppendUint64(b, a.ID)
	b = binary.LittleEndian.AppendUint64(b, uint64(a.Pages))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(a.Site)))
	return append(b, a.Site...)
}

// NextAlert reads the first of the packed alerts and returns the bytes of the others.
func NextAlert(b []byte) (a Alert, rest []byte, err error) {
	const header = 20
	if len(b) < header {
		return a, nil, errDamaged
	}
	a.ID, a.Pages = binary.LittleEndian.Uint64(b), int64(binary.LittleEndian.Uint64(b[8:]))
	name := int(binary.LittleEndian.Uint32(b[16:]))
	if b = b[header:]; len(b) < name {
		return a, nil, errDamaged
	}
	a.Site = string(b[:name])
	return a, b[name:], nil
}
