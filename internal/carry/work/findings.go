package work

import (
	"cmp"
	"slices"
	"strings"
)

// MirrorFindings says what was found of the sites of a corpus.
type MirrorFindings struct {
	Sites  int64 `json:"sites"`
	Pairs  int64 `json:"pairs"`
	Groups int64 `json:"groups"`
	// Protected counts the sites that are protected.
	Protected int64 `json:"protected,omitempty"`
	// Suspects counts the sites that have copies of protected ones, and Campaigns the rows that stand for many of them.
	Suspects  int64 `json:"suspects"`
	Campaigns int64 `json:"campaigns,omitempty"`
	// TopMirrors and TopSuspects are those with the most pages in common, at most [mostNamed] each.
	TopMirrors  []MirrorFinding `json:"top_mirrors,omitempty"`
	TopSuspects []MirrorFinding `json:"top_suspects,omitempty"`
}

// MirrorFinding is two sites that have much in common.
type MirrorFinding struct {
	// Site is a mirror or a suspect, and Of the site that is taken for the original.
	Site  string  `json:"site"`
	Of    string  `json:"of"`
	Kind  string  `json:"kind"` // of a mirror, or the severity of an alert
	Score float64 `json:"score"`
	Pages int64   `json:"pages"` // in common
	// Sites is the number of sites of a campaign, and 0 otherwise. Site then is what they have in common.
	Sites int64 `json:"sites,omitempty"`
}

const mostNamed = 5

// AddMirror adds two mirrors.
func (f *MirrorFindings) AddMirror(one MirrorFinding) {
	f.Pairs++
	f.TopMirrors = addFinding(f.TopMirrors, one)
}

// AddCampaign adds a campaign. The sites in it are counted among the suspects, each by itself.
func (f *MirrorFindings) AddCampaign(one MirrorFinding) {
	f.Campaigns++
	f.TopSuspects = addFinding(f.TopSuspects, one)
}

// AddSuspect adds an alert.
func (f *MirrorFindings) AddSuspect(one MirrorFinding) {
	f.Suspects++
	f.TopSuspects = addFinding(f.TopSuspects, one)
}

// Add adds the findings of another task.
func (f *MirrorFindings) Add(other MirrorFindings) {
	f.Sites += other.Sites
	f.Pairs += other.Pairs
	f.Groups += other.Groups
	f.Protected += other.Protected
	f.Suspects += other.Suspects
	f.Campaigns += other.Campaigns
	for _, one := range other.TopMirrors {
		f.TopMirrors = addFinding(f.TopMirrors, one)
	}
	for _, one := range other.TopSuspects {
		f.TopSuspects = addFinding(f.TopSuspects, one)
	}
}

// compare orders findings, the one with the most pages first.
func (f MirrorFinding) compare(other MirrorFinding) int {
	return cmp.Or(cmp.Compare(other.Pages, f.Pages), cmp.Compare(other.Score, f.Score), strings.Compare(f.Of, other.Of), strings.Compare(f.Site, other.Site))
}

func addFinding(all []MirrorFinding, one MirrorFinding) []MirrorFinding {
	at, _ := slices.BinarySearchFunc(all, one, MirrorFinding.compare)
	all = slices.Insert(all, at, one)
	return all[:min(len(all), mostNamed)]
}
