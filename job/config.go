// Package job holds the configuration of a job: its settings, their checks, the choices that follow from them, and
// which settings change sketches and results. It knows nothing of flags, nor of what runs the job.
package job

import (
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/site"
	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/keep/variants"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/passages/trim"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/sketch"
)

// Measure says how documents are read and what makes two of them near-duplicates.
type Measure struct {
	// Preset names the bundle of settings that those not chosen come from; empty for none. It only names them:
	// [Preset.Config] has them.
	Preset string `json:"preset,omitempty" affects:"nothing"`

	// Reference names a reference corpus in the way that [Config.Input] names the input. Near-duplicates of its
	// documents are removed from the input. Its own documents are never removed, and not compared with each other.
	Reference []string `json:"reference,omitempty" affects:"nothing"`

	// Include and Exclude hold patterns for files of folders and patterns, of the input and the reference, see
	// [corpus.Options]: if Include is not empty, only files that one of its patterns matches are read, and never those
	// that one of Exclude matches.
	Include []string `json:"include,omitempty" affects:"nothing"`
	Exclude []string `json:"exclude,omitempty" affects:"nothing"`
	// Format of all files: one of [corpus.FormatNames].
	Format string `json:"format" affects:"outputs"`
	// Delimiter separates the fields of CSV: a character, or tab; empty: the one that the first record of a file
	// shows. See [corpus.ParseDelimiter].
	Delimiter string `json:"delimiter,omitempty" affects:"sketches"`
	// Quote encloses fields of CSV and TSV that have delimiters in them: a character, or none; empty: a double quote in
	// CSV, none in TSV.
	Quote string `json:"quote,omitempty" affects:"sketches"`
	// Escape is the character that takes their meaning from quotes and delimiters behind it; empty: none does.
	Escape string `json:"escape,omitempty" affects:"sketches"`
	// SkipLines is how many lines stand before the header of CSV and TSV.
	SkipLines int `json:"skip_lines,omitempty" affects:"sketches" range:"0 1000"`
	// Encoding names the encoding of texts, such as windows-1252; empty: it is found, file by file.
	Encoding string `json:"encoding,omitempty" affects:"sketches"`
	// Records is the field of an object of JSON that holds a list of the records, as in data or hits.hits; empty: the
	// object is a record.
	Records string `json:"records,omitempty" affects:"sketches"`
	// IDField is the field of a record that holds its id, a string or a number. A record without an id is called
	// path:position. TextField is the field that holds the text.
	IDField   string `json:"id_field" affects:"sketches"`
	TextField string `json:"text_field" affects:"sketches"`
	// Features, if not empty, is the field that holds a document's features, which
	// stand for its text unless FeatureWeight is given.
	Features string `json:"features,omitempty" affects:"sketches"`
	// FeatureWeight, if above 0, has features next to texts, and not instead of them: each counts for this number of
	// shingles.
	FeatureWeight int `json:"feature_weight,omitempty" affects:"sketches" range:"0 1000"`
	// Fingerprints, if not empty, is the field that holds a document's fingerprint of Bits bits, which another program
	// has made. Documents have no texts then. FingerprintEncoding says how texts there are read; empty: as
	// [corpus.Hex].
	Fingerprints        string                     `json:"fingerprints,omitempty" affects:"sketches"`
	FingerprintEncoding corpus.FingerprintEncoding `json:"fingerprint_encoding,omitempty" affects:"sketches"`
	// MaxDocument is the length of the longest text, in bytes, below 4 GiB. Longer ones are rejects.
	MaxDocument ByteSize `json:"max_document" affects:"sketches" pipelines:"true"`
	// MaxExpanded is how many bytes all compressed files together may expand to; 0: no limit. More make the job fail.
	MaxExpanded ByteSize `json:"max_expanded,omitempty" affects:"outputs"`
	// TextFormat says how texts in fields of records are written.
	TextFormat webtext.Form `json:"text_format,omitempty" affects:"sketches"`
	// HTMLText says which text of web pages is read.
	HTMLText webtext.Mode `json:"html_text,omitempty" affects:"sketches"`
	// MaxRejects is the largest number of unreadable records; one more makes the job fail. -1 allows any number.
	MaxRejects int64 `json:"max_rejects" affects:"outputs"`

	// Tokens says what a token is.
	Tokens sketch.Tokens `json:"tokens" affects:"sketches" pipelines:"true"`
	// Code says how texts of program code are read: without comments, or without the names that were chosen.
	Code sketch.Code `json:"code,omitzero" affects:"sketches" pipelines:"true"`
	// Normalize says how texts are changed before they are cut into tokens.
	Normalize sketch.Normalization `json:"normalize" affects:"sketches" pipelines:"true"`
	// StopWords is the path of a list of stop words, one word a line; empty for none. StopWordUse says how the job uses
	// them.
	StopWords   string             `json:"stopwords,omitempty" affects:"sketches" pipelines:"true"`
	StopWordUse sketch.StopWordUse `json:"stopwords_use" affects:"sketches" pipelines:"true"`
	// Ignore names base texts, in the way that [Config.Input] names the input: what is in them does not count.
	Ignore []string `json:"ignore,omitempty" affects:"sketches"`
	// Weight holds text fields and their weights, which are above 0. If it is not empty, it replaces TextField.
	Weight map[string]float64 `json:"weight,omitempty" affects:"sketches"`
	// Shingle is the number of adjacent tokens in a shingle, from 1 to 64.
	Shingle int `json:"shingle" affects:"sketches" pipelines:"true" range:"1 64"`
	// MinShingles is the least number of distinct shingles of a document that is compared. One with fewer is a
	// near-duplicate only of documents with the same shingles.
	MinShingles int `json:"min_shingles,omitempty" affects:"sketches" pipelines:"true" range:"0 10000"`
	// Seed is the key of all hashes.
	Seed Seed `json:"seed" affects:"sketches" pipelines:"true"`
	// Threshold is the least Jaccard similarity of two near-duplicates, above 0 and at most 1.
	Threshold float64 `json:"threshold" affects:"results" pipelines:"true"`
	// Keys is the method that brings possibly similar documents together.
	Keys methods.Name `json:"keys" affects:"results" pipelines:"true"`
	// Recall is the least probability, above 0, that the job finds a pair whose similarity is exactly the threshold. 0
	// stands for 1, or for 0.99 with MinHash.
	Recall float64 `json:"recall" affects:"results" pipelines:"true"`
	// Bands and Rows are the bands of MinHash and the rows of each; 0: they follow from Threshold and Recall.
	Bands int `json:"bands" affects:"results" pipelines:"true"`
	Rows  int `json:"rows" affects:"results" pipelines:"true" range:"0 64"`
	// Score is what makes two documents near-duplicates.
	Score methods.Scoring `json:"score" affects:"results" pipelines:"true"`
	// Hamming is the largest number of bits in which SimHash fingerprints of near-duplicates differ. Bits is the length
	// of the fingerprints, 32 or a multiple of 64.
	Hamming int `json:"hamming" affects:"results" pipelines:"true"`
	Bits    int `json:"bits" affects:"sketches" pipelines:"true"`
	// Blocks are the numbers of blocks into which SimHash fingerprints are cut, at each of one or more levels; see
	// [lshbands.NewPermuted]. Empty: they follow from Bits and Hamming. Other blocks find the same pairs at another
	// cost.
	Blocks []int `json:"blocks,omitempty" affects:"results" pipelines:"true"`
	// SketchSize is the number of hashes, the smallest, that stand for a set where it is not whole: in pairs unless
	// [Config.Verify] is exact, and in the output of sketches. It is from 32 to 4096, or 0 for
	// [documents.UsualSmallest].
	SketchSize int `json:"sketch_size,omitempty" affects:"sketches" pipelines:"true"`
}

