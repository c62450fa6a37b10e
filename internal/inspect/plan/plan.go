// Package plan estimates, from a sample of the corpus, what a job would find and take with each way to find candidates.
package plan

import (
	"cmp"
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"time"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/lshbands"
)

// Config is what [Make] plans for. [Default] gives its fields their default values.
type Config struct {
	// Input holds files, folders and patterns, as in [job.Config].
	Input []string `json:"input"`

	job.Measure

	// Documents is the number of documents to plan for without an input.
	Documents int64 `json:"documents"`
	// Memory is the room for the keys of all documents, in bytes; 0: no limit. Choices
	// that need more are ranked last.
	Memory job.ByteSize `json:"memory"`
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
func Default() Config { return Config{Measure: job.Default().Measure} }

// config returns the configuration of a job of this measure, which writes clusters.
func (c *Config) config() job.Config {
	config := job.Default()
	config.Input, config.Output = c.Input, "none"
	if len(c.Input) == 0 {
		config.Input = []string{"-"}
	}
	config.Measure, config.Given, config.Progress, config.Stdin = c.Measure, c.Given, c.Progress, c.Stdin
	config.Audit = "off"
	config.Emit = []string{output.Clusters}
	config.SketchSize = 0
	config.StorageTimeout = c.StorageTimeout
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
	check(len(c.Input) > 0 || c.Documents != 0,
		"{input}: give at least one file, folder or pattern, or {documents} for a corpus of which nothing is known")
	check(len(c.Input) == 0 || c.Documents == 0,
		"{documents} %d: the documents of {input} are counted; leave one of the two out", c.Documents)
	check(c.Documents >= 0, "{documents} %d: must be 1 or more", c.Documents)
	config := c.config()
	method, _ := methods.Of(config.Method())
	check(!method.ComparesAll, "{keys} all: compares all pairs, so there is nothing to plan")
	check(method.Settings.Distance || method.Kind().HasShingles,
		"{keys} %s: compares no pair, so there is nothing to plan", c.Keys)
	check(!method.Settings.Distance || config.Scorer().IsDistance,
		"{score} jaccard: SimHash candidates for it are not planned; leave it out")
	preset, err := job.PresetNamed(c.Preset)
	check(err != nil || preset.HasClusters(), "{preset} %s: looks for copied passages, and there is no plan for these",
		c.Preset)
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
	if config.Scorer().IsDistance {
		return rankTables(ctx, c, config)
	}
	options, err := listOptions(&config)
	if err != nil {
		return nil, failure.New(failure.Usage, err)
	}
	advice := &Advice{Config: c, Bands: options.base}
	documents := float64(c.Documents)
	var measured *survey
	if len(c.Input) > 0 {
		if measured, err = takeSurvey(ctx, config, options); err != nil {
			return nil, err
		}
		advice.Corpus, documents = &measured.facts, measured.facts.all()
		options.settle(&config, int64(documents))
	}
	for _, option := range options.all {
		if measured.has(option.keying) {
			advice.Choices = append(advice.Choices, weigh(option, documents, &c, measured))
		}
	}
	slices.SortStableFunc(advice.Choices, func(a, b Choice) int { return a.compare(&b) })
	advice.find(options, config.PromisedRecall())
	advice.Curve = curve(options.base, measured)
	if measured != nil {
		advice.describe(&c, measured)
	}
	return advice, nil
}

// Saves reports whether a choice saves a twentieth of the job or more.
func (a *Advice) Saves(c *Choice) bool {
	chosen := &a.Choices[a.Chosen]
	total := chosen.seconds
	if a.Estimate != nil {
		total = max(total, a.Estimate.CPUSeconds)
	}
	return chosen.seconds-c.seconds > total/20
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

// CPU seconds by which choices are ranked, on a core of an AMD EPYC (Zen 5).
const (
	keySeconds       = 300e-9 // to write a key of a document, to bring it to its shard and to sort it there
	componentSeconds = 15e-12 // for a component of the MinHash signature and a shingle
	countedSeconds   = 12e-9  // to count a shingle in the corpus and to look up how rare it is
	candidateSeconds = 350e-9 // to bring two documents together and to compare them
	blockedSeconds   = 60e-9  // to compare them where all pairs are compared
)

// weigh returns the promise of an option for that many documents, and its work.
func weigh(option option, documents float64, c *Config, measured *survey) Choice {
	choice := Choice{
		Keys:            option.keys,
		Flags:           option.flags,
		Scheme:          option.scheme,
		KeysPerDocument: float64(option.scheme.Bands),
	}
	choice.Probability = option.method().Promise(option.parameters(c.Threshold)).Recall
	shingles, sketches, comparing := 0., 0., candidateSeconds
	if measured != nil {
		estimate := measured.estimates[option.keying]
		most := documents * (documents - 1) / 2
		choice.CandidatesError = estimate.Error
		choice.CandidatesLow, choice.CandidatesHigh = min(estimate.Low, most), min(estimate.High, most)
		choice.HotGroups = hotGroups(&measured.corpus.inputs, estimate)
		choice.Candidates, shingles = estimate.Candidates, documents*measured.facts.Shingles
		if option.scheme.Bands == 0 {
			choice.KeysPerDocument = estimate.Keys
		} else {
			choice.Missed = measured.missed(option.scheme)
		}
		load := measured.load(option.keying)
		choice.MemoryBytes = load.memory()
		sketches = load.bytes/gb*sketchBytesPerGB + 8*documents*float64(option.scheme.Bands)
		choice.TempBytes = load.bytes / gb * tempBytesPerGB
	}
	if option.method().ComparesAll {
		comparing = blockedSeconds
	}
	choice.seconds = documents*choice.KeysPerDocument*keySeconds + choice.Candidates*comparing +
		shingles*float64(option.scheme.Components())*componentSeconds
	if option.method().Ordered {
		choice.seconds += shingles * countedSeconds
	}
	choice.Bytes = documents * option.method().KeyBytes(choice.KeysPerDocument)
	choice.Fits = c.Memory == 0 || choice.Bytes <= float64(c.Memory)
	if measured != nil {
		choice.TempBytes = max(choice.TempBytes, sketches+choice.Bytes)
	}
	return choice
}

// compare orders choices: first those that fit, then cheaper ones.
func (c *Choice) compare(other *Choice) int {
	if c.Fits != other.Fits {
		if c.Fits {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(c.seconds, other.seconds), cmp.Compare(c.Bytes, other.Bytes))
}

// Saving returns the share of CPU time for keys and candidates that this choice saves of another; below 0: it adds.
func (c *Choice) Saving(other *Choice) float64 { return 1 - c.seconds/max(other.seconds, 1e-9) }

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
		case c.Probability < chosen.Probability && c.seconds < chosen.seconds &&
			(a.Cheaper < 0 || c.Probability > a.Choices[a.Cheaper].Probability):
			a.Cheaper = i
		case c.Probability > chosen.Probability && (a.Safer < 0 || c.seconds < a.Choices[a.Safer].seconds):
			a.Safer = i
		}
	}
}

