// Package report makes a page of a finished run: what it found, what to look at twice, and what it cost.
package report

import (
	"context"
	"fmt"
	"slices"

	"mirrorbeam.dev/internal/inspect/difference"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/setting"
)

// Options are the choices of a report.
type Options struct {
	// HideIDs replaces the names of documents, sources and files, and leaves texts out, so that the page can be shared.
	HideIDs bool
	// Texts says whether the input is read again for the texts of some pairs.
	Texts TextUse
}

type builder struct {
	folder  *finished.Folder
	options Options
	summary *finished.Summary
	figures Figures
}

// Build reads the results in a folder. It goes through the rows of each output once, of sites twice, and holds no more
// of them than the page shows, and a number for each of some million documents.
func Build(ctx context.Context, f *finished.Folder, options Options) (*Figures, error) {
	b := builder{folder: f, options: options, summary: &f.Summary}
	b.begin()
	for _, step := range []func(context.Context) error{b.addRows, b.addSites, b.addChanges, b.addRejects, b.addTexts} {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("report on %s: %w", f.Path, err)
		}
	}
	b.addAlerts()
	if b.figures.cut(); options.HideIDs {
		b.figures.hide()
	}
	return &b.figures, nil
}

func (b *builder) begin() {
	s, config, scorer := b.summary, &b.summary.Config, b.summary.Config.Scorer()
	b.figures = Figures{
		Run: Run{
			Folder:     b.folder.Path,
			Version:    s.Version,
			ConfigHash: s.ConfigHash,
			Begun:      s.Begun,
			Threshold:  config.Threshold,
			Unit:       Similarity,
			Split:      string(config.Split),
			Drop:       string(config.Drop),
			Keep:       string(config.Keep),
			Command:    command(config, b.options.HideIDs),
			Passages:   !scorer.HasClusters,
			Partial:    !config.CommonLaw().IsOff() && !scorer.IsDistance,
		},
		Counts:     s.Counts,
		Skipped:    Skipped{Pairs: s.Skipped.Pairs, Groups: s.Skipped.Groups, Kept: s.Skipped.Kept},
		Method:     Method{Plan: s.Plan, Audit: s.Audit},
		Sources:    s.Sources,
		PassedOver: s.PassedOver,
		Stages: slices.DeleteFunc(slices.Clone(s.Stages), func(stage finished.Stage) bool {
			return stage.Tasks == 0
		}),
		Totals:  s.Cost,
		Rejects: []Reason{},
		Notes:   []string{},
		Alerts:  []Alert{},
	}
	if s.Lost != nil {
		lost := *s.Lost // its names may be hidden
		b.figures.Lost = &lost
	}
	if scorer.IsDistance {
		b.figures.Run.Unit, b.figures.Run.Distance = Bits, config.Hamming
	}
	if s.Skipped.Example != nil {
		b.figures.Skipped.Documents = s.Skipped.Example.Documents
	}
}

func (b *builder) addRows(ctx context.Context) error {
	f, counts := &b.figures, &b.summary.Counts
	documents := counts.Clustered
	if f.Run.Passages {
		documents = min(2*counts.Pairs, counts.Documents+counts.ReferenceDocuments)
	}
	removed := newTally(f.Run.Unit, f.Run.Distance)
	members := newMemberPass(newSampler(documents), removed)
	if b.folder.Has(output.Clusters) {
		if err := members.read(ctx, b.folder); err != nil {
			return err
		}
		f.Sizes, f.Clusters = members.sizes, members.clusters()
		if listed, of := int64(len(f.Clusters)), counts.Clusters; listed < of {
			b.note(fmt.Sprintf("%s of %s clusters are listed: the largest, and some of the loosest.", count(listed),
				count(of)))
		}
	}
	if !b.folder.Has(output.Pairs) {
		b.note("The run wrote no pairs, which show more: run it with --emit clusters,pairs.")
		if f.Sizes != nil && f.Run.Unit == Similarity {
			f.Nearest = &Histogram{Of: output.Clusters, Sampled: 1, Bins: removed.bins(f.Run.Threshold)}
			f.Nearest.Valley = valley(f.Nearest.Bins)
		}
		return nil
	}
	pairs := newPairPass(&f.Run, members)
	if err := pairs.read(ctx, b.folder); err != nil {
		return err
	}
	b.addPairs(pairs, members)
	return nil
}

func (b *builder) addPairs(pairs *pairPass, members *memberPass) {
	f := &b.figures
	from := f.Run.Threshold
	if f.Run.Passages {
		from = 0
	}
	nearest := newTally(f.Run.Unit, f.Run.Distance)
	for _, score := range pairs.nearest {
		nearest.add(score)
	}
	f.Nearest = &Histogram{Of: output.Pairs, Sampled: members.sampler.share, Bins: nearest.bins(from)}
	if f.Run.Unit == Similarity {
		f.Nearest.Valley = valley(f.Nearest.Bins)
		f.Sensitivity = sensitivity(pairs.scores, f.Run.Threshold, f.Nearest.Valley)
	}
	if members.sampler.share < 1 {
		b.note(fmt.Sprintf("The histogram shows a sample: one document in %.0f.", 1/members.sampler.share))
	}
	f.Pairs = pairs.examples()
	if shown, of := int64(len(f.Pairs)), b.summary.Counts.Pairs-b.summary.Counts.Identical; shown < of {
		b.note(
			fmt.Sprintf(
				"%s of %s pairs that are not identical are listed: the least alike, the most one-sided, "+
					"and a random sample.", count(shown), count(of)))
	}
}

func (b *builder) note(text string) { b.figures.Notes = append(b.figures.Notes, text) }

// TextUse says whether a report reads the input again.
type TextUse string

const (
	// AutoTexts reads the input if it has at most autoBytes.
	AutoTexts TextUse = "auto"
	AllTexts  TextUse = "yes"
	NoTexts   TextUse = "no"
)

const (
	// autoBytes is the size of an input that is read within seconds.
	autoBytes = 1 << 30
	// heldBytes is how much of a text is compared.
	heldBytes = 1 << 20
)

// addTexts reads the texts of the first pairs, if they are wanted and still there.
func (b *builder) addTexts(ctx context.Context) error {
	f := &b.figures
	switch {
	case len(f.Pairs) == 0, b.options.Texts == NoTexts, b.options.HideIDs:
		return nil
	case b.options.Texts != AllTexts && b.summary.Counts.Bytes+b.summary.Counts.ReferenceBytes > autoBytes:
		b.note("Texts are not shown, since the input is large: --texts=yes reads it again.")
		return nil
	}
	shown := f.Pairs[:min(len(f.Pairs), textsLow+textsSided+textsSampled)]
	var names []string
	for _, pair := range shown {
		names = append(names, pair.A, pair.B)
	}
	texts, err := b.folder.Texts(ctx, names, heldBytes)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		b.note("Texts are not shown: the input cannot be read from here: " + setting.Text(err, setting.Flag))
		return nil
	}
	for i := range shown {
		first, hasFirst := texts[shown[i].A]
		second, hasSecond := texts[shown[i].B]
		if hasFirst && hasSecond {
			config := &b.folder.Summary.Config
			shown[i].Texts = difference.SideBySide(first, second, config.Shingle, config.Tokens, difference.Brief())
		}
	}
	return nil
}
