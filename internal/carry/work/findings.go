package work

import (
	"cmp"
	"slices"
	"strings"
)

// MirrorFindings says what was found of the sites of a corpus.
type MirrorFindings struct {
	// Sites counts the sites.
	Sites int64 `json:"sites"`
	// Pairs counts the pairs of mirrors.
	Pairs int64 `json:"pairs"`
	// Groups counts the groups of mirrors.
	Groups int64 `json:"groups"`
	// Protected counts the sites that are protected.
	Protected int64 `json:"protected,omitempty"`
	// Suspects counts the sites that have copies of protected ones.
	Suspects int64 `json:"suspects"`
	// Campaigns counts the rows that stand for many suspects.
	Campaigns int64 `json:"campaigns,omitempty"`
	// TopMirrors are the five mirrors with the most pages in common.
	TopMirrors []MirrorFinding `json:"top_mirrors,omitempty"`
	// TopSuspects are the five suspects with the most pages in common.
	TopSuspects []MirrorFinding `json:"top_suspects,omitempty"`
}

// MirrorFinding is two sites that have much in common.
type MirrorFinding struct {
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
