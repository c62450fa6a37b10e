package explain

import (
	"bytes"
	"fmt"

	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/schema/output"
)

func (x *explainer) reason() {
	if !x.scorer.HasClusters {
		x.reasonPassages()
		return
	}
	areVariants := x.Row != nil && x.Row.Variant
	if areVariants {
		x.because(
			"A row of pairs says that they are about different things: %s. With --variants %s neither is removed for "+
				"the other one, nor does the row put them into one cluster.",
			x.scoreText(x.Row.Score), x.config.Variants)
	}
	if x.Together != nil && *x.Together {
		x.reasonTogether()
		return
	}
	switch {
	case areVariants, x.isCutApart():
		return
	case x.reasonNotCompared(), x.reasonUnlike():
	case x.Similarity != nil:
		x.reasonNotFound()
	default:
		x.because("Nothing in the results joins them. What their texts say is not known.")
	}
}

func (x *explainer) because(format string, args ...any) {
	x.Reasons = append(x.Reasons, fmt.Sprintf(format, args...))
}

func (x *explainer) reasonTogether() {
	s := x.Similarity
	switch {
	case s != nil && s.Same:
		x.because("They are %s.", x.sameness())
	case x.Row != nil && x.Row.Identical:
		x.because("A row of pairs says that they are identical.")
	case x.Row != nil && !x.Row.Variant, x.Path != nil:
		x.reasonJoined()
	case x.scanned:
		x.because("One cluster has both, though no rows of pairs lead from one to the other.")
	}
	if x.Row == nil && x.Path != nil {
		x.reasonNotCompared()
	}
	if s != nil && !s.Same && x.isBelow() {
		x.because(
			"Their own similarity is too low for a pair: %s. Other documents connect them. "+
				"With --split star a cluster is a kept document and the documents removed for it.", x.lackText())
	}
	for _, d := range []*Document{&x.A, &x.B} {
		if d.Removed && d.KeptID != "" {
			x.because("%s is removed for %s, with a similarity of %.4f.", d.Name(), d.KeptID, d.Similarity)
		}
	}
	switch {
	case x.A.Removed && x.B.Removed && x.config.Drop == keep.Clusters:
		x.because("Both are removed, since with --drop clusters no document of a cluster stays.")
	case x.A.Removed || x.B.Removed || x.A.Cluster == "":
	case x.config.Drop == keep.Reference:
		x.because(
			"Both are kept: with --drop reference a document is removed only for one of the reference that a pair " +
				"joins it to.")
	default:
		x.because("Both are kept: a document is removed only for a kept one that a pair joins it to.")
	}
}

func (x *explainer) reasonJoined() {
	if x.Row != nil && !x.Row.Variant {
		x.because("A row of pairs joins them: %s.", x.scoreText(x.Row.Score))
		return
	}
	x.because("No row of pairs joins them, but %d rows lead from one to the other, the weakest with %s.",
		len(x.Path.Steps), x.scoreText(x.Path.Steps[x.Path.Weakest].Score))
}

func (x *explainer) sameness() string {
	switch text := x.explanations(); {
	case text.Same != "":
		return text.Same
	case x.isBare(&x.A):
		return "identical: hardly anything is left of them without what does not count, " +
			"and their sets of shingles are equal"
	case x.Similarity.Union == 0:
		return "without words, and have the same bytes"
	case x.leavesIgnored:
		return "identical: their sets of shingles are equal without the base texts"
	case !x.config.HasTexts():
		return "identical: their sets of features are equal"
	}
	return "identical: their sets of shingles are equal"
}

func (x *explainer) explanations() fingerprints.Explanations { return x.config.Kind().Explain }

func (x *explainer) scoreText(score float64) string {
	if x.scorer.IsDistance {
		return fmt.Sprintf("a distance of %.0f bits, and --hamming is %d", score, x.config.Hamming)
	}
	return fmt.Sprintf("a similarity of %.4f, and --threshold is %g", score, x.config.Threshold)
}

// isBelow reports whether the texts are too different for a pair. It is false where they are not known.
func (x *explainer) isBelow() bool {
	s := x.Similarity
	switch {
	case s == nil || s.Same:
		return false
	case s.Union == 0 || s.Hamming == nil:
		return true // a document without words is equal to another one, or like none
	case x.scorer.IsDistance:
		return *s.Hamming > x.config.Hamming
	}
	return x.explanations().Unlike != "" || s.Jaccard < x.config.Threshold
}

func (x *explainer) lackText() string {
	s := x.Similarity
	if x.scorer.IsDistance {
		return fmt.Sprintf("their fingerprints differ in %d of %d bits, and --hamming allows %d", *s.Hamming, s.Bits,
			x.config.Hamming)
	}
	return fmt.Sprintf(
		"it is %.4f, and --threshold is %g. They have %d shingles in common, and documents of their sizes need %d",
		s.Jaccard, x.config.Threshold, s.Common, s.Needed)
}

// isCutApart reports whether pairs join the two, and clusters do not.
func (x *explainer) isCutApart() bool {
	if x.Path == nil || !x.isStar() {
		return false
	}
	x.reasonJoined()
	x.because(
		"With --split star a cluster is a kept document and the documents removed for it. " +
			"These two belong to different kept documents.")
	return true
}

