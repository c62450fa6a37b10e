// Package recut cuts the pairs of a finished run at a higher threshold, and makes clusters of what is left. The choice
// of what is kept, the counts and the rows are as in a run: see package clusters. The summary of the finished run is
// only asked for what that run has read. Whatever rows do not tell is absent from the new one. The input is read again
// only for what rows do not tell and results need: copies of records, the order of documents, what they are kept by.
package recut

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/result/warnings"
	"mirrorbeam.dev/internal/result/workspace"
	"mirrorbeam.dev/internal/result/write"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/build"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
)

// Options says how the pairs of a run are cut.
type Options struct {
	// Threshold is the least Jaccard similarity, at least the threshold of the run.
	Threshold float64
	// Keep is empty for the run's policy, or where Split and Drop leave nothing to prefer.
	Keep preference.Preference
	// Split says what makes a cluster, and Drop which documents of clusters are removed.
	Split keep.Split
	Drop  keep.Drop
	// Output is the folder for the results, which must be empty or new unless Overwrite is set.
	Output    string
	Overwrite bool
	// Format is how rows are written. Emit names outputs among clusters, pairs, removed, unique and annotated.
	Format output.Format
	Emit   []string
	// Layout is the layout of copies; empty for the run's.
	Layout output.Layout
	// Say gets why the input is read again, before it is; nil: nobody wants to know.
	Say func(why error)
}

var (
	// outputs are what pairs suffice for, and copies the outputs that have records of the input.
	outputs = []string{output.Clusters, output.Pairs, output.Removed}
	copies  = []string{output.Unique, output.Annotated}
)

// OutputsOf lists the outputs of a run that pairs suffice for.
func OutputsOf(folder *finished.Folder) []string {
	return slices.DeleteFunc(slices.Clone(outputs), func(name string) bool { return !folder.Has(name) })
}

// Run cuts the pairs of the run in a folder and publishes the results. The error is of a kind of package failure.
func Run(ctx context.Context, folder *finished.Folder, o Options) (finished.Summary, error) {
	begun := time.Now()
	prefers := keep.Rule{Split: o.Split, Drop: o.Drop}.Prefers()
	switch {
	case o.Keep != "" && !prefers:
		err := setting.Errorf(
			"{keep} %s: says which document of a cluster stays, and {drop} %s does not ask: leave it out", o.Keep,
			o.Drop)
		return finished.Summary{}, failure.New(failure.Usage, err)
	case o.Keep == "" && prefers:
		o.Keep = folder.Summary.Config.Keep
	case o.Keep == "":
		o.Keep = preference.First
	}
	if err := check(folder, &o); err != nil {
		return finished.Summary{}, failure.New(failure.Usage, err)
	}
	summary, err := newSummary(folder, o)
	if err != nil {
		return summary, failure.New(failure.Usage, err)
	}
	c := &summary.Config
	results, err := workspace.Open(workspace.Options{Output: c.Output, Temp: c.TempFolder(), Overwrite: c.Overwrite})
	if err != nil {
		return summary, failure.New(failure.Storage, err)
	}
	defer results.Close()
	rows, err := readRows(ctx, folder, o, c, results.Temp)
	if _, hasKind := errors.AsType[failure.Kind](err); err != nil && !hasKind {
		err = failure.New(failure.Input, err)
	}
	if err != nil {
		return summary, err
	}
	files := write.Files{Partial: work.Path(results.Partial), Format: o.Format, HaveURLs: summary.Counts.Archives > 0}
	found, written, err := rows.write(ctx, files, &summary)
	for _, name := range []string{output.IgnoredShingles, output.CommonShingles} {
		if err == nil && folder.Has(name) {
			var packed []byte
			var left output.File
			if packed, err = folder.Packed(name); err == nil {
				left, err = write.WriteShingles(files, name, packed)
			}
			written = append(written, left)
		}
	}
	if err == nil {
		summary.Totals, summary.Warnings = found.Totals, warnings.OfPairs(c, found, folder.Summary.Warnings)
		summary.Seconds, summary.Begun = time.Since(begun).Seconds(), begun.UTC().Format(time.RFC3339)
		err = results.Publish(written, summary)
	}
	if err != nil {
		return summary, failure.Explain(c, failure.Storage, err)
	}
	return summary, nil
}

