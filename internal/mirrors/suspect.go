package mirrors

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/internal/input/site"
	"mirrorbeam.dev/internal/mirrors/lookalike"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/schema/output"
)

// The reasons of an alert.
const (
	isMirrorReason   = "mirror"      // the two are mirrors, or nearly all of one is on the other
	looksAlikeReason = "look_alike"  // the host looks like the host of the protected site
	loginReason      = "login_form"  // a copied page asks for a password
	samePathReason   = "same_paths"  // most copies are at the paths of the originals
	sameMarkupReason = "same_markup" // the copies have much the same tags and fields
	pageReason       = "page"        // a page passes for a page of the protected site
	// the copied pages that ask for a password seem to belong to a program that many use
	commonReason   = "common_page"
	laterReason    = "seen_later" // the copy was first seen after the protected site
	leastLookalike = 0.8          // the least score of a host that looks like another one
	leastSamePath  = 0.5          // the least share of copies at the paths of the originals that is a reason
	leastMarkup    = 0.8          // the least mean similarity of markup that is a reason
)

// suspicion is a site that has copies of pages of a protected one.
type suspicion struct {
	pair
	original, mirror *records.Half
	likeness         lookalike.Likeness
	score            float64 // the larger share of the two, see copied
	isMirror, byPage bool
	campaign         uint64 // the id of the campaign whose row stands for it, 0 for none
}

// suspect returns what speaks against one of the two sites, if the other one is protected. There is no suspicion if
// both are protected or have one registered domain, or if the user allows it.
//
// A site is suspect if the two are mirrors, or if one of the two has hardly anything but what they have in common,
// however few pages that are. It is suspect as well if its host looks like the host of the protected one and it has a
// copy of one of its pages, if most of it are copies that ask for a password, or if one of its pages passes for a page
// of the protected one. How many other sites have these pages does not matter.
func suspect(p pair, of *lists, limits Limits) (suspicion, bool) {
	a, b := p.sides[0], p.sides[1]
	isA, isB := of.isProtected(a.Of.Name), of.isProtected(b.Of.Name)
	if isA == isB {
		return suspicion{}, false
	}
	s := suspicion{pair: p, original: a, mirror: b, score: max(copied(a), copied(b))}
	s.isMirror = s.score >= limits.Score && (p.pages() >= limits.Pages || s.score >= nearlyAll)
	if isB {
		s.original, s.mirror = b, a
	}
	host, original := site.HostOf(s.mirror.Of.Name), site.HostOf(s.original.Of.Name)
	if site.Registered(host) == site.Registered(original) || of.allows(s.original.Of.Name, s.mirror.Of.Name) {
		return suspicion{}, false
	}
	s.likeness = lookalike.Of(host, original)
	asks := s.mirror.Logins > 0 && copied(s.mirror) >= limits.Score
	s.byPage = hasEntrance(s.mirror, s.original)
	return s, s.isMirror || asks || s.byPage || s.looksAlike()
}

func (s *suspicion) looksAlike() bool { return s.likeness.Score >= leastLookalike }

// isCommon reports whether the copied pages that ask for a password are all common.
func (s *suspicion) isCommon() bool {
	return s.mirror.Logins > 0 && s.mirror.CommonLogins == s.mirror.Logins
}

func (s *suspicion) id() uint64 {
	return alertID(s.original.Of.Name, s.mirror.Of.Name)
}

