package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
)

const (
	mostSuspects, mostMirrors, mostGroups = 100, 100, 100
	mostInGroup                           = 12
)

// SiteFindings say what was found of sites.
type SiteFindings struct {
	// Sites, Pairs, Groups and Suspicious count all of them, whatever the page lists.
	Sites      int64 `json:"sites"`
	Pairs      int64 `json:"pairs"`
	Groups     int64 `json:"groups"`
	Suspicious int64 `json:"suspicious"`
	// Urgent counts the suspects of high severity.
	Urgent int64 `json:"urgent"`
	// Kinds counts the pairs of mirrors by their kind.
	Kinds map[string]int64 `json:"kinds,omitempty"`
	// Suspects of high severity come first, then the ones with the most copies.
	Suspects []Suspect `json:"suspects,omitempty"`
	// Mirrors are the pairs with the most pages in common, Largest the groups of the most sites.
	Mirrors []MirrorPair `json:"mirrors,omitempty"`
	Largest []SiteGroup  `json:"largest,omitempty"`
}

// Suspect is a site that copies a protected one, or a campaign of many.
type Suspect struct {
	Site string `json:"site"`
	// Sites is the number of sites of a campaign, and 0 otherwise. Site then is what they have in common.
	Sites     int64    `json:"sites,omitempty"`
	Protected string   `json:"protected"`
	Severity  string   `json:"severity"`
	Reasons   []string `json:"reasons"`
	Score     float64  `json:"score"`
	// Pages counts the pages of the suspect, Common the copies among them, and Logins the copies that ask for a
	// password.
	Pages  int64 `json:"pages"`
	Common int64 `json:"common"`
	Logins int64 `json:"logins,omitempty"`
	// Lookalike is how much the host looks like the protected one, from 0 to 1, and How in which way.
	Lookalike float64 `json:"lookalike"`
	How       string  `json:"how,omitempty"`
	FirstSeen string  `json:"first_seen,omitempty"`
	// Generation is the one whose run first had the suspect, and Known when that run began.
	Generation int64  `json:"generation,omitempty"`
	Known      string `json:"known,omitempty"`
	// Page is a copied page, and Original what it is a copy of; both are empty if names are hidden.
	Page       string  `json:"page,omitempty"`
	Original   string  `json:"original,omitempty"`
	Similarity float64 `json:"similarity,omitempty"`
}

func (s Suspect) weight() int64 { return max(s.Sites, 1) }

// IsUrgent reports whether the severity is high.
func (s Suspect) IsUrgent() bool { return s.Severity == output.HighSeverity }

// Why says in words why the site is a suspect.
func (s Suspect) Why() string {
	reasons := slices.Clone(s.Reasons)
	for i, reason := range reasons {
		if reason == lookAlike && s.How != "" {
			reasons[i] += " (" + s.How + ")"
		}
	}
	return strings.ReplaceAll(strings.Join(reasons, ", "), "_", " ")
}

// lookAlike is the reason of a suspect whose host looks like the protected one.
const lookAlike = "look_alike"

// MirrorPair is two sites that have much in common.
type MirrorPair struct {
	A       string  `json:"a"`
	B       string  `json:"b"`
	Kind    string  `json:"kind"`
	Score   float64 `json:"score"`
	PagesA  int64   `json:"pages_a"`
	PagesB  int64   `json:"pages_b"`
	CommonA int64   `json:"common_a"`
	CommonB int64   `json:"common_b"`
	// SamePath is the share of the pages in common that are at one path.
	SamePath float64 `json:"same_path"`
}

// SiteGroup is a group of mirrors.
type SiteGroup struct {
	Primary string `json:"primary"`
	// Size is the number of its sites, Others are some of those that are not the primary.
	Size     int64    `json:"size"`
	Cohesion float64  `json:"cohesion"`
	Others   []string `json:"others"`
	// Protected says that the primary is protected. Rank is its rank, 0 for none.
	Protected bool  `json:"protected,omitempty"`
	Rank      int64 `json:"rank,omitempty"`
}

// More returns how many sites of the group are not named.
func (g SiteGroup) More() int64 { return g.Size - 1 - int64(len(g.Others)) }

// addSites takes over what the job has found of sites. It reads their rows twice, to hold only what is shown.
func (b *builder) addSites(ctx context.Context) error {
	found := b.summary.Mirrors
	if found == nil {
		return nil
	}
	f := &SiteFindings{
		Sites:      found.Sites,
		Pairs:      found.Pairs,
		Groups:     found.Groups,
		Suspicious: found.Suspects,
		Kinds:      map[string]int64{},
	}
	b.figures.Sites = f
	for _, step := range []func(context.Context, *SiteFindings) error{
		b.addSuspects, b.addMirrors, b.addGroups,
		b.addOthers,
	} {
		if err := step(ctx, f); err != nil {
			return err
		}
	}
	suspects := int64(0)
	for _, s := range f.Suspects {
		suspects += s.weight()
	}
	for _, list := range []struct {
		shown  int64
		of     int64
		output string
	}{
		{suspects, f.Suspicious, output.Suspects},
		{int64(len(f.Mirrors)), f.Pairs, output.Mirrors},
		{int64(len(f.Largest)), f.Groups, output.Sites},
	} {
		if list.shown < list.of && b.folder.Has(list.output) {
			b.note(fmt.Sprintf("%s of %s %s are listed.", count(list.shown), count(list.of), siteRows[list.output]))
		}
	}
	return nil
}

