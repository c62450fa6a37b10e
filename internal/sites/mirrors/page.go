package mirrors

import (
	"slices"

	"mirrorbeam/internal/carry/records"
)

// A site with many pages of its own may have one that passes for a page of a protected site: somebody has broken into it. What
// counts is a form for a password on a page that copies any page of the protected site, or nearly all of its first page, or of
// a page of it that asks for a password. An article that is quoted is neither.

const (
	// nearlyAll is the least similarity of a page that is nearly another one, and the least share of a site that is nearly all of it.
	nearlyAll = 0.8
	// A site asks for a password on few pages if these are at most fewPages, or at most fewShare of all. A site that asks on
	// more has the form in its template, where it says nothing about the page.
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
	for _, of := range []struct {
		is bool
		n  *int64
	}{{asks, &link.Logins}, {isStart, &link.Starts}, {isForm, &link.Forms}} {
		if of.is {
			*of.n++
		}
	}
	if address := string(own.Pages[0].Address); (asks || isStart || isForm) && (link.Entrance == "" || address < link.Entrance) {
		link.Entrance = address
	}
}

// asksPassword reports whether a page asks for a password.
func asksPassword(h *records.Holding) bool {
	return slices.ContainsFunc(h.Pages, func(p records.ShardPage) bool { return p.Login })
}

// asksOnFewPages reports whether a site asks for a password on few of its pages.
func asksOnFewPages(s *records.Site) bool {
	return s.Logins <= fewPages || float64(s.Logins) <= fewShare*float64(s.Pages)
}

// hasEntrance reports whether a site has a page that passes for one of a protected site.
func hasEntrance(mirror, original *records.Half) bool {
	return mirror.Logins > 0 && asksOnFewPages(&mirror.Of) || mirror.Starts > 0 || mirror.Forms > 0 && asksOnFewPages(&original.Of)
}
