package mirrors

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/mirrors/guard"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/work"
)

const (
	// mostUnited is how many pages of a site count together, and leastUnited the least share of a protected page that
	// they must have then: it is higher than for one page, since many pages have more by chance.
	mostUnited, leastUnited = 4, 0.65
	// mostOfDomain is how many sites of a registered domain are judged, for one protected site. Others are counted.
	mostOfDomain = 100
)

// eachCopier visits the sites with copies of pages of the protected sites of a range, in order.
func eachCopier(ctx context.Context, w *work.TaskContext, sites map[uint64]*records.Site,
	visit func(*records.Copier) error,
) error {
	all := map[copiesKey]*records.CopiedGuard{}
	err := eachRecord(ctx, w, records.Copies, func(one *records.CopiedGuard) error {
		key := copiesKey{one.Original, one.Site, one.Guard}
		if all[key] == nil {
			all[key] = one
		} else {
			all[key].Add(one)
		}
		return nil
	})
	if err != nil {
		return err
	}
	domains := map[copiesKey]map[uint64]bool{} // by protected page
	bySite := map[copiesKey]*records.Copier{}
	for _, one := range all {
		unite(one)
		page, of := copiesKey{original: one.Original, guard: one.Guard}, copiesKey{one.Original, one.Site, ""}
		if domains[page] == nil {
			domains[page] = map[uint64]bool{}
		}
		if one.IsCopy || one.IsNear { // what has the markup alone does not make the text common
			domains[page][one.Domain] = true
		}
		if !one.IsCopy && !one.IsAlike || len(one.Copies) == 0 {
			continue // it has too little, or is a copy of another page of the protected site rather
		}
		if bySite[of] == nil {
			bySite[of] = &records.Copier{Original: sites[one.Original], Site: one.Site}
		}
		bySite[of].Copied = append(bySite[of].Copied, *one)
	}
	found := slices.Collect(maps.Values(bySite))
	for _, one := range found {
		for i := range one.Copied {
			c := &one.Copied[i]
			c.Domains = int64(len(domains[copiesKey{original: c.Original, guard: c.Guard}]))
		}
		slices.SortFunc(one.Copied, func(a, b records.CopiedGuard) int {
			return cmp.Or(a.Copies[0].Compare(&b.Copies[0]), strings.Compare(a.Guard, b.Guard))
		})
	}
	for _, one := range ofDomains(found) {
		if err := cmp.Or(visit(one), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// unite makes pages of a site a copy that have a protected page together, though none of them has enough of it.
func unite(one *records.CopiedGuard) {
	for i := 0; i < len(one.Copies) && !one.IsCopy && !one.IsAlike; i++ {
		of, features, united := guardedOf(&one.Copies[i]), guard.Features{}, int64(0)
		for _, c := range one.Copies[i:] {
			if c.Guarded == one.Copies[i].Guarded && united < mostUnited {
				features.Or((*guard.Features)(c.Features))
				united++
			}
		}
		runs, _ := of.Share(&features)
		if united > 1 && runs >= leastUnited && !of.IsShort() {
			one.IsCopy, one.Pages, one.Copies[0].Share = true, united, runs
		}
	}
}

func guardedOf(c *records.PageCopy) *guard.Guarded {
	return &guard.Guarded{
		Runs:    int(c.Guarded[0]),
		Pairs:   int(c.Guarded[1]),
		Words:   int(c.Guarded[2]),
		Letters: int(c.Guarded[3]),
	}
}

// ofDomains leaves the sites of each registered domain that have the most of a protected site, and counts the others
// where the first of them is. It sorts the sites.
func ofDomains(all []*records.Copier) []*records.Copier {
	domainOf := func(c *records.Copier) [2]uint64 { return [2]uint64{c.Copied[0].Original, c.Copied[0].Domain} }
	slices.SortFunc(all, func(a, b *records.Copier) int {
		ofA, ofB := domainOf(a), domainOf(b)
		return cmp.Or(slices.Compare(ofA[:], ofB[:]), a.Copied[0].Copies[0].Compare(&b.Copied[0].Copies[0]),
			cmp.Compare(a.Site, b.Site))
	})
	kept, first := all[:0], 0
	for i, one := range all {
		if i == 0 || domainOf(all[first]) != domainOf(one) {
			first = i
		}
		if i-first < mostOfDomain {
			kept = append(kept, one)
		} else {
			kept[len(kept)-mostOfDomain].Beyond++
		}
	}
	return kept
}
