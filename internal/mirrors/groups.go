package mirrors

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/result/write"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/internal/work"
)

// group is a component of the graph of mirrors.
type group struct {
	primary *records.Site
	sites   int64
	pairs   int64 // pairs of its sites that are mirrors
}

// cohesion returns the share of the pairs of sites that are mirrors, in units of 1/[records.Unit].
func (g *group) cohesion() int64 {
	all := float64(g.sites) * float64(g.sites-1) / 2
	return int64(math.Round(float64(g.pairs) / all * records.Unit))
}

type groups struct {
	known *known
	nodes map[uint64]uint32 // number of each site
	sites []*records.Site   // by number
	edges []mirrorEdge
	// votes counts, by site, the pages of its mirrors that name it as their original, and redirects to it.
	votes map[uint64]int64

	of    [2][]*group // of each site: among mirrors, and among parked sites; nil for none
	count int64
}

// mirrorEdge joins two sites that are mirrors, by their numbers.
type mirrorEdge struct {
	a, b     uint32
	isParked bool
}

func newGroups(of *known) *groups {
	return &groups{known: of, nodes: map[uint64]uint32{}, votes: map[uint64]int64{}}
}

// add adds two sites that are mirrors.
func (g *groups) add(p *pair) {
	for _, h := range p.sides {
		g.votes[h.Other] += h.Originals
	}
	g.edges = append(g.edges, mirrorEdge{g.node(&p.sides[0].Of), g.node(&p.sides[1].Of), p.isParked()})
}

func (g *groups) node(of *records.Site) uint32 {
	node, known := g.nodes[of.Site]
	if !known {
		node = uint32(len(g.sites))
		g.nodes[of.Site] = node
		g.sites = append(g.sites, of)
	}
	return node
}

// find finds the groups, once all mirrors are added. Parked sites make groups of their own.
func (g *groups) find() {
	for among := range g.of {
		g.join(among)
	}
}

// number is 1 for true: so bools have an order, and are places in a list.
func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (g *groups) join(of int) {
	first := graphs.NewForest[uint32](len(g.sites))
	for _, e := range g.edges {
		if number(e.isParked) == of {
			first.Union(e.a, e.b)
		}
	}
	first.Flatten()
	all := make([]*group, len(g.sites))
	g.of[of] = make([]*group, len(g.sites))
	for _, e := range g.edges {
		if number(e.isParked) != of {
			continue
		}
		for _, node := range []uint32{e.a, e.b} {
			if g.of[of][node] != nil {
				continue
			}
			if all[first[node]] == nil {
				all[first[node]] = &group{}
				g.count++
			}
			in := all[first[node]]
			g.of[of][node] = in
			if in.sites++; in.primary == nil || g.compare(g.sites[node], in.primary) < 0 {
				in.primary = g.sites[node]
			}
		}
		all[first[e.a]].pairs++
	}
}

// compare orders sites, the more likely original first: a protected one, then the one with the better rank, the one
// that more pages of its mirrors name as their original, the one that was seen first, the one with the most pages, and
// the one whose name comes first.
func (g *groups) compare(a, b *records.Site) int {
	ofA, ofB := g.known.of(a), g.known.of(b)
	return cmp.Or(
		cmp.Compare(number(ofB.isProtected), number(ofA.isProtected)),
		cmp.Compare(uint64(ofA.rank-1), uint64(ofB.rank-1)), // no rank comes last
		cmp.Compare(g.votes[b.Site], g.votes[a.Site]), cmp.Compare(a.First, b.First), cmp.Compare(b.Pages, a.Pages),
		strings.Compare(a.Name, b.Name),
	)
}

func (g *groups) ofPair(p *pair) *group {
	return g.of[number(p.isParked())][g.nodes[p.sides[0].Of.Site]]
}

// ofSite returns the group of a site by its number: the one of mirrors, or else the one of parked sites.
func (g *groups) ofSite(node int) *group {
	if in := g.of[0][node]; in != nil {
		return in
	}
	return g.of[1][node]
}

