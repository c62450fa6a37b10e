// Package pipeline runs the job: it checks the configuration, lays out the graph
// of stages, runs it on a Beam runner and publishes what it wrote.
package pipeline

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"

	"mirrorbeam/internal/clusters"
	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/keep"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/work"
	"mirrorbeam/lshbands"
	"mirrorbeam/sketch"
	"mirrorbeam/transforms"
)

// Measure is how documents are read and what makes two of them near-duplicates.
type Measure struct {
	Reference []string `group:"Input" sep:"none" placeholder:"PATH" help:"Reference corpus, named as --input is; may be repeated. Documents of the input that are near-duplicates of its documents are removed; its own are never removed and not compared with each other." json:"reference,omitempty"`

	Format      string   `group:"Input" default:"auto" placeholder:"FORMAT" help:"Format of the input: auto or jsonl." json:"format"`
	IDField     string   `name:"id-field" group:"Input" default:"id" help:"Field of a record that holds its id, a string or a number. A record without one is called by its place, path:position." json:"id_field"`
	TextField   string   `group:"Input" default:"text" help:"Field of a record that holds its text." json:"text_field"`
	Features    string   `group:"Input" placeholder:"FIELD" help:"Take documents not from texts but from the features in this field, which another program has found: an array of strings or 64-bit hashes, each alone or with its weight as in [[\"a\",2],7], or an object from features to weights." json:"features,omitempty"`
	MaxDocument ByteSize `group:"Input" default:"64MiB" placeholder:"SIZE" help:"Longest text; longer ones are rejects." json:"max_document"`
	MaxRejects  int64    `group:"Input" default:"-1" placeholder:"N" help:"Fail if more records than this cannot be read; -1: no limit." json:"max_rejects"`

	CJKSplit    bool                 `name:"cjk-split" group:"Measure" default:"true" negatable:"" help:"Take each Han, Kana, Thai, Lao, Khmer and Myanmar character for a token of its own: these scripts put no spaces between words." json:"cjk_split"`
	Normalize   sketch.Normalization `group:"Measure" default:"none" placeholder:"STEPS" help:"What is done to texts first, with commas between: nfc or nfkc (Unicode forms), fold (full case folding), punctuation (don't becomes dont)." json:"normalize"`
	StopWords   string               `name:"stopwords" group:"Measure" placeholder:"FILE" help:"List of stop words, one a line." json:"stopwords,omitempty"`
	StopWordUse sketch.StopWordUse   `name:"stopwords-use" group:"Measure" default:"remove" placeholder:"HOW" help:"What stop words are for: remove (they are taken out of texts), require (only shingles that hold one count; menus and advertisements have few)." json:"stopwords_use"`
	Weight      map[string]float64   `group:"Measure" mapsep:"," placeholder:"FIELD=W" help:"Take these text fields in place of --text-field, as in title=3,text=1. A document is all of their shingles; the weights count for its SimHash." json:"weight,omitempty"`
	Shingle     int                  `group:"Measure" default:"3" placeholder:"N" help:"Adjacent tokens in a shingle." json:"shingle"`
	Seed        uint64               `group:"Measure" default:"0" placeholder:"N" help:"Key of all hashes: documents that were made to collide, or to be found too often, are harmless with a number that their author does not know." json:"seed"`
	Threshold   float64              `group:"Measure" default:"0.8" placeholder:"J" help:"Least Jaccard similarity of two near-duplicates: shingles in both over shingles in either." json:"threshold"`
	Keys        methods.Name         `group:"Measure" default:"auto" placeholder:"KEYS" help:"How documents that may be similar are brought together: exact (by their rarest shingles: none is missed), all (every pair is compared, for corpora of some thousand documents), minhash (by bands of their MinHash signatures: a pair in some hundreds or thousands is missed), simhash (by their SimHash fingerprints: none within --hamming bits is missed). auto: exact or all, whichever is cheaper; minhash with --recall below 1, with --bands or --rows, and with --verify other than exact; simhash with --score hamming." json:"keys"`
	Recall      float64              `group:"Measure" placeholder:"P" help:"Least probability that a pair of exactly the threshold is found. Below 1 it asks for MinHash and sets its bands and rows, which find more similar pairs more surely. Default: 1, or 0.99 with --keys minhash." json:"recall"`
	Bands       int                  `group:"Measure" default:"0" placeholder:"N" help:"MinHash bands; 0: from threshold and recall." json:"bands"`
	Rows        int                  `group:"Measure" default:"0" placeholder:"N" help:"MinHash rows a band; 0: from threshold and recall." json:"rows"`
	Score       methods.Scoring      `group:"Measure" default:"auto" placeholder:"SCORE" help:"What makes two documents near-duplicates: jaccard (the threshold), hamming (their SimHash fingerprints differ in at most --hamming bits); auto: hamming with --keys simhash, else jaccard." json:"score"`
	Hamming     int                  `group:"Measure" default:"3" placeholder:"K" help:"Most bits in which SimHash fingerprints may differ, with --keys simhash." json:"hamming"`
	Bits        int                  `group:"Measure" default:"64" placeholder:"N" help:"Length of SimHash fingerprints, for --keys simhash and in sketches: a multiple of 64 up to 1024." json:"bits"`
}

