// Package warnings says where the results of a job may lack what its user wants to keep.
package warnings

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/fingerprint/common"
	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/sketch"
)

// Kind says what a warning is about. Kinds keep their names.
type Kind string

// The kinds of warnings; [Kinds] says what they are about.
const (
	Panics           Kind = "panics"
	Removal          Kind = "removal"
	LargeCluster     Kind = "large_cluster"
	Exchanged        Kind = "exchanged"
	TextField        Kind = "text_field"
	NoText           Kind = "no_text"
	BlankTexts       Kind = "blank_texts"
	RepeatedID       Kind = "repeated_ids"
	SourceLoss       Kind = "source_loss"
	PassageLoss      Kind = "passage_loss"
	Expanding        Kind = "expanding"
	ShortRecords     Kind = "short_records"
	SmallTexts       Kind = "small_texts"
	CommonPhrases    Kind = "common_phrases"
	Markup           Kind = "markup"
	OtherTitle       Kind = "other_title"
	Variants         Kind = "variants"
	OtherPreset      Kind = "preset"
	OtherSettings    Kind = "other_settings"
	LikelyTemplate   Kind = "template"
	OnePair          Kind = "one_pair"
	ProtectedChanged Kind = "protected_changed"
	ProtectedMissing Kind = "protected_missing"
)

// Topic is what a report says of a kind of warnings.
type Topic struct {
	Kind Kind
	// Place is the part of the page that tells more.
	Place string
	// Text is what a warning of the kind says, without the names in it.
	Text string
}

// Kinds are all kinds of warnings, in the order in which they are listed.
var Kinds = []Topic{
	{Panics, "rejects", "The program panicked over documents: please report it"},
	{Removal, "sources", "More of a source is removed than --guard allows"},
	{LargeCluster, "clusters", "A cluster has a large part of all documents"},
	{Exchanged, "method", "Nearly all pairs at the threshold are missed: --bands and --rows may be exchanged"},
	{TextField, "rejects", "Most texts are empty or web addresses: the texts may be in another field"},
	{NoText, "rejects", "Records are rejected since their text is null or missing"},
	{BlankTexts, "clusters", "Documents without any text are identical to each other, and only one is kept"},
	{RepeatedID, "clusters", "Several documents have one id: joining results with the input by id confuses them"},
	{SourceLoss, "sources", "A source loses more than nine tenths of its documents, or far more than the others do"},
	{
		PassageLoss,
		"sources",
		"More than half of the words of the corpus or of a source are cut, since they occur earlier",
	},
	{Expanding, "rejects", "Compressed files became more than 1,000 times as long: were they made to cost time?"},
	{
		ShortRecords,
		"pairs",
		"Most records, or near-duplicates, are short: one more word at an end makes a near-duplicate",
	},
	{SmallTexts, "pairs", "Many documents are so short that containment finds no passage of theirs"},
	{
		CommonPhrases,
		"pairs",
		"More pairs share a passage than copying explains: most may be phrases that nobody copied",
	},
	{Markup, "rejects", "Texts of records are web pages with all their tags, which count as words"},
	{OtherTitle, "pairs", "Web pages are removed for pages whose title differs in more than numbers"},
	{Variants, "pairs", "Many removed documents are about something else than the document that stays"},
	{OtherPreset, "pairs", "The corpus looks like one that there is a preset for"},
	{OtherSettings, "method", "Settings differ from the last run: changes may follow from them, not from the corpus"},
	{LikelyTemplate, "clusters", "A cluster looks like a template: its documents are just above the threshold"},
	{OnePair, "clusters", "A large cluster is held together by one pair"},
	{ProtectedChanged, "suspects", "A protected site changed too much since the last run to tell who copies it"},
	{ProtectedMissing, "suspects", "No site is on the list of protected ones, so no copies of them are found"},
}

// rank is the index of the kind in [Kinds], -1 for a kind of another version.
func (k Kind) rank() int {
	return slices.IndexFunc(Kinds, func(one Topic) bool { return one.Kind == k })
}

// Topic returns what [Kinds] says of the kind, if anything.
func (k Kind) Topic() Topic {
	if i := k.rank(); i >= 0 {
		return Kinds[i]
	}
	return Topic{}
}

// Warning is a sentence for the user.
type Warning struct {
	// Kind says what the warning is about.
	Kind Kind `json:"kind"`
	// Text is the sentence.
	Text string `json:"text"`
	// Flag is the flag of the command that helps, or several in one string.
	Flag string `json:"flag"`
	// A is a document that shows what is meant, if any.
	A string `json:"a,omitempty"`
	// B is a second such document.
	B string `json:"b,omitempty"`
	// More is the number of further warnings of the kind, which are not listed. Only the last of a kind has it.
	More int64 `json:"more,omitempty"`
}

