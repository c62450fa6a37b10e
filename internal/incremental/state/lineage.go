package state

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"mirrorbeam.dev/internal/schema/output"
)

// Member stands for a document, or for a site: a hash of its name.
type Member [2]uint64

// Group is a group of documents, or of sites, of one run.
type Group struct {
	// Lineage is empty before [Follow].
	Lineage string
	Name    string
	Members []Member
}

// Follow gives the groups of a run their lineages, and returns what has changed since the last run. Of is the output
// whose groups they are. Number is the number of the run, and larger than the number of any earlier one. Both lists are
// in the order of their runs, and no document is in two groups of a list.
//
// The heir of a group of the last run is the group that has most of its documents, the first of several. A group
// continues the groups whose heir it is. Its lineage is the lineage of the largest part, or a new one.
func Follow(of string, last, now []Group, number int) []output.Change {
	f := newFollowing(last, now)
	var changes []output.Change
	for i := range now {
		change, is := f.change(i, number)
		change.Of = of
		if is {
			changes = append(changes, change)
		}
	}
	for i := range last {
		if len(f.parts[i]) > 0 {
			continue
		}
		size := int64(len(last[i].Members))
		changes = append(changes, output.Change{
			Of:       of,
			Change:   output.Gone,
			Lineage:  last[i].Lineage,
			Name:     last[i].Name,
			Before:   size,
			Removed:  size,
			Previous: []string{last[i].Lineage},
		})
	}
	return changes
}

type following struct {
	last, now []Group
	// parts are, for each group of the last run, what groups of this run have of it. origins are, for each group of
	// this run, what it has of groups of the last run.
	parts, origins [][]share
}

// share is the number of documents that a group has in common with another one.
type share struct{ group, documents int }

func newFollowing(last, now []Group) *following {
	f := &following{last: last, now: now, parts: make([][]share, len(last)), origins: make([][]share, len(now))}
	f.keepUnchanged()
	olds, news := placesOf(last, f.parts), placesOf(now, f.origins)
	common := make([][2]uint32, 0, min(len(olds), len(news)))
	for len(olds) > 0 && len(news) > 0 {
		switch order := olds[0].compare(news[0]); {
		case order < 0:
			olds = olds[1:]
		case order > 0:
			news = news[1:]
		default:
			common = append(common, [2]uint32{news[0].group, olds[0].group})
			olds, news = olds[1:], news[1:]
		}
	}
	slices.SortFunc(common, func(a, b [2]uint32) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	for len(common) > 0 {
		n := 1
		for n < len(common) && common[n] == common[0] {
			n++
		}
		at, from := int(common[0][0]), int(common[0][1])
		f.origins[at] = append(f.origins[at], share{from, n})
		f.parts[from] = append(f.parts[from], share{at, n})
		common = common[n:]
	}
	return f
}

// ahead is how many groups of the last run are looked at for one that has the same documents.
const ahead = 16

// keepUnchanged relates groups that have the same documents in both runs, which are most groups of most runs. Groups
// mostly keep their order, so it looks for each at the next places only. No other group has any of their documents.
func (f *following) keepUnchanged() {
	shares := make([]share, 0, 2*len(f.now)) // of all: one allocation
	one := func(of, documents int) []share {
		n := len(shares)
		shares = append(shares, share{of, documents})
		return shares[n : n+1 : n+1]
	}
	next := 0
	for i := range f.now {
		members := f.now[i].Members
		for from := next; from < min(next+ahead, len(f.last)) && len(members) > 0; from++ {
			if slices.Equal(f.last[from].Members, members) {
				f.origins[i], f.parts[from], next = one(from, len(members)), one(i, len(members)), from+1
				break
			}
		}
	}
}

type place struct {
	member Member
	group  uint32
}

func (p place) compare(other place) int {
	return cmp.Or(cmp.Compare(p.member[0], other.member[0]), cmp.Compare(p.member[1], other.member[1]))
}

// placesOf returns the documents of groups, by their hashes, without the groups that are related to others.
func placesOf(groups []Group, related [][]share) []place {
	var all []place
	for i := range groups {
		if len(related[i]) > 0 {
			continue
		}
		for _, member := range groups[i].Members {
			all = append(all, place{member, uint32(i)})
		}
	}
	slices.SortFunc(all, place.compare)
	return all
}

func (f *following) heir(last int) int { return largest(f.parts[last]).group }

// largest returns the share of the most documents, the first of several.
func largest(shares []share) share {
	return slices.MaxFunc(shares, func(a, b share) int {
		return cmp.Or(cmp.Compare(a.documents, b.documents), cmp.Compare(b.group, a.group))
	})
}

// unchanged returns the group of the last run that has the same documents as a group of this run, if there is one.
func (f *following) unchanged(i int) (last int, is bool) {
	if len(f.origins[i]) != 1 {
		return 0, false
	}
	origin := f.origins[i][0]
	return origin.group,
		origin.documents == len(f.now[i].Members) && origin.documents == len(f.last[origin.group].Members)
}

// change gives a group of this run its lineage, and returns what has changed. Is says whether anything has.
func (f *following) change(i, number int) (c output.Change, is bool) {
	group := &f.now[i]
	if last, is := f.unchanged(i); is {
		group.Lineage = f.last[last].Lineage
		return c, false
	}
	c = output.Change{Name: group.Name, Size: int64(len(group.Members))}
	var continued []share
	isSplit, kept := false, 0
	for _, origin := range f.origins[i] {
		c.Previous = append(c.Previous, f.last[origin.group].Lineage)
		if f.heir(origin.group) == i {
			continued = append(continued, origin)
			isSplit = isSplit || len(f.parts[origin.group]) > 1
			kept += origin.documents
			c.Before += int64(len(f.last[origin.group].Members))
		}
	}
	c.Added = c.Size - int64(kept)
	if len(continued) == 0 {
		c.Change, c.Lineage = output.New, newLineage(number, group.Name)
		if len(c.Previous) > 0 {
			c.Change = output.Split
		}
		group.Lineage = c.Lineage
		return c, true
	}
	for _, origin := range continued {
		c.Removed += int64(len(f.last[origin.group].Members) - origin.documents)
	}
	group.Lineage = f.last[largest(continued).group].Lineage
	c.Lineage = group.Lineage
	switch {
	case len(continued) > 1:
		c.Change = output.Merged
	case isSplit:
		c.Change = output.Split
	case c.Added > 0:
		c.Change = output.Grown
	case c.Removed > 0:
		c.Change = output.Shrunk
	}
	return c, c.Change != ""
}

// newLineage returns a lineage that no earlier run has given, but for a chance of one in 2^64.
func newLineage(number int, name string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", number, name))
	return hex.EncodeToString(sum[:8])
}
