package mirrors

import (
	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/read/site"
	"mirrorbeam/internal/sites/lookalike"
)

// The reasons of an alert.
const (
	isMirrorReason   = "mirror"      // the two are mirrors, or nearly all of one is on the other
	looksAlikeReason = "look_alike"  // the host looks like the host of the protected site
	loginReason      = "login_form"  // a copied page asks for a password
	samePathReason   = "same_paths"  // most copies are at the paths of the originals
	sameMarkupReason = "same_markup" // the copies have much the same tags and fields
	pageReason       = "page"        // a page passes for a page of the protected site
	commonReason     = "common_page" // the copied pages that ask for a password seem to belong to a program that many use
	laterReason      = "seen_later"  // the copy was first seen after the protected site
	leastLookalike   = 0.8           // the least score of a host that looks like another one
	leastSamePath    = 0.5           // the least share of copies at the paths of the originals that is a reason
	leastMarkup      = 0.8           // the least mean similarity of markup that is a reason
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

// suspect returns what speaks against one of the two sites, if the other one is protected. There is no suspicion if both
// are protected or have one registered domain, or if the user allows it.
//
// A site is suspect if the two are mirrors, or if one of the two has hardly anything but what they have in common, however few pages that
// are. It is suspect as well if its host looks like the host of the protected one and it has a copy of one of its pages,
// if most of it are copies that ask for a password, or if one of its pages passes for a page of the protected one. How many other
// sites have these pages does not matter.
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

// id returns the id of the alert, which is the same in all runs.
func (s *suspicion) id() uint64 {
	return alertID(s.original.Of.Name, s.mirror.Of.Name)
}

func (s *suspicion) row() output.Suspect {
	row := output.Suspect{
		ID:   alertText(s.id()),
		Site: s.mirror.Of.Name, Protected: s.original.Of.Name, Severity: output.MediumSeverity,
		Score: rounded(s.score), Pages: s.mirror.Of.Pages, Common: s.mirror.Pages,
		Share: rounded(copied(s.mirror)), ProtectedShare: rounded(copied(s.original)),
		Similarity: rounded(s.similarity()), SamePath: rounded(s.samePath()), Markup: rounded(s.markup()),
		SameLanguage: rounded(s.sameLanguage()), LanguagePages: s.languagePages(),
		Lookalike: rounded(s.likeness.Score), LookalikeReason: string(s.likeness.Reason), LoginPages: s.mirror.Logins,
		FirstSeen: dateText(s.mirror.Of.First), ProtectedFirstSeen: dateText(s.original.Of.First),
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
