package mirrors

import (
	"testing"

	"mirrorbeam.dev/internal/records"
)

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
