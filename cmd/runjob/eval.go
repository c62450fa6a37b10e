package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/inspect/difference"
	"mirrorbeam.dev/internal/inspect/evaluation"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/setting"
)

type evalCommand struct {
	Truth     string   `required:"" placeholder:"FILE"`
	Folder    string   `arg:"" name:"dir"`
	Threshold *float64 `placeholder:"J"`
	Worst     int      `default:"5" placeholder:"N"`
	JSON      bool     `name:"json"`
}

func (c *evalCommand) Validate() error {
	if err := checkArgument("dir", c.Folder); err != nil {
		return err
	}
	if c.Worst < 0 {
		return fmt.Errorf("--worst %d: must be 0 or more", c.Worst)
	}
	if c.Threshold != nil && (math.IsNaN(*c.Threshold) || math.IsInf(*c.Threshold, 0)) {
		return fmt.Errorf("--threshold %g: must be a number such as 0.8", *c.Threshold)
	}
	return nil
}

func (c *evalCommand) Run(ctx context.Context, out io.Writer) error {
	report, err := c.evaluate(ctx)
	if err != nil {
		// Only the truth and the results can be at fault.
		return failure.New(failure.Input, err)
	}
	return answer(out, c.JSON, report, printEvaluation)
}

type evaluator struct {
	folder    *finished.Folder
	documents *evaluation.Documents
	truth     *evaluation.Truth
	clusters  []evaluation.Document // by document: the document that its cluster is named after
	report    evalReport
	// isMet says that the results contain a document of the truth.
	isMet bool
	// sample is a document as the results name it, empty if they name none.
	sample string
}

func (c *evalCommand) evaluate(ctx context.Context) (*evalReport, error) {
	folder, err := finished.Open(c.Folder)
	if err != nil {
		return nil, err
	}
	if err := folder.Need(output.Clusters, output.Pairs); err != nil {
		return nil, err
	}
	summary := folder.Summary
	threshold := summary.Config.Threshold
	if c.Threshold != nil {
		threshold = *c.Threshold
	}
	e := evaluator{folder: folder, documents: evaluation.NewDocuments()}
	e.truth, err = evaluation.ReadTruth(c.Truth, corpus.Lines(ctx, c.Truth), threshold, e.documents)
	if err != nil {
		return nil, fmt.Errorf("truth: %w", err)
	}
	if len(e.truth.Pairs) == 0 {
		return nil, fmt.Errorf("truth: %s has no pair with a similarity of at least %g", c.Truth, threshold)
	}
	e.report = evalReport{
		Truth: truthFacts{c.Truth, threshold, e.truth.Documents, len(e.truth.Pairs), e.truth.Below},
		Results: resultFacts{
			c.Folder, summary.Config.Threshold, summary.Counts.Documents + summary.Counts.ReferenceDocuments,
			summary.Counts.Pairs, summary.Counts.Clusters,
		},
	}
	if err := e.compare(ctx, c.Worst); err != nil {
		return nil, err
	}
	if c.Worst > 0 {
		if err := e.showTexts(ctx); err != nil {
			return nil, err
		}
	}
	return &e.report, nil
}

// compare compares what the run has emitted. It begins with clusters: they name all documents that pairs can name.
func (e *evaluator) compare(ctx context.Context, worst int) error {
	if e.folder.Has(output.Clusters) {
		if err := e.compareClusters(ctx); err != nil {
			return err
		}
	} else {
		e.note("the run has emitted no clusters, so they are not measured: run it with --emit clusters,pairs")
	}
	isFound := func(pair evaluation.Pair) bool { return e.clusters[pair.A] == e.clusters[pair.B] }
	if e.folder.Has(output.Pairs) {
		judge, err := e.comparePairs(ctx, worst)
		if err != nil {
			return err
		}
		isFound = judge.IsFound
	} else {
		e.note(
			"the run has emitted no pairs, so they are not measured, and no wrong ones are shown: " +
				"run it with --emit clusters,pairs")
	}
	e.report.Missed = e.missed(isFound, worst)
	e.noteDoubts()
	return nil
}

