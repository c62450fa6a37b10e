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
	"mirrorbeam.dev/internal/util/quoting"
)

// Class says what sort of copy a site has. The first two make it a suspect.
type Class string

// The classes of copies.
const (
	// Page: a page passes for a page of the protected site.
	Page Class = "page"
	// Mirror: the site has several pages of the protected site that are much of that, or hardly anything but its pages.
	Mirror Class = "mirror"
	// Common: many registered domains have the page.
	Common Class = "common"
	// Quotes: the site has the text, in another kind of page.
	Quotes Class = "quotes"
)

func (c Class) isSuspect() bool { return c == Page || c == Mirror }

// The reasons of an alert.
const (
	isMirrorReason   = "mirror"      // it is a Mirror, whether it is a Page as well or not
	looksAlikeReason = "look_alike"  // the host looks like the host of the protected site
	loginReason      = "login_form"  // a copy of a page that asks for a password asks for one
	namedReason      = "named"       // a copy says the name of the protected site
	pageReason       = "page"        // a page passes for a page of the protected site
	samePathReason   = "same_paths"  // most copies are at the paths of the originals
	sameMarkupReason = "same_markup" // the copies have much the same tags and fields
	commonReason     = "common_page" // all copied pages are common
	laterReason      = "seen_later"  // the copy was first seen after the protected site
	leastLookalike   = 0.8           // the least score of a host that looks like another one
	leastSamePath    = 0.5           // the least share of copies at the paths of the originals that is a reason
	leastMarkup      = 0.8           // the least mean similarity of markup that is a reason
)

const (
	// nearlyAll is the least share of a page that is nearly another one, and of a site that is nearly all of it.
	nearlyAll = 0.8
	// A site asks for a password on few pages if these are at most fewPages, or at most fewShare of all. A site that
	// asks on more has the form in its template, where it says nothing about the page.
	fewPages, fewShare = 3, 0.1
	// commonDomains is the number of registered domains that have a common page. Programs and their themes give all
	// sites that use them much the same pages, and many print one text.
	commonDomains = 10
)

// suspicion is a site that has copies of pages of a protected one.
type suspicion struct {
	*records.Copier
	class    Class
	likeness lookalike.Likeness
	copies   []*records.PageCopy // of the protected pages that count, one each
	// entrance is the address of the first page that passes for one of the protected site; empty for none.
	entrance string
	logins   int64 // copies that ask for a password as the protected page does
	isNamed  bool
	isMirror bool
	isCommon bool   // all copied pages are common
	campaign uint64 // the id of the campaign whose row stands for it, 0 for none
}

// suspect judges a site. It is false if what it has says nothing: pages of a few words.
func suspect(of *records.Copier, limits Limits) (s suspicion, is bool) {
	s = suspicion{Copier: of, isCommon: true}
	s.likeness = lookalike.Of(site.HostOf(of.Of.Name), site.HostOf(of.Original.Name))
	pages, copied := int64(0), int64(0) // protected pages that are not common, and the pages that copy these
	hasForm := false                    // the entrance asks for a password
	most, text := 0., 0.                // the largest share of such a page, and the sum of the shares
	for i := range of.Copied {
		c := &of.Copied[i]
		best := &c.Copies[0]
		isNamed := slices.ContainsFunc(c.Copies, func(p records.PageCopy) bool { return p.Named }) || s.looksAlike()
		if (isShort(best) || byOf(best) != byText) && !isNamed {
			continue // other pages may have the same few words, or the same program
		}
		s.copies, s.isNamed = append(s.copies, best), s.isNamed || isNamed
		asks := slices.ContainsFunc(c.Copies, func(p records.PageCopy) bool {
			return p.Asks && p.AsksThere || p.Login && p.Share >= nearlyAll // a form may be put into a copy
		})
		s.logins += int64(number(asks))
		if c.Domains >= commonDomains && !(isNamed && asks) {
			continue
		}
		s.isCommon = false
		pages, copied, most, text = pages+1, copied+c.Pages, max(most, best.Share), text+best.Share
		if isFirst := s.entrance == "" || best.Page < s.entrance; s.passes(best, asks) &&
			(asks && !hasForm || asks == hasForm && isFirst) {
			s.entrance, hasForm = best.Page, asks
		}
	}
	s.isMirror = min(pages, copied) >= 2 && text >= limits.Score*float64(of.Original.Distinct()) ||
		(pages >= 2 || most >= nearlyAll) && quotient(int64(len(s.copies)), of.Of.Distinct()) >= nearlyAll &&
			s.meanShare() >= limits.Score
	switch {
	case s.entrance != "":
		s.class = Page
	case s.isMirror:
		s.class = Mirror
	case s.isCommon:
		s.class = Common
	default:
		s.class = Quotes
	}
	return s, len(s.copies) > 0
}

