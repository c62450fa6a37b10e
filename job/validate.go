package job

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// checker collects the faults of a configuration. Unless ok, it adds the message, whose format is as in
// [setting.Errorf].
type checker func(ok bool, format string, args ...any)

// err adds the message with an error behind it, unless that is nil. Without a message it adds the error.
func (check checker) err(err error, format string, args ...any) {
	if format != "" {
		format += ": "
	}
	check(err == nil, format+"%w", append(args, err)...)
}

// Validate reports every fault of the configuration at once. Each fault is a message that names settings;
// [setting.Text] turns them into the names that the reader knows.
func (c *Config) Validate() error {
	var faults []error
	check := checker(func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, setting.Errorf(format, args...))
		}
	})
	for _, name := range c.Given {
		check(defaults()[name].IsValid(), "there is no setting %q to be given", name)
	}
	c.checkValues(check)
	c.checkInput(check)
	c.checkEffects(check)
	c.checkMeasure(check)
	c.checkFingerprints(check)
	c.checkSimilarity(check)
	_, err := c.auditSample()
	check.err(err, "")
	percent := ""
	if c.Threshold >= 10 && c.Threshold <= 100 {
		percent = fmt.Sprintf("; %g %% is %g", c.Threshold, c.Threshold/100)
	}
	check(c.Threshold > 0 && c.Threshold <= 1, "{threshold} %g: must be above 0 and at most 1%s", c.Threshold, percent)
	c.checkKeys(check)
	c.checkCommon(check)
	check(c.Bands >= 0 && c.Bands <= lshbands.MaxBands, "{bands} %d: must be from 0 to %d", c.Bands, lshbands.MaxBands)
	check.err(c.CheckSketchSize(), "")
	check(c.SketchSize == 0 || c.makesSketches(),
		"{sketch_size} %d: is for {verify} sketch or none, and for {emit} sketches", c.SketchSize)
	c.checkOutput(check)
	c.checkState(check)
	check(!c.Resume || !c.Seed.IsDrawn,
		"{seed} %s: a job that continues another one needs its seed: give a number with {resume}",
		RandomSeed)
	c.checkGuards(check)
	c.checkMirroring(check)
	c.checkTrimming(check)
	check(c.WorkerMemory == 0 || c.WorkerMemory >= LeastMemory,
		"{worker_memory} %d: must be at least 100MiB, or 0 for {memory}", c.WorkerMemory)
	check(c.WorkerMemory == 0 || !IsLocal(c.Runner),
		"{worker_memory} is for workers of a cluster, and the local runner has none: give {memory}")
	check(c.Memory == 0 || c.Memory >= LeastMemory, "{memory} %d: must be at least 100MiB, or 0 for no bound", c.Memory)
	check(c.StorageTimeout == 0 || c.StorageTimeout >= LeastStorageTimeout,
		"{storage_timeout} %v: must be at least %v, or 0 for 2m", c.StorageTimeout, LeastStorageTimeout)
	if len(faults) == 0 {
		_, err := c.Scheme()
		check.err(err, "")
	}
	return errors.Join(faults...)
}

// The sizes of sketches. Below the least, an estimate says little: its standard error is up to 9 %. Few sets have more
// hashes than the largest, whose standard error is below 1 %.
const (
	leastSketch = 32
	mostSketch  = 4096
)

// CheckSketchSize returns an error unless SketchSize is in range. Any number will do: no kernel asks for a multiple.
func (m *Measure) CheckSketchSize() error {
	if m.SketchSize != 0 && (m.SketchSize < leastSketch || m.SketchSize > mostSketch) {
		return setting.Errorf("{sketch_size} %d: must be from %d to %d, or 0 for %d", m.SketchSize, leastSketch,
			mostSketch, documents.UsualSmallest)
	}
	return nil
}