func (e *evaluator) compareClusters(ctx context.Context) error {
	type membership struct{ document, cluster evaluation.Document }
	var memberships []membership
	for member, err := range finished.Rows[output.Member](ctx, e.folder, output.Clusters) {
		if err != nil {
			return err
		}
		// A cluster has the name of one of its documents.
		m := membership{e.documents.Add(member.ID), e.documents.Add(member.Cluster)}
		e.isMet = e.isMet || int(m.document) < e.truth.Documents
		e.sample = cmp.Or(e.sample, member.ID)
		memberships = append(memberships, m)
	}
	n := e.documents.Len()
	e.clusters = evaluation.Components(n, nil)
	for _, m := range memberships {
		e.clusters[m.document] = m.cluster
	}
	alone := max(e.report.Results.Documents-int64(n), 0)
	agreement := evaluation.Compare(evaluation.Components(n, e.truth.Pairs), e.clusters, alone)
	e.report.Clusters = &agreement
	e.report.ClusteredPairs = newPairScore(evaluation.JudgeClusters(e.truth, e.clusters))
	return nil
}

// comparePairs measures the listed pairs and collects the least similar wrong ones. It reads the pairs twice:
// it must know the identical documents first.
func (e *evaluator) comparePairs(ctx context.Context, worst int) (*evaluation.Judge, error) {
	var identical []evaluation.Pair
	for pair, err := range finished.Rows[output.Pair](ctx, e.folder, output.Pairs) {
		if err != nil {
			return nil, err
		}
		if pair.Identical {
			identical = append(identical, evaluation.Pair{
				A:          e.documents.Add(pair.A),
				B:          e.documents.Add(pair.B),
				Similarity: 1,
			})
		}
	}
	judge := evaluation.NewJudge(e.truth, evaluation.Components(e.documents.Len(), identical))
	wrong := evaluation.NewWorst(worst, func(a, b example) int {
		return cmp.Or(cmp.Compare(*a.Similarity, *b.Similarity), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	})
	for pair, err := range finished.Rows[output.Pair](ctx, e.folder, output.Pairs) {
		if err != nil {
			return nil, err
		}
		a, hasA := e.documents.Find(pair.A)
		b, hasB := e.documents.Find(pair.B)
		e.sample = cmp.Or(e.sample, pair.A)
		e.isMet = e.isMet || hasA && int(a) < e.truth.Documents || hasB && int(b) < e.truth.Documents
		isRight := false
		switch {
		case pair.Identical, pair.Variant:
			continue
		case hasA && hasB:
			isRight = judge.See(a, b)
		default:
			judge.SeeUnknown()
		}
		if !isRight {
			similarity := pair.Jaccard
			wrong.Add(example{A: string(pair.A), B: string(pair.B), Similarity: &similarity})
		}
	}
	e.report.ListedPairs = newPairScore(judge.Counts())
	e.report.Wrong = wrong.Items
	return judge, nil
}

func (e *evaluator) missed(isFound func(evaluation.Pair) bool, worst int) []example {
	name := e.documents.Name
	list := evaluation.NewWorst(worst, func(a, b evaluation.Pair) int {
		// A pair whose similarity is unknown comes last.
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(name(a.A), name(b.A)),
			cmp.Compare(name(a.B), name(b.B)))
	})
	for _, pair := range e.truth.Pairs {
		if !isFound(pair) {
			list.Add(pair)
		}
	}
	var examples []example
	for _, pair := range list.Items {
		x := example{A: name(pair.A), B: name(pair.B)}
		if !math.IsNaN(pair.Similarity) {
			x.Similarity = &pair.Similarity
		}
		if e.clusters != nil {
			x.InOneCluster = e.clusters[pair.A] == e.clusters[pair.B]
		}
		examples = append(examples, x)
	}
	return examples
}