func about(kind Kind, flag, format string, args ...any) Warning {
	return Warning{Kind: kind, Text: fmt.Sprintf(format, args...), Flag: flag}
}

// IsGrave reports whether the warning is told before all else.
func (w Warning) IsGrave() bool {
	return slices.Contains([]Kind{Panics, Removal, LargeCluster, ProtectedChanged, ProtectedMissing}, w.Kind)
}

// Of returns the warnings about the results of a job, given what it found and the table of its sources: at most ten of
// each kind, by kind, the gravest of each first.
func Of(c *job.Config, found *findings.Findings, table []sources.Row) []Warning {
	warnings := append([]Warning{}, ofPanics(found)...)
	warnings = append(warnings, ofGuards(c, found, table)...)
	warnings = append(warnings, ofBands(c)...)
	warnings = append(warnings, ofTexts(c, found.Texts)...)
	warnings = append(warnings, ofMissing(c, &found.Counts)...)
	warnings = append(warnings, ofBlank(found)...)
	warnings = append(warnings, ofRepeated(c, found)...)
	warnings = append(warnings, ofSources(c, table)...)
	warnings = append(warnings, ofTrimmed(found.Trimmed, table)...)
	warnings = append(warnings, ofExpanding(c, found.Counts.Expanding)...)
	warnings = append(warnings, ofShort(c, found)...)
	warnings = append(warnings, ofSmall(c, found)...)
	warnings = append(warnings, ofPhrases(c, found)...)
	warnings = append(warnings, ofMarkup(c, found.Texts)...)
	warnings = append(warnings, ofTitles(c, found)...)
	warnings = append(warnings, ofVariants(c, found)...)
	warnings = append(warnings, ofPreset(c, found)...)
	warnings = append(warnings, ofProtected(c, found.Mirrors)...)
	var listed []Warning
	for _, t := range found.Templates.Named {
		listed = append(listed, about(LikelyTemplate, templateFlag(c),
			"cluster %s of %d documents looks like a template: the similarity of those removed to those kept is "+
				"%.2f on average, the least %.2f",
			t.Cluster, t.Documents, t.Mean, t.Least))
	}
	warnings = append(warnings, withMore(listed, found.Templates.Count)...)
	listed = nil
	for _, b := range found.Bridges.Named {
		listed = append(listed, about(OnePair, "--split "+string(keep.Star),
			"cluster %s of %d documents is held together by one pair, %s and %s: without it, "+
				"%d of them are not joined to the others",
			b.Cluster, b.Documents, b.A, b.B, b.Part))
	}
	warnings = append(warnings, withMore(listed, found.Bridges.Count)...)
	if c.TellsRemoved() {
		return warnings
	}
	return slices.DeleteFunc(warnings, func(w Warning) bool { return slices.Contains(ofRemoval, w.Kind) })
}

// ofRemoval are the kinds of warnings about clusters and removed documents. Where no output has these, as in a job
// about sites, there is nothing to warn of.
var ofRemoval = []Kind{SourceLoss, ShortRecords, OtherTitle, Variants, OtherPreset, LikelyTemplate, OnePair}

func ofPanics(found *findings.Findings) []Warning {
	if found.Counts.Panics == 0 {
		return nil
	}
	return []Warning{{
		Kind: Panics,
		Flag: "--fail-on " + job.FailOnPanics,
		A:    found.Panicked.Ref,
		Text: fmt.Sprintf(
			"the program panicked over documents, %d times: those that it could not read or fingerprint are rejects, "+
				"all others are processed as usual; such as %s: %s",
			found.Counts.Panics, found.Panicked.Ref, found.Panicked.Fault),
	}}
}

// OfPairs returns the warnings about clusters that were made of the pairs of an earlier run, given what was found and
// the warnings of that run. Those about the texts of the input are the earlier run's. Nothing is known of sources, of
// titles, and of the lengths of texts.
func OfPairs(c *job.Config, found *findings.Findings, earlier []Warning) []Warning {
	unknown := []Kind{ShortRecords, OtherTitle, Variants}
	all := slices.DeleteFunc(Of(c, found, nil), func(w Warning) bool { return slices.Contains(unknown, w.Kind) })
	for _, w := range earlier {
		if w.Kind == TextField || w.Kind == BlankTexts || w.Kind == Markup || w.Kind == RepeatedID && namesByID(c) {
			all = append(all, w)
		}
	}
	slices.SortStableFunc(all, func(a, b Warning) int {
		return cmp.Compare(a.Kind.rank(), b.Kind.rank())
	})
	return all
}