func (c *Config) checkInput(check checker) {
	check(len(c.Input) > 0, "{input}: give at least one file, folder or pattern")
	check(!slices.Contains(c.Input, ""), "{input}: one is empty, give a file, folder or pattern")
	check(c.Output != "", "{output}: give a folder")
	for _, folder := range []struct{ setting, path string }{{"output", c.Output}, {"temp", c.Temp}} {
		check.err(CheckPlace(folder.setting, folder.path), "")
	}
	for name, patterns := range map[string][]string{"include": c.Include, "exclude": c.Exclude} {
		for _, pattern := range patterns {
			check.err(corpus.CheckPattern(pattern), "{"+name+"} %q", pattern)
		}
	}
	for _, mark := range []struct {
		setting, value string
		parse          func(string) (byte, error)
	}{
		{"delimiter", c.Delimiter, corpus.ParseDelimiter},
		{"quote", c.Quote, corpus.ParseQuote},
		{"escape", c.Escape, corpus.ParseMark},
	} {
		_, err := mark.parse(mark.value)
		check.err(err, "{"+mark.setting+"} %s", mark.value)
	}
	if _, _, known := webtext.Charset(c.Encoding); c.Encoding != "" {
		check(known,
			"{encoding} %s: must be the name of an encoding of the web, such as windows-1252, shift_jis or utf-16le",
			c.Encoding)
	}
	check(c.TextField != "", "{text_field}: must not be empty")
	check(c.MaxDocument > 0 && c.MaxDocument < 1<<32, "{max_document} %d: must be above 0 and below 4GiB",
		c.MaxDocument)
	check(c.MaxRejects >= -1, "{max_rejects} %d: must be 0 or more, or -1 for no limit", c.MaxRejects)
}

// CheckLocal refuses an address, such as s3://bucket/folder, as the value of a setting that takes a path. Nobody wants
// a folder with the name "s3:".
func CheckLocal(name, path string) error {
	if strings.Contains(path, "://") {
		return setting.Errorf("{"+name+"} %s: only local paths can be used, not addresses: give a path such as out/",
			path)
	}
	return nil
}

// CheckPlace refuses an address that no storage knows, and one to which nothing can be written, as the value of a
// setting that takes a path or an address.
func CheckPlace(name, path string) error {
	s, err := storage.Of(path)
	if err == nil && s == (storage.Local{}) {
		return CheckLocal(name, path)
	}
	if err != nil {
		return setting.Errorf("{"+name+"} %w", err)
	}
	if storage.IsReadOnly(path) {
		return setting.Errorf("{"+name+"} %s: nothing can be written there: give a folder of the disk or of a bucket",
			path)
	}
	return nil
}

func (c *Config) checkMeasure(check checker) {
	check.err(c.Tokens.Check(), "{tokens} %s", c.Tokens)
	check(c.FeatureWeight <= 0 || c.Features != "", "{feature_weight} %d: is for {features}, which names their field",
		c.FeatureWeight)
	if c.Features != "" && c.FeatureWeight <= 0 {
		check(len(c.Ignore) == 0,
			"{ignore}: base texts are texts; with {features} leave it out, or give {feature_weight}")
		check(len(c.Weight) == 0 && c.StopWords == "" && c.Normalize == sketch.Normalization{} &&
			c.Code == sketch.Code{},
			"{weight}, {stopwords}, {normalize} and {code} are for texts; with {features} leave them out, "+
				"or give {feature_weight}")
	}
	if len(c.Weight) > 0 {
		check(c.TextField == "" || !c.isGiven("text_field"), "{weight} names the text fields; leave {text_field} out")
	}
	for field, weight := range c.Weight {
		check(field != "" && weight > 0 && !math.IsInf(weight, 0),
			"{weight} %s=%g: must be a field and a number above 0", field, weight)
	}
	check(!slices.Contains(c.Ignore, corpus.Stdin),
		"{ignore} -: base texts are read before all else; write the standard input to a file first")
	check(sketch.IsSimHashLength(c.Bits), "{bits} %d: must be 32, or a multiple of 64 up to %d", c.Bits,
		sketch.MostSimHashBits)
}

