package findings

import (
	"cmp"
	"strings"
)

// Mirrors says what was found of the sites of a corpus.
type Mirrors struct {
	// Sites counts the sites.
	Sites int64 `json:"sites"`
	// Pairs counts the pairs of mirrors.
	Pairs int64 `json:"pairs" metric:"mirrors"`
	// Groups counts the groups of mirrors.
	Groups int64 `json:"groups" metric:"mirror_groups"`
	// Protected counts the sites that are protected.
	Protected int64 `json:"protected,omitempty" metric:"protected_sites"`
	// Suspects counts the sites that have copies of protected ones.
	Suspects int64 `json:"suspects"`
	// Campaigns counts the rows that stand for many suspects.
	Campaigns int64 `json:"campaigns,omitempty"`
	// TopMirrors are the five mirrors with the most pages in common.
	TopMirrors TopSites `json:"top_mirrors,omitempty"`
	// TopSuspects are the five suspects with the most pages in common.
	TopSuspects TopSites `json:"top_suspects,omitempty"`
}

// TwoSites are two sites that have much in common.
type TwoSites struct {
	// Site is a mirror or a suspect.
	Site string `json:"site"`
	// Of is the site that is taken for the original.
	Of string `json:"of"`
	// Kind is the kind of a mirror, or the severity of an alert.
	Kind string `json:"kind"`
	// Score is the score of the two.
	Score float64 `json:"score"`
	// Pages counts their pages in common.
	Pages int64 `json:"pages"`
	// Sites is the number of sites of a campaign. Site then is what they have in common.
	Sites int64 `json:"sites,omitempty"`
}

// Compare orders pairs, the one with the most pages first.
func (t TwoSites) Compare(other TwoSites) int {
	return cmp.Or(cmp.Compare(other.Pages, t.Pages), cmp.Compare(other.Score, t.Score), strings.Compare(t.Of, other.Of), strings.Compare(t.Site, other.Site))
}

// mostNamed is how many mirrors and suspects are named.
const mostNamed = 5

// TopSites are the first five in their order.
type TopSites []TwoSites

// Add adds two sites if they are among the first.
func (t *TopSites) Add(one TwoSites) { *t = insert(*t, one, mostNamed) }

// merge adds the sites of another task.
func (t *TopSites) merge(from any) {
	for _, one := range from.(TopSites) {
		t.Add(one)
	}
}
