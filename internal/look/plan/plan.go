// Package plan says what a job would cost, and what it would find, for each of the ways to find candidates. For that it
// samples the corpus.
package plan

import (
	"context"
	"errors"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/setting"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/look/sample"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/start/failure"
	"mirrorbeam/job"
	"mirrorbeam/lshbands"
)

// Config is what [Make] plans for. [Default] gives its fields their default values.
type Config struct {
	// Input holds files, folders and patterns, as in [job.Config].
	Input []string `json:"input"`

	job.Measure

	// Documents is the number of documents to plan for without an input.
	Documents int64 `json:"documents"`
	// Shingles is the number of distinct shingles of a document, without an input.
	Shingles float64 `json:"shingles"`
	// Memory is the room for the keys of all documents, in bytes; 0: no limit. Choices
	// that need more are ranked last.
	Memory job.ByteSize `json:"memory"`
	// Comparison is the CPU time to compare the two documents of a candidate pair; 0: the measured time, by the sizes
	// of their sets.
	Comparison time.Duration `json:"comparison_ns"`

	// Temp is the folder for temporary files, whose disk is looked at; empty: none is.
	Temp string `json:"temp,omitempty"`

	// StorageTimeout is how long an operation on a bucket goes on that makes no progress; 0: 2 minutes.
	StorageTimeout job.Span `json:"storage_timeout,omitempty"`

	// Given, Stdin and Progress are as in [job.Config].
	Given    []string          `json:"-"`
	Stdin    string            `json:"-"`
	Progress func(line string) `json:"-"`
}

// Default returns the configuration of a plan before anything is chosen. Input or Documents is still to be set.
func Default() Config { return Config{Measure: job.Default().Measure, Shingles: 100} }

// config returns the configuration of a job of this measure, which writes clusters.
func (c *Config) config() job.Config {
	config := job.Default()
	config.Input, config.Output = c.Input, "none"
	if len(c.Input) == 0 {
		config.Input = []string{"-"}
	}
	config.Measure, config.Given, config.Progress, config.Stdin = c.Measure, c.Given, c.Progress, c.Stdin
	config.Audit, config.Emit, config.SketchSize, config.StorageTimeout = "off", []string{output.Clusters}, 0, c.StorageTimeout
	return config
}

// Validate reports every fault of the configuration at once.
func (c *Config) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, setting.Errorf(format, args...))
		}
	}
	check(len(c.Input) > 0 || c.Documents != 0, "{input}: give at least one file, folder or pattern, or {documents} for a corpus of which nothing is known")
	check(len(c.Input) == 0 || c.Documents == 0, "{documents} %d: the documents of {input} are counted; leave one of the two out", c.Documents)
	check(c.Documents >= 0, "{documents} %d: must be 1 or more", c.Documents)
	check(c.Shingles > 0 && !math.IsInf(c.Shingles, 0), "{shingles} %g: must be above 0", c.Shingles)
	check(c.Comparison >= 0, "{comparison} %v: must be 0 or more", c.Comparison)
	method, _ := methods.Of(c.Keys)
	check(!method.ComparesAll, "{keys} all: compares all pairs, so there is nothing to plan")
	check(method.Kind().HasShingles, "{keys} %s: compares no pair, so there is nothing to plan", c.Keys)
	preset, err := job.PresetNamed(c.Preset)
	check(err != nil || preset.HasClusters(), "{preset} %s: looks for copied passages, and there is no plan for these", c.Preset)
	config := c.config()
	return errors.Join(errors.Join(faults...), c.CheckSketchSize(), config.Validate())
}

