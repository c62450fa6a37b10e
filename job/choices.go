package job

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/fingerprint/common"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/lshbands"
)

// UsualRecall is the recall of MinHash keys at the threshold unless another one is asked for.
const UsualRecall = 0.99

// Method returns the method that brings documents together. It never returns [methods.Auto].
func (c *Config) Method() methods.Name { return methods.Choose(c.wish()) }

func (c *Config) wish() methods.Wish {
	return methods.Wish{
		Similarity: c.Similarity,
		Keys:       c.Keys,
		Score:      c.Score,
		Verify:     c.Verify,
		IsGiven:    c.Fingerprints != "",
		Misses:     c.Recall > 0 && c.Recall < 1 || c.Bands != 0 || c.Rows != 0,
	}
}

func (c *Config) method() *methods.Method {
	m, _ := methods.Of(c.Method())
	return m
}

// Kind returns the kind of fingerprint that the job compares: the kind of its method, unless fingerprints are given.
func (c *Config) Kind() *fingerprints.Kind {
	if c.Fingerprints == "" {
		return c.method().Kind()
	}
	kind, _ := fingerprints.Of(fingerprints.Given)
	return kind
}

// GivenFingerprints says how records hold fingerprints, if they do.
func (c *Config) GivenFingerprints() (given corpus.Given) {
	if c.Fingerprints != "" {
		given = corpus.Given{Bits: c.Bits, Encoding: cmp.Or(c.FingerprintEncoding, corpus.Hex)}
	}
	return given
}

// Scorer returns what pairs are scored by, and what follows from it.
func (c *Config) Scorer() methods.Scorer {
	return c.method().Scorer(&methods.Parameters{Scoring: c.Scoring(), Verify: c.Verify})
}

// PairKind returns the kind of the rows of pairs, such as [output.SetPair].
func (c *Config) PairKind() string {
	scorer := c.Scorer()
	switch {
	case scorer.IsDistance:
		return output.HammingPair
	case !c.CommonLaw().IsOff() && scorer.TellsWhole():
		return output.PartialPair
	case c.Rarity > 0:
		return output.RarePair
	}
	return output.SetPair
}

// AllPairsUpTo returns the largest number of documents for which a corpus is compared pair by pair instead of exact
// keys; 0: never. Both find the same pairs. For few documents comparing all pairs is cheaper. Its work for each
// document grows with the corpus, and reaches the cost of exact keys at some ten thousand documents.
func (c *Config) AllPairsUpTo() int64 {
	if c.Keys == methods.Auto && c.method().Ordered {
		return methods.SmallCorpus
	}
	return 0
}

// Scoring returns what makes two documents near-duplicates. It never returns [methods.AutoScoring].
func (c *Config) Scoring() methods.Scoring { return methods.ScoringOf(c.wish()) }

// PromisedRecall returns the least probability that the job finds a pair whose similarity is exactly the threshold.
func (c *Config) PromisedRecall() float64 {
	switch {
	case !c.method().Settings.Bands:
		return 1
	case c.Recall == 0:
		return UsualRecall
	}
	return c.Recall
}

// Scheme returns the bands and rows of MinHash keys; zero for other keys. It fails where no bands keep the promise.
func (c *Config) Scheme() (lshbands.Scheme, error) {
	if !c.method().Settings.Bands {
		return lshbands.Scheme{}, nil
	}
	return lshbands.Plan(c.Threshold, c.PromisedRecall(), lshbands.Scheme{Bands: c.Bands, Rows: c.Rows})
}

// BlocksText writes the numbers of [Measure.Blocks] as a user gives them, as in 4,4.
func BlocksText(blocks []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(blocks), "[]"), " ", ",")
}

// SimHashBits returns the length of the SimHash fingerprints that the job makes, or 0 if it makes none.
func (c *Config) SimHashBits() int {
	if slices.Contains(c.Outputs(), output.Sketches) || c.method().Reads&methods.ReadsSimHash != 0 {
		return c.Bits
	}
	return 0
}

// BottomK returns how many hashes, the smallest, stand for a set where it is not whole.
func (m *Measure) BottomK() int { return cmp.Or(m.SketchSize, documents.UsualSmallest) }

// makesSketches reports whether there are sets that are not whole.
func (c *Config) makesSketches() bool {
	return !c.Scorer().IsExact || slices.Contains(c.Outputs(), output.Sketches)
}

// TextFields returns the fields that hold a document's texts, and their weights. Several fields are sorted. A single
// field has no weights. The field of fingerprints is such a field.
func (c *Config) TextFields() (fields []string, weights []float64) {
	if c.Fingerprints != "" {
		return []string{c.Fingerprints}, nil
	}
	if len(c.Weight) == 0 {
		return []string{c.TextField}, nil
	}
	fields = slices.Sorted(maps.Keys(c.Weight))
	for _, field := range fields {
		weights = append(weights, c.Weight[field])
	}
	return fields, weights
}

// Outputs returns the outputs to be written, each once.
func (c *Config) Outputs() []string {
	if !slices.Equal(c.Emit, []string{autoEmit}) {
		return distinct(c.Emit)
	}
	if c.Scorer().HasClusters {
		return []string{output.Clusters}
	}
	return []string{output.Pairs}
}

// ColumnsOf returns the columns that the records of an output get: the chosen ones, in annotated behind the usual ones.
func ColumnsOf(name string, chosen []string) []string {
	switch name {
	case output.Annotated:
		return distinct(append(corpus.ColumnNames()[:corpus.UsualColumns], chosen...))
	case output.Unique:
		return distinct(chosen)
	}
	return nil
}