func (s *suspicion) row() output.Suspect {
	row := output.Suspect{
		ID:                 alertText(s.id()),
		Site:               s.mirror.Of.Name,
		Protected:          s.original.Of.Name,
		Severity:           output.MediumSeverity,
		Score:              rounded(s.score),
		Pages:              s.mirror.Of.Pages,
		Common:             s.mirror.Pages,
		Share:              rounded(copied(s.mirror)),
		ProtectedShare:     rounded(copied(s.original)),
		Similarity:         rounded(s.similarity()),
		SamePath:           rounded(s.samePath()),
		Markup:             rounded(s.markup()),
		SameLanguage:       rounded(s.sameLanguage()),
		LanguagePages:      s.languagePages(),
		Lookalike:          rounded(s.likeness.Score),
		LookalikeReason:    string(s.likeness.Reason),
		LoginPages:         s.mirror.Logins,
		FirstSeen:          dateText(s.mirror.Of.First),
		ProtectedFirstSeen: dateText(s.original.Of.First),
	}
	if s.byPage {
		row.Page = s.mirror.Entrance
	}
	if s.campaign != 0 {
		row.Campaign = alertText(s.campaign)
	}
	for _, e := range examples(&s.pair, s.mirror) {
		row.Examples = append(row.Examples, output.CopiedPage{Page: e.A, Original: e.B, Similarity: e.Similarity})
	}
	for _, r := range []struct {
		name string
		is   bool
	}{
		{isMirrorReason, s.isMirror},
		{looksAlikeReason, s.looksAlike()},
		{loginReason, s.mirror.Logins > 0},
		{pageReason, s.byPage},
		{samePathReason, s.samePath() >= leastSamePath},
		{sameMarkupReason, s.markup() >= leastMarkup},
		{commonReason, s.isCommon()},
		{laterReason, s.mirror.Of.First != records.NoDate && s.mirror.Of.First > s.original.Of.First},
	} {
		if !r.is {
			continue
		}
		row.Reasons = append(row.Reasons, r.name)
		if r.name == looksAlikeReason || r.name == loginReason && !s.isCommon() {
			row.Severity = output.HighSeverity
		}
	}
	return row
}

// A site with many pages of its own may have one that passes for a page of a protected site: somebody has broken into
// it. What counts is a form for a password on a page that copies any page of the protected site, or nearly all of its
// first page, or of a page of it that asks for a password. An article that is quoted is neither.

const (
	// nearlyAll is the least similarity of a page that is nearly another one, and the least share of a site that is
	// nearly all of it.
	nearlyAll = 0.8
	// A site asks for a password on few pages if these are at most fewPages, or at most fewShare of all. A site that
	// asks on more has the form in its template, where it says nothing about the page.
	fewPages, fewShare = 3, 0.1
)

// addEntrance adds what makes a page of a site an entrance to another one.
func addEntrance(link *records.Link, own *records.Holding, copies []match) {
	asks, isStart, isForm := asksPassword(own), false, false
	if asks && copies[0].isCommon {
		link.CommonLogins++
	}
	if copies[0].similarity >= nearlyAll {
		for _, of := range copies {
			for i := range of.copy.Pages {
				isStart = isStart || of.similarity >= nearlyAll && of.copy.Pages[i].Start
			}
			isForm = isForm || of.similarity >= nearlyAll && asksPassword(of.copy)
		}
	}
	link.Logins += int64(number(asks))
	link.Starts += int64(number(isStart))
	link.Forms += int64(number(isForm))
	if address := string(own.Pages[0].Address); (asks || isStart || isForm) &&
		(link.Entrance == "" || address < link.Entrance) {
		link.Entrance = address
	}
}

func asksPassword(h *records.Holding) bool {
	return slices.ContainsFunc(h.Pages, func(p records.ShardPage) bool { return p.Login })
}

func asksOnFewPages(s *records.Site) bool {
	return s.Logins <= fewPages || float64(s.Logins) <= fewShare*float64(s.Pages)
}

// hasEntrance reports whether a site has a page that passes for one of a protected site.
func hasEntrance(mirror, original *records.Half) bool {
	return mirror.Logins > 0 && asksOnFewPages(&mirror.Of) || mirror.Starts > 0 ||
		mirror.Forms > 0 && asksOnFewPages(&original.Of)
}

const (
	// leastCampaign is the least number of suspects that are listed as one campaign.
	leastCampaign = 10
	mostNamed     = 100
)

// campaign is many suspects that copy one page of a protected site, or that are of one registered domain. A row stands
// for all of them. A host that looks like the protected one is never among them: its row stands for itself.
type campaign struct {
	id   uint64
	what string // the page that is copied, or the domain
	// members are in the order of their names.
	members []*suspicion
}

// campaigns divides suspects, which are in the order of their names: first by the page that they copy, and what is left
// by registered domain. Each member gets the id of its campaign.
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

// alertID returns the id of an alert, which is the same in all runs: of a suspect by its name, of a campaign by what it
// is about.
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
		row.Pages = row.Pages + one.Pages
		row.Common = row.Common + one.Common
		row.LoginPages = row.LoginPages + one.LoginPages
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