// Make ranks the ways to find candidates for a corpus, which it reads, or for
// a number of documents. It writes nothing. Errors are of the kinds of
// package failure.
func Make(ctx context.Context, c Config) (*Advice, error) {
	if err := c.Validate(); err != nil {
		return nil, failure.New(failure.Usage, err)
	}
	storage.SetWaiting(storage.Waiting{Patience: time.Duration(c.StorageTimeout)})
	defer work.LimitMemory(planMemoryBytes)()
	defer debug.SetGCPercent(debug.SetGCPercent(planGarbage))
	config := c.config()
	if config.Method() == methods.SimHash {
		return planTables(ctx, c, config)
	}
	options, err := listOptions(&config)
	if err != nil {
		return nil, failure.New(failure.Usage, err)
	}
	advice := &Advice{Config: c, Bands: options.base}
	workload := c.workload(lshbands.UsualCosts())
	var measured *survey
	if len(c.Input) > 0 {
		if measured, err = takeSurvey(ctx, config, options); err != nil {
			return nil, err
		}
		advice.tell(&measured.facts, &workload)
		options.settle(&config, measured.facts.Documents+measured.facts.ReferenceDocuments)
	}
	for _, option := range options.all {
		if measured.has(option.keying) {
			advice.Choices = append(advice.Choices, weigh(option, workload, &c, measured))
		}
	}
	slices.SortStableFunc(advice.Choices, func(a, b Choice) int { return a.Compare(&b.Choice) })
	advice.find(options, config.PromisedRecall())
	advice.Curve = curve(options.base, measured)
	if measured != nil {
		advice.describe(&c, &measured.corpus.inputs)
	}
	return advice, nil
}

// has reports whether the survey, or its absence, allows an estimate for the keys: exact keys depend on the corpus.
func (m *survey) has(k keying) bool {
	if m == nil {
		return k.scheme.Bands > 0
	}
	_, has := m.estimates[k]
	return has
}

// planMemoryBytes is the size that a planning process aims to stay below.
const planMemoryBytes = 640 << 20

// planGarbage is how much garbage there may be for what is kept, in percent: little is kept for long.
const planGarbage = 400

// workload returns the part of the work that is known without reading the input.
func (c *Config) workload(costs lshbands.Costs) lshbands.Workload {
	if c.Comparison > 0 {
		costs.Comparison = c.Comparison.Seconds()
	}
	return lshbands.Workload{Documents: float64(c.Documents), Shingles: c.Shingles, Memory: float64(c.Memory), Costs: costs}
}

// tell adds the facts of the input.
func (a *Advice) tell(facts *Facts, workload *lshbands.Workload) {
	a.Corpus = facts
	workload.Documents, workload.Shingles = float64(facts.Documents+facts.ReferenceDocuments), facts.Shingles
}

// weigh returns the promise and the cost of an option.
func weigh(option option, workload lshbands.Workload, c *Config, measured *survey) Choice {
	choice := Choice{Keys: option.keys, Flags: option.flags}
	var estimate sample.Estimate
	if measured != nil {
		estimate = measured.estimates[option.keying]
		choice.doubt(estimate, workload.Documents, &measured.corpus.inputs)
	}
	workload.RecordBytes = option.keyBytes
	if option.scheme.Bands > 0 {
		choice.Choice = workload.MinHash(option.scheme, c.Threshold, estimate.Candidates)
	} else {
		choice.Choice = workload.Exact(estimate.Keys, estimate.Candidates)
	}
	choice.Probability = option.method().Promise(option.parameters(c.Threshold)).Recall
	if measured == nil {
		choice.CPUSeconds = choice.Seconds
		return choice
	}
	if option.scheme.Bands > 0 {
		choice.Missed = measured.missed(option.scheme)
	}
	work := measured.work(option.keying)
	choice.Work = &work
	choice.Needs = work.Needs(choice.Keys)
	if c.Comparison > 0 {
		choice.CPUSeconds += work.Candidates*c.Comparison.Seconds() - work.comparing()
	}
	choice.Seconds = choice.CPUSeconds
	return choice
}