// AddsColumns returns the first output whose records get columns, and these; empty: none.
func (c *Config) AddsColumns() (name string, columns []string) {
	for _, name := range []string{output.Annotated, output.Unique} {
		if columns := ColumnsOf(name, c.Columns); len(columns) > 0 && slices.Contains(c.Outputs(), name) {
			return name, columns
		}
	}
	return "", nil
}

// TellsRemoved reports whether an output says which documents are removed.
func (c *Config) TellsRemoved() bool {
	return slices.ContainsFunc(c.Outputs(), func(name string) bool {
		return slices.Contains([]string{output.Clusters, output.Removed, output.Unique, output.Annotated}, name)
	})
}

func distinct(names []string) []string {
	var all []string
	for _, name := range names {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// usualLeaseWait is longer than the lease of a dead run lasts in a bucket.
const usualLeaseWait = Span(3 * time.Minute)

// LeaseWait returns how long a run waits at its start for another run that holds what it needs.
func (c *Config) LeaseWait() time.Duration {
	if c.State == "" && !c.isGiven("wait_for_lease") {
		return 0
	}
	return time.Duration(c.WaitForLease)
}

// TempFolder returns the folder in which runs make their temporary folders. A local runner has them on the local disk.
func (c *Config) TempFolder() string {
	switch {
	case c.Temp != "":
		return c.Temp
	case storage.Scheme(c.Output) != "" && IsLocal(c.Runner):
		return os.TempDir()
	}
	return UsualTemp(c.Output)
}

// The values of Audit that are not numbers.
const (
	autoAudit = "auto"
	noAudit   = "off"
)

// CommonLaw returns which shingles do not count, as too many documents have them. The configuration must be valid.
func (c *Config) CommonLaw() common.Law {
	law, _ := common.ParseLaw(c.Common)
	return law
}

// AuditSample returns the largest number of documents that are sampled to measure the recall, 0 for none. The
// configuration must be valid. The work of an audit is bounded: it samples fewer documents if these are long or alike.
func (c *Config) AuditSample() int {
	n, _ := c.auditSample()
	return n
}

func (c *Config) auditSample() (int, error) {
	switch c.Audit {
	case noAudit:
		return 0, nil
	case autoAudit:
		if !c.Scorer().IsExact || c.method().Promise(&methods.Parameters{Scoring: c.Scoring()}).ByConstruction {
			return 0, nil
		}
		return audit.UsualSample, nil
	}
	n, err := strconv.Atoi(c.Audit)
	switch {
	case err != nil || n <= 0:
		return 0, setting.Errorf("{audit} %s: must be auto, off or a number above 0", c.Audit)
	case c.Scorer().IsDistance:
		return 0, setting.Errorf(
			"{audit} %d: measures the recall of pairs by their Jaccard similarity; with {score} hamming leave it out",
			n)
	case !c.Scorer().IsExact:
		return 0, setting.Errorf("{audit} %d: counts exactly, for which it needs the full sets of {verify} exact", n)
	}
	return n, nil
}

// LeastSimilarity returns the least similarity of two near-duplicates, from 0 to 1: the share of shingles, or of the
// bits of fingerprints, that are the same.
func (c *Config) LeastSimilarity() float64 {
	if c.Scorer().IsDistance {
		return 1 - float64(c.Hamming)/float64(c.SimHashBits())
	}
	return c.Threshold
}

// mostNameBytes is the length in bytes of the longest name that file systems accept.
const mostNameBytes = 255

// UsualTemp returns the folder of temporary files for an output folder. It is next to the output folder and
// has the same name with .temp behind it. The name is shortened if it would be too long.
func UsualTemp(output string) string {
	if storage.Scheme(output) != "" {
		return strings.TrimRight(output, "/") + ".temp"
	}
	clean := filepath.Clean(output)
	if name := filepath.Base(clean); name == "." || name == ".." {
		if path, err := filepath.Abs(clean); err == nil {
			clean = path
		}
	}
	const ending = ".temp"
	if name := filepath.Base(clean); len(name) > mostNameBytes-len(ending) && len(name) <= mostNameBytes {
		clean = filepath.Join(filepath.Dir(clean), name[:mostNameBytes-len(ending)])
	}
	return clean + ending
}

func (c *Config) checkCommon(check checker) {
	law, err := common.ParseLaw(c.Common)
	if err != nil {
		check(false, "{common} %w", err)
		return
	}
	if law.IsOff() {
		return
	}
	name := c.Method()
	check(c.Kind().HasShingles, "{common}: compares sets of shingles; with {keys} %s leave it out", name)
	check(c.Scorer().IsExact, "{common}: needs the full sets of {verify} exact")
	check(c.Features == "", "{common}: is for texts in this version; with {features} leave it out")
	check(c.Rarity == 0, "{common}: cannot be used with {rarity} in this version")
	check(name != methods.SimHash || len(c.Weight) == 0,
		"{common}: cannot weigh what is left of several texts; with {keys} simhash leave {weight} out")
	for _, name := range c.Outputs() {
		isAboutSites := name == output.Mirrors || name == output.Sites || name == output.Suspects
		check(!isAboutSites, "{emit} %s: cannot be written with {common} in this version", name)
	}
}

// TakesCommon reports whether the job takes common shingles, and could leave them out with its other settings.
func (c *Config) TakesCommon() bool {
	with, takes := *c, c.CommonLaw().IsOff()
	with.Common = common.Auto
	with.checkCommon(func(ok bool, _ string, _ ...any) { takes = takes && ok })
	return takes && c.MakesShingles()
}

// HasTexts reports whether texts are compared, with features next to them or not.
func (c *Config) HasTexts() bool {
	return c.Fingerprints == "" && (c.Features == "" || c.FeatureWeight > 0)
}

// MakesShingles reports whether documents are compared by the shingles of their texts.
func (c *Config) MakesShingles() bool { return c.HasTexts() && c.Kind().HasShingles }
