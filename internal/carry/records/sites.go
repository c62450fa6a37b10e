package records

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"mirrorbeam/internal/ground/runfile"
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

// Link is what a site has in common with another. Its pages are those that the other site has, too, each once if there are
// equal ones.
type Link struct {
	Site, Other  uint64
	Pages, Text  int64
	Rarity       int64 // sum of the rarities of the pages
	Weight       int64 // sum of their texts times rarity
	SamePath     int64 // pages at a path at which the other site has a copy
	Similarity   int64 // sum of the similarities of the pages to their copies, in units of 1/[Unit]
	Spread       int64 // sum of the numbers of sites that have each page
	Logins       int64 // pages that ask for a password
	CommonLogins int64 // those of them that say little, since many have such copies
	Starts       int64 // pages that are nearly the first page of the other site
	Forms        int64 // pages that are nearly a page of the other site that asks for a password
	Originals    int64 // pages that say that they belong to the other site, and redirects there
	Markup       int64 // sum of the similarities of the markup of pages and of their copies, in the same units
	MarkupPages  int64 // pages whose similarity is known
	// SameLanguage counts the pages in the language of their copies, among the LanguagePages whose languages are known.
	SameLanguage, LanguagePages int64
	Examples                    Examples
	// Traces are those of pages of a protected site that the other one has copied.
	Traces Traces
	// Entrance is the address of one of the Logins, Starts and Forms; empty for none.
	Entrance string
}

// Unit is the similarity 1 in sums of similarities.
const Unit = 1_000_000

// Add adds what other says of the same two sites.
func (l *Link) Add(other Link) {
	l.Pages += other.Pages
	l.Text += other.Text
	l.Rarity += other.Rarity
	l.Weight += other.Weight
	l.SamePath += other.SamePath
	l.Similarity += other.Similarity
	l.Spread += other.Spread
	l.Logins += other.Logins
	l.CommonLogins += other.CommonLogins
	l.Starts += other.Starts
	l.Forms += other.Forms
	l.Originals += other.Originals
	if l.Entrance == "" || other.Entrance != "" && other.Entrance < l.Entrance {
		l.Entrance = other.Entrance
	}
	l.Markup += other.Markup
	l.MarkupPages += other.MarkupPages
	l.SameLanguage += other.SameLanguage
	l.LanguagePages += other.LanguagePages
	for _, e := range other.Examples {
		l.Examples.Add(e)
	}
	for i := range other.Traces {
		l.Traces.Add(&other.Traces[i])
	}
}

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

// mostExamples is how many examples there are of two sites.
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

// WriteSiteCount writes the record to a shard: 42 bytes and the name.
func WriteSiteCount(run *runfile.Writer, shard int, c SiteCount) error {
	return write(run, SiteCounts, shard, c.pack)
}

func (c SiteCount) pack(p *packer) {
	p.numbers(int64(c.Site), c.Pages, c.Text, c.Logins, c.First)
	p.text(c.Name)
}

func (u *unpacker) siteCount() SiteCount {
	return SiteCount{Site: uint64(u.number()), Pages: u.number(), Text: u.number(), Logins: u.number(), First: u.number(), Name: u.text()}
}

// NextSiteCount reads the first record and returns the bytes of the others.
func NextSiteCount(packed []byte) (SiteCount, []byte) {
	u := unpacker{packed}
	return u.siteCount(), u.b
}

// WriteRedirect writes the record to a shard: 24 bytes.
func WriteRedirect(run *runfile.Writer, shard int, r Redirect) error {
	return write(run, Redirects, shard, func(p *packer) { p.numbers(int64(r.Site), int64(r.Other), r.Pages) })
}

// NextRedirect reads the first record and returns the bytes of the others.
func NextRedirect(packed []byte) (Redirect, []byte) {
	u := unpacker{packed}
	return Redirect{Site: uint64(u.number()), Other: uint64(u.number()), Pages: u.number()}, u.b
}

// WriteSiteSum writes the record to a shard: 48 bytes.
func WriteSiteSum(run *runfile.Writer, shard int, s SiteSum) error {
	return write(run, SiteSums, shard, func(p *packer) {
		p.numbers(int64(s.Site), s.Repeats, s.RepeatedText, s.Common, s.CommonText, s.Alike)
	})
}

// NextSiteSum reads the first record and returns the bytes of the others.
func NextSiteSum(packed []byte) (SiteSum, []byte) {
	u := unpacker{packed}
	return SiteSum{Site: uint64(u.number()), Repeats: u.number(), RepeatedText: u.number(), Common: u.number(), CommonText: u.number(), Alike: u.number()}, u.b
}

