package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"mirrorbeam/lshbands"
	"mirrorbeam/transforms"
)

// PlanConfig is what [MakePlan] plans for. The flags of the command line derive from
// its fields, as those of [Config] do.
type PlanConfig struct {
	Input []string `group:"Input" sep:"none" placeholder:"PATH" help:"File, folder or quoted pattern to read; may be repeated: candidates are measured there. See 'runjob run --help'." json:"input"`

	Measure

	Documents  int64         `group:"Plan" default:"0" placeholder:"N" help:"Plan for so many documents of which nothing is known, without --input." json:"documents"`
	Shingles   float64       `group:"Plan" default:"100" placeholder:"N" help:"Distinct shingles a document, with --documents." json:"shingles"`
	Memory     ByteSize      `group:"Plan" default:"0" placeholder:"SIZE" help:"Room for the keys of all documents, on disk or in memory; choices that need more are ranked last. 0: no limit." json:"memory"`
	Comparison time.Duration `group:"Plan" default:"170ns" placeholder:"TIME" help:"CPU time to bring the two documents of a candidate pair together and to compare them." json:"comparison_ns"`
}

// config returns the configuration of a job of this measure.
func (c *PlanConfig) config() Config {
	config := Config{
		Input: c.Input, Measure: c.Measure,
		Verify: transforms.Exact, Audit: "off",
		Output: "-", Emit: []string{transforms.Clusters}, OutputFormat: "jsonl", Keep: transforms.First, Split: transforms.Component,
	}
	if len(c.Input) == 0 {
		config.Input = []string{"-"}
	}
	return config
}

// Validate reports every fault of the configuration at once.
func (c *PlanConfig) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	check(len(c.Input) > 0 || c.Documents != 0, "--input: give at least one file, folder or pattern, or --documents for a corpus of which nothing is known")
	check(len(c.Input) == 0 || c.Documents == 0, "--documents %d: the documents of --input are counted; leave one of the two out", c.Documents)
	check(c.Documents >= 0, "--documents %d: must be 1 or more", c.Documents)
	check(c.Shingles > 0 && !math.IsInf(c.Shingles, 0), "--shingles %g: must be above 0", c.Shingles)
	check(c.Comparison > 0, "--comparison %v: must be above 0", c.Comparison)
	check(c.Keys == transforms.MinHash, "--keys %s: bands of minhash keys are planned only", c.Keys)
	config := c.config()
	return errors.Join(errors.Join(faults...), config.Validate())
}

// Advice is a ranking of the ways to find candidates. What a job does depends on
// its configuration only; this tells what other configurations would bring.
type Advice struct {
	Config PlanConfig `json:"config"`
	// Corpus is what was found in the input; nil without one.
	Corpus *CorpusFacts `json:"corpus,omitempty"`
	// Choices are those that find a pair at the threshold as surely as asked for,
	// the cheapest first; the one of the configuration is among them.
	Choices []PlannedChoice `json:"choices"`
	// Chosen is the place of the configuration's choice in Choices.
	Chosen int `json:"chosen"`
	// Cheaper and Safer find a pair less surely at a lower price, and more surely
	// at a higher one; nil where there is none.
	Cheaper *PlannedChoice `json:"cheaper,omitempty"`
	Safer   *PlannedChoice `json:"safer,omitempty"`
	// OtherSeconds is the CPU time of what does not depend on the choice.
	OtherSeconds float64 `json:"other_cpu_seconds"`
	// Curve is the S-curve of the configuration's choice.
	Curve []CurvePoint `json:"curve,omitempty"`
}

// PlannedChoice is a choice and what the corpus says of it.
type PlannedChoice struct {
	lshbands.Choice
	// Flags are what makes 'runjob run' take it, beside those of the measure.
	Flags string `json:"flags"`
	// CandidatesError is the standard error of Candidates, 0 where these are no
	// estimate.
	CandidatesError float64 `json:"candidates_error"`
	// Missed is about how many pairs at or above the threshold share no key.
	Missed float64 `json:"missed"`
	// Heaps are the largest groups of a hundred and more documents under one key.
	Heaps []Heap `json:"heaps,omitempty"`
}