// doubt notes how sure an estimate of candidates is for a corpus of that many documents, and the heaps that make it unsure.
func (c *Choice) doubt(estimate sample.Estimate, all float64, inputs *documents.Inputs) {
	most := all * (all - 1) / 2
	c.CandidatesError, c.CandidatesLow, c.CandidatesHigh = estimate.Error, min(estimate.Low, most), min(estimate.High, most)
	c.Heaps = heaps(inputs, estimate)
}

// find finds the choice of the configuration, the best one and the next ones.
func (a *Advice) find(options *options, recall float64) {
	place := func(wanted func(c *Choice) bool) int {
		return slices.IndexFunc(a.Choices, func(c Choice) bool { return wanted(&c) })
	}
	a.Cheaper, a.Safer = -1, -1
	a.Chosen = place(func(c *Choice) bool { return c.keying() == options.chosen })
	if a.Chosen >= 0 {
		// The bands of the configuration may find less than the recall.
		recall = min(recall, a.Choices[a.Chosen].Probability)
	}
	a.Best = place(func(c *Choice) bool { return c.Fits && c.Probability >= recall })
	if a.Chosen < 0 {
		return
	}
	chosen := a.Choices[a.Chosen]
	for i := range a.Choices {
		c := &a.Choices[i]
		switch {
		case !slices.Contains(options.steps, c.keying()):
		case c.Probability < chosen.Probability && c.Seconds < chosen.Seconds && (a.Cheaper < 0 || c.Probability > a.Choices[a.Cheaper].Probability):
			a.Cheaper = i
		case c.Probability > chosen.Probability && (a.Safer < 0 || c.Seconds < a.Choices[a.Safer].Seconds):
			a.Safer = i
		}
	}
}

func (c *Choice) keying() keying {
	if c.Keys == methods.SimHash {
		return keying{keys: c.Keys, blocks: job.BlocksText(c.Blocks), distance: c.Distance}
	}
	return keying{keys: c.Keys, scheme: c.Scheme}
}

const (
	// curveSteps is the number of steps of the S-curve from 0 to 1.
	curveSteps = 20
	// tellingProbability is the least probability of sharing a key at which pairs can be counted by those that share
	// one.
	tellingProbability = 0.1
)

func curve(scheme lshbands.Scheme, measured *survey) []Point {
	points := make([]Point, curveSteps+1)
	for i := range points {
		p := &points[i]
		p.Similarity = float64(i) / curveSteps
		p.Probability = scheme.Probability(p.Similarity)
		if measured != nil && p.Probability >= tellingProbability {
			p.Pairs = new(float64)
		}
	}
	if measured != nil {
		estimate := measured.estimates[withScheme(scheme)]
		for _, similarity := range estimate.Similar {
			if n := points[int(similarity*curveSteps)].Pairs; n != nil {
				*n += estimate.Weight / scheme.Probability(similarity)
			}
		}
	}
	return points
}

// Advice ranks the ways to find candidates. The work of a job depends only on its configuration; an Advice says what
// other configurations would change.
type Advice struct {
	Config Config `json:"config"`
	// Corpus describes the input; nil without one.
	Corpus *Facts `json:"corpus,omitempty"`
	// Reads says what the job reads; nil without an input. Writes says what each output takes if the job writes it.
	Reads  *Reads  `json:"reads,omitempty"`
	Writes []Write `json:"writes,omitempty"`
	// TempFree is the number of bytes that are free on the disk of the temporary folder; nil if nobody knows.
	TempFree *int64 `json:"temp_free_bytes,omitempty"`
	// Choices are ranked, the cheapest first.
	Choices []Choice `json:"choices"`
	// Chosen is the index in Choices of the choice of the configuration; -1 if its cost cannot be told without an
	// input.
	Chosen int `json:"chosen"`
	// Best is the index of the cheapest choice that fits and finds a pair at the threshold as surely as the
	// configuration asks for; -1 if there is none.
	Best int `json:"best"`
	// Cheaper and Safer are the indexes of the next choices: one finds a pair at the threshold less surely at a lower
	// price, the other more surely. -1 if there is none.
	Cheaper int `json:"cheaper"`
	Safer   int `json:"safer"`
	// Curve is the S-curve of Bands. These are the bands of the configuration, or those that it would have if it asked
	// for MinHash. SimHash keys have none.
	Bands lshbands.Scheme `json:"curve_of,omitzero"`
	Curve []Point         `json:"curve,omitempty"`
	// Distances holds estimates of the number of pairs of the corpus whose fingerprints differ in 0, 1 and more bits,
	// up to one more than asked for. It is nil for other keys.
	Distances []float64 `json:"distances,omitempty"`
}