// writeForNext writes the groups of mirrors by name. Nobody follows groups of parked sites.
func (g *groups) writeForNext(run *runfile.Writer) error {
	var order []*group
	members := map[*group][]state.Member{}
	nodes := slices.SortedFunc(maps.Values(g.nodes), func(a, b uint32) int {
		return strings.Compare(g.sites[a].Name, g.sites[b].Name)
	})
	for _, node := range nodes {
		in := g.of[0][node]
		if in == nil {
			continue
		}
		if members[in] == nil {
			order = append(order, in)
		}
		hash := xxh3.HashString128(g.sites[node].Name)
		members[in] = append(members[in], state.Member{hash.Hi, hash.Lo})
	}
	var packed []byte
	for _, in := range order {
		packed = state.AppendGroup(packed[:0], &state.Group{Name: in.primary.Name, Members: members[in]})
		if err := records.WritePacked(run, records.SiteGroups, 0, packed); err != nil {
			return err
		}
	}
	return nil
}

// Grouping is the last step of the stage mirror, one task. It makes groups of mirrors, and writes the rows of mirrors
// and suspects. Of mirrors it holds 12 bytes a pair, and their rows a part at a time. It holds all suspects, some
// kilobyte each.
type Grouping struct {
	Judging
	Results
	// ForNext writes what the next run of a scheduled job is to know: the groups of mirrors, and the suspects.
	ForNext bool
}

// Results says which rows are wanted, and where they go.
type Results struct {
	write.Files
	// Emit names the outputs of the job.
	Emit []string
}

// writeRows makes a file of the rows that the function rows passes on. If nobody wants them, it drops them.
func writeRows[T output.Row](r *Results, file output.File, w *work.TaskContext,
	rows func(row func(T) error) error,
) error {
	if !slices.Contains(r.Emit, file.Output) {
		return rows(func(T) error { return nil })
	}
	return write.Write(r.Files, file, output.Names{}, w, rows)
}

// Delivery returns the delivery of its task.
func (*Grouping) Delivery() work.Delivery {
	return work.Delivery{Shards: 1, Extra: []runfile.Kind{records.Mirrored, records.Copiers}}
}

// Task groups all mirrors. It reads the pairs twice: to make groups, and to write the rows.
func (g *Grouping) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	rows := &pairRows{pairs: map[string]int{}, most: 1 << 16}
	var suspects []suspicion
	groups := newGroups(g.lists.known())
	if err := eachPair(ctx, w, func(p pair) error {
		if p.isMirror(g.Limits) {
			groups.add(&p)
			rows.pairs[p.sides[0].Of.Name]++
		}
		return nil
	}); err != nil {
		return err
	}
	if err := eachRecord(ctx, w, records.Copiers, func(one *records.Copier) error {
		if s, is := suspect(one, g.Limits); is {
			suspects = append(suspects, s)
		}
		return nil
	}); err != nil {
		return err
	}
	slices.SortFunc(suspects, func(a, b suspicion) int { return a.compare(&b) })
	groups.find()
	found := findings.Mirrors{Groups: groups.count}
	if err := g.writeMirrors(ctx, rows, groups, w, &found); err != nil {
		return err
	}
	if err := g.writeSuspects(ctx, suspects, w, &found); err != nil {
		return err
	}
	w.Outcome.Mirrors = &found
	if g.ForNext {
		if err := groups.writeForNext(&w.Run); err != nil {
			return err
		}
	}
	return groups.write(&w.Run, work.OutputShards(findings.Counts{Documents: t.Documents}))
}

func (g *Grouping) writeMirrors(ctx context.Context, rows *pairRows, groups *groups, w *work.TaskContext,
	found *findings.Mirrors,
) error {
	return writeRows(&g.Results, g.Name(output.Mirrors, 0, 1), w, func(row func(output.Mirror) error) error {
		return rows.each(ctx, w, g.Limits, func(p *pair) error {
			of := mirrorRow(p, groups.ofPair(p).primary.Name)
			finding := findings.TwoSites{Site: of.B, Of: of.A, Kind: of.Kind, Score: of.Score, Pages: p.pages()}
			if groups.compare(&p.sides[1].Of, &p.sides[0].Of) < 0 {
				finding.Site, finding.Of = finding.Of, finding.Site
			}
			found.Pairs++
			found.TopMirrors.Add(finding)
			return row(of)
		})
	})
}