// ofTexts are settings that say how texts are read or what makes them similar.
var ofTexts = []string{
	"text_field", "text_format", "html_text", "weight", "features", "feature_weight", "tokens", "code", "normalize",
	"stopwords", "stopwords_use", "ignore", "shingle", "min_shingles", "common", "threshold", "verify",
}

func (c *Config) checkFingerprints(check checker) {
	encoding := c.FingerprintEncoding
	if c.Fingerprints == "" {
		check(encoding == "", "{fingerprint_encoding} %s: is for {fingerprints}, which names their field", encoding)
		return
	}
	for _, name := range ofTexts {
		check(!c.isGiven(name), "{"+name+"}: is for texts, and {fingerprints} replace them; leave it out")
	}
	check(c.Scorer().IsDistance,
		"{fingerprints}: are compared by {hamming}; leave {similarity}, {keys} and {score} out")
	check(encoding != corpus.Decimal || c.Bits <= 64,
		"{fingerprint_encoding} decimal: is for 32 and 64 {bits}; give {fingerprint_encoding} hex or base64")
}

func (c *Config) checkSimilarity(check checker) {
	check(c.Rarity >= 0 && !math.IsInf(c.Rarity, 0), "{rarity} %g: must be a number above 0, or 0 for none", c.Rarity)
	c.checkRefusals(check)
	if c.Scorer().HasClusters {
		return
	}
	check(c.Excerpt == 0 || c.Excerpt >= sketch.LeastSpan, "{excerpt} %d: must be at least %d words, or 0 for none",
		c.Excerpt, sketch.LeastSpan)
	check(c.Passage == 0 || c.Passage >= leastPassage && c.Passage <= 64,
		"{passage} %d: must be from %d to 64 words, or 0 for %d", c.Passage, leastPassage, methods.PassageWords)
	c.checkRarity(check)
	for _, name := range c.Outputs() {
		check(name == output.Pairs,
			"{emit} %s: with {similarity} containment there are pairs only: "+
				"one that has a passage of another is no copy of it", name)
	}
}

// leastPassage is the least number of words of a passage under which documents meet. Nearly all documents have two
// words in a row in common.
const leastPassage = 3

func (c *Config) checkRarity(check checker) {
	if c.Rarity == 0 {
		return
	}
	check(c.State == "", "{rarity}: depends on the whole corpus, and cannot be used with a {state} in this version")
	check(!c.Resume, "{resume}: cannot be used with {rarity} in this version")
}

func (c *Config) checkKeys(check checker) {
	name, method := c.Method(), c.method()
	check(c.Recall >= 0 && c.Recall <= 1 && !(c.Recall == 0 && slices.Contains(c.Given, "recall")),
		"{recall} %g: must be above 0 and at most 1", c.Recall)
	check(c.Hamming >= 0, "{hamming} %d: must be 0 or more", c.Hamming)
	if !method.Settings.Distance {
		check(!c.isGiven("hamming") || c.Hamming < 0, "{hamming} %d: is for {keys} simhash", c.Hamming)
		check(!c.isGiven("bits") || !sketch.IsSimHashLength(c.Bits) || slices.Contains(c.Outputs(), output.Sketches),
			"{bits} %d: is for {keys} simhash and {emit} sketches", c.Bits)
		check(len(c.Blocks) == 0, "{blocks} %s: is for the fingerprints of {keys} simhash", BlocksText(c.Blocks))
	}
	if method.Settings.Bands {
		check(c.Recall != 1, "{recall} 1: MinHash cannot promise it; {keys} exact can")
	} else if slices.Contains(methods.Resembling(), name) {
		check(c.Bands == 0 && c.Rows == 0,
			"{bands} and {rows} set the keys of {keys} minhash; with {keys} %s leave them out", name)
		check(!(c.Recall > 0 && c.Recall < 1),
			"{recall} %g: applies only to {keys} minhash; with {keys} %s leave it out", c.Recall, name)
	}
	check(method.Reads&methods.ReadsContent == 0 || !c.Scorer().HasClusters || c.Scorer().IsExact,
		"{verify} %s: {keys} %s needs the full sets of {verify} exact; give {keys} minhash", c.Verify, name)
	if method.Settings.Distance {
		c.checkSimHash(check)
	}
	isScored := !c.Scorer().HasClusters || c.Score == methods.AutoScoring ||
		slices.Contains(method.Scorings, c.Score) || !slices.Contains(methods.Scorings, c.Score)
	check(isScored,
		"{score} hamming: compares SimHash fingerprints, which are the keys of {keys} simhash, not of {keys} %s", name)
	check(!c.Scorer().IsDistance || c.Scorer().IsExact,
		"{verify} %s: is about sets, {score} hamming compares fingerprints; leave it out", c.Verify)
}

