package job

import (
	"math"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/keep/variants"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// TestValidate gives every field a wrong value, one at a time, then all at once:
// each fault is reported under the name of its setting.
func TestValidate(t *testing.T) {
	cases := []struct {
		name   string
		change func(*Config)
		names  string
	}{
		{"no input", func(c *Config) { c.Input = nil }, "input"},
		{"no output", func(c *Config) { c.Output = "" }, "output"},
		{"format", func(c *Config) { c.Format = "xls" }, "format xls"},
		{"text field", func(c *Config) { c.TextField = "" }, "text_field"},
		{"no document fits", func(c *Config) { c.MaxDocument = 0 }, "max_document 0"},
		{"shingle", func(c *Config) { c.Shingle = 65 }, "shingle 65"},
		{"threshold", func(c *Config) { c.Threshold = 1.5 }, "threshold 1.5"},
		{"similarity", func(c *Config) { c.Similarity = "looks" }, "similarity looks"},
		{"excerpt", func(c *Config) { c.Excerpt = 7 }, "excerpt 7"},
		{"quotations", func(c *Config) { c.NoQuotations = true }, "no_quotations"},
		{"keys", func(c *Config) { c.Keys = "guess" }, "keys guess"},
		{"use of stop words", func(c *Config) { c.StopWordUse = "hope" }, "stopwords_use hope"},
		{"bits", func(c *Config) { c.Bits = 100 }, "bits 100"},
		{"weight", func(c *Config) { c.Weight = map[string]float64{"title": 0} }, "weight title=0"},
		{"recall", func(c *Config) { c.Recall = 1.5 }, "recall 1.5"},
		{"score", func(c *Config) { c.Score = "beauty" }, "score beauty"},
		{"hamming", func(c *Config) { c.Hamming = -1 }, "hamming -1"},
		{"bands", func(c *Config) { c.Bands = lshbands.MaxBands + 1 }, "bands 1025"},
		{"rows", func(c *Config) { c.Rows = -1 }, "rows -1"},
		{"verify", func(c *Config) { c.Verify = "hope" }, "verify hope"},
		{"audit", func(c *Config) { c.Audit = "some" }, "audit some"},
		{"emit", func(c *Config) { c.Emit = []string{output.Clusters, "fame"} }, "emit fame"},
		{"output format", func(c *Config) { c.OutputFormat = "xml" }, "output_format xml"},
		{"keep", func(c *Config) { c.Keep = "best" }, "keep best"},
		{"split", func(c *Config) { c.Split = "pairs" }, "split pairs"},
		{"memory", func(c *Config) { c.Memory = 1 << 20 }, "memory 1048576"},
		{"lanes", func(c *Config) { c.Lanes = -2 }, "lanes -2"},
	}
	right := validConfig()
	right.Keys = methods.Auto
	if err := right.Validate(); err != nil {
		t.Fatalf("the configuration of all tests: %v", err)
	}
	all := right
	for _, c := range cases {
		config := right
		c.change(&config)
		c.change(&all)
		err := config.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), c.names) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one fault of %s", c.name, err, c.names)
		}
	}
	err := all.Validate()
	if err == nil {
		t.Fatal("all wrong, yet no fault")
	}
	if n := strings.Count(err.Error(), "\n") + 1; n != len(cases) {
		t.Errorf("%d faults, want %d:\n%v", n, len(cases), err)
	}
	for _, c := range cases {
		if !strings.Contains("\n"+err.Error(), "\n"+c.names) {
			t.Errorf("%s is not among the faults", c.names)
		}
	}
}

