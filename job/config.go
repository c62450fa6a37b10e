// Package job holds the configuration of a job: its settings, what is wrong with them,
// what they stand for, and what of them changes sketches and results. It knows nothing
// of flags, nor of what runs the job.
package job

import (
	"mirrorbeam/internal/keep"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/output"
	"mirrorbeam/sketch"
)

// Measure is how documents are read and what makes two of them near-duplicates.
type Measure struct {
	// Reference names a reference corpus as [Config.Input] names the input. Documents of
	// the input that are near-duplicates of its documents are removed. Its own documents
	// are never removed, and not compared with each other.
	Reference []string `json:"reference,omitempty"`

	// Format of the input: "auto" or "jsonl".
	Format string `json:"format"`
	// IDField is the field of a record that holds its id, a string or a number; a record
	// without one is called path:position. TextField is the field with its text.
	IDField   string `json:"id_field"`
	TextField string `json:"text_field"`
	// Features, if not empty, is the field that holds a document's features, which
	// stand for its text.
	Features string `json:"features,omitempty"`
	// MaxDocument is the length of the longest text, in bytes, below 4 GiB. Longer
	// ones are rejects.
	MaxDocument ByteSize `json:"max_document"`
	// MaxRejects is how many records may be unreadable before the job fails; -1: any
	// number.
	MaxRejects int64 `json:"max_rejects"`

	// CJKSplit makes each Han, Kana, Thai, Lao, Khmer and Myanmar character a token.
	CJKSplit bool `json:"cjk_split"`
	// Normalize says what is done to texts first.
	Normalize sketch.Normalization `json:"normalize"`
	// StopWords is the path of a list of stop words, one a line; empty for none.
	// StopWordUse says what they are for.
	StopWords   string             `json:"stopwords,omitempty"`
	StopWordUse sketch.StopWordUse `json:"stopwords_use"`
	// Weight holds text fields and their weights, which are above 0. If it is not empty
	// it takes the place of TextField.
	Weight map[string]float64 `json:"weight,omitempty"`
	// Shingle is the number of adjacent tokens in a shingle, from 1 to 64.
	Shingle int `json:"shingle"`
	// Seed is the key of all hashes.
	Seed uint64 `json:"seed"`
	// Threshold is the least Jaccard similarity of two near-duplicates, above 0 and at
	// most 1.
	Threshold float64 `json:"threshold"`
	// Keys is how documents that may be similar are brought together.
	Keys methods.Name `json:"keys"`
	// Recall is the least probability, above 0, that a pair of exactly the threshold
	// is found. 0 stands for 1, or for 0.99 with MinHash.
	Recall float64 `json:"recall"`
	// Bands and Rows are those of MinHash; 0: from Threshold and Recall.
	Bands int `json:"bands"`
	Rows  int `json:"rows"`
	// Score is what makes two documents near-duplicates.
	Score methods.Scoring `json:"score"`
	// Hamming is the number of bits in which SimHash fingerprints may differ. Bits is
	// the length of the fingerprints, a multiple of 64.
	Hamming int `json:"hamming"`
	Bits    int `json:"bits"`
}

// Config is everything that a user can choose. Its fields with a name in JSON are the
// settings. [Default] gives them the values that they have unless chosen otherwise.
type Config struct {
	// Input are files, folders and patterns. It is required. A folder stands for its
	// *.jsonl, *.ndjson and *.json files, plain, .gz or .zst. In a pattern, ** matches
	// any number of folders.
	Input []string `json:"input"`

	Measure

	// Similarity is what is looked for.
	Similarity methods.Similarity `json:"similarity"`
	// Excerpt is, with containment, the number of words of the shortest copied passage
	// that makes a pair whatever the threshold; 0: none does.
	Excerpt int `json:"excerpt"`
	// NoQuotations leaves out, with containment, what stands between quotation marks,
	// and lines that begin with ">".
	NoQuotations bool `json:"no_quotations"`

	// Verify is what a pair rests on.
	Verify methods.Verification `json:"verify"`
	// Audit is "auto", "off", or the number of documents in the sample on which the
	// recall is measured.
	Audit string `json:"audit"`

	// Output is the folder for the results. It is required. It must be empty or new
	// unless Overwrite allows to replace the results of an earlier job.
	Output    string `json:"output"`
	Overwrite bool   `json:"overwrite"`
	// Emit names the outputs to write. The list {"auto"} stands for clusters, or for
	// pairs with containment.
	Emit         []string      `json:"emit"`
	OutputFormat output.Format `json:"output_format"`
	// Keep says which documents of a cluster are preferred.
	Keep keep.Preference `json:"keep"`
	// Split says what a cluster is.
	Split keep.Split `json:"split"`

	// Temp is the folder for temporary files; empty: one beside the output.
	Temp string `json:"temp"`
	// Memory is the size, in bytes, that a process aims to stay below; 0: no limit.
	Memory ByteSize `json:"memory"`
	// Lanes is how many tasks of a stage a local runner works on at a time; 0: one a
	// core.
	Lanes int `json:"lanes"`

	// Given holds the settings that were chosen, if only to be what they are by default.
	// Use [Config.Give] to add to it.
	Given []string `json:"-"`
	// Runner is the name of the Beam runner that the job is for; empty: the local one.
	Runner string `json:"-"`
	// Progress, if not nil, is given a line now and then where a step takes long.
	Progress func(line string) `json:"-"`
}

// autoEmit stands for the output that goes with the similarity.
const autoEmit = "auto"

// Default returns the configuration of a job for which nothing was chosen yet. Input and
// Output are still to be set.
func Default() Config {
	return Config{
		Measure: Measure{
			Format: "auto", IDField: "id", TextField: "text", MaxDocument: 64 << 20, MaxRejects: -1,
			CJKSplit: true, StopWordUse: sketch.RemoveStopWords, Shingle: 3,
			Threshold: 0.8, Keys: methods.Auto, Score: methods.AutoScoring, Hamming: 3, Bits: 64,
		},
		Similarity: methods.Resemblance, Excerpt: 50,
		Verify: methods.VerifyExact, Audit: "auto",
		Emit: []string{autoEmit}, OutputFormat: output.JSONL, Keep: keep.First, Split: keep.Component,
	}
}

// Give marks settings as chosen, by their names in JSON such as "max_document". A
// setting with another value than that of [Default] counts as chosen without a mark. So
// the mark is for one that was set to the default on purpose: where it means nothing
// beside other settings, [Config.Validate] says so instead of passing over it.
func (c *Config) Give(settings ...string) {
	// A copy of the configuration must not get them.
	c.Given = append(c.Given[:len(c.Given):len(c.Given)], settings...)
}
