package mirrors

import (
	"cmp"
	"slices"

	"mirrorbeam/internal/carry/records"
)

// Programs such as WordPress and phpMyAdmin give all sites that use them much the same login page. So a site that has such a page in common
// with a protected one is hardly a danger by that alone. It stays a suspect: an enemy could have made all the others. Its severity is
// lower, unless the page is nearly the protected one and says the name of that: an honest site has its own name there.

const (
	// commonDomains is the number of other registered domains that have as near a copy of a page of a protected site, from which on
	// such a copy is common.
	commonDomains = 10
	// nearlySame is the least similarity of a page that has the name of the protected site, if the original has it.
	nearlySame = 0.9
)

// weighCopies finds out which copies of pages of protected sites are common.
func (s *shard) weighCopies() {
	domains := map[uint64]bool{}
	for i := range s.classes {
		c := &s.classes[i]
		if !c.isProtected() {
			continue
		}
		clear(domains)
		see := func(to *class, similarity float64) {
			for j := range to.holdings {
				if h := &to.holdings[j]; c.common == 0 && !h.isProtected {
					if domains[h.domain] = true; len(domains) >= commonDomains {
						c.common = similarity
					}
				}
			}
		}
		see(c, 1)
		near := slices.Clone(s.around(i))
		slices.SortFunc(near, func(a, b edge) int { return cmp.Compare(b.similarity, a.similarity) })
		for _, e := range near {
			see(&s.classes[e.to], e.similarity)
		}
	}
}

func (c *class) isProtected() bool {
	return slices.ContainsFunc(c.holdings, func(h holding) bool { return h.isProtected })
}

func isNamed(h *records.Holding) bool {
	return slices.ContainsFunc(h.Pages, func(p records.ShardPage) bool { return p.Named })
}