func (e *evaluator) showTexts(ctx context.Context) error {
	examples := slices.Concat(e.report.Missed, e.report.Wrong)
	if len(examples) == 0 {
		return nil
	}
	var names []string
	for _, x := range examples {
		names = append(names, x.A, x.B)
	}
	texts, err := e.folder.Texts(ctx, names, math.MaxInt)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		e.note("ids only, without texts: run eval in the folder in which the run was started, "+
			"with its input in place (%s)", setting.Text(err, setting.Flag))
		return nil
	}
	lost := map[string]bool{}
	for _, list := range [][]example{e.report.Missed, e.report.Wrong} {
		for i := range list {
			list[i].show(texts)
		}
	}
	for _, name := range names {
		if _, found := texts[name]; !found && !lost[name] {
			lost[name] = true
			e.note("%s names no document of the input, or several, which rows call path:position", name)
		}
	}
	return nil
}

func (e *evaluator) note(format string, args ...any) {
	e.report.Notes = append(e.report.Notes, fmt.Sprintf(format, args...))
}

func (e *evaluator) noteDoubts() {
	switch looked, known := e.report.Results.Threshold, e.report.Truth.Threshold; {
	case known < looked:
		e.note("the run looked for pairs of at least %g, and the truth counts pairs of at least %g: "+
			"pairs in between count as missed", looked, known)
	case known > looked:
		e.note("the run looked for pairs of at least %g, and the truth counts pairs of at least %g: "+
			"pairs in between count as wrong", looked, known)
	}
	if !e.isMet {
		e.note("no document of the truth, such as %s, is in the results, which have names such as %s: "+
			"the truth must call documents so, or by path:position", e.documents.Name(0),
			cmp.Or(e.sample, "path:position"))
	}
	scores := e.report.ListedPairs
	if scores == nil {
		scores = e.report.ClusteredPairs
	}
	if scores.Unknown > 0 {
		e.note("%s of the %s wrong pairs join a document that the truth does not name; "+
			"unless the truth is complete, they may be right", count(scores.Unknown), count(scores.Wrong))
	}
}

type evalReport struct {
	Truth   truthFacts  `json:"truth"`
	Results resultFacts `json:"results"`
	// ListedPairs is absent if the job has emitted no pairs. ClusteredPairs and Clusters are absent if it has
	// emitted no clusters.
	ListedPairs    *pairScore            `json:"listed_pairs,omitempty"`
	ClusteredPairs *pairScore            `json:"clustered_pairs,omitempty"`
	Clusters       *evaluation.Agreement `json:"clusters,omitempty"`
	// Missed and Wrong are examples, the worst first.
	Missed []example `json:"missed,omitempty"`
	Wrong  []example `json:"wrong,omitempty"`
	Notes  []string  `json:"notes,omitempty"`
}

type truthFacts struct {
	File      string  `json:"file"`
	Threshold float64 `json:"threshold"`
	Documents int     `json:"documents"`
	Pairs     int     `json:"pairs"`
	Below     int64   `json:"below_threshold"`
}

type resultFacts struct {
	Folder    string  `json:"folder"`
	Threshold float64 `json:"threshold"`
	Documents int64   `json:"documents"`
	Pairs     int64   `json:"pairs"`
	Clusters  int64   `json:"clusters"`
}

type pairScore struct {
	evaluation.Score
	evaluation.PairCounts
}

func newPairScore(counts evaluation.PairCounts) *pairScore {
	return &pairScore{counts.Score(), counts}
}

type example struct {
	A string `json:"a"`
	B string `json:"b"`
	// Similarity comes from the truth for a missed pair, and from the job for a wrong one.
	Similarity   *float64 `json:"similarity,omitempty"`
	InOneCluster bool     `json:"in_one_cluster,omitempty"`
	// ExcerptA and ExcerptB are the beginnings of the texts. Difference shows where the texts differ.
	ExcerptA   string   `json:"excerpt_a,omitempty"`
	ExcerptB   string   `json:"excerpt_b,omitempty"`
	Difference []string `json:"difference,omitempty"`
}