// Config is everything that a user can choose. The flags of the command line
// derive from its fields: the tags give their names, defaults and help.
type Config struct {
	Input []string `group:"Input" required:"" sep:"none" placeholder:"PATH" help:"File, folder or quoted pattern to read; may be repeated. A folder stands for its *.jsonl, *.ndjson and *.json files, plain, .gz or .zst; ** matches any number of folders." json:"input"`

	Measure

	Similarity   methods.Similarity `group:"Measure" default:"jaccard" placeholder:"WHAT" help:"What is looked for: jaccard (documents of which most is the same) or containment (copied passages: pairs of which one has much of the other, or an excerpt, and where; --threshold is then of the shingles in both over those of the document that has fewer)." json:"similarity"`
	Excerpt      int                `group:"Measure" default:"50" placeholder:"N" help:"With containment, words of the shortest copied passage that makes a pair whatever the threshold; 0: none does." json:"excerpt"`
	NoQuotations bool               `name:"no-quotations" group:"Measure" help:"With containment, leave out what stands between quotation marks, and lines that begin with >." json:"no_quotations"`

	Verify methods.Verification `group:"Measure" default:"exact" placeholder:"HOW" help:"What a pair rests on: exact (the full shingle sets of both), sketch (an estimate from 128 hashes each, on less disk), none (a common key)." json:"verify"`
	Audit  string               `group:"Measure" default:"auto" placeholder:"N" help:"Measure the recall on a sample of at most N documents; auto: 5000 where keys may miss a pair and sets are compared exactly, 1250 with exact keys; off." json:"audit"`

	Output       string          `group:"Output" required:"" placeholder:"DIR" help:"Folder for the results; must be empty or new, see --overwrite." json:"output"`
	Overwrite    bool            `group:"Output" help:"Replace the results of an earlier job in the output folder. Other files in it are left alone." json:"overwrite"`
	Emit         []string        `group:"Output" default:"auto" placeholder:"NAME" help:"What to write: auto (clusters; pairs with containment), clusters, pairs, unique, removed, sketches (bottom-k and SimHash fingerprints of every document), index (what 'runjob query' searches). Rejects, summary and manifest always are." json:"emit"`
	OutputFormat output.Format   `group:"Output" default:"jsonl" placeholder:"FORMAT" help:"jsonl, jsonl.zst or jsonl.gz." json:"output_format"`
	Keep         keep.Preference `group:"Output" default:"first" placeholder:"ORDER" help:"Which documents of a cluster are preferred when those to keep are chosen: first, longest." json:"keep"`
	Split        clusters.Split  `group:"Output" default:"component" placeholder:"HOW" help:"What a cluster is: component (documents joined through similar ones) or star (a kept document and those that go for it)." json:"split"`

	Temp   string   `group:"Running" placeholder:"DIR" help:"Folder for temporary files, some 1 to 2 bytes for each byte of text; default: beside the output. Workers of a cluster must share it." json:"temp"`
	Memory ByteSize `group:"Running" default:"0" placeholder:"SIZE" help:"Size that a process aims to stay below, 100MiB or more: tasks become smaller, and memory is cleared more often. Clusters of millions of pairs may need more. 0: no limit. The results are the same, but that .zst files with a window above an eighth of it are rejects." json:"memory"`
	Lanes  int      `group:"Running" default:"0" placeholder:"N" help:"Tasks of a stage that a local runner works on at a time; 0: one a core. The results are the same." json:"lanes"`

	// Progress, if not nil, is given a line now and then where a step takes long.
	Progress func(line string) `kong:"-" json:"-"`
}

