package records

import (
	"cmp"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

// Guard is a text of a page of a protected site, which other pages are compared with.
type Guard struct {
	// Name is the name of the site.
	Name string
	Page Page
	// Asks says that the page asks for a password.
	Asks bool
	Text []byte
	// Marks are the marks of its markup, nil if it has none, or if another text of the page has them.
	Marks []uint32
}

// CopiedGuard is what a site has of a page of a protected site.
type CopiedGuard struct {
	// Original and Site are hashes of the names of the protected site and of the other one.
	Original, Site uint64
	// Domain is the hash of the registered domain of the other site, and Guard the address of the protected page.
	Domain uint64
	Guard  string
	// Pages counts the pages of the site that are copies of the protected page more than of any other.
	Pages int64
	// IsCopy says that one of its pages has as much of the protected page as a copy has.
	IsCopy bool
	// IsNear says that a page has nearly as much or more; IsAlike, that one has the original's markup or assets.
	IsNear, IsAlike bool
	// Domains counts the registered domains that have such a page; it is 0 until all are known.
	Domains int64
	// Copies are the pages that have the most of it, the first ones in the order of [PageCopy.Compare].
	Copies []PageCopy
}

// PageCopy is a page that has something of a page of a protected site.
type PageCopy struct {
	// Page is the address, and Trace the trace of the protected page, empty for none.
	Page, Trace string
	// Strength is the share compared with the least share of a copy, and Share the share itself.
	Strength, Share float64
	// Words counts the words of the protected page that are there, of Of.
	Words, Of int64
	// Reading names the reading that has them. Passage is from there, and Original from the protected page.
	Reading, Passage, Original string
	// Features are the bits of the features that are there. Guarded counts the runs, pairs, words and letters of the
	// protected page.
	Features []uint64
	Guarded  [4]int64
	// Asks says that the page may ask for a password, Login that it has a field for one, Named that it says the name of
	// the protected site, and SamePath that it is at the path of the protected page.
	Asks, Login, Named, SamePath bool
	// AsksThere and Start say that the protected page asks for a password, and that it is the first one of its site.
	AsksThere, Start bool
	// Markup is the similarity of the markup, -1 if it is unknown. HasLanguages says that both languages are known, and
	// SameLanguage that they are one.
	Markup                     float64
	HasLanguages, SameLanguage bool
}

// Compare orders copies, the one that has the most first.
func (c *PageCopy) Compare(other *PageCopy) int {
	return cmp.Or(cmp.Compare(other.Strength, c.Strength), strings.Compare(c.Page, other.Page),
		strings.Compare(c.Passage, other.Passage))
}

// MostCopies is how many pages of a site stand for its copies of a protected page.
const MostCopies = 8

// Add adds what other pages of the same site have of the same protected page.
func (c *CopiedGuard) Add(other *CopiedGuard) {
	c.Pages += other.Pages
	c.IsCopy, c.IsNear, c.IsAlike = c.IsCopy || other.IsCopy, c.IsNear || other.IsNear, c.IsAlike || other.IsAlike
	c.Copies = append(c.Copies, other.Copies...)
	slices.SortFunc(c.Copies, func(a, b PageCopy) int { return a.Compare(&b) })
	c.Copies = c.Copies[:min(len(c.Copies), MostCopies)]
}

// PieceCopies are the copies in a piece of texts of pages, for the next run.
type PieceCopies struct {
	// Of identifies the piece, and the protected pages that were compared with it.
	Of xxh3.Uint128
	// Packed are records of type CopiedGuard.
	Packed []byte
}

// Copier is a site with copies of pages of a protected one. What is known of Of comes later than the rest.
type Copier struct {
	Original, Of *Site
	Site         uint64
	Copied       []CopiedGuard
	// Beyond counts further such sites of its registered domain, which stand for themselves nowhere.
	Beyond int64
}