func (x *example) show(texts map[string]string) {
	a, hasA := texts[x.A]
	b, hasB := texts[x.B]
	x.ExcerptA, x.ExcerptB = excerpt(a), excerpt(b)
	if hasA && hasB {
		x.Difference = differenceLines(difference.Words(a), difference.Words(b))
	}
}

const excerptLength = 100

func excerpt(text string) string {
	var start []rune
	for word := range strings.FieldsSeq(text) {
		if len(start) > 0 {
			start = append(start, ' ')
		}
		for _, r := range word {
			if len(start) >= excerptLength {
				return strings.TrimSpace(string(start)) + "…"
			}
			start = append(start, r)
		}
	}
	return string(start)
}

func printEvaluation(w io.Writer, r *evalReport) {
	say(w, "truth %s: %s of %s", r.Truth.File, counted(r.Truth.Pairs, "pair"),
		counted(r.Truth.Documents, "document"))
	sayIf(w, r.Truth.Below > 0, "; %s below the threshold %g", counted(r.Truth.Below, "line"), r.Truth.Threshold)
	say(w, "\nresults in %s: %s, threshold %g, %s, %s\n\n", r.Results.Folder, counted(r.Results.Documents, "document"),
		r.Results.Threshold, counted(r.Results.Pairs, "pair"), counted(r.Results.Clusters, "cluster"))
	r.printScores(w)
	printExamples(w, "The most similar pairs that were missed:", r.Missed)
	printExamples(w, "The least similar pairs that are wrong:", r.Wrong)
	sayIf(w, len(r.Notes) > 0, "\n")
	for _, note := range r.Notes {
		say(w, "note: %s\n", note)
	}
}

func (r *evalReport) printScores(w io.Writer) {
	say(w, "%-34s %9s %9s %9s\n", "", "precision", "recall", "F1")
	row := func(name string, score evaluation.Score, counts string) {
		say(w, "%-34s %9.5f %9.5f %9.5f%s\n", name, score.Precision, score.Recall, score.F1, counts)
	}
	pairs := func(name string, scores *pairScore) {
		if scores == nil {
			return
		}
		row(name, scores.Score, fmt.Sprintf("   %s of %s found, %s of %s wrong",
			count(scores.Found), count(scores.True), count(scores.Wrong), count(scores.Listed)))
	}
	pairs("pairs that are listed", r.ListedPairs)
	pairs("pairs in one cluster", r.ClusteredPairs)
	if r.Clusters == nil {
		return
	}
	row("clusters, by pairs", r.Clusters.Pairwise, "")
	row("clusters, B-cubed", r.Clusters.BCubed, "")
	row("  without documents that are alone", r.Clusters.BCubedClustered, "")
	say(w, "%-34s %9.5f\n", "clusters, adjusted Rand index", r.Clusters.AdjustedRand)
}

func printExamples(w io.Writer, title string, examples []example) {
	if len(examples) == 0 {
		return
	}
	say(w, "\n%s\n", title)
	for _, x := range examples {
		line := "  similarity "
		if x.Similarity == nil {
			line += "not given"
		} else {
			line += fmt.Sprintf("%.3f", *x.Similarity)
		}
		if x.InOneCluster {
			line += ", but in one cluster"
		}
		say(w, "%s\n     - %s\n", line, x.A)
		printText(w, x.ExcerptA)
		say(w, "     + %s\n", x.B)
		printText(w, x.ExcerptB)
		for _, line := range x.Difference {
			say(w, "       %s\n", line)
		}
	}
}

func printText(w io.Writer, text string) {
	sayIf(w, text != "", "       | %s\n", text)
}