// Choice is a way to find candidates, and its cost for the corpus.
type Choice struct {
	Keys methods.Name `json:"keys"`
	lshbands.Choice
	// Flags make 'runjob run' take this choice, in place of other flags of keys. They are empty for the choice of the
	// configuration.
	Flags string `json:"flags"`
	// CandidatesError is the standard error of Candidates, 0 if these are not an estimate.
	CandidatesError float64 `json:"candidates_error"`
	// CandidatesLow and CandidatesHigh are the ends of an interval that holds the candidates of the job for nine of ten plans. They
	// are Candidates if these are not an estimate, and 0 without an input.
	CandidatesLow  float64 `json:"candidates_low"`
	CandidatesHigh float64 `json:"candidates_high"`
	// Needs is the cost of a job that writes clusters. Without an input, only CPUSeconds is set, and covers keys and
	// candidates only.
	Needs
	// Work is the work behind these costs, nil without an input.
	Work *Work `json:"work,omitempty"`
	// Missed is about how many pairs at or above the threshold share no key.
	Missed float64 `json:"missed"`
	// Heaps are the groups of a hundred or more documents under one key that have the most candidates.
	Heaps []Heap `json:"heaps,omitempty"`
}

// Heap is a large group of documents under one key.
type Heap struct {
	// Documents and Candidates are estimates. Candidates are the pairs of the group that are candidates and have met
	// under no earlier key.
	Documents  float64 `json:"documents"`
	Candidates float64 `json:"candidates"`
	// Example is one of the documents, as path:position.
	Example string `json:"example"`
	// Dense says that only leaders of the heap are compared with its documents.
	Dense bool `json:"dense"`
}

// Facts describe a corpus.
type Facts struct {
	Documents          int64 `json:"documents"`
	ReferenceDocuments int64 `json:"reference_documents,omitempty"`
	Bytes              int64 `json:"bytes"`
	Rejected           int64 `json:"rejected"`
	// Shingles is the mean number of distinct shingles of a document.
	Shingles float64 `json:"shingles"`
	// Preset is the preset that most documents look like, if there is one that would change something, and Looks says why.
	Preset string `json:"preset,omitempty"`
	Looks  string `json:"looks,omitempty"`
	// Wordless is the number of documents without shingles.
	Wordless int64 `json:"wordless"`
	// Overlong is about how many documents are too long for a plan to compare.
	Overlong float64 `json:"overlong"`
	// Identical is about how many documents are equal to an earlier one, or have
	// its fingerprint.
	Identical float64 `json:"identical"`
	// Pairs is about how many pairs of documents that are not identical reach the threshold, or are within the
	// distance.
	Pairs float64 `json:"pairs"`
	// SampledDocuments is the number of documents that were fingerprinted; their lines have SampledBytes. All documents
	// were read.
	SampledDocuments int64 `json:"sampled_documents"`
	SampledBytes     int64 `json:"sampled_bytes"`
	// DocumentShare is the share of the documents that was kept for comparison.
	DocumentShare float64 `json:"document_share"`
}

// Point is a point of the S-curve.
type Point struct {
	Similarity float64 `json:"similarity"`
	// Probability is the probability that a pair of this similarity shares a key.
	Probability float64 `json:"probability"`
	// Pairs is about how many pairs of the corpus have a similarity from this point up to the next; nil if too few of
	// them share a key to tell.
	Pairs *float64 `json:"pairs,omitempty"`
}