// Heap is a large group of documents under one key.
type Heap struct {
	// Documents in it, and the pairs of them that are candidates and have met under
	// no key before; estimates.
	Documents  float64 `json:"documents"`
	Candidates float64 `json:"candidates"`
	// Example is one of the documents, as path:position.
	Example string `json:"example"`
}

// CorpusFacts tell what a corpus is.
type CorpusFacts struct {
	Documents          int64 `json:"documents"`
	ReferenceDocuments int64 `json:"reference_documents,omitempty"`
	Bytes              int64 `json:"bytes"`
	Rejected           int64 `json:"rejected"`
	// Shingles is the mean number of distinct ones of a document.
	Shingles float64 `json:"shingles"`
	// Wordless is how many documents have none.
	Wordless int64 `json:"wordless"`
	// Identical is about how many documents are equal to an earlier one.
	Identical float64 `json:"identical"`
	// Pairs is about how many pairs of documents that are not identical reach the
	// threshold.
	Pairs float64 `json:"pairs"`
	// DocumentShare is the share of the documents that was kept to be compared.
	DocumentShare float64 `json:"document_share"`
}

// CurvePoint is a point of the S-curve.
type CurvePoint struct {
	Similarity float64 `json:"similarity"`
	// Probability that a pair of this similarity shares a key.
	Probability float64 `json:"probability"`
	// Pairs is about how many pairs of the corpus have this similarity or one up to
	// the next point; nil where too few share a key to tell.
	Pairs *float64 `json:"pairs,omitempty"`
}

// What a job takes whatever its keys are, to read, fingerprint, audit, cluster and
// write: for an empty input, and for each byte.
const (
	otherSeconds        = 0.1
	otherSecondsPerByte = 9e-9
)

// recordBytes returns what the key records of a document take between stages.
func recordBytes(keys float64) float64 {
	n, whole := 0., int(keys)
	for i := range whole {
		n += float64(transforms.KeyRecordBytes(i))
	}
	return n + (keys-float64(whole))*float64(transforms.KeyRecordBytes(whole))
}

// recalls are the steps in which the planner goes to a cheaper or safer choice.
var recalls = []float64{0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999}

// planned is a choice in the making: the scheme and the flags that stand for it.
type planned struct {
	scheme lshbands.Scheme
	flags  string
}

// minHashChoices returns the schemes that are ranked, which of them is that of
// the configuration, and the cheaper and safer ones, with no bands where there
// is none.
func minHashChoices(config *Config) (ranked []planned, chosen int, cheaper, safer planned, err error) {
	scheme, err := config.scheme()
	if err != nil {
		return nil, 0, planned{}, planned{}, err
	}
	for _, s := range lshbands.Schemes(config.Threshold, config.Recall) {
		ranked = append(ranked, planned{s, fmt.Sprintf("--bands %d --rows %d", s.Bands, s.Rows)})
	}
	if chosen = slices.IndexFunc(ranked, func(p planned) bool { return p.scheme == scheme }); chosen < 0 {
		chosen = len(ranked)
		ranked = append(ranked, planned{scheme: scheme})
	}
	ranked[chosen].flags = ""
	if config.Bands > 0 || config.Rows > 0 {
		ranked[chosen].flags = fmt.Sprintf("--bands %d --rows %d", scheme.Bands, scheme.Rows)
	}
	for _, recall := range recalls {
		// As many rows as before: a step along the same curve.
		next, err := lshbands.Plan(config.Threshold, recall, lshbands.Scheme{Rows: scheme.Rows})
		if err != nil {
			break
		}
		p := planned{next, fmt.Sprintf("--recall %g", recall)}
		if config.Rows > 0 || config.Bands > 0 || !isDefaultRows(config.Threshold, recall, scheme.Rows) {
			p.flags = fmt.Sprintf("--bands %d --rows %d", next.Bands, next.Rows)
		}
		switch {
		case next.Bands < scheme.Bands:
			cheaper = p
		case next.Bands > scheme.Bands:
			return ranked, chosen, cheaper, p, nil
		}
	}
	return ranked, chosen, cheaper, safer, nil
}

