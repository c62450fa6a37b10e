package job

import (
	"maps"
	"slices"
	"strconv"

	"mirrorbeam/internal/audit"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/setting"
	"mirrorbeam/internal/workspace"
	"mirrorbeam/lshbands"
)

// UsualRecall is the recall of MinHash keys at the threshold unless another one is asked
// for.
const UsualRecall = 0.99

// Method returns how documents are brought together, and never [methods.Auto].
func (c *Config) Method() methods.Name {
	switch {
	case c.Similarity == methods.Containment:
		return methods.Passages
	case c.Keys != methods.Auto:
		return c.Keys
	case c.Score == methods.Hamming:
		return methods.SimHash
	case c.Recall > 0 && c.Recall < 1 || c.Bands != 0 || c.Rows != 0 || c.Verify != methods.VerifyExact:
		return methods.MinHash
	}
	return methods.Exact
}

// method returns what there is to know of the method.
func (c *Config) method() *methods.Method {
	m, _ := methods.Of(c.Method())
	return m
}

// AllPairsUpTo returns the number of documents up to which a corpus is compared pair by
// pair in place of exact keys, 0 where it never is. Both find the same. For few
// documents pairs cost less: the work for each grows with the documents, and is that of
// exact keys at some ten thousand.
func (c *Config) AllPairsUpTo() int64 {
	if c.Keys == methods.Auto && c.Method() == methods.Exact {
		return methods.SmallCorpus
	}
	return 0
}

// Scoring returns what makes two documents near-duplicates, and never
// [methods.AutoScoring].
func (c *Config) Scoring() methods.Scoring {
	switch {
	case c.Score != methods.AutoScoring:
		return c.Score
	case c.Method() == methods.SimHash:
		return methods.Hamming
	}
	return methods.Jaccard
}

// PromisedRecall returns the least probability that a pair of exactly the threshold is
// found.
func (c *Config) PromisedRecall() float64 {
	switch {
	case !c.method().Settings.Bands:
		return 1
	case c.Recall == 0:
		return UsualRecall
	}
	return c.Recall
}

// Scheme returns the bands and rows of MinHash keys, and a zero scheme for others. It
// fails where no bands keep the promise.
func (c *Config) Scheme() (lshbands.Scheme, error) {
	if !c.method().Settings.Bands {
		return lshbands.Scheme{}, nil
	}
	return lshbands.Plan(c.Threshold, c.PromisedRecall(), lshbands.Scheme{Bands: c.Bands, Rows: c.Rows})
}

// SimHashBits returns the length of the SimHash fingerprints that the job makes, 0 where
// it makes none.
func (c *Config) SimHashBits() int {
	if slices.Contains(c.Outputs(), output.Sketches) || c.method().Reads&methods.ReadsSimHash != 0 {
		return c.Bits
	}
	return 0
}

// TextFields returns the fields of a document's texts, sorted where there are several,
// and their weights, which are none where there is but one text.
func (c *Config) TextFields() (fields []string, weights []float64) {
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
	if c.Similarity == methods.Containment {
		return []string{output.Pairs}
	}
	return []string{output.Clusters}
}

// distinct returns the names without those that stand before.
func distinct(names []string) []string {
	var all []string
	for _, name := range names {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// TempFolder returns the folder in which runs make their folders for temporary files.
func (c *Config) TempFolder() string {
	if c.Temp != "" {
		return c.Temp
	}
	return workspace.UsualTemp(c.Output)
}

// The values of Audit that are no number.
const (
	autoAudit = "auto"
	noAudit   = "off"
)

// AuditSample returns how many documents at most are sampled to measure the recall, 0
// for none. The configuration must be valid. The work of an audit is bounded, so of long
// documents, or of many that are alike, fewer are sampled.
func (c *Config) AuditSample() int {
	n, _ := c.auditSample()
	return n
}

func (c *Config) auditSample() (int, error) {
	switch c.Audit {
	case noAudit:
		return 0, nil
	case autoAudit:
		if c.Verify != methods.VerifyExact || c.method().Promise(&methods.Parameters{Scoring: c.Scoring()}).ByConstruction {
			return 0, nil
		}
		return audit.UsualSample, nil
	}
	n, err := strconv.Atoi(c.Audit)
	switch {
	case err != nil || n <= 0:
		return 0, setting.Errorf("{audit} %s: must be auto, off or a number above 0", c.Audit)
	case c.Scoring() == methods.Hamming:
		return 0, setting.Errorf("{audit} %d: measures the recall of pairs by their Jaccard similarity; with {score} hamming leave it out", n)
	case c.Verify != methods.VerifyExact:
		return 0, setting.Errorf("{audit} %d: counts exactly, for which it needs the full sets of {verify} exact", n)
	}
	return n, nil
}