const byText = "text"

// byOf says what a copy has of the protected page.
func byOf(c *records.PageCopy) string {
	if c.Reading == byMarkup || c.Reading == byAssets {
		return c.Reading
	}
	return byText
}

// isShort reports whether a protected page is so short that its words say little.
func isShort(c *records.PageCopy) bool {
	return guardedOf(c).IsShort()
}

// passes reports whether a page passes for the protected one: it asks for a password, it is nearly the first page of
// the site or one that asks, or its host looks like the protected one.
func (s *suspicion) passes(c *records.PageCopy, asks bool) bool {
	return s.looksAlike() || asks && asksOnFewPages(s.Of) ||
		c.Share >= nearlyAll && (c.Start || c.AsksThere && asksOnFewPages(s.Original))
}

func asksOnFewPages(s *records.Site) bool {
	return s.Logins <= fewPages || float64(s.Logins) <= fewShare*float64(s.Pages)
}

func (s *suspicion) looksAlike() bool { return s.likeness.Score >= leastLookalike }

func (s *suspicion) compare(other *suspicion) int {
	return cmp.Or(strings.Compare(s.Of.Name, other.Of.Name), strings.Compare(s.Original.Name, other.Original.Name))
}

func (s *suspicion) id() uint64 { return alertID(s.Original.Name, s.Of.Name) }

func (s *suspicion) mean(of func(*records.PageCopy) float64) float64 {
	sum := 0.
	for _, c := range s.copies {
		sum += of(c)
	}
	return sum / float64(len(s.copies))
}

func (s *suspicion) meanShare() float64 {
	return s.mean(func(c *records.PageCopy) float64 { return c.Share })
}

// pages returns how many pages of the site are copies.
func (s *suspicion) pages() (n int64) {
	for i := range s.Copied {
		n += s.Copied[i].Pages
	}
	return n
}

// severity is high for what is hardly chance: a host that looks alike, or a page that asks for a password in its name.
func (s *suspicion) severity() string {
	switch {
	case !s.class.isSuspect():
		return output.LowSeverity
	case s.looksAlike(), s.class == Page && s.logins > 0 && s.isNamed && !s.isCommon && byOf(s.copies[0]) == byText:
		return output.HighSeverity
	}
	return output.MediumSeverity
}

func (s *suspicion) row() output.Suspect {
	samePath := s.mean(func(c *records.PageCopy) float64 { return float64(number(c.SamePath)) })
	markup := s.mean(func(c *records.PageCopy) float64 { return max(c.Markup, 0) })
	languages := s.mean(func(c *records.PageCopy) float64 { return float64(number(c.HasLanguages)) })
	same := s.mean(func(c *records.PageCopy) float64 { return float64(number(c.HasLanguages && c.SameLanguage)) })
	row := output.Suspect{
		ID:                 alertText(s.id()),
		Class:              string(s.class),
		Site:               s.Of.Name,
		Protected:          s.Original.Name,
		Severity:           s.severity(),
		By:                 byOf(s.copies[0]),
		Score:              rounded(s.copies[0].Share),
		Pages:              s.Of.Pages,
		Common:             s.pages(),
		Share:              rounded(quotient(s.pages(), s.Of.Pages)),
		ProtectedShare:     rounded(quotient(int64(len(s.copies)), s.Original.Distinct())),
		Similarity:         rounded(s.meanShare()),
		SamePath:           rounded(samePath),
		Markup:             rounded(markup),
		LanguagePages:      int64(languages*float64(len(s.copies)) + 0.5),
		Lookalike:          rounded(s.likeness.Score),
		LookalikeReason:    string(s.likeness.Reason),
		LoginPages:         s.logins,
		Page:               s.entrance,
		FirstSeen:          dateText(s.Of.First),
		ProtectedFirstSeen: dateText(s.Original.First),
	}
	if languages > 0 {
		row.SameLanguage = rounded(same / languages)
	}
	if s.campaign != 0 {
		row.Campaign = alertText(s.campaign)
	}
	for _, c := range s.examples() {
		row.Examples = append(row.Examples, evidenceOf(c))
	}
	for _, r := range []struct {
		name string
		is   bool
	}{
		{isMirrorReason, s.isMirror},
		{looksAlikeReason, s.looksAlike()},
		{loginReason, s.logins > 0},
		{namedReason, s.isNamed},
		{pageReason, s.entrance != ""},
		{samePathReason, samePath >= leastSamePath},
		{sameMarkupReason, markup >= leastMarkup},
		{commonReason, s.isCommon},
		{laterReason, s.Of.First != records.NoDate && s.Of.First > s.Original.First},
	} {
		if r.is {
			row.Reasons = append(row.Reasons, r.name)
		}
	}
	return row
}