func (c *Config) checkSimHash(check checker) {
	if c.Scorer().IsDistance {
		check(!c.isGiven("threshold"),
			"{threshold} %g: is a Jaccard similarity; with {score} hamming, {hamming} sets the largest distance",
			c.Threshold)
	} else {
		check(c.Recall != 1,
			"{recall} 1: SimHash keys cannot promise it, as fingerprints of similar documents may be far apart; "+
				"{keys} exact can")
	}
	if c.Hamming < 0 || !sketch.IsSimHashLength(c.Bits) {
		return
	}
	_, err := lshbands.PlanTables(c.Bits, c.Hamming)
	if c.Hamming >= c.Bits {
		check(false, "{hamming} %d: must be below {bits} %d", c.Hamming, c.Bits)
	} else if err != nil {
		check(false, "{hamming} %d, {bits} %d: %w; more bits leave room for a larger distance", c.Hamming, c.Bits, err)
	} else if _, err := lshbands.PlanTables(c.Bits, c.Hamming, c.Blocks...); err != nil {
		check(false, "{blocks} %s: %w; without {blocks} there are usual ones", BlocksText(c.Blocks), err)
	}
}

// OutputNames returns the names that [Config.Emit] may have, without the usual output.
func OutputNames() []string {
	return slices.DeleteFunc(output.All(), func(name string) bool {
		return name == output.Rejects || name == output.Changes // which are not chosen
	})
}

// noOutputs says what to use instead of names that may be taken for outputs.
var noOutputs = map[string]string{
	"report": "the page is no output of a job: give --report, or run 'runjob report' on the results",
	"boilerplate": "is not an output any more: passages has each passage that occurs earlier, and where it occurs " +
		"first",
	"index": "is not an output any more: give a {state}, and search it with 'runjob query --state'",
}

func (c *Config) checkOutput(check checker) {
	check(len(c.Emit) > 0, "{emit}: name at least one output")
	for _, name := range c.Outputs() {
		instead := noOutputs[name]
		check(instead == "", "{emit} %s: "+instead, name)
		if instead == "" {
			check.err(CheckValue("emit", name), "")
		}
	}
	check(c.Kind().HasShingles || !slices.Contains(c.Outputs(), output.Sketches),
		"{emit} sketches: has fingerprints of shingles, and {keys} %s makes none", c.Method())
	check(c.Across == "" || c.Across != c.Within,
		"{within} and {across} %s: no two documents both share a value and differ in it", c.Across)
	// Documents of the reference are not compared with each other either. A class of equal documents would need four to
	// stand for it, not two.
	check(c.Across == "" || len(c.Reference) == 0,
		"{reference}: cannot be used with {across}; give its files to {input}, "+
			"and let {keep} rank:FILE prefer their sources")
	check(c.Layout != output.Tree || c.EmitsCopies(),
		"{layout} tree: is for {emit} unique, annotated and trimmed: name one of them")
	for _, name := range c.Columns {
		check.err(CheckValue("columns", name), "")
	}
	name, _ := c.AddsColumns()
	check(len(c.Columns) == 0 || name != "", "{columns}: is for {emit} unique and annotated: name one of them")
	check.err(c.Keep.Check(), "{keep} %s", c.Keep)
	c.checkDrop(check)
	c.checkVariants(check)
	_, err := c.RemoveIf.Contained()
	check.err(err, "{remove_if} %s", c.RemoveIf)
	if scorer := c.Scorer(); c.RemoveIf != "" {
		check(scorer.HasClusters && scorer.IsExact && !scorer.IsDistance,
			"{remove_if}: compares the whole sets of {similarity} jaccard with {verify} exact: leave it out")
		check(c.Drop != keep.Clusters,
			"{remove_if}: compares with the document that stays, and with {drop} clusters none does: leave it out")
	}
}