// Config holds everything that a user can choose. Its fields with a name in JSON are the settings. [Default] gives each
// of them its default value.
type Config struct {
	// Input holds files, folders and patterns. It is required. A folder stands for its *.jsonl, *.ndjson and *.json
	// files, plain, .gz or .zst. In a pattern, ** matches any number of folders.
	Input []string `json:"input" affects:"nothing"`

	Measure

	// Similarity is the relation that the job looks for.
	Similarity methods.Similarity `json:"similarity" affects:"results" pipelines:"true"`
	// Excerpt applies to containment: a copied passage of at least this many words makes a pair, whatever the
	// threshold. With 0 no passage does.
	Excerpt int `json:"excerpt" affects:"results" pipelines:"true"`
	// Passage applies to containment: documents with a few more than this many words in a row in common are compared,
	// from 3 to 64; 0 for [methods.PassageWords].
	Passage int `json:"passage,omitempty" affects:"results" pipelines:"true"`
	// Rarity applies to containment: the least rarity of what the two documents of a pair share; see
	// [scoring.Passages]. Pairs then tell their rarity. With 0 it does not matter.
	Rarity float64 `json:"rarity,omitempty" affects:"results"`
	// NoQuotations applies to containment: it leaves out text between quotation marks, and lines that begin with ">".
	NoQuotations bool `json:"no_quotations" affects:"results" pipelines:"true"`
	// Within is a field of records: only documents that share its value are compared. Documents without a value share
	// that. Empty: all documents are compared.
	Within string `json:"within,omitempty" affects:"sketches"`
	// Across is a field of records: only documents that differ in its value are compared. Documents without a value do
	// not differ from each other. Empty: all documents are compared.
	Across string `json:"across,omitempty" affects:"results"`

	// Common says which shingles do not count, as too many documents have them; see [common.ParseLaw].
	Common string `json:"common,omitempty" affects:"results"`
	// Verify says what evidence a pair rests on.
	Verify methods.Verification `json:"verify" affects:"results" pipelines:"true"`
	// Audit is "auto", "off", or the number of documents in the sample that measures the recall.
	Audit string `json:"audit" affects:"outputs"`

	// Output is the folder for the results. It is required. It must be empty or new, unless Overwrite allows the job to
	// replace the results of an earlier job.
	Output    string `json:"output" affects:"nothing"`
	Overwrite bool   `json:"overwrite" affects:"nothing"`
	// Emit names the outputs to write. The list {"auto"} stands for clusters, or for pairs with containment.
	Emit         []string      `json:"emit" affects:"outputs"`
	OutputFormat output.Format `json:"output_format" affects:"results"`
	// Layout says which names the files get that have records of the input.
	Layout output.Layout `json:"layout,omitempty" affects:"outputs"`
	// Columns are fields that records of unique and annotated get; see [ColumnsOf].
	Columns []string `json:"columns,omitempty" affects:"outputs"`
	// Keep says which documents of a cluster are preferred.
	Keep preference.Preference `json:"keep" affects:"results" pipelines:"true"`
	// SourceField is the field of a record that holds its source, for the table of sources and a list of preferred
	// ones; empty: the source is the name of its file, in the table the name of a file or a folder.
	SourceField string `json:"source_field,omitempty" affects:"results"`
	// Split says what makes a cluster.
	Split keep.Split `json:"split" affects:"results" pipelines:"true"`
	// Drop says which documents of clusters are removed; empty stands for copies.
	Drop keep.Drop `json:"drop,omitempty" affects:"results" pipelines:"true"`
	// RemoveIf is a further condition for the removal of a document; empty: none.
	RemoveIf keep.Condition `json:"remove_if,omitempty" affects:"results" pipelines:"true"`
	// Variants says whether similar documents that are about different things are removed for each other.
	Variants variants.Rule `json:"variants,omitempty" affects:"results" pipelines:"true"`

	Trimming
	Mirroring

	// Temp is the folder for temporary files; empty: one next to the output.
	Temp string `json:"temp" affects:"nothing" pipelines:"true"`
	// Resume keeps what the job has done if it dies, and goes on from there if an earlier job of the same
	// configuration, inputs and program has died.
	Resume bool `json:"resume,omitempty" affects:"nothing"`
	// State is the folder, on the disk or in a bucket, that keeps what the next run of the job need not do again; empty
	// for none.
	State string `json:"state,omitempty" affects:"nothing"`
	// Add leaves the files in the corpus that the state knows and Input does not name.
	Add bool `json:"add,omitempty" affects:"nothing"`
	// Rebuild reads all files again, and allows other settings than the state's.
	Rebuild bool `json:"rebuild,omitempty" affects:"nothing"`
	// Republish makes the results again even if nothing has changed since the last run.
	Republish bool `json:"republish,omitempty" affects:"nothing"`
	// RemovalLimit is the largest share of the files of the state that may have left the corpus, at most 1; 0: a tenth.
	RemovalLimit float64 `json:"removal_limit,omitempty" affects:"nothing"`
	// AllowRemoval allows that any number of them has.
	AllowRemoval bool `json:"allow_removal,omitempty" affects:"nothing"`
	// AllowOlderState allows a state that is empty, or older than the results in the output folder.
	AllowOlderState bool `json:"allow_older_state,omitempty" affects:"nothing"`
	// Guard holds shares, see [Config.Guards], above which a run that has ended well reports a failure.
	Guard []string `json:"guard,omitempty" affects:"outputs"`
	// FailOn holds conditions under which a run that has ended well reports a failure: see [FailConditions]. Those
	// about changes need a State.
	FailOn []string `json:"fail_on,omitempty" affects:"outputs"`
	// Memory is the size, in bytes, that a process aims to stay below; 0: no aim. Then a document may take what it may
	// with 600 MiB.
	Memory ByteSize `json:"memory" affects:"nothing" pipelines:"true"`
	// WorkerMemory is the same for a worker of a cluster; 0: Memory.
	WorkerMemory ByteSize `json:"worker_memory,omitempty" affects:"nothing"`
	// StorageTimeout is how long an operation on a bucket goes on that makes no progress, at least a second; 0: 2
	// minutes.
	StorageTimeout Span `json:"storage_timeout,omitempty" affects:"nothing"`
	// WaitForLease is how long a run waits at its start for another run that holds the state or the output folder.
	// Unless it is given, a run without a State does not wait.
	WaitForLease Span `json:"wait_for_lease,omitempty" affects:"nothing"`
	// Lanes is the number of tasks of a stage that a local runner works on at a time; 0: one a core.
	Lanes int `json:"lanes" affects:"nothing" pipelines:"true" range:"0 1024"`

	// Stdin is the path of a copy of the standard input, which "-" in Input or Reference stands for.
	Stdin string `json:"-"`
	// Given holds the settings that the user chose, even where the choice is the default. Use [Config.Give] to add to
	// it.
	Given []string `json:"-"`
	// Runner is the name of the Beam runner that executes the job; empty: the local one.
	Runner string `json:"-"`
	// DryRun says that the job is only checked: of many objects in a bucket, the names are enough.
	DryRun bool `json:"-"`
	// Progress, if not nil, gets a line now and then during a long step.
	Progress func(line string) `json:"-"`
	// Monitor, if not nil, shows how far the job has come.
	Monitor Monitor `json:"-"`
}