func (c *Choice) keying() keying { return keying{keys: c.Keys, scheme: c.Scheme} }

const (
	curveSteps = 20
	// tellingProbability of sharing a key is the least at which pairs can be counted by the pairs that share one.
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
	// Reads says what the job reads; nil without an input.
	Reads *Reads `json:"reads,omitempty"`
	// Estimate says what the chosen job takes; nil without an input.
	Estimate *Estimate `json:"estimate,omitempty"`
	// TempFree is the number of bytes that are free on the disk of the temporary folder; nil if nobody knows.
	TempFree *int64 `json:"temp_free_bytes,omitempty"`
	// Choices are ranked, the cheapest first. Where fingerprints are compared, Tables take their place.
	Choices []Choice `json:"choices"`
	Tables  []Tables `json:"tables,omitempty"`
	// Chosen is the index in Choices, or in Tables, of the choice of the configuration; -1 if its work cannot be told
	// without an input.
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
	Bands lshbands.Scheme `json:"curve_of"`
	Curve []Point         `json:"curve"`
}

// Choice is a way to find candidates, and what it takes for the corpus.
type Choice struct {
	Keys methods.Name `json:"keys"`
	// Scheme is the scheme of MinHash keys. It is zero for other keys.
	lshbands.Scheme
	// KeysPerDocument is the mean number of keys of a document: bands, or rare shingles.
	KeysPerDocument float64 `json:"keys_per_document"`
	// Probability is the probability that a pair at the threshold shares a key.
	Probability float64 `json:"probability"`
	// Candidates is the number of pairs to compare.
	Candidates float64 `json:"candidates"`
	// Bytes is the room that the keys take, Fits whether they have room in the memory.
	Bytes float64 `json:"bytes"`
	Fits  bool    `json:"fits"`
	// Flags make 'runjob run' take this choice, instead of other flags of keys. They are empty for the choice of the
	// configuration.
	Flags string `json:"flags"`
	// CandidatesError is the standard error of Candidates, 0 if these are not an estimate.
	CandidatesError float64 `json:"candidates_error"`
	// CandidatesLow and CandidatesHigh are the ends of an interval that holds the candidates of the job for nine of ten
	// plans. They are Candidates if these are not an estimate, and 0 without an input.
	CandidatesLow  float64 `json:"candidates_low"`
	CandidatesHigh float64 `json:"candidates_high"`
	// MemoryBytes is the largest resident size of a process, TempBytes the most that the temporary files take. They are
	// 0 without an input.
	MemoryBytes float64 `json:"memory_bytes"`
	TempBytes   float64 `json:"temp_bytes"`
	// Missed is about how many pairs at or above the threshold share no key.
	Missed float64 `json:"missed"`
	// HotGroups are the groups of a hundred or more documents under one key that have the most candidates.
	HotGroups []HotGroup `json:"heaps,omitempty"`
	// seconds is the CPU time for keys and candidates.
	seconds float64
}