func (c *Config) checkVariants(check checker) {
	check(!c.Variants.Keeps() || c.Scorer().HasClusters,
		"{variants} %s: keeps documents that would be removed, and {similarity} containment removes none: leave it out",
		c.Variants)
	check(!c.Variants.Keeps() || c.Features == "" && c.Fingerprints == "",
		"{variants} %s: compares the words of texts, and {features} and {fingerprints} have none: leave it out",
		c.Variants)
}

func (c *Config) checkDrop(check checker) {
	preset, err := PresetNamed(c.Preset)
	isOfPreset := err == nil && c.Keep == preset.Config().Keep && !slices.Contains(c.Given, "keep")
	chosenKeep := c.isGiven("keep") && !isOfPreset
	switch c.Drop {
	case keep.Clusters:
		check(!chosenKeep || c.Split == keep.Star,
			"{keep} %s: says which document of a cluster stays, and with {drop} clusters none does: leave it out",
			c.Keep)
	case keep.Reference:
		check(len(c.Reference) > 0, "{drop} reference: removes what is like a document of a {reference}: give one")
		check(!chosenKeep,
			"{keep} %s: says which document of a cluster stays, and with {drop} reference those of the {reference} "+
				"do: leave it out", c.Keep)
	}
}

// EmitsCopies reports whether the job writes an output with records of the input.
func (c *Config) EmitsCopies() bool {
	return slices.ContainsFunc(output.Copies, func(name string) bool { return slices.Contains(c.Outputs(), name) })
}

// CheckIndex says why an index cannot hold the documents of the job; nil if it can. It tells what an index does.
func (c *Config) CheckIndex() error {
	switch {
	case !c.Scorer().HasClusters:
		return setting.Errorf("has sets of shingles, and {similarity} containment keeps sequences: compare new " +
			"documents by a run with this {state}, the present {input} as {reference} and the new ones as {input}")
	case !c.Kind().HasShingles && !c.Kind().HasColumns:
		return setting.Errorf("has fingerprints of shingles, and {keys} %s makes none: make a state with other {keys}",
			c.Keys)
	case !c.Scorer().IsExact:
		return setting.Errorf("has the full sets of {verify} exact, which {verify} %s does not keep: make a state "+
			"with that", c.Verify)
	case c.Within != "":
		return setting.Errorf("answers from all documents, and not from those of one {within}: make a state without it")
	}
	return nil
}

func (c *Config) checkRefusals(check checker) {
	usual := Default()
	all := []Affects{Sketches, Results, Outputs, Nothing}
	own, others := c.choices(all...), usual.choices(all...)
	if len(own) == 0 {
		return // a setting is NaN or infinite, which no JSON has: the check of that setting says so
	}
	for _, r := range c.method().Refusals() {
		name := r.Setting
		differs := !bytes.Equal(own[name], others[name])
		switch {
		case name == "stopwords_use" && c.StopWords == "":
			continue // it says nothing without a list
		case differs:
			differs = !r.Accepts(strings.Trim(string(own[name]), `"`))
		case r.IfGiven:
			differs = slices.Contains(c.Given, name)
		}
		check(!differs, "{"+name+"}%s: "+r.Why, valueText(own[name]))
	}
}

