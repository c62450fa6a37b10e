package findings

import (
	"cmp"
	"strings"
)

// Mirrors says what was found of the sites of a corpus.
type Mirrors struct {
	Sites     int64 `json:"sites" doc:"sites of the corpus"`
	Pairs     int64 `json:"pairs" metric:"mirrors" doc:"pairs of sites that are mirrors"`
	Groups    int64 `json:"groups" metric:"mirror_groups" doc:"groups of mirrors"`
	Protected int64 `json:"protected,omitempty" metric:"protected_sites" doc:"sites that are protected"`
	Suspects  int64 `json:"suspects" doc:"sites that have copies of protected ones"`
	Campaigns int64 `json:"campaigns,omitempty" doc:"rows that stand for many suspects"`
	// TopMirrors and TopSuspects are those with the most pages in common.
	TopMirrors  TopSites `json:"top_mirrors,omitempty"`
	TopSuspects TopSites `json:"top_suspects,omitempty"`
}

// TwoSites are two sites that have much in common.
type TwoSites struct {
	// Site is a mirror or a suspect, and Of the site that is taken for the original.
	Site  string  `json:"site"`
	Of    string  `json:"of"`
	Kind  string  `json:"kind"` // of a mirror, or the severity of an alert
	Score float64 `json:"score"`
	Pages int64   `json:"pages"` // in common
	// Sites is the number of sites of a campaign, and 0 otherwise. Site then is what they have in common.
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