// reasonNotCompared says why a run does not compare the two, if it does not, whatever they are like.
func (x *explainer) reasonNotCompared() bool {
	if x.A.Reference && x.B.Reference {
		x.because("Both are of the reference, whose documents are not compared with each other.")
		return true
	}
	if x.a == nil || x.b == nil {
		return false
	}
	field := 0
	if x.config.Within != "" {
		if a, b := x.a.others[field], x.b.others[field]; !equalValues(a, b) {
			x.because(
				"They differ in the field %s: %s and %s. With --within %s only documents that share its value are "+
					"compared.", x.config.Within, valueText(a), valueText(b), x.config.Within)
			return true
		}
		field++
	}
	if x.config.Across != "" && equalValues(x.a.others[field], x.b.others[field]) {
		x.because(
			"They have one value of the field %s: %s. With --across %s only documents that differ in it are compared.",
			x.config.Across, valueText(x.a.others[field]), x.config.Across)
		return true
	}
	return false
}

// equalValues reports whether two values of a field are one. The lack of a value is a value of its own.
func equalValues(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }

func valueText(value []byte) string {
	if value == nil {
		return "none"
	}
	return fmt.Sprintf("%q", value)
}

func (x *explainer) reasonUnlike() bool {
	if !x.isBelow() {
		return false
	}
	switch s, text := x.Similarity, x.explanations(); {
	case text.Unlike != "":
		x.because("%s", text.Unlike)
	case x.isBare(&x.A), x.isBare(&x.B):
		x.reasonBare()
	case s.Union == 0:
		x.because("Both are without words, and their bytes differ.")
	case s.Hamming == nil:
		x.because("One of them is without words. It is only like documents of the same bytes.")
	case x.scorer.IsDistance:
		x.because("They are too different: %s.", x.lackText())
	default:
		x.because("They are too different to be a pair: their similarity is too low. %s.", capital(x.lackText()))
	}
	x.reasonLeftOut()
	if x.folder.Has(output.Clusters) {
		x.because("No chain of pairs joins them either.")
	}
	return true
}

// isBare reports whether nothing is left of a document, which has words.
func (x *explainer) isBare(d *Document) bool { return d.LeftOut > 0 && d.LeftOut == d.Shingles }

// reasonBare says why a document with nothing left is like no other.
func (x *explainer) reasonBare() {
	for _, d := range []*Document{&x.A, &x.B} {
		if x.isBare(d) {
			x.because(
				"Of %s hardly anything is left without %s. It is equal to documents of the same shingles, "+
					"and like no other.", d.Name(), x.outText())
		}
	}
}

func (x *explainer) reasonLeftOut() {
	if s := x.Similarity; s.Whole != nil && x.scorer.TellsWhole() && *s.Whole >= x.config.Threshold {
		x.because("By all shingles their similarity would be %.4f: %s do not count.", *s.Whole, x.outText())
	}
}

func (x *explainer) outText() string {
	switch {
	case !x.leavesCommon:
		return "what base texts have"
	case !x.leavesIgnored:
		return "common shingles"
	}
	return "what base texts have and common shingles"
}

func capital(text string) string { return string(text[0]-'a'+'A') + text[1:] }

func (x *explainer) reasonNotFound() {
	if x.config.Variants.Keeps() && !x.folder.Has(output.Pairs) {
		x.because("They may be about different things, by --variants %s: --emit clusters,pairs tells.",
			x.config.Variants)
		return
	}
	if x.Together == nil {
		x.because(
			"The run wrote neither clusters nor pairs, so it is unknown whether it found them: " +
				"run it with --emit clusters,pairs.")
		return
	}
	x.because("They are similar enough to be a pair, but the run did not find them.")
	switch k := x.Keys; {
	case k == nil:
	case k.Shared != nil && *k.Shared == 0 && k.Probability > 0:
		x.because(
			"They share none of %d bands, so they were not compared. For a pair of this similarity that has a "+
				"probability of %.2g. --recall 1 finds all.", k.A, 1-k.Probability)
	case k.Shared != nil && *k.Shared == 0:
		x.because("They share no key, so they were not compared.")
	case x.folder.Summary.Skipped.Groups > 0:
		x.because(
			"They may be in a group of very many documents that was not compared pair by pair: "+
				"the run has skipped %d pairs in %d groups.", x.folder.Summary.Skipped.Pairs,
			x.folder.Summary.Skipped.Groups)
	case !x.scorer.IsExact && !x.scorer.AcceptsAll:
		x.because(
			"With --verify sketch the run has estimated the similarity from %d hashes, perhaps too low. "+
				"A larger --sketch-size errs less.", x.config.BottomK())
	default:
		x.because("The run compares all such pairs. So the input may have changed since.")
	}
}

func (x *explainer) reasonPassages() {
	if x.Row != nil {
		x.because(
			"A row of pairs joins them: at least %.4f of one is in the other, or they have a passage of %d words.",
			x.Row.Score, x.config.Excerpt)
		return
	}
	if x.scanned {
		x.because("No row of pairs joins them.")
	}
	if x.reasonNotCompared() || x.Similarity == nil {
		return
	}
	s := x.Similarity
	if x.leavesIgnored || x.leavesCommon {
		x.note("The longest passage has all words that both have, those too that do not count.")
	}
	x.because(
		"A share of %.4f of one document is in the other, and %.4f of the other in the first; --threshold is %g. "+
			"The longest passage that both have has %d words, and --excerpt is %d.",
		s.ContainmentA, s.ContainmentB, x.config.Threshold, s.Words, x.config.Excerpt)
	if k := x.Keys; k != nil && k.Shared != nil && *k.Shared == 0 {
		x.because("They share no key, so they were not compared.")
	} else if x.config.Rarity > 0 {
		x.because("What they share may be in too many other documents: --rarity is %g.", x.config.Rarity)
	}
}