func (g *Grouping) writeSuspects(ctx context.Context, suspects []suspicion, w *work.TaskContext,
	found *findings.Mirrors,
) error {
	all := campaigns(suspects)
	return writeRows(&g.Results, g.Name(output.Suspects, 0, 1), w, func(row func(output.Suspect) error) error {
		for _, c := range all {
			of := c.row()
			if !c.members[0].class.isSuspect() {
				found.Listed++
				if err := row(of); err != nil {
					return err
				}
				continue
			}
			found.Campaigns++
			found.TopSuspects.Add(newFinding(of))
			if err := errors.Join(row(of), g.tellNext(w, state.Alert{
				ID:       c.id,
				Pages:    of.Sites,
				Site:     c.what,
				Urgent:   of.Severity == output.HighSeverity,
				Evidence: c.members[0].evidence(),
			})); err != nil {
				return err
			}
		}
		for i := range suspects {
			s := &suspects[i]
			of := s.row()
			if !s.class.isSuspect() {
				if s.campaign == 0 {
					found.Listed++
					if err := row(of); err != nil {
						return err
					}
				}
				continue // of a campaign of common copies there is one row
			}
			if found.Suspects++; s.campaign == 0 { // a campaign stands for the others
				found.TopSuspects.Add(newFinding(of))
			}
			alert := state.Alert{
				ID:       s.id(),
				Pages:    of.Common,
				Site:     of.Site,
				Campaign: s.campaign,
				Urgent:   of.Severity == output.HighSeverity,
				Evidence: s.evidence(),
			}
			for _, trace := range s.traces() {
				alert.Copied = append(alert.Copied, state.Trace(trace))
			}
			if err := errors.Join(row(of), g.tellNext(w, alert), ctx.Err()); err != nil {
				return err
			}
		}
		return nil
	})
}

func newFinding(of output.Suspect) findings.TwoSites {
	return findings.TwoSites{
		Site:  of.Site,
		Of:    of.Protected,
		Kind:  of.Severity,
		Score: of.Score,
		Pages: of.Common,
		Sites: of.Sites,
	}
}

func (g *Grouping) tellNext(w *work.TaskContext, alert state.Alert) error {
	if !g.ForNext {
		return nil
	}
	return records.Write(&w.Run, records.Alerts, 0, &alert)
}

func (g *groups) write(run *runfile.Writer, shards int) error {
	for number, s := range g.sites {
		in := g.ofSite(number)
		grouped := records.GroupedSite{Site: s.Site, Sites: in.sites, Cohesion: in.cohesion(), Primary: in.primary.Name}
		if err := records.Write(run, records.Grouped, records.ShardOf(s.Site, shards), &grouped); err != nil {
			return err
		}
	}
	return nil
}

func mirrorRow(p *pair, group string) output.Mirror {
	a, b := p.sides[0], p.sides[1]
	return output.Mirror{
		A:             a.Of.Name,
		B:             b.Of.Name,
		Kind:          string(p.kind()),
		Score:         rounded(p.score),
		Group:         group,
		PagesA:        a.Of.Pages,
		PagesB:        b.Of.Pages,
		CommonA:       a.Pages,
		CommonB:       b.Pages,
		ContainmentA:  rounded(contained(a)),
		ContainmentB:  rounded(contained(b)),
		WeightedA:     rounded(weighted(a)),
		WeightedB:     rounded(weighted(b)),
		SamePath:      rounded(p.samePath()),
		Similarity:    rounded(p.similarity()),
		Sites:         rounded(p.spread()),
		Markup:        rounded(p.markup()),
		SameLanguage:  rounded(p.sameLanguage()),
		LanguagePages: p.languagePages(),
		FirstA:        dateText(a.Of.First),
		FirstB:        dateText(b.Of.First),
		Examples:      examples(p, a),
	}
}

// examples returns the examples of a pair: pages of one of the two sites, and their copies on the other.
func examples(p *pair, of *records.Half) []output.PagePair {
	var all []output.PagePair
	for _, h := range p.sides {
		for _, e := range h.Examples {
			pair := output.PagePair{
				A:          quoting.Text(e.Page),
				B:          quoting.Text(e.Copy),
				Similarity: rounded(float64(e.Similarity) / records.Unit),
			}
			if h != of {
				pair.A, pair.B = pair.B, pair.A
			}
			all = append(all, pair)
		}
	}
	return all
}

// dateText writes the seconds since 1970 as ISO 8601 does, and no date as nothing.
func dateText(seconds int64) string {
	if seconds == records.NoDate {
		return ""
	}
	return time.Unix(seconds, 0).UTC().Format(time.RFC3339)
}