// Validate reports every fault of the configuration at once.
func (c *Config) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	check(len(c.Input) > 0, "--input: give at least one file, folder or pattern")
	check(c.Output != "", "--output: give a folder")
	c.checkFolders(check)
	check(c.Format == "auto" || c.Format == "jsonl", "--format %s: must be auto or jsonl", c.Format)
	check(c.TextField != "", "--text-field: must not be empty")
	check(c.MaxDocument > 0 && c.MaxDocument < 1<<32, "--max-document %d: must be above 0 and below 4GiB", c.MaxDocument)
	check(c.MaxRejects >= -1, "--max-rejects %d: must be 0 or more, or -1 for no limit", c.MaxRejects)
	check(c.Shingle >= 1 && c.Shingle <= 64, "--shingle %d: must be from 1 to 64", c.Shingle)
	c.checkMeasure(check)
	c.checkSimilarity(check)
	_, err := c.auditSample()
	check(err == nil, "%v", err)
	check(c.Threshold > 0 && c.Threshold <= 1, "--threshold %g: must be above 0 and at most 1", c.Threshold)
	c.checkKeys(check)
	check(c.Bands >= 0 && c.Bands <= lshbands.MaxBands, "--bands %d: must be from 0 to %d", c.Bands, lshbands.MaxBands)
	check(c.Rows >= 0 && c.Rows <= 64, "--rows %d: must be from 0 to 64", c.Rows)
	check(slices.Contains([]methods.Verification{methods.VerifyExact, methods.VerifySketch, methods.VerifyNone}, c.Verify),
		"--verify %s: must be exact, sketch or none", c.Verify)
	check(len(c.Emit) > 0, "--emit: name at least one output")
	for _, name := range c.emit() {
		check(slices.Contains([]string{output.Clusters, output.Pairs, output.Unique, output.Removed, output.Sketches, output.Index}, name),
			"--emit %s: must be clusters, pairs, unique, removed, sketches or index", name)
	}
	check(!slices.Contains(c.Emit, output.Index) || c.Verify == methods.VerifyExact,
		"--emit index: holds the full sets of --verify exact, and not those of --verify %s", c.Verify)
	check(!slices.Contains(c.Emit, output.Index) || c.scoring() != methods.Hamming || c.Bits == 64,
		"--emit index: holds SimHash fingerprints of --bits 64, and not of --bits %d", c.Bits)
	check(slices.Contains(output.Formats, c.OutputFormat), "--output-format %s: must be jsonl, jsonl.zst or jsonl.gz", c.OutputFormat)
	check(c.Keep == keep.First || c.Keep == keep.Longest, "--keep %s: must be first or longest", c.Keep)
	check(c.Split == clusters.Component || c.Split == clusters.Star, "--split %s: must be component or star", c.Split)
	check(c.Memory == 0 || c.Memory >= leastMemory, "--memory %d: must be at least 100MiB, or 0 for no limit", c.Memory)
	check(c.Lanes >= 0 && c.Lanes <= 1024, "--lanes %d: must be from 0 to 1024", c.Lanes)
	if len(faults) == 0 {
		if _, err := c.scheme(); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// checkKeys checks how documents are brought together and compared.
func (c *Config) checkKeys(check func(ok bool, format string, args ...any)) {
	check(slices.Contains([]methods.Name{methods.Auto, methods.Exact, methods.MinHash, methods.SimHash, methods.All}, c.Keys),
		"--keys %s: must be auto, exact, minhash, simhash or all", c.Keys)
	check(slices.Contains([]methods.Scoring{methods.AutoScoring, methods.Jaccard, methods.Hamming}, c.Score),
		"--score %s: must be auto, jaccard or hamming", c.Score)
	check(c.Recall >= 0 && c.Recall <= 1, "--recall %g: must be above 0 and at most 1", c.Recall)
	check(c.Hamming >= 0, "--hamming %d: must be 0 or more", c.Hamming)
	keys := c.keys()
	if keys != methods.SimHash {
		check(c.Hamming == usualHamming || c.Hamming < 0, "--hamming %d: is for --keys simhash", c.Hamming)
		check(c.Bits == usualBits || c.Bits%64 != 0 || slices.Contains(c.emit(), output.Sketches), "--bits %d: is for --keys simhash and --emit sketches", c.Bits)
	}
	if slices.Contains([]methods.Name{methods.Exact, methods.SimHash, methods.All}, keys) {
		check(c.Bands == 0 && c.Rows == 0, "--bands and --rows set the keys of --keys minhash; with --keys %s leave them out", keys)
		check(c.Recall >= 1 || c.Recall <= 0, "--recall %g: applies only to --keys minhash; with --keys %s leave it out", c.Recall, keys)
	}
	switch keys {
	case methods.MinHash:
		check(c.Recall != 1, "--recall 1: MinHash cannot promise it; --keys exact can")
	case methods.Exact:
		check(c.Verify == methods.VerifyExact, "--verify %s: --keys exact needs the full sets of --verify exact; give --keys minhash", c.Verify)
	case methods.All:
		check(c.Verify != methods.VerifyNone, "--verify none: with --keys all every pair would be one; give exact or sketch")
	case methods.SimHash:
		if c.scoring() == methods.Hamming {
			check(c.Threshold == usualThreshold, "--threshold %g: is of the Jaccard similarity; with --score hamming --hamming says how near is near", c.Threshold)
		} else {
			check(c.Recall != 1, "--recall 1: SimHash keys cannot promise it, as fingerprints of similar documents may be far apart; --keys exact can")
		}
		if c.Hamming >= c.Bits && c.Bits >= 64 {
			check(false, "--hamming %d: must be below --bits %d", c.Hamming, c.Bits)
		} else if _, err := lshbands.PlanTables(c.Bits, c.Hamming); err != nil && c.Hamming >= 0 && c.Bits > 0 && c.Bits%64 == 0 {
			check(false, "--hamming %d, --bits %d: %v; more bits leave room for a larger distance", c.Hamming, c.Bits, err)
		}
	}
	check(c.Score != methods.Hamming || keys == methods.SimHash, "--score hamming: compares SimHash fingerprints, which are the keys of --keys simhash, not of --keys %s", keys)
	check(c.scoring() != methods.Hamming || c.Verify == methods.VerifyExact, "--verify %s: is about sets, --score hamming compares fingerprints; leave it out", c.Verify)
}

// scoring returns what makes two documents near-duplicates.
func (c *Config) scoring() methods.Scoring {
	switch {
	case c.Score != methods.AutoScoring:
		return c.Score
	case c.keys() == methods.SimHash:
		return methods.Hamming
	}
	return methods.Jaccard
}

// keys returns how documents are brought together.
func (c *Config) keys() methods.Name {
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

// recall returns the recall that is promised at the threshold.
func (c *Config) recall() float64 {
	switch {
	case c.keys() != methods.MinHash:
		return 1
	case c.Recall == 0:
		return usualRecall
	}
	return c.Recall
}

// autoAudit is how many documents an audit samples at most unless told otherwise.
// Its work is bounded, so long or much alike documents are fewer.
const autoAudit = transforms.UsualSample

// auditSample returns how many documents are to be sampled, 0 for none.
func (c *Config) auditSample() (int, error) {
	switch c.Audit {
	case "off":
		return 0, nil
	case "auto":
		switch {
		case c.Verify != methods.VerifyExact || slices.Contains([]methods.Name{methods.Exact, methods.All, methods.Passages}, c.keys()) || c.scoring() == methods.Hamming:
			return 0, nil
		}
		return autoAudit, nil
	}
	n, err := strconv.Atoi(c.Audit)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("--audit %s: must be auto, off or a number above 0", c.Audit)
	}
	if c.scoring() == methods.Hamming {
		return 0, fmt.Errorf("--audit %d: measures the recall of pairs by their Jaccard similarity; with --score hamming leave it out", n)
	}
	if c.Verify != methods.VerifyExact {
		return 0, fmt.Errorf("--audit %d: counts exactly, for which it needs the full sets of --verify exact", n)
	}
	return n, nil
}

// checkMeasure checks what is done to texts.
func (c *Config) checkMeasure(check func(ok bool, format string, args ...any)) {
	if c.Features != "" {
		check(len(c.Weight) == 0 && c.StopWords == "" && c.Normalize == sketch.Normalization{},
			"--weight, --stopwords and --normalize are for texts; with --features leave them out")
	}
	if len(c.Weight) > 0 {
		check(c.TextField == defaultTextField || c.TextField == "", "--weight names the text fields; leave --text-field out")
	}
	for field, weight := range c.Weight {
		check(field != "" && weight > 0 && !math.IsInf(weight, 0), "--weight %s=%g: must be a field and a number above 0", field, weight)
	}
	check(c.StopWordUse == sketch.RemoveStopWords || c.StopWordUse == sketch.RequireStopWords, "--stopwords-use %s: must be remove or require", c.StopWordUse)
	check(c.Bits >= 64 && c.Bits <= sketch.MostSimHashBits && c.Bits%64 == 0, "--bits %d: must be a multiple of 64 from 64 to %d", c.Bits, sketch.MostSimHashBits)
}

// defaultTextField is what --text-field is unless given.
const defaultTextField = "text"

// textFields returns the fields of a document's texts and their weights, none
// where there is but one.
func (c *Config) textFields() (fields []string, weights []float64) {
	if len(c.Weight) == 0 {
		return []string{c.TextField}, nil
	}
	fields = slices.Sorted(maps.Keys(c.Weight))
	for _, field := range fields {
		weights = append(weights, c.Weight[field])
	}
	return fields, weights
}

// readStopWords returns the list of stop words as it is in its file, empty if
// none is named.
func (c *Config) readStopWords() (string, error) {
	if c.StopWords == "" {
		return "", nil
	}
	list, err := os.ReadFile(c.StopWords)
	if err != nil {
		return "", fmt.Errorf("--stopwords: %w", err)
	}
	normalizer, err := sketch.NewNormalizer(c.Normalize)
	if err != nil {
		return "", fmt.Errorf("--normalize: %w", err)
	}
	words, err := sketch.ReadStopWords(bytes.NewReader(list), normalizer)
	if err == nil && words.Len() == 0 {
		err = errors.New("it holds no word")
	}
	if err != nil {
		return "", fmt.Errorf("--stopwords %s: %w", c.StopWords, err)
	}
	return string(list), nil
}

// scheme returns the bands and rows of the job, none where its keys are others.
func (c *Config) scheme() (lshbands.Scheme, error) {
	if c.keys() != methods.MinHash {
		return lshbands.Scheme{}, nil
	}
	return lshbands.Plan(c.Threshold, c.recall(), lshbands.Scheme{Bands: c.Bands, Rows: c.Rows})
}

// Hash identifies the choices that can change clusters and pairs, and nothing
// else: two runs of equal hash over one corpus give the same bytes.
func (c *Config) Hash() string {
	choices := *c
	choices.Input, choices.Reference, choices.Output, choices.Overwrite, choices.Temp, choices.Lanes, choices.Memory = nil, nil, "", false, "", 0, 0
	choices.Keys, choices.Recall = c.keys(), c.recall()
	choices.Emit, choices.MaxRejects, choices.Format, choices.Audit = nil, 0, "", ""
	choices.Score = c.scoring()
	if c.keys() != methods.SimHash {
		choices.Bits, choices.Hamming = 0, 0
	}
	if c.scoring() == methods.Hamming {
		choices.Threshold = 0
	}
	if list, err := c.readStopWords(); err == nil && list != "" {
		choices.StopWords = list // what counts is what is in the file
	}
	// Plain strings and numbers always encode.
	b, _ := json.Marshal(choices)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// indexHash is what an index keeps of Hash, to know the summary beside it again. The
// list of stop words is in the index: its file may change.
func (c *Config) indexHash() string {
	choices := *c
	choices.StopWords = ""
	return choices.Hash()
}

const (
	// splitBytes is how much input a task reads: enough to make the cost of a
	// task nothing, little enough that the last ones end together.
	splitBytes = 8 << 20
	maxSplits  = 1024
)

// job returns what the workers need to know, for inputs of that many bytes of
// text and the run's folders.
func (c *Config) job(scheme lshbands.Scheme, bytes int64, splits int, temp, partial, inputs string) transforms.Job {
	lanes := c.Lanes
	if lanes == 0 {
		lanes = work.Cores()
	}
	if c.Similarity == methods.Containment {
		bytes *= passageKeyBytes
	}
	plan := planMemory(int64(c.Memory), bytes, min(lanes, work.Cores()))
	fields, weights := c.textFields()
	auditSample, _ := c.auditSample() // Validate has checked it
	simHashBits := 0
	if slices.Contains(c.emit(), output.Sketches) || c.keys() == methods.SimHash {
		simHashBits = c.Bits
	}
	job := transforms.Job{
		Temp: temp, Partial: partial, Inputs: inputs,
		Fields:        corpus.Fields{ID: c.IDField, Texts: fields, Features: c.Features},
		MaxDocument:   int64(c.MaxDocument),
		Measure:       sketch.Measure{Shingle: c.Shingle, CJKSplit: c.CJKSplit, Seed: c.Seed},
		Normalization: c.Normalize,
		StopWordUse:   c.StopWordUse,
		Weights:       weights,
		SimHashBits:   simHashBits,
		Similarity:    c.Similarity,
		Threshold:     c.Threshold,
		Keys:          c.keys(),
		Scoring:       c.scoring(),
		AllPairsUpTo:  c.allPairsUpTo(),
		Distance:      c.Hamming,
		Scheme:        scheme,
		Verify:        c.Verify,
		Keep:          c.Keep,
		Split:         c.Split,
		Emit:          c.emit(),
		Format:        c.OutputFormat,
		ConfigHash:    c.indexHash(),
		Lanes:         lanes,
		Splits:        splits,
		Shards:        plan.shards,
		RunBytes:      plan.runBytes,
		WindowBytes:   plan.windowBytes,
		ReleaseRuns:   isLocal(),
		AuditSample:   auditSample,
		PlaceBytes:    plan.placeBytes,
		Bounds:        transforms.UsualBounds(),
	}
	if c.Similarity == methods.Containment {
		c.fitContainment(&job)
	}
	return job
}
