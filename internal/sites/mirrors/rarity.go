// Package mirrors finds sites that have much in common, groups of these, and copies of protected sites.
//
// A page of a site is a document with an address. A copy of a page is a document that is identical to it, or that a
// verified edge joins to it or to a document that is identical to it: so nothing follows from chains of edges. Documents of a
// site that are identical count as one page.
//
// The work is in four steps over run files. [Summing] sees the documents and edges of an output shard of clusters, where
// the copies of a page are together, and sums up what each site has in common with each other one. [Totalling] adds the sums
// of the sites of a range of hashes. [Pairing] joins the two halves of a pair of sites, and passes on the pairs that have
// much in common. [Grouping] makes groups of these, and writes the rows of mirrors and suspects. Then [SiteRows] writes the
// rows of sites.
package mirrors

import "math"

// A page weighs its text, in shingles, times its rarity. Rarity is in whole numbers, so that sums do not depend on their
// order.
const (
	// fullRarity is the rarity of a page that one or two sites have.
	fullRarity = 1 << 10
	// mostSites is the largest number of sites that may be set as the largest number of sites that have a page.
	mostSites = 1000
)

// rarities returns the rarity of a page by the number of registered domains whose sites have it, up to most of them: full up to
// two, and then one over the binary logarithm. So of two sites that share a page with two others, and pages with nobody else, more than
// half has to be shared; and all of a site is all of it, whatever number of mirrors has it.
func rarities(most int) []int64 {
	all := make([]int64, most+1)
	for domains := range all {
		all[domains] = int64(math.Round(fullRarity / max(math.Log2(float64(domains)), 1)))
	}
	return all
}
