package mirrors

import (
	"context"
	"errors"
	"slices"
	"time"

	"mirrorbeam/internal/carry/findings"
	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/quoting"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/settle/state"
	"mirrorbeam/internal/settle/write"
)

// Grouping is the last step of the stage mirror, one task. It makes groups of mirrors, and writes the rows of mirrors and
// suspects. Of mirrors it holds 12 bytes a pair, and their rows a part at a time. It holds all suspects, some kilobyte each.
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
func writeRows[T any](r *Results, file output.File, w *work.Desk, rows func(row func(T) error) error) error {
	if !slices.Contains(r.Emit, file.Output) {
		return rows(func(T) error { return nil })
	}
	return write.Write(r.Files, file, w, rows)
}

// Delivery returns the delivery of its task.
func (*Grouping) Delivery() work.Delivery {
	return work.Delivery{Shards: 1, Extra: []runfile.Kind{records.Mirrored}}
}

// Task groups all mirrors. It reads the pairs twice: to make groups, and to write the rows.
func (g *Grouping) Task(ctx context.Context, t work.Task, w *work.Desk) error {
	graph, rows := newMirrorGraph(), &pairRows{pairs: map[string]int{}, most: 1 << 16}
	var suspects []suspicion
	of := g.lists.known()
	if err := eachPair(ctx, w, func(p pair) error {
		if p.isMirror(g.Limits) {
			graph.add(&p)
			rows.pairs[p.sides[0].Of.Name]++
		}
		if !of.areWatched(&p) {
			return nil
		}
		if s, is := suspect(p, g.lists, g.Limits); is {
			suspects = append(suspects, s)
		}
		return nil
	}); err != nil {
		return err
	}
	slices.SortFunc(suspects, func(a, b suspicion) int { return a.compare(&b.pair) })
	groups := newGroups(graph, of)
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

// writeMirrors writes the rows of mirrors.
func (g *Grouping) writeMirrors(ctx context.Context, rows *pairRows, groups *groups, w *work.Desk, found *findings.Mirrors) error {
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

// writeSuspects writes the rows of campaigns and of suspects.
func (g *Grouping) writeSuspects(ctx context.Context, suspects []suspicion, w *work.Desk, found *findings.Mirrors) error {
	all := campaigns(suspects)
	return writeRows(&g.Results, g.Name(output.Suspects, 0, 1), w, func(row func(output.Suspect) error) error {
		for _, c := range all {
			of := c.row()
			found.Campaigns++
			found.TopSuspects.Add(newFinding(of))
			if err := errors.Join(row(of), g.tellNext(w, state.Alert{ID: c.id, Pages: of.Sites, Site: c.what, Urgent: of.Severity == output.HighSeverity})); err != nil {
				return err
			}
		}
		for i := range suspects {
			s := &suspects[i]
			of := s.row()
			if found.Suspects++; s.campaign == 0 { // a campaign stands for the others
				found.TopSuspects.Add(newFinding(of))
			}
			alert := state.Alert{ID: s.id(), Pages: of.Common, Site: of.Site, Campaign: s.campaign, Urgent: of.Severity == output.HighSeverity}
			for _, trace := range s.original.Traces {
				alert.Copied = append(alert.Copied, state.Trace(trace))
			}
			if err := errors.Join(row(of), g.tellNext(w, alert), ctx.Err()); err != nil {
				return err
			}
		}
		return nil
	})
}

// newFinding returns what the summary says of a row.
func newFinding(of output.Suspect) findings.TwoSites {
	return findings.TwoSites{Site: of.Site, Of: of.Protected, Kind: of.Severity, Score: of.Score, Pages: of.Common, Sites: of.Sites}
}

// tellNext writes an alert for the next run of a scheduled job.
func (g *Grouping) tellNext(w *work.Desk, alert state.Alert) error {
	if !g.ForNext {
		return nil
	}
	return writePacked(&w.Run, records.Alerts, state.AppendAlert(nil, alert))
}

// writePacked writes a record for the next run of a scheduled job.
func writePacked(run *runfile.Writer, kind runfile.Kind, packed []byte) error {
	record, err := run.Record(kind, 0, len(packed))
	if err == nil {
		copy(record, packed)
	}
	return err
}

// write writes the groups of all sites in groups to their output shards.
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
		A: a.Of.Name, B: b.Of.Name, Kind: string(p.kind()), Score: rounded(p.score), Group: group,
		PagesA: a.Of.Pages, PagesB: b.Of.Pages, CommonA: a.Pages, CommonB: b.Pages,
		ContainmentA: rounded(contained(a)), ContainmentB: rounded(contained(b)), WeightedA: rounded(weighted(a)), WeightedB: rounded(weighted(b)),
		SamePath: rounded(p.samePath()), Similarity: rounded(p.similarity()), Sites: rounded(p.spread()), Markup: rounded(p.markup()),
		SameLanguage: rounded(p.sameLanguage()), LanguagePages: p.languagePages(),
		FirstA: dateText(a.Of.First), FirstB: dateText(b.Of.First), Examples: examples(p, a),
	}
}

// examples returns the examples of a pair: pages of one of the two sites, and their copies on the other.
func examples(p *pair, of *records.Half) []output.PagePair {
	var all []output.PagePair
	for _, h := range p.sides {
		for _, e := range h.Examples {
			pair := output.PagePair{A: quoting.Text(e.Page), B: quoting.Text(e.Copy), Similarity: rounded(float64(e.Similarity) / records.Unit)}
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