// isDefaultRows reports whether a job would take so many rows by itself.
func isDefaultRows(threshold, recall float64, rows int) bool {
	s, err := lshbands.Plan(threshold, recall, lshbands.Scheme{})
	return err == nil && s.Rows == rows
}

// MakePlan ranks the ways to find candidates for a corpus, which it reads, or for
// a number of documents. It writes nothing. Errors are of the kinds of [Run].
func MakePlan(ctx context.Context, c PlanConfig) (*Advice, error) {
	if err := c.Validate(); err != nil {
		return nil, failure{ErrUsage, err}
	}
	config := c.config()
	ranked, chosen, cheaper, safer, err := minHashChoices(&config)
	if err != nil {
		return nil, failure{ErrUsage, err}
	}
	advice := &Advice{Config: c}
	workload := lshbands.Workload{
		Documents: float64(c.Documents), Shingles: c.Shingles, Memory: float64(c.Memory),
		RecordBytes: recordBytes, Costs: lshbands.UsualCosts(),
	}
	workload.Costs.Comparison = c.Comparison.Seconds()
	var measured *survey
	if len(c.Input) > 0 {
		schemes := []lshbands.Scheme{ranked[chosen].scheme}
		for _, p := range append(slices.Clone(ranked), cheaper, safer) {
			if p.scheme.Bands > 0 && !slices.Contains(schemes, p.scheme) {
				schemes = append(schemes, p.scheme)
			}
		}
		if measured, err = takeSurvey(ctx, config, schemes); err != nil {
			return nil, err
		}
		advice.Corpus = &measured.facts
		workload.Documents, workload.Shingles = float64(measured.facts.Documents+measured.facts.ReferenceDocuments), measured.facts.Shingles
		advice.OtherSeconds = otherSeconds + float64(measured.facts.Bytes)*otherSecondsPerByte
	}
	choose := func(p planned) *PlannedChoice {
		choice := &PlannedChoice{Flags: p.flags}
		candidates := 0.
		if measured != nil {
			estimate := measured.estimates[p.scheme]
			candidates, choice.CandidatesError = estimate.Candidates, estimate.Error
			choice.Heaps = measured.heaps(estimate)
			choice.Missed = measured.missed(p.scheme, c.Threshold)
		}
		choice.Choice = workload.MinHash(p.scheme, c.Threshold, candidates)
		return choice
	}
	for _, p := range ranked {
		advice.Choices = append(advice.Choices, *choose(p))
	}
	if cheaper.scheme.Bands > 0 {
		advice.Cheaper = choose(cheaper)
	}
	if safer.scheme.Bands > 0 {
		advice.Safer = choose(safer)
	}
	scheme := ranked[chosen].scheme
	rank(advice, scheme)
	advice.Curve = curve(scheme, measured)
	return advice, nil
}

// rank orders the choices and finds the one of the configuration again.
func rank(advice *Advice, scheme lshbands.Scheme) {
	slices.SortStableFunc(advice.Choices, func(a, b PlannedChoice) int { return a.Compare(&b.Choice) })
	advice.Chosen = slices.IndexFunc(advice.Choices, func(p PlannedChoice) bool { return p.Scheme == scheme })
}

const (
	// curveSteps is in how many steps the S-curve goes from 0 to 1.
	curveSteps = 20
	// tellingProbability is the least with which pairs must share a key to be
	// counted by those that do.
	tellingProbability = 0.1
)

// curve returns the points of the S-curve.
func curve(scheme lshbands.Scheme, measured *survey) []CurvePoint {
	points := make([]CurvePoint, curveSteps+1)
	for i := range points {
		p := &points[i]
		p.Similarity = float64(i) / curveSteps
		p.Probability = scheme.Probability(p.Similarity)
		if measured != nil && p.Probability >= tellingProbability {
			p.Pairs = new(float64)
		}
	}
	if measured != nil {
		for _, similarity := range measured.similarities {
			if n := points[int(similarity*curveSteps)].Pairs; n != nil {
				*n += measured.weight(similarity)
			}
		}
	}
	return points
}