// withMore notes how many warnings of a kind there are in addition to the listed ones.
func withMore(listed []Warning, count int64) []Warning {
	if len(listed) > 0 {
		listed[len(listed)-1].More = count - int64(len(listed))
	}
	return listed
}

// leastRecords is the least number of records that say something of a field.
const leastRecords = 10

func ofTexts(c *job.Config, t findings.Texts) []Warning {
	if t.Records < leastRecords || 2*(t.Empty+t.Addresses) <= t.Records {
		return nil
	}
	fields, _ := c.TextFields()
	what := fmt.Sprintf("is empty in %d and a web address in %d", t.Empty, t.Addresses)
	switch {
	case t.Addresses == 0:
		what = fmt.Sprintf("is empty in %d", t.Empty)
	case t.Empty == 0:
		what = fmt.Sprintf("is a web address in %d", t.Addresses)
	}
	warning := about(TextField, "--text-field",
		"the text, field %s, %s of %d records: the texts may be in another field",
		strings.Join(fields, " and "), what, t.Records)
	if len(c.Weight) > 0 {
		warning.Flag = "--weight"
	}
	return []Warning{warning}
}

func ofBands(c *job.Config) []Warning {
	given, other, isExchanged := c.Exchanged()
	if !isExchanged {
		return nil
	}
	return []Warning{about(Exchanged, "--bands --rows",
		"%d bands of %d rows find a pair at the threshold with probability %.4f; %d bands of %d rows, with %.4f: "+
			"the numbers may be exchanged",
		given.Bands, given.Rows, given.Probability(c.Threshold), other.Bands, other.Rows,
		other.Probability(c.Threshold))}
}

func ofExpanding(c *job.Config, files int64) []Warning {
	if files == 0 || c.MaxExpanded > 0 {
		return nil
	}
	return []Warning{about(Expanding, "--max-expanded",
		"compressed files that became more than 1,000 times as long when they were decoded: %d; "+
			"a file that was made to cost time looks so", files)}
}

// ofMissing warns of records without a text, where more than one of a hundred has none.
func ofMissing(c *job.Config, counts *findings.Counts) []Warning {
	if 100*counts.Empty <= counts.Documents+counts.Rejected || counts.Empty == 0 {
		return nil
	}
	fields, _ := c.TextFields()
	flag := "--text-field"
	if c.Fingerprints != "" {
		flag = "--fingerprints"
	}
	w := Warning{
		Kind: NoText,
		Flag: flag,
		Text: fmt.Sprintf("%d of %d records are rejected since their text, field %s, is null or missing", counts.Empty,
			counts.Documents+counts.Rejected, strings.Join(fields, " and ")),
	}
	if len(c.Weight) > 0 {
		w.Flag = "--weight"
	}
	return []Warning{w}
}

func ofBlank(found *findings.Findings) []Warning {
	if found.Texts.Blank < 2 || found.Counts.Identical == 0 {
		return nil
	}
	return []Warning{about(BlankTexts, "--emit annotated",
		"%d of %d documents have no text, so they are identical to each other: unique keeps one of them, "+
			"and annotated all",
		found.Texts.Blank, found.Counts.Documents)}
}

// ofRepeated warns of ids that several documents have, where rows name documents by their ids: who joins by them takes
// one document for another.
func ofRepeated(c *job.Config, found *findings.Findings) []Warning {
	if found.Repeated.Documents == 0 || !namesByID(c) {
		return nil
	}
	ids := fmt.Sprintf("%d ids are used", found.Counts.RepeatedIDs)
	if found.Counts.RepeatedIDs == 1 {
		ids = "one id is used"
	}
	w := Warning{
		Kind: RepeatedID,
		Flag: "--id-field",
		Text: fmt.Sprintf(
			"%s for %d documents, such as %s and %s: joining results with the input by id confuses them; "+
				"join by ref, which is unique, or name a field whose values differ",
			ids, found.Repeated.Documents, found.Repeated.Example.First, found.Repeated.Example.Second),
		A: found.Repeated.Example.First,
		B: found.Repeated.Example.Second,
	}
	return []Warning{w}
}

func namesByID(c *job.Config) bool {
	return slices.ContainsFunc(c.Outputs(), func(of string) bool {
		return slices.Contains([]string{output.Removed, output.Unique, output.Pairs}, of)
	})
}

func ofProtected(c *job.Config, found *findings.Mirrors) []Warning {
	if c.Protected == "" || !c.HasSites() || found == nil || found.Protected > 0 {
		return nil
	}
	return []Warning{about(ProtectedMissing, "--protected",
		"none of %d sites is on the list of protected ones, so no copies of them are found: "+
			"correct the names on the list, or add pages of these sites to the input", found.Sites)}
}