// readRows reads the rows of a run and, for what they do not tell, its input.
func readRows(ctx context.Context, folder *finished.Folder, o Options, c *job.Config, temp string) (*rows, error) {
	why := whyInput(folder, o)
	if why == nil {
		r, err := read(ctx, folder, o)
		unknown, is := errors.AsType[orderError](err)
		if !is {
			return r, err
		}
		why = unknown
	}
	if slices.Contains(c.Input, corpus.Stdin) || c.Add {
		return nil, failure.New(failure.Usage, setting.Errorf(
			"the input of the run in %s is needed again, as %w: it was the standard input or, with {add}, what was new",
			folder.Path, why))
	}
	if o.Say != nil {
		o.Say(why)
	}
	in, err := readInput(ctx, c, temp)
	if err != nil {
		return nil, err
	}
	return in.rows(ctx, folder, o.Threshold)
}

// whyInput says what of the results needs the input, nil if rows suffice.
func whyInput(folder *finished.Folder, o Options) error {
	for _, name := range copies {
		if slices.Contains(o.Emit, name) {
			return fmt.Errorf("%s has its records", name)
		}
	}
	split := folder.Summary.Config.Split
	switch {
	case o.Keep.Basis() > preference.InOrder:
		return setting.Errorf("{keep} %s depends on it", o.Keep)
	case !folder.Has(output.Clusters):
		return fmt.Errorf("the run wrote no %s", output.Clusters)
	case split != keep.Component:
		return setting.Errorf("with {split} %s, %s lacks documents", split, output.Clusters)
	case len(folder.Summary.Files.Order) > 0:
		return errors.New("the files are not in the order of their names")
	}
	return nil
}

// check returns an error that says what the rows of a run lack for the options.
func check(folder *finished.Folder, o *Options) error {
	c, s, scorer := &folder.Summary.Config, &folder.Summary, folder.Summary.Config.Scorer()
	again := "the pairs of the run in " + folder.Path + " do not suffice: "
	for _, name := range o.Emit {
		if all := slices.Concat(outputs, copies); !slices.Contains(all, name) {
			return setting.Errorf("{emit} %s: only %s can be made of pairs: run the job again for other outputs", name,
				strings.Join(all, ", "))
		}
	}
	switch {
	case !scorer.HasClusters || scorer.IsDistance:
		return fmt.Errorf("%sthey are not scored by the Jaccard similarity of sets", again)
	case !folder.Has(output.Pairs):
		return folder.Need(output.Pairs)
	case !scorer.IsExact:
		return fmt.Errorf("%stheir similarities are estimates", again)
	case c.Across != "":
		return setting.Errorf("%s{across} %s decides about documents that are not in the rows", again, c.Across)
	case c.SourceField != "" && slices.Contains(o.Emit, output.Annotated):
		return setting.Errorf("{emit} %s: counts sources, which pairs do not tell with {source_field}: run it again",
			output.Annotated)
	case c.RemoveIf != "":
		return setting.Errorf("%s{remove_if} %s depends on sizes of sets, which rows do not tell: run the job again",
			again, c.RemoveIf)
	case c.Variants.Keeps():
		return setting.Errorf("%s{variants} %s judges pairs by texts, beside the others of its {threshold}: "+
			"run the job again", again, c.Variants)
	case s.Skipped.Groups > 0:
		return fmt.Errorf("%s%d groups of documents were too dense to compare all pairs", again, s.Skipped.Groups)
	case o.Threshold < c.Threshold:
		return setting.Errorf("%sthey begin at {threshold} %v: run the job again for pairs from %v on", again,
			c.Threshold, o.Threshold)
	case o.Threshold > 1 || math.IsNaN(o.Threshold):
		return setting.Errorf("{threshold} must be from %v, as in the run, to 1, not %v", c.Threshold, o.Threshold)
	case o.Drop == keep.Reference && len(c.Reference) == 0:
		return setting.Errorf("{drop} reference: the run in %s had no {reference}", folder.Path)
	}
	return nil
}

