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
		pages := []records.ShardPage{
			{Number: 0, Size: 9, Page: records.Page{Site: 1, Start: c.start, Login: c.asked, Address: []byte("http://bank.example/")}},
			{Number: 1, Size: 9, Page: records.Page{Site: 2, Login: c.asks, Address: []byte("http://blog.test/x")}},
		}
		shard := newShard(pages, []records.Edge[records.Number]{{A: 0, B: 1, Score: records.NewScore(c.shared, c.of, false)}})
		shard.countSites(9)
		sums := &sums{limits: Limits{Sites: 9}, ranges: 1, rarities: rarities(9)}
		sums.reset()
		for i := range shard.classes {
			if err := sums.class(shard, i); err != nil {
				t.Fatal(err)
			}
		}
		half := func(site, other uint64, logins int64) *records.Half {
			return &records.Half{Link: *sums.byPair[[2]uint64{site, other}], Of: records.Site{SiteCount: records.SiteCount{Pages: 30, Logins: logins}}}
		}
		mirror, original := half(2, 1, c.logins), half(1, 2, c.protected)
		if got := hasEntrance(mirror, original); got != c.want || got && mirror.Entrance != "http://blog.test/x" {
			t.Errorf("%s: %v, %q", c.name, got, mirror.Entrance)
		}
	}
}