const (
	// leastDocuments is the least number of documents of a source called lost, and of records called short.
	leastDocuments = 50
	// mostSources is the largest number of sources that are named.
	mostSources = 10
)

// templateFlag returns the flags that let fewer documents be near-duplicates, the one that helps most first.
func templateFlag(c *job.Config) string {
	var flags []string
	switch {
	case c.TakesCommon():
		flags = append(flags, "--common "+common.Auto)
	case c.MakesShingles() && len(c.Ignore) == 0:
		flags = append(flags, "--ignore PATH")
	}
	switch {
	case c.Scorer().IsDistance && c.Hamming > 0:
		flags = append(flags, fmt.Sprintf("--hamming %d", c.Hamming-1))
	case !c.Scorer().IsDistance && c.Threshold < 1:
		flags = append(flags, fmt.Sprintf("--threshold %g", math.Round(50*(1+c.Threshold))/100))
	}
	if c.Split != keep.Star {
		flags = append(flags, "--split "+string(keep.Star))
	}
	return strings.Join(flags, ", ")
}

const quotedWords = 16

// Passage returns the beginning of the longest common passage of two texts, on one line; empty without one.
func Passage(c *job.Config, a, b string) string {
	options := c.Sketching(0).Options
	options.Weights, options.StopWordUse, options.LeastShingles = nil, sketch.RemoveStopWords, 0
	var sequences [2]*sketch.IndexedSequence
	for i, text := range []string{a, b} {
		sequencer, err := sketch.NewSequencer(options, false)
		if err != nil {
			return ""
		}
		_, sequence := sequencer.Sequence([]byte(text))
		sequences[i] = sketch.NewIndexedSequence(sequence)
	}
	matcher := sketch.NewMatcher(c.Shingle)
	matcher.Compare(sequences[0], sequences[1])
	spans := matcher.Spans()
	if len(spans) == 0 {
		return ""
	}
	words := strings.Fields(a[spans[0].StartA:spans[0].EndA])
	if len(words) > quotedWords {
		words = append(words[:quotedWords:quotedWords], "…")
	}
	return strings.Join(words, " ")
}

// GuardsMet returns the guards of the configuration that do not hold, such as "removes:50".
func GuardsMet(c *job.Config, found *findings.Findings, table []sources.Row) []string {
	guards, _ := c.Guards() // Validate has checked them
	var met []string
	if len(removed(guards, table)) > 0 {
		met = append(met, fmt.Sprintf("removes:%g", guards.Removes))
	}
	if guards.Cluster > 0 && len(large(guards, found)) > 0 {
		met = append(met, fmt.Sprintf("cluster:%g", guards.Cluster))
	}
	return met
}

// ofGuards warns of sources and clusters that a guard is for, and of clusters that are large without one.
func ofGuards(c *job.Config, found *findings.Findings, table []sources.Row) []Warning {
	guards, _ := c.Guards()
	var listed, all []Warning
	lost := removed(guards, table)
	for _, row := range lost[:min(len(lost), mostSources)] {
		w := ofSource(c, row)
		w.Kind = Removal
		w.Text = fmt.Sprintf("more than %g %% is removed: %s", guards.Removes, w.Text)
		listed = append(listed, w)
	}
	all = append(all, withMore(listed, int64(len(lost)))...)
	listed = nil
	for _, cluster := range large(guards, found) {
		w := about(LargeCluster, templateFlag(c),
			"cluster %s has %d of %d documents", cluster.Name, cluster.Documents, compared(found))
		if cluster.B == "" {
			w.Text += ", all of them identical"
		} else {
			w.Text += fmt.Sprintf(", such as %s and %s", cluster.A, cluster.B)
			w.A, w.B = cluster.A, cluster.B
		}
		listed = append(listed, w)
	}
	return append(all, withMore(listed, int64(len(listed)))...)
}

func removed(guards job.Guards, table []sources.Row) []sources.Row {
	return worst(table, removedOf, func(row sources.Row) bool { return isGuarded(guards, row) })
}

func isGuarded(guards job.Guards, row sources.Row) bool {
	return guards.Removes > 0 && isAbove(row.Removed, row.Documents, guards.Removes)
}

func large(guards job.Guards, found *findings.Findings) []findings.LargeCluster {
	least, share := guards.Large()
	var clusters []findings.LargeCluster
	for _, cluster := range found.Largest.Named {
		if cluster.Documents >= least && isAbove(cluster.Documents, compared(found), share) {
			clusters = append(clusters, cluster)
		}
	}
	return clusters
}

// compared is the number of documents that are in clusters or not.
func compared(found *findings.Findings) int64 {
	return found.Counts.Documents + found.Counts.ReferenceDocuments
}

func isAbove(n, all int64, percent float64) bool { return 100*float64(n) > percent*float64(all) }