// TestValidateLimits checks the values at both sides of a limit.
func TestValidateLimits(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Config)
		ok     bool
	}{
		{"threshold 1", func(c *Config) { c.Threshold = 1 }, true},
		{"threshold 0", func(c *Config) { c.Threshold = 0 }, false},
		{"threshold not a number", func(c *Config) { var zero float64; c.Threshold = zero / zero }, false},
		{"recall 1", func(c *Config) { c.Recall = 1 }, true},
		{"recall below 0", func(c *Config) { c.Recall = -1 }, false},
		{"recall 1 of MinHash", func(c *Config) { c.Keys, c.Recall = methods.MinHash, 1 }, false},
		{"exact keys in bands", func(c *Config) { c.Keys, c.Bands = methods.Exact, 3 }, false},
		{"recall 1 in bands", func(c *Config) { c.Recall, c.Bands = 1, 3 }, false},
		{"exact keys of sketches", func(c *Config) { c.Keys, c.Verify = methods.Exact, methods.VerifySketch }, false},
		{"recall not a number", func(c *Config) { var zero float64; c.Recall = zero / zero }, false},
		{"input with an empty name", func(c *Config) { c.Input = []string{"corpus", ""} }, false},
		{"largest document", func(c *Config) { c.MaxDocument = 1<<32 - 1 }, true},
		{"larger document", func(c *Config) { c.MaxDocument = 1 << 32 }, false},
		{"one token", func(c *Config) { c.Shingle = 1 }, true},
		{"no token", func(c *Config) { c.Shingle = 0 }, false},
		{"short texts", func(c *Config) { c.MinShingles = 20 }, true},
		{"short passages", func(c *Config) { c.Similarity, c.Passage = methods.Containment, 3 }, true},
		{"passages of two words", func(c *Config) { c.Similarity, c.Passage = methods.Containment, 2 }, false},
		{"passages without containment", func(c *Config) { c.Passage = 4 }, false},
		{"rarity", func(c *Config) { c.Similarity, c.Rarity = methods.Containment, 2.5 }, true},
		{"rarity below 0", func(c *Config) { c.Similarity, c.Rarity = methods.Containment, -1 }, false},
		{"rarity of no number", func(c *Config) { c.Similarity, c.Rarity = methods.Containment, math.NaN() }, false},
		{"rarity without containment", func(c *Config) { c.Rarity = 1 }, false},
		{"rarity in a run that goes on", func(c *Config) {
			c.Similarity, c.Rarity, c.Resume = methods.Containment, 1, true
		}, false},
		{"shorter than nothing", func(c *Config) { c.MinShingles = -1 }, false},
		{"short texts of the same words", func(c *Config) { c.Keys, c.MinShingles = methods.SameWords, 20 }, false},
		{"characters", func(c *Config) { c.Tokens = sketch.CharacterTokens }, true},
		{"unknown tokens", func(c *Config) { c.Tokens = "letters" }, false},
		{"characters of the same bytes", func(c *Config) {
			c.Keys, c.Tokens = methods.SameBytes, sketch.CharacterTokens
		}, false},
		{"variants", func(c *Config) { c.Variants = variants.Wide }, true},
		{"variants of features", func(c *Config) { c.Variants, c.Features = variants.Keep, "features" }, false},
		{"variants of passages", func(c *Config) {
			c.Variants, c.Similarity = variants.Keep, methods.Containment
		}, false},
		{"variants of another kind", func(c *Config) { c.Variants = "some" }, false},
		{"nothing to write", func(c *Config) { c.Emit = nil }, false},
		{"no id field", func(c *Config) { c.IDField = "" }, true},
		{"bands and rows", func(c *Config) { c.Bands, c.Rows = 10, 4 }, true},
		{"blocks", func(c *Config) { c.Keys, c.Blocks = methods.SimHash, []int{4, 4} }, true},
		{"fewer blocks than bits may differ", func(c *Config) { c.Keys, c.Blocks = methods.SimHash, []int{3} }, false},
		{"blocks without SimHash", func(c *Config) { c.Blocks = []int{4, 4} }, false},
		{"the size of sketches", func(c *Config) { c.Verify, c.SketchSize = methods.VerifySketch, 77 }, true},
		{"the size of sketches in pairs that are not verified", func(c *Config) {
			c.Verify, c.SketchSize = methods.VerifyNone, 4096
		}, true},
		{"the size of sketches that are written", func(c *Config) {
			c.Emit, c.SketchSize = []string{output.Sketches}, 32
		}, true},
		{"the size of sketches of fingerprints", func(c *Config) {
			c.Keys, c.Emit, c.SketchSize = methods.SimHash, []string{output.Sketches}, 64
		}, true},
		{"small sketches", func(c *Config) { c.Verify, c.SketchSize = methods.VerifySketch, 31 }, false},
		{"large sketches", func(c *Config) { c.Verify, c.SketchSize = methods.VerifySketch, 4097 }, false},
		{"the size of sketches of less than nothing", func(c *Config) {
			c.Verify, c.SketchSize = methods.VerifySketch, -1
		}, false},
		{"the size of whole sets", func(c *Config) { c.SketchSize = 256 }, false},
		{"the size of passages", func(c *Config) { c.Similarity, c.SketchSize = methods.Containment, 256 }, false},
		{"weights", func(c *Config) { c.Weight = map[string]float64{"title": 3, "text": 1} }, true},
		{"weights and a text field", func(c *Config) {
			c.Weight, c.TextField = map[string]float64{"title": 3}, "body"
		}, false},
		{"features", func(c *Config) { c.Features = "features" }, true},
		{"features beside texts", func(c *Config) {
			c.Features, c.FeatureWeight, c.StopWords = "features", 20, "words.txt"
		}, true},
		{"no features beside texts", func(c *Config) { c.FeatureWeight = 20 }, false},
		{"features of less than nothing", func(c *Config) { c.Features, c.FeatureWeight = "features", -1 }, false},
		{"features of too much", func(c *Config) { c.Features, c.FeatureWeight = "features", 1001 }, false},
		{"features and weights", func(c *Config) {
			c.Features, c.Weight = "features", map[string]float64{"title": 3}
		}, false},
		{"features and stop words", func(c *Config) { c.Features, c.StopWords = "features", "words.txt" }, false},
		{"features, normalized", func(c *Config) { c.Features, c.Normalize.NFC = "features", true }, false},
		{"audit of a few", func(c *Config) { c.Audit = "5" }, true},
		{"audit of none", func(c *Config) { c.Audit = "0" }, false},
		{"audit of sketches", func(c *Config) { c.Audit, c.Verify = "5", methods.VerifySketch }, false},
		{"sketches without audit", func(c *Config) { c.Verify = methods.VerifySketch }, true},
		{"all pairs", func(c *Config) { c.Keys = methods.All }, true},
		{"the same words", func(c *Config) { c.Keys, c.Normalize.Fold = methods.SameWords, true }, true},
		{"the same words at a threshold", func(c *Config) { c.Keys, c.Threshold = methods.SameWords, .9 }, false},
		{"the same words at the usual threshold", func(c *Config) {
			c.Keys = methods.SameWords
			c.Give("threshold")
		}, false},
		{"the same words in shingles", func(c *Config) { c.Keys, c.Shingle = methods.SameWords, 5 }, false},
		{"the same words that are required", func(c *Config) {
			c.Keys, c.StopWords, c.StopWordUse = methods.SameWords, "words.txt", "require"
		}, false},
		{"the same words, audited", func(c *Config) { c.Keys, c.Audit = methods.SameWords, "5" }, false},
		{"the same words, estimated", func(c *Config) {
			c.Keys, c.Verify = methods.SameWords, methods.VerifySketch
		}, false},
		{"an index, which a query makes", func(c *Config) { c.Emit = []string{"index"} }, false},
		{"sketches of the same words", func(c *Config) {
			c.Keys, c.Emit = methods.SameWords, []string{output.Sketches}
		}, false},
		{"the same bytes", func(c *Config) { c.Keys = methods.SameBytes }, true},
		{"the same bytes, normalized", func(c *Config) { c.Keys, c.Normalize.Fold = methods.SameBytes, true }, false},
		{"the same features", func(c *Config) { c.Keys, c.Features = methods.SameBytes, "features" }, false},
		{"all pairs in bands", func(c *Config) { c.Keys, c.Bands = methods.All, 3 }, false},
		{"all pairs unseen", func(c *Config) { c.Keys, c.Verify = methods.All, methods.VerifyNone }, false},
		{"Hamming distance", func(c *Config) { c.Score = methods.Hamming }, true},
		{"Hamming distance of shingles", func(c *Config) { c.Keys, c.Score = methods.Exact, methods.Hamming }, false},
		{"Hamming distance of sketches", func(c *Config) {
			c.Score, c.Verify = methods.Hamming, methods.VerifySketch
		}, false},
		{"Hamming distance with audit", func(c *Config) { c.Score, c.Audit = methods.Hamming, "5" }, false},
		{"SimHash, then Jaccard", func(c *Config) { c.Keys, c.Score = methods.SimHash, methods.Jaccard }, true},
		{"SimHash, then Jaccard, of recall 1", func(c *Config) {
			c.Keys, c.Score, c.Recall = methods.SimHash, methods.Jaccard, 1
		}, false},
		{"SimHash of a threshold", func(c *Config) { c.Keys, c.Threshold = methods.SimHash, 0.7 }, false},
		{"SimHash, then Jaccard, of a threshold", func(c *Config) {
			c.Keys, c.Score, c.Threshold = methods.SimHash, methods.Jaccard, 0.7
		}, true},
		{"distance without SimHash", func(c *Config) { c.Hamming = 5 }, false},
		{"bits without SimHash", func(c *Config) { c.Bits = 128 }, false},
		{"bits of sketches", func(c *Config) { c.Bits, c.Emit = 128, []string{output.Sketches} }, true},
		{"exact keys of another recall", func(c *Config) { c.Keys, c.Recall = methods.Exact, 0.5 }, false},
		{"SimHash in bands", func(c *Config) { c.Keys, c.Bands = methods.SimHash, 3 }, false},
		{"SimHash of all bits", func(c *Config) { c.Keys, c.Hamming = methods.SimHash, 64 }, false},
		{"the largest value", func(c *Config) { c.Keep = "max:meta.score" }, true},
		{"the largest value of no field", func(c *Config) { c.Keep = "max:" }, false},
		{"ranks of sources", func(c *Config) { c.Keep, c.SourceField = "rank:sources.txt", "url" }, true},
		{"sources", func(c *Config) { c.SourceField = "site" }, true},
		{"sources of passages", func(c *Config) {
			c.Similarity, c.Emit, c.SourceField = methods.Containment, []string{output.Pairs}, "site"
		}, true},
		{"scopes", func(c *Config) { c.Within = "lang" }, true},
		{"sides", func(c *Config) { c.Across = "source" }, true},
		{"sides in scopes", func(c *Config) { c.Within, c.Across = "lang", "source" }, true},
		{"sides in scopes of one field", func(c *Config) { c.Within, c.Across = "lang", "lang" }, false},
		{"sides of a reference", func(c *Config) { c.Across, c.Reference = "source", []string{"known"} }, false},
		{"too few bands", func(c *Config) { c.Bands = 2 }, false},
		{"too many rows", func(c *Config) { c.Rows = 60 }, false},
	} {
		config := validConfig()
		config.Keys = methods.Auto
		c.change(&config)
		if err := config.Validate(); (err == nil) != c.ok {
			t.Errorf("%s: %v, want right: %v", c.name, err, c.ok)
		}
	}
}