// traces returns traces of the protected pages that are copied.
func (s *suspicion) traces() (all records.Traces) {
	for _, c := range s.copies {
		if len(c.Trace) == records.TraceSize {
			trace := records.Trace([]byte(c.Trace))
			all.Add(&trace)
		}
	}
	return all
}

// evidence returns digests of the addresses of the copies that the row names, and of others of the same pages.
func (s *suspicion) evidence() (all []uint64) {
	for _, c := range s.examples() {
		for i, p := range c.Copies {
			if i == 0 || p.Strength >= 1 {
				all = append(all, pageDigest(p.Page))
			}
		}
	}
	if s.entrance != "" {
		all = append(all, pageDigest(s.entrance))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// pageDigest returns a digest of an address that is the same however the address is written.
func pageDigest(text string) uint64 {
	address, _ := site.Parse(text)
	return xxh3.HashString(strings.TrimSuffix(address.String(), "/"))
}

// mostExamples is how many copies a row shows.
const mostExamples = 3

func (s *suspicion) examples() (all []*records.CopiedGuard) {
	for i := range s.Copied {
		if c := &s.Copied[i]; len(all) < mostExamples && slices.Contains(s.copies, &c.Copies[0]) {
			all = append(all, c)
		}
	}
	return all
}

func evidenceOf(c *records.CopiedGuard) output.CopiedPage {
	best := &c.Copies[0]
	return output.CopiedPage{
		Page:            quoting.Text(best.Page),
		Original:        quoting.Text(c.Guard),
		Similarity:      rounded(best.Share),
		Words:           best.Words,
		OfWords:         best.Of,
		Reading:         best.Reading,
		Passage:         quoting.Text(best.Passage),
		OriginalPassage: quoting.Text(best.Original),
	}
}

const (
	// leastCampaign is the least number of suspects that are listed as one campaign.
	leastCampaign = 10
	mostNamed     = 100
)

// campaign is many suspects that copy one page of a protected site, or that are of one registered domain. A row stands
// for all of them. Hosts that look like the protected one are only in a campaign of their domain.
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
	for pass, whatOf := range []func(*suspicion) string{copiedPage, domainOf} {
		groups := map[uint64]*campaign{}
		for i := range suspects {
			s := &suspects[i]
			what := whatOf(s)
			if s.campaign != 0 || pass == 0 && s.looksAlike() || what == "" || s.class == Quotes {
				continue
			}
			id := s.campaignID(what)
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
			c.exempt()
		}
	}
	slices.SortFunc(all, func(a, b campaign) int {
		return cmp.Or(strings.Compare(a.protected(), b.protected()), strings.Compare(a.what, b.what),
			cmp.Compare(a.id, b.id))
	})
	return all
}

func (c *campaign) exempt() {
	var first, best *suspicion
	for _, s := range c.members {
		if s.looksAlike() {
			first = cmp.Or(first, s)
			if best == nil || s.copies[0].Compare(best.copies[0]) < 0 {
				best = s
			}
		}
	}
	if first != nil {
		first.campaign, best.campaign = 0, 0
	}
}

// copiedPage returns the address of the page of the protected site that says the most of a suspect.
func copiedPage(s *suspicion) string {
	return quoting.Text(s.examples()[0].Guard)
}

// domainOf returns the registered domain of a suspect, or its address of the internet protocol.
func domainOf(s *suspicion) string { return site.Registered(site.HostOf(s.Of.Name)) }

// campaignID returns the id of a campaign. What is common is a campaign of its own, without an alarm.
func (s *suspicion) campaignID(what string) uint64 {
	if s.class == Common {
		what += "\x00common"
	}
	return alertID(s.Original.Name, what)
}

// alertID returns the id of an alert, the same in all runs: by the name of a suspect or the subject of a campaign.
func alertID(protected, name string) uint64 { return xxh3.HashString(protected + "\x00" + name) }

// alertText writes an id as rows have it.
func alertText(id uint64) string { return fmt.Sprintf("%016x", id) }

func (c *campaign) protected() string { return c.members[0].Original.Name }

// row returns the row of the campaign. Pages are summed up, the score is the highest, and all reasons of
// its members stand there. The rest is copied from the first member.
func (c *campaign) row() output.Suspect {
	row := c.members[0].row()
	row.ID, row.Site, row.Campaign, row.Sites = alertText(c.id), c.what, "", int64(len(c.members))+c.members[0].Beyond
	for i, s := range c.members {
		if i < mostNamed {
			row.Names = append(row.Names, s.Of.Name)
		}
		if i == 0 {
			continue
		}
		one := s.row()
		row.Sites += s.Beyond
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
