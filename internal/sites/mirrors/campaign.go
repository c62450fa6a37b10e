package mirrors

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/read/site"
)

const (
	// leastCampaign is the least number of suspects that are listed as one campaign.
	leastCampaign = 10
	// mostNamed is the number of sites that the row of a campaign names.
	mostNamed = 100
)

// campaign is many suspects that copy one page of a protected site, or that are of one registered domain. A row stands for all
// of them. A host that looks like the protected one is never among them: its row stands for itself.
type campaign struct {
	id   uint64
	what string // the page that is copied, or the domain
	// members are in the order of their names.
	members []*suspicion
}

// campaigns divides suspects, which are in the order of their names: first by the page that they copy, and what is left by
// registered domain. Each member gets the id of its campaign.
func campaigns(suspects []suspicion) []campaign {
	var all []campaign
	for _, whatOf := range []func(*suspicion) string{copiedPage, domainOf} {
		groups := map[uint64]*campaign{}
		for i := range suspects {
			s := &suspects[i]
			what := whatOf(s)
			if s.campaign != 0 || s.looksAlike() || what == "" {
				continue
			}
			id := alertID(s.original.Of.Name, what)
			if groups[id] == nil {
				groups[id] = &campaign{id: id, what: what}
			}
			groups[id].members = append(groups[id].members, s)
		}
		for _, c := range groups {
			if len(c.members) < leastCampaign {
				continue
			}
			all = append(all, *c)
			for _, s := range c.members {
				s.campaign = c.id
			}
		}
	}
	slices.SortFunc(all, func(a, b campaign) int {
		return cmp.Or(strings.Compare(a.protected(), b.protected()), strings.Compare(a.what, b.what))
	})
	return all
}

// copiedPage returns the address of the page of the protected site that says the most of a suspect.
func copiedPage(s *suspicion) string {
	if all := examples(&s.pair, s.mirror); len(all) > 0 {
		return all[0].B
	}
	return ""
}

// domainOf returns the registered domain of a suspect, or its address of the internet protocol.
func domainOf(s *suspicion) string { return site.Registered(site.HostOf(s.mirror.Of.Name)) }

// alertID returns the id of an alert, which is the same in all runs: of a suspect by its name, of a campaign by what it is about.
func alertID(protected, name string) uint64 { return xxh3.HashString(protected + "\x00" + name) }

// alertText writes an id as rows have it.
func alertText(id uint64) string { return fmt.Sprintf("%016x", id) }

func (c *campaign) protected() string { return c.members[0].original.Of.Name }

// row returns the row of the campaign. Pages are summed up, the score is the highest, and all reasons of
// its members stand there. The rest is copied from the first member.
func (c *campaign) row() output.Suspect {
	row := c.members[0].row()
	row.ID, row.Site, row.Campaign, row.Sites = alertText(c.id), c.what, "", int64(len(c.members))
	for i, s := range c.members {
		if i < mostNamed {
			row.Names = append(row.Names, s.mirror.Of.Name)
		}
		if i == 0 {
			continue
		}
		one := s.row()
		row.Pages, row.Common, row.LoginPages = row.Pages+one.Pages, row.Common+one.Common, row.LoginPages+one.LoginPages
		row.Score = max(row.Score, one.Score)
		if one.Severity == output.HighSeverity {
			row.Severity = output.HighSeverity
		}
		if row.FirstSeen == "" || one.FirstSeen != "" && one.FirstSeen < row.FirstSeen {
			row.FirstSeen = one.FirstSeen
		}
		for _, reason := range one.Reasons {
			if !slices.Contains(row.Reasons, reason) {
				row.Reasons = append(row.Reasons, reason)
			}
		}
	}
	return row
}