// TestNoNumber: a setting that is no number, or infinite, is the only one that is named.
func TestNoNumber(t *testing.T) {
	for _, number := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for name, change := range map[string]func(c *Config){
			"threshold":        func(c *Config) { c.Threshold = number },
			"recall":           func(c *Config) { c.Recall = number },
			"rarity":           func(c *Config) { c.Rarity = number },
			"mirror_threshold": func(c *Config) { c.MirrorThreshold = number },
			"weight":           func(c *Config) { c.Weight = map[string]float64{"text": number} },
		} {
			config := validConfig()
			config.Keys = methods.Auto
			change(&config)
			err := config.Validate()
			if err == nil || !strings.Contains(err.Error(), name) || strings.Count(err.Error(), "\n") > 0 {
				t.Errorf("%s %g: %v", name, number, err)
			}
		}
	}
}

// TestContainmentRefuses: containment refuses the settings that do not go with it, all at once.
func TestContainmentRefuses(t *testing.T) {
	all := containmentConfig()
	if err := all.Validate(); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		fault  string
		change func(c *Config)
	}{
		{"excerpt 3", func(c *Config) { c.Excerpt = 3 }},
		{"emit clusters", func(c *Config) { c.Emit = append(c.Emit, output.Clusters) }},
		{"emit unique", func(c *Config) { c.Emit = []string{output.Unique, output.Removed, output.Sketches} }},
		{"rows 3", func(c *Config) { c.Rows = 3 }},
		{"keys all", func(c *Config) { c.Keys = methods.All }},
		{"score hamming", func(c *Config) { c.Score = methods.Hamming }},
		{"verify sketch", func(c *Config) { c.Verify = methods.VerifySketch }},
		{"recall 1", func(c *Config) { c.Recall = 1 }},
		{"split star", func(c *Config) { c.Split = keep.Star }},
		{"audit 10", func(c *Config) { c.Audit = "10" }},
		{"features", func(c *Config) { c.Features = "features" }},
		{"weight", func(c *Config) { c.Weight = map[string]float64{"title": 1} }},
		{"stopwords_use require", func(c *Config) { c.StopWords, c.StopWordUse = "list", sketch.RequireStopWords }},
	}
	for _, c := range cases {
		config := containmentConfig()
		c.change(&config)
		c.change(&all)
		if err := config.Validate(); err == nil || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: error %v", c.fault, err)
		}
	}
	err := all.Validate()
	for _, c := range cases[2:] {
		if err == nil || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("all wrong: error %v, want one with %s", err, c.fault)
		}
	}
}