// newSummary returns a summary with the settings and with what the run has read, but nothing about what is found.
func newSummary(folder *finished.Folder, o Options) (finished.Summary, error) {
	of := &folder.Summary
	s := finished.Summary{
		Version: build.Version(),
		Config:  of.Config,
		Sketch:  of.Sketch,
		Files:   of.Files,
		Plan:    of.Plan,
		Totals:  findings.Totals{Counts: of.Counts.OfInput(), PassedOver: of.PassedOver},
		Extras:  findings.Extras{Common: of.Common},
		Sources: []sources.Row{},
		Stages:  []finished.Stage{},
	}
	s.Tier = of.Tier // of the kernels that have compared the pairs
	c := &s.Config
	c.Threshold = o.Threshold
	c.Keep = o.Keep
	c.Split = o.Split
	c.Drop = o.Drop
	c.Emit = o.Emit
	c.OutputFormat = o.Format
	c.Output, c.Overwrite, c.Temp, c.State, c.Guard, c.FailOn = o.Output, o.Overwrite, "", "", nil, nil
	c.Rebuild, c.Republish, c.AllowRemoval, c.RemovalLimit = false, false, false, 0
	usual := job.Default() // settings of other outputs
	if c.Trimming, c.Mirroring = usual.Trimming, usual.Mirroring; !c.EmitsCopies() {
		c.Layout, c.Columns = usual.Layout, nil
	} else if o.Layout != "" {
		c.Layout = o.Layout
	}
	method, _ := methods.Of(s.Plan.Keys)
	s.Plan.ExpectedRecall = method.Promise(&methods.Parameters{
		Threshold: c.Threshold,
		Scheme:    s.Plan.Scheme,
		Shingle:   c.Shingle,
		Scoring:   c.Scoring(),
	}).Recall
	lists := job.Lists{}
	var err error
	if lists.StopWords, err = c.ReadStopWords(); err != nil {
		return s, err
	}
	if folder.Has(output.IgnoredShingles) {
		ignored, err := folder.Packed(output.IgnoredShingles)
		if err != nil {
			return s, err
		}
		lists.Ignored = documents.IgnoredHash(ignored)
	}
	s.ConfigHash = c.ResultHash(lists)
	return s, nil
}

// write writes the outputs. It returns what has been found, and the files.
func (r *rows) write(ctx context.Context, f write.Files,
	summary *finished.Summary,
) (*findings.Findings, []output.File, error) {
	c, found := &summary.Config, &findings.Findings{Totals: summary.Totals}
	all, of, err := r.shards(found)
	if err != nil {
		return nil, nil, err
	}
	names, files := output.Names{AreIntegers: found.Counts.HasIntegerNames(), HaveURLs: f.HaveURLs}, []output.File{}
	for number, shard := range all {
		if err := decide(ctx, shard, c, found); err != nil {
			return nil, nil, err
		}
		pairs := func(row func(output.Pair) error) error {
			for _, i := range of[number] {
				pair := r.pairs[i]
				pair.Kind = c.PairKind()
				if err := row(pair); err != nil {
					return err
				}
			}
			return nil
		}
		for _, name := range outputs {
			if !slices.Contains(c.Emit, name) {
				continue
			}
			file, err := f.Shard(shard, pairs, f.Name(name, number, len(all)), c.PairKind(), names, ctx.Err)
			if err != nil {
				return nil, nil, err
			}
			files = append(files, file)
		}
	}
	if r.input != nil {
		found.Counts.Unranked, found.Counts.UnrankedTies = r.input.counts.Unranked, r.input.counts.UnrankedTies
		copied, err := r.input.copies(ctx, c, f, all, found)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, copied...)
	}
	found.Finish()
	rejects, err := f.Rejects(r.rejects)
	if err != nil {
		return nil, nil, err
	}
	return found, append(files, rejects), nil
}
