package job

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"mirrorbeam/internal/carry/preference"
	"mirrorbeam/internal/measure/common"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/read/webtext"
	"mirrorbeam/internal/settle/keep"
)

// Every setting stands in one of three lists, by its name in JSON.
var (
	// sketchSettings change what is kept of a document: its id, its shingles or features, its fingerprints.
	sketchSettings = []string{
		"id_field", "text_field", "features", "feature_weight", "max_document", "text_format", "html_text", "delimiter", "quote", "escape", "skip_lines", "encoding",
		"tokens", "code", "normalize", "stopwords", "stopwords_use", "ignore", "weight", "shingle", "min_shingles", "seed", "bits", "sketch_size", "within",
	}
	// resultSettings change clusters and pairs, or the bytes of their files. So do sketchSettings, which are not
	// repeated here.
	resultSettings = []string{
		"similarity", "excerpt", "passage", "rarity", "no_quotations", "common", "threshold", "keys", "recall", "bands", "rows",
		"score", "hamming", "blocks", "verify", "across", "keep", "source_field", "split", "drop", "output_format",
	}
	// otherSettings change neither. They say where the corpus is, what else is written and where, and how the job runs.
	otherSettings = []string{
		"preset", "input", "reference", "include", "exclude", "format", "max_rejects", "max_expanded", "audit",
		"passage_words", "passage_unit", "passage_copies", "min_words",
		"url_field", "date_field", "site", "mirror_threshold", "mirror_pages", "mirror_sites", "rank", "protected", "allow",
		"output", "overwrite", "emit", "layout", "temp", "resume", "memory", "worker_memory", "lanes", "storage_timeout",
		"state", "add", "rebuild", "republish", "allow_removal", "allow_older_state", "fail_on", "guard",
	}
	// howSettings are the part of otherSettings that says where things are and how the job runs: the same files give the same results,
	// whatever they are.
	howSettings = []string{
		"preset", "input", "reference", "include", "exclude", "output", "overwrite", "temp", "resume", "memory", "worker_memory", "lanes", "storage_timeout", "state", "add", "rebuild", "republish", "allow_removal", "allow_older_state",
	}
)

func isSetting(name string) bool {
	return slices.Contains(sketchSettings, name) || slices.Contains(resultSettings, name) || slices.Contains(otherSettings, name)
}

// Differing returns the names of the settings that change sketches or results and differ from the settings of another
// configuration, sorted.
func (c *Config) Differing(other *Config) []string {
	return c.differing(other, slices.Concat(sketchSettings, resultSettings))
}

// HasResultsOf reports whether another configuration gives all the same results of the same files and lists.
func (c *Config) HasResultsOf(other *Config) bool {
	others := slices.DeleteFunc(slices.Clone(otherSettings), func(name string) bool { return slices.Contains(howSettings, name) })
	return len(c.differing(other, slices.Concat(sketchSettings, resultSettings, others))) == 0
}

// differing returns the names of the settings, among some, that differ, sorted.
func (c *Config) differing(other *Config, settings []string) []string {
	own, others := c.choices(settings), other.choices(settings)
	var names []string
	for _, name := range slices.Sorted(slices.Values(settings)) {
		if !bytes.Equal(own[name], others[name]) {
			names = append(names, name)
		}
	}
	return names
}

// Lists are what stands in the files that a configuration names. The files may change, so hashes have this in place of the
// names.
type Lists struct {
	// StopWords is what [Config.ReadStopWords] returned, and Ranking what [Config.ReadRanking] returned.
	StopWords, Ranking string
	// Ignored identifies the shingles of base texts; empty for none.
	Ignored string
}

// in returns a configuration with the lists in place of their names.
func (l Lists) in(c Config) Config {
	c.StopWords, c.Ignore = l.StopWords, nil
	if l.Ignored != "" {
		c.Ignore = []string{l.Ignored}
	}
	return c
}

// SketchHash identifies the settings that change what is kept of a document. Sketches of equal hash can be compared,
// and can replace each other. The configuration must be valid.
func (c *Config) SketchHash(lists Lists) string {
	choices := lists.in(*c)
	choices.Bits = c.SimHashBits()
	if !c.makesSketches() {
		choices.SketchSize = 0
	}
	return choices.hash(sketchSettings)
}

// ResultHash identifies the settings that change clusters and pairs: two runs of equal hash over one corpus write the
// same bytes. The configuration must be valid.
func (c *Config) ResultHash(lists Lists) string {
	choices := lists.in(*c)
	if c.Keep.Ranking() != "" {
		choices.Keep = preference.Preference("rank:" + lists.Ranking)
	} else {
		choices.SourceField = "" // it is only for the table of sources
	}
	choices.Keys, choices.Recall, choices.Score = c.Method(), c.PromisedRecall(), c.Scoring()
	if !c.method().Settings.Distance {
		choices.Bits, choices.Hamming, choices.Blocks = 0, 0, nil
	}
	if c.Scorer().IsDistance {
		choices.Threshold = 0
	}
	if c.Scorer().IsExact {
		choices.SketchSize = 0 // it is only for the output of sketches
	}
	if !c.method().Kind().HasShingles {
		choices.Threshold, choices.Shingle = 0, 0
	}
	return choices.hash(sketchSettings, resultSettings)
}

// hash returns the hash of the settings in some lists. The usual text of web pages and the usual size of sketches add nothing,
// nor does a setting that JSON leaves out while it is empty: so a new setting of that kind changes no earlier hash.
func (c *Config) hash(lists ...[]string) string {
	encoded, _ := json.Marshal(c.choices(lists...)) // sorted by name
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:8])
}

// choices returns the settings in some lists, as JSON.
func (c *Config) choices(lists ...[]string) map[string]json.RawMessage {
	choices := *c
	if choices.HTMLText == webtext.All {
		choices.HTMLText = ""
	}
	if choices.TextFormat == webtext.Plain {
		choices.TextFormat = ""
	}
	if choices.SketchSize == documents.UsualSmallest {
		choices.SketchSize = 0
	}
	if choices.Drop == keep.Copies {
		choices.Drop = ""
	}
	if choices.Common == common.Off {
		choices.Common = ""
	}
	all, chosen := choices.Settings(), map[string]json.RawMessage{}
	for _, name := range slices.Concat(lists...) {
		if value, has := all[name]; has {
			chosen[name] = value
		}
	}
	return chosen
}

// Settings returns all settings by name, as JSON. A valid configuration can always be encoded.
func (c *Config) Settings() (all map[string]json.RawMessage) {
	encoded, _ := json.Marshal(c)
	_ = json.Unmarshal(encoded, &all)
	return all
}