// valueText writes a value in JSON as it is behind the name of its setting. Lists and the like are left out.
func valueText(value json.RawMessage) string {
	var one any
	if err := json.Unmarshal(value, &one); err != nil {
		return ""
	}
	switch one.(type) {
	case string, float64:
		return fmt.Sprintf(" %v", one)
	}
	return ""
}

// FailCondition returns the condition of [Config.FailOn] that there is a change of a kind, such as "new-clusters". Of
// is one of [output.Followed]. Of protected sites it is "protected-changed".
func FailCondition(kind, of string) string {
	if of == output.Protected {
		return of + "-" + kind
	}
	return kind + "-" + of
}

// FailConditions returns the conditions that [Config.FailOn] may hold.
func FailConditions() []string {
	conditions := slices.Clone(runConditions)
	for _, of := range output.Followed {
		for _, kind := range output.ChangeKindsOf(of) {
			conditions = append(conditions, FailCondition(kind, of))
		}
	}
	return conditions
}

// The conditions of [Config.FailOn] about the run itself, which need no state.
const (
	FailOnRejects = "rejects"
	FailOnDamaged = "damaged-files"
	FailOnPanics  = "panics" // the program panicked over a document
)

var runConditions = []string{FailOnRejects, FailOnDamaged, FailOnPanics}

func (c *Config) checkFailOn(check checker) {
	for _, condition := range c.FailOn {
		check(slices.Contains(FailConditions(), condition), "{fail_on} %s: must be one of %v", condition,
			FailConditions())
		if slices.Contains(runConditions, condition) {
			continue
		}
		check(c.Scorer().HasClusters, "{fail_on} %s: is about clusters, which {similarity} containment has none of",
			condition)
		check(c.State != "", "{fail_on} %s: is about a {state}: give one, or leave it out", condition)
		_, of, _ := strings.Cut(condition, "-")
		isOfSuspects := of == output.Suspects || condition == FailCondition(output.Changed, output.Protected)
		isOfSites := of == output.Mirrors || isOfSuspects
		check(!isOfSites || c.HasSites(), "{fail_on} %s: is for {emit} mirrors, sites and suspects", condition)
		check(!isOfSuspects || !c.HasSites() || c.Protected != "",
			"{fail_on} %s: suspects are copies of {protected} sites; give a list of these", condition)
	}
}

func (c *Config) checkState(check checker) {
	c.checkFailOn(check)
	check(c.RemovalLimit >= 0 && c.RemovalLimit <= 1, "{removal_limit} %g: must be from 0 to 1", c.RemovalLimit)
	if c.State == "" {
		about := []string{"add", "rebuild", "republish", "removal_limit", "allow_removal", "allow_older_state"}
		for _, s := range SettingsOf(c) {
			check(s.IsDefault() || !slices.Contains(about, s.Name),
				"{"+s.Name+"} is about a {state}: give one, or leave it out")
		}
		return
	}
	check.err(CheckPlace("state", c.State), "")
	for _, other := range []struct{ setting, folder string }{{"output", c.Output}, {"temp", c.TempFolder()}} {
		check(!storage.Contains(c.State, other.folder),
			"{"+other.setting+"} %s: is in the folder of {state}, which is for the state alone: name one outside of it",
			other.folder)
	}
	check(!c.Resume,
		"{resume}: the next run with a {state} removes what a dead one has left there, so nothing could be resumed; "+
			"leave {resume} out")
	check(!slices.Contains(c.Input, corpus.Stdin) && !slices.Contains(c.Reference, corpus.Stdin),
		"{input} -: a {state} knows files by their names; write the standard input to a file first")
}