// HotGroup is a large group of documents under one key.
type HotGroup struct {
	// Documents and Candidates are estimates. Candidates are the pairs of the group that are candidates and have met
	// under no earlier key.
	Documents  float64 `json:"documents"`
	Candidates float64 `json:"candidates"`
	// Example is one of the documents, as path:position.
	Example string `json:"example"`
	// Dense says that only pivots of the hot group are compared with its documents.
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
	// Preset is the preset that most documents look like, if there is one that would change something, and Looks says
	// why.
	Preset string `json:"preset,omitempty"`
	Looks  string `json:"looks,omitempty"`
	// Wordless is the number of documents without shingles.
	Wordless int64 `json:"wordless"`
	// Overlong is about how many documents are too long for a plan to compare.
	Overlong float64 `json:"overlong"`
	// Identical is about how many documents are equal to an earlier one.
	Identical float64 `json:"identical"`
	// Pairs is about how many pairs of documents that are not identical reach the threshold.
	Pairs float64 `json:"pairs"`
	// SampledDocuments is the number of documents that were fingerprinted; their lines have SampledBytes. All documents
	// were read.
	SampledDocuments int64 `json:"sampled_documents"`
	SampledBytes     int64 `json:"sampled_bytes"`
	// DocumentShare is the share of the documents that was kept for comparison.
	DocumentShare float64 `json:"document_share"`
}

func (f *Facts) all() float64 { return float64(f.Documents + f.ReferenceDocuments) }

// Point is a point of the S-curve.
type Point struct {
	Similarity float64 `json:"similarity"`
	// Probability is the probability that a pair of this similarity shares a key.
	Probability float64 `json:"probability"`
	// Pairs is about how many pairs of the corpus have a similarity from this point up to the next; nil if too few of
	// them share a key to tell.
	Pairs *float64 `json:"pairs,omitempty"`
}