// Monitor is called when a runner begins to work on a job, with a function that tells how far the stages have come.
// That may be called at any time, and is cheap. Monitor returns a function that is called when the runner has ended.
type Monitor func(stages func() []work.StageProgress) (end func())

// autoEmit stands for the usual output of the similarity.
const autoEmit = "auto"

// Default returns the configuration of a job before anything is chosen. Input and Output are still to be set.
func Default() Config {
	return Config{
		Measure: Measure{
			Format:      corpus.AutoFormat,
			IDField:     "id",
			TextField:   "text",
			MaxDocument: 64 << 20,
			TextFormat:  webtext.Plain,
			HTMLText:    webtext.All,
			MaxRejects:  -1,
			Tokens:      sketch.ScriptTokens,
			StopWordUse: sketch.RemoveStopWords,
			Shingle:     3,
			Threshold:   0.8,
			Keys:        methods.Auto,
			Score:       methods.AutoScoring,
			Hamming:     3,
			Bits:        64,
		},
		WaitForLease: usualLeaseWait,
		Similarity:   methods.Resemblance,
		Excerpt:      50,
		Verify:       methods.VerifyExact,
		Audit:        "auto",
		Emit:         []string{autoEmit},
		OutputFormat: output.JSONL,
		Layout:       output.Shards,
		Keep:         preference.First,
		Split:        keep.Component,
		Drop:         keep.Copies,
		Variants:     variants.Warn,
		Trimming:     Trimming{PassageWords: 50, PassageUnit: trim.Words, PassageCopies: 2, MinWords: 1},
		Mirroring: Mirroring{
			URLField:        "url",
			DateField:       "date",
			Site:            site.Host,
			MirrorThreshold: 0.5,
			MirrorPages:     3,
			MirrorSites:     100,
		},
	}
}

// Rule returns what makes a cluster, and what is removed of it.
func (c *Config) Rule() keep.Rule {
	contained, _ := c.RemoveIf.Contained() // Validate has checked it
	return keep.Rule{Split: c.Split, Drop: c.Drop, Contained: contained, Variants: c.Variants}
}

// Give marks settings as chosen, by their names in JSON such as "max_document". A setting that differs from [Default]
// counts as chosen without a mark. The mark is for a setting that was set to its default on purpose: where other
// settings make it meaningless, [Config.Validate] reports that instead of ignoring it.
func (c *Config) Give(settings ...string) {
	// A copy of the configuration must not get the new marks.
	c.Given = append(c.Given[:len(c.Given):len(c.Given)], settings...)
}

// LocalRunner is the name of the runner of this process.
const LocalRunner = "direct"

// IsLocal reports whether a runner is the one of this process. Without a name it is.
func IsLocal(runner string) bool {
	return runner == "" || runner == LocalRunner || runner == "DirectRunner"
}
