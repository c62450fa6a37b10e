package records

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// NoDate is the date of what has none, in seconds since 1970. It is later than all dates.
const NoDate = math.MaxInt64

// SiteCount counts the pages of a site. The sizes of texts are in shingles.
type SiteCount struct {
	Site        uint64 // hash of the name
	Pages, Text int64
	Logins      int64 // pages that ask for a password
	First       int64 // the earliest date of a page
	Name        string
}

// Add adds the pages that another count has of the same site.
func (c *SiteCount) Add(other SiteCount) {
	c.Pages += other.Pages
	c.Text += other.Text
	c.Logins += other.Logins
	c.First = min(c.First, other.First)
}

// Redirect counts the pages of a site that lead to another one.
type Redirect struct {
	Site, Other uint64 // hashes of the names
	Pages       int64
}

// SiteSum is what is to be taken off a SiteCount. Rarity is as in package mirrors.
type SiteSum struct {
	Site uint64
	// Repeats are pages that are equal to an earlier page of the site, and RepeatedText is their text.
	Repeats, RepeatedText int64
	// Common is the sum of what the pages lack to the highest rarity, and CommonText of the same times their text.
	Common, CommonText int64
	// Alike counts the pages of a protected site that are like another page of it, and not equal.
	Alike int64
}

// Link is what a site has in common with another. Its pages are the ones that the other site has too, each once.
type Link struct {
	Site, Other uint64
	Pages, Text int64
	Rarity      int64 // sum of the rarities of the pages
	Weight      int64 // sum of their texts times rarity
	SamePath    int64 // pages at a path at which the other site has a copy
	Similarity  int64 // sum of the similarities of the pages to their copies, in units of 1/[Unit]
	Spread      int64 // sum of the numbers of sites that have each page
	Originals   int64 // pages that say that they belong to the other site, and redirects there
	Markup      int64 // sum of the similarities of the markup of pages and of their copies, in the same units
	MarkupPages int64 // pages whose similarity is known
	// SameLanguage counts the pages in the language of their copies, among the LanguagePages whose languages are known.
	SameLanguage, LanguagePages int64
	Examples                    Examples
}

// Unit is the similarity 1 in sums of similarities.
const Unit = 1_000_000

// Example is a page of a site and its copy on another. The weight says how good an example it is.
type Example struct {
	Weight, Similarity int64
	Page, Copy         string
}

// compare orders examples, the best first.
func (e Example) compare(other Example) int {
	return cmp.Or(cmp.Compare(other.Weight, e.Weight), cmp.Compare(other.Similarity, e.Similarity),
		strings.Compare(e.Page, other.Page), strings.Compare(e.Copy, other.Copy))
}

// Examples are the best examples, the best first.
type Examples []Example

const mostExamples = 3

// Wants reports whether an example of that weight might be among the best.
func (e Examples) Wants(weight int64) bool {
	return len(e) < mostExamples || weight >= e[mostExamples-1].Weight
}

// Add adds an example if it is among the best.
func (e *Examples) Add(one Example) {
	at, found := slices.BinarySearchFunc(*e, one, Example.compare)
	if at < mostExamples && !found {
		*e = slices.Insert(*e, at, one)
		*e = (*e)[:min(len(*e), mostExamples)]
	}
}

// Half is a Link with what is known of its site.
type Half struct {
	Link
	Of Site
}

// Site is all that is known of a site.
type Site struct {
	SiteCount
	// Repeats are pages that are equal to an earlier page of the site, and RepeatedText is their text.
	Repeats, RepeatedText int64
	// Rarity is the sum of the rarities of all other pages, and Weight of their texts times rarity.
	Rarity, Weight int64
	// Alike counts, for a protected site, the pages that are like another page of the site.
	Alike int64
}

// Distinct returns the number of pages without those that are equal to earlier ones.
func (s *Site) Distinct() int64 { return s.Pages - s.Repeats }

// DistinctText returns the text of these pages.
func (s *Site) DistinctText() int64 { return s.Text - s.RepeatedText }

// GroupedSite says in which group of mirrors a site is.
type GroupedSite struct {
	Site  uint64
	Sites int64 // number of sites in the group
	// Cohesion is the share of pairs of these sites that are mirrors, in units of 1/[Unit].
	Cohesion int64
	Primary  string // the group's primary site
}

// SitePair is what two sites have in common. Of the second one only the link is known.
type SitePair struct {
	First  Half
	Second Link
}

// MirroredSites are both halves of what two sites have in common.
type MirroredSites struct{ One, Other *Half }