func (l *Link) pack(p *packer) {
	p.numbers(int64(l.Site), int64(l.Other))
	p.short(l.Pages, l.Text, l.Rarity, l.Weight, l.SamePath, l.Similarity, l.Spread, l.Logins, l.CommonLogins, l.Starts, l.Forms, l.Originals, l.Markup, l.MarkupPages, l.SameLanguage, l.LanguagePages, int64(len(l.Examples)), int64(len(l.Traces)))
	p.text(l.Entrance)
	for i := range l.Traces {
		p.bytes(l.Traces[i][:])
	}
	for _, e := range l.Examples {
		p.short(e.Weight, e.Similarity)
		p.text(e.Page)
		p.text(e.Copy)
	}
}

func (u *unpacker) link() Link {
	l := Link{
		Site: uint64(u.number()), Other: uint64(u.number()), Pages: u.short(), Text: u.short(), Rarity: u.short(), Weight: u.short(), SamePath: u.short(),
		Similarity: u.short(), Spread: u.short(), Logins: u.short(), CommonLogins: u.short(), Starts: u.short(), Forms: u.short(), Originals: u.short(),
		Markup: u.short(), MarkupPages: u.short(), SameLanguage: u.short(), LanguagePages: u.short(),
	}
	examples, traces := u.short(), u.short()
	l.Entrance = u.text()
	for range traces {
		l.Traces = append(l.Traces, Trace(u.b))
		u.b = u.b[TraceSize:]
	}
	for range examples {
		l.Examples = append(l.Examples, Example{Weight: u.short(), Similarity: u.short(), Page: u.text(), Copy: u.text()})
	}
	return l
}

// WriteSite writes the record to an output shard: 74 bytes and the name.
func WriteSite(run *runfile.Writer, shard int, s Site) error { return write(run, Sites, shard, s.pack) }

func (s Site) pack(p *packer) {
	s.SiteCount.pack(p)
	p.numbers(s.Repeats, s.RepeatedText, s.Rarity, s.Weight, s.Alike)
}

func (u *unpacker) site() Site {
	return Site{SiteCount: u.siteCount(), Repeats: u.number(), RepeatedText: u.number(), Rarity: u.number(), Weight: u.number(), Alike: u.number()}
}

// NextSite reads the first record and returns the bytes of the others.
func NextSite(packed []byte) (Site, []byte) {
	u := unpacker{packed}
	return u.site(), u.b
}

// SitePair is what two sites have in common. Of the second one only the link is known.
type SitePair struct {
	First  Half
	Second Link
}

// WriteSitePair writes the record to the output shard of the second site: some 100 bytes, the name of the first site, and its examples.
func WriteSitePair(run *runfile.Writer, shard int, pair *SitePair) error {
	return write(run, SitePairs, shard, func(p *packer) {
		pair.First.pack(p)
		pair.Second.pack(p)
	})
}

// NextSitePair reads the first record and returns the bytes of the others.
func NextSitePair(packed []byte) (*SitePair, []byte) {
	u := unpacker{packed}
	return &SitePair{u.half(), u.link()}, u.b
}

func (h *Half) pack(p *packer) {
	h.Link.pack(p)
	h.Of.pack(p)
}

func (u *unpacker) half() Half { return Half{Link: u.link(), Of: u.site()} }

// WriteMirrored writes the record of two sites to a shard.
func WriteMirrored(run *runfile.Writer, shard int, one, other *Half) error {
	return write(run, Mirrored, shard, func(p *packer) {
		one.pack(p)
		other.pack(p)
	})
}

// NextMirrored reads the first record and returns the bytes of the others.
func NextMirrored(packed []byte) (one, other *Half, rest []byte) {
	u := unpacker{packed}
	first, second := u.half(), u.half()
	return &first, &second, u.b
}

// WriteGrouped writes the record to an output shard: 26 bytes and the name.
func WriteGrouped(run *runfile.Writer, shard int, g GroupedSite) error {
	return write(run, Grouped, shard, func(p *packer) {
		p.numbers(int64(g.Site), g.Sites, g.Cohesion)
		p.text(g.Primary)
	})
}

// NextGrouped reads the first record and returns the bytes of the others.
func NextGrouped(packed []byte) (GroupedSite, []byte) {
	u := unpacker{packed}
	return GroupedSite{Site: uint64(u.number()), Sites: u.number(), Cohesion: u.number(), Primary: u.text()}, u.b
}
