package mirrors

import (
	"testing"

	"mirrorbeam/internal/records"
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
				ID: site, Rarity: fullRarity, Sites: 2, Copies: []records.PageClassCopy{{Class: 3 - site, Similarity: similarity}},
				Holdings: []records.Holding{{Site: site, IsProtected: site == 1, IsWatched: true, Pages: []records.ShardPage{{Size: 9, Page: page}}}},
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
		mirror := &records.Half{Link: pairs[0].Second, Of: records.Site{SiteCount: records.SiteCount{Pages: 30, Logins: c.logins}}}
		if got := hasEntrance(mirror, original); got != c.want || got && mirror.Entrance != "http://blog.test/x" {
			t.Errorf("%s: %v, %q", c.name, got, mirror.Entrance)
		}
	}
}