var siteRows = map[string]string{
	output.Suspects: "suspects",
	output.Mirrors:  "pairs of mirrors",
	output.Sites:    "groups of mirrors",
}

// urgency comes before every number of pages.
const urgency = 1 << 50

func (b *builder) addSuspects(ctx context.Context, f *SiteFindings) error {
	known := map[string]finished.OpenSuspect{}
	if b.summary.State != nil {
		for _, s := range b.summary.State.Suspects {
			known[s.ID] = s
		}
	}
	all := least(mostSuspects, func(s *Suspect) float64 {
		if s.IsUrgent() {
			return -float64(s.Common) - urgency
		}
		return -float64(s.Common)
	})
	for row, err := range finished.Rows[output.Suspect](ctx, b.folder, output.Suspects) {
		if err != nil {
			return err
		}
		if row.Campaign != "" {
			continue // the row of the campaign stands for it
		}
		s := Suspect{
			Site:      row.Site,
			Sites:     row.Sites,
			Protected: row.Protected,
			Severity:  row.Severity,
			Reasons:   row.Reasons,
			Score:     row.Score,
			Pages:     row.Pages,
			Common:    row.Common,
			Logins:    row.LoginPages,
			Lookalike: row.Lookalike,
			How:       row.LookalikeReason,
			FirstSeen: row.FirstSeen,
		}
		s.Generation, s.Known = known[row.ID].Generation, known[row.ID].Seen
		if len(row.Examples) > 0 {
			s.Page = row.Examples[0].Page
			s.Original = row.Examples[0].Original
			s.Similarity = row.Examples[0].Similarity
		}
		if s.IsUrgent() {
			f.Urgent += s.weight()
		}
		all.Add(s)
	}
	f.Suspects = all.Items
	return nil
}

func (b *builder) addMirrors(ctx context.Context, f *SiteFindings) error {
	all := least(mostMirrors, func(m *MirrorPair) float64 { return -float64(max(m.CommonA, m.CommonB)) })
	for row, err := range finished.Rows[output.Mirror](ctx, b.folder, output.Mirrors) {
		if err != nil {
			return err
		}
		f.Kinds[row.Kind]++
		all.Add(MirrorPair{
			row.A, row.B, row.Kind, row.Score, row.PagesA, row.PagesB, row.CommonA, row.CommonB, row.SamePath,
		})
	}
	f.Mirrors = all.Items
	return nil
}

func (b *builder) addGroups(ctx context.Context, f *SiteFindings) error {
	all := least(mostGroups, func(g *SiteGroup) float64 { return -float64(g.Size) })
	for row, err := range b.folder.GroupedSites(ctx) {
		if err != nil {
			return err
		}
		if row.Primary {
			all.Add(SiteGroup{
				Primary:   row.Site,
				Size:      row.GroupSites,
				Cohesion:  row.Cohesion,
				Others:    []string{},
				Protected: row.Protected,
				Rank:      row.Rank,
			})
		}
	}
	f.Largest = all.Items
	return nil
}

// addOthers names other sites of the largest groups, the first ones by name.
func (b *builder) addOthers(ctx context.Context, f *SiteFindings) error {
	groups := map[string]*SiteGroup{}
	for i := range f.Largest {
		groups[f.Largest[i].Primary] = &f.Largest[i]
	}
	for row, err := range b.folder.GroupedSites(ctx) {
		if err != nil {
			return err
		}
		group := groups[row.Group]
		if group == nil || row.Primary {
			continue
		}
		at, _ := slices.BinarySearch(group.Others, row.Site)
		if group.Others = slices.Insert(group.Others, at, row.Site); len(group.Others) > mostInGroup {
			group.Others = group.Others[:mostInGroup]
		}
	}
	return nil
}

const mostAccused = 5

// accuse adds an alert for each of the most urgent suspects, and one for all others.
func (b *builder) accuse() {
	f := b.figures.Sites
	if f == nil {
		return
	}
	rest := f.Suspicious
	for _, s := range f.Suspects[:min(len(f.Suspects), mostAccused)] {
		rest -= s.weight()
		names := fmt.Sprintf("%s copies %s", s.Site, s.Protected)
		switch {
		case b.options.HideIDs && s.Sites > 0:
			names = fmt.Sprintf("%s sites copy a protected one", count(s.Sites))
		case b.options.HideIDs:
			names = "A site copies a protected one"
		case s.Sites > 0:
			names = fmt.Sprintf("%s sites, a campaign of %s, copy %s", count(s.Sites), s.Site, s.Protected)
		}
		text := fmt.Sprintf("%s: %s of its %s pages (%s)", names, count(s.Common), count(s.Pages), s.Why())
		b.add(Alert{Kind: "suspect", Text: text, Place: "suspects", Urgent: s.IsUrgent()})
	}
	if rest > 0 {
		b.alert("suspect", "suspects", fmt.Sprintf("%s further suspects copy protected sites", count(rest)), "")
	}
}

type kindCount struct {
	Kind  string
	Pairs int64
}

// ByKind returns the numbers of mirrors by their kinds, the most frequent kind first.
func (f *SiteFindings) ByKind() []kindCount {
	var all []kindCount
	for kind, pairs := range f.Kinds {
		all = append(all, kindCount{kind, pairs})
	}
	slices.SortFunc(all, func(x, y kindCount) int {
		return cmp.Or(cmp.Compare(y.Pairs, x.Pairs), strings.Compare(x.Kind, y.Kind))
	})
	return all
}
