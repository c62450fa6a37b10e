package job

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"mirrorbeam.dev/internal/fingerprint/common"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/keep/variants"
)

// Differing returns the names, sorted, of the settings that change sketches or results and differ from other's.
func (c *Config) Differing(other *Config) []string { return c.differing(other, Sketches, Results) }

// HasResultsOf reports whether another configuration gives all the same results of the same files and lists.
func (c *Config) HasResultsOf(other *Config) bool {
	return len(c.differing(other, Sketches, Results, Outputs)) == 0
}

func (c *Config) differing(other *Config, kinds ...Affects) []string {
	own, others := c.choices(kinds...), other.choices(kinds...)
	var names []string
	for _, s := range SettingsOf(c) {
		if !bytes.Equal(own[s.Name], others[s.Name]) {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Lists are what is in the files that a configuration names. They may change, so hashes have this instead of the names.
type Lists struct {
	// StopWords is what [Config.ReadStopWords] returned, and Ranking what [Config.ReadRanking] returned.
	StopWords, Ranking string
	// Ignored identifies the shingles of base texts; empty for none.
	Ignored string
}

func (l Lists) in(c Config) Config {
	c.StopWords, c.Ignore = l.StopWords, nil
	if l.Ignored != "" {
		c.Ignore = []string{l.Ignored}
	}
	return c
}

// ResultHash identifies the settings that change clusters and pairs: two runs of equal hash over one corpus write the
// same bytes. The configuration must be valid.
func (c *Config) ResultHash(lists Lists) string {
	choices := lists.in(*c)
	if c.Keep.Ranking() != "" {
		choices.Keep = c.Keep.WithRanking(lists.Ranking)
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
	if !c.Kind().HasShingles {
		choices.Threshold, choices.Shingle = 0, 0
	}
	return choices.hash(Sketches, Results)
}

// hash returns the hash of the settings of some kinds. The usual text of web pages and the usual size of sketches add
// nothing, nor does an empty setting that JSON leaves out: a new one changes no earlier hash.
func (c *Config) hash(kinds ...Affects) string {
	encoded, _ := json.Marshal(c.choices(kinds...)) // sorted by name
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:8])
}

func (c *Config) choices(kinds ...Affects) map[string]json.RawMessage {
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
	if choices.Variants == variants.Warn {
		choices.Variants = ""
	}
	if choices.Common == common.Off {
		choices.Common = ""
	}
	all, chosen := choices.Settings(), map[string]json.RawMessage{}
	for _, s := range SettingsOf(c) {
		if value, has := all[s.Name]; has && slices.Contains(kinds, s.Affects) {
			chosen[s.Name] = value
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
