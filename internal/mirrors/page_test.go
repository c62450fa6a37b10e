package mirrors

import (
	"testing"

	"mirrorbeam.dev/internal/records"
)

// TestEntrances: a page that passes for a page of a protected site is told from an article that is quoted.
func TestEntrances(t *testing.T) {
	for _, c := range []struct {
		name              string
		asks              bool // the page has a form for a password
		start, asked      bool // its original is the first page of its site, or has such a form
		shared, of        int  // shingles in common
		logins, protected int64
		want              bool
	}{
		{"a login page on a blog", true, false, true, 10, 10, 1, 1, true},
		{"a login page in another template", true, false, true, 6, 10, 1, 1, true},
		{"a form that is put into a copied page", true, false, false, 6, 10, 1, 0, true},
		{"the first page, whole", false, true, false, 9, 10, 0, 0, true},
		{"a login page whose form a script makes", false, false, true, 9, 10, 0, 1, true},
		{"a piece of the first page", false, true, false, 6, 10, 0, 0, false},
		{"a quoted article", false, false, false, 10, 10, 0, 1, false},
		{"a quoted article, on a site with the form on all pages", true, false, false, 10, 10, 30, 1, false},
		{"a quoted article, between two such sites", true, false, true, 10, 10, 30, 30, false},
		{"a quoted article, out of such a site", false, false, true, 10, 10, 0, 30, false},
	} {
		similarity := float64(c.shared) / float64(c.of)
		class := func(site uint64, page records.Page) records.PageClass {
			page.Site = site
			return records.PageClass{
				ID:     site,
				Rarity: fullRarity,
				Sites:  2,
				Copies: []records.PageClassCopy{{Class: 3 - site, Similarity: similarity}},
				Holdings: []records.Holding{{
					Site:        site,
					IsProtected: site == 1,
					IsWatched:   true,
					Pages:       []records.ShardPage{{Size: 9, Page: page}},
				}},
			}
		}
		bank := &records.Site{SiteCount: records.SiteCount{Site: 1, Pages: 30, Logins: c.protected}}
		comparison := newComparison(Limits{Pages: 1}, map[uint64]*records.Site{1: bank}, []records.PageClass{
			class(1, records.Page{Start: c.start, Login: c.asked, Address: []byte("http://bank.example/")}),
			class(2, records.Page{Login: c.asks, Address: []byte("http://blog.test/x")}),
		})
		var pairs []records.SitePair
		if err := comparison.site(t.Context(), bank, func(p *records.SitePair) error {
			pairs = append(pairs, *p)
			return nil
		}); err != nil || len(pairs) != 1 {
			t.Fatalf("%s: %d pairs, %v", c.name, len(pairs), err)
		}
		original := &pairs[0].First
		mirror := &records.Half{
			Link: pairs[0].Second,
			Of:   records.Site{SiteCount: records.SiteCount{Pages: 30, Logins: c.logins}},
		}
		if got := hasEntrance(mirror, original); got != c.want || got && mirror.Entrance != "http://blog.test/x" {
			t.Errorf("%s: %v, %q", c.name, got, mirror.Entrance)
		}
	}
}

// TestRedirectVotes: redirects count between sites that have pages in common, and no more of them than these pages.
func TestRedirectVotes(t *testing.T) {
	for _, c := range []struct{ to, canonical, redirects, want int64 }{
		{2, 0, 0, 0},
		{2, 0, 1, 1},
		{2, 1, 1, 2},
		{2, 2, 1, 2},
		{2, 0, 9, 2},
		{3, 0, 9, 0},
	} {
		var classes []records.PageClass
		for i := range int64(2) {
			page := records.Page{}
			if i < c.canonical {
				page.Original = 2
			}
			classes = append(classes, records.PageClass{
				ID:     uint64(i),
				Rarity: fullRarity,
				Sites:  2,
				Holdings: []records.Holding{
					{Site: 1, Pages: []records.ShardPage{{Size: 9, Page: page}}}, {
						Site:  2,
						Pages: []records.ShardPage{{Size: 9}},
					},
				},
			})
		}
		one := &records.Site{
			SiteCount: records.SiteCount{Site: 1, Pages: 2},
			Rarity:    2 * fullRarity,
			Weight:    18 * fullRarity,
		}
		comparison := newComparison(Limits{Pages: 1}, map[uint64]*records.Site{1: one}, classes)
		comparison.addRedirect(records.Redirect{Site: 1, Other: uint64(c.to), Pages: c.redirects})
		if err := comparison.site(t.Context(), one, func(p *records.SitePair) error {
			if p.First.Originals != c.want || p.Second.Originals != 0 {
				t.Errorf("%+v: %d and %d", c, p.First.Originals, p.Second.Originals)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if c.to == 3 && len(comparison.redirects) > 0 {
			t.Error("a redirect to a site without pages in common is held")
		}
	}
}
