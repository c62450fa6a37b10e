package pipeline

import (
	"reflect"
	"strings"
	"testing"

	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/output"
	"mirrorbeam/lshbands"
)

// TestValidate gives every field a wrong value, one at a time, then all at once:
// each fault is reported under the name of its flag.
func TestValidate(t *testing.T) {
	cases := []struct {
		name   string
		change func(*Config)
		flag   string
	}{
		{"no input", func(c *Config) { c.Input = nil }, "--input"},
		{"no output", func(c *Config) { c.Output = "" }, "--output"},
		{"format", func(c *Config) { c.Format = "csv" }, "--format csv"},
		{"text field", func(c *Config) { c.TextField = "" }, "--text-field"},
		{"no document fits", func(c *Config) { c.MaxDocument = 0 }, "--max-document 0"},
		{"shingle", func(c *Config) { c.Shingle = 65 }, "--shingle 65"},
		{"threshold", func(c *Config) { c.Threshold = 1.5 }, "--threshold 1.5"},
		{"similarity", func(c *Config) { c.Similarity = "looks" }, "--similarity looks"},
		{"excerpt", func(c *Config) { c.Excerpt = 7 }, "--excerpt 7"},
		{"quotations", func(c *Config) { c.NoQuotations = true }, "--no-quotations"},
		{"keys", func(c *Config) { c.Keys = "guess" }, "--keys guess"},
		{"use of stop words", func(c *Config) { c.StopWordUse = "hope" }, "--stopwords-use hope"},
		{"bits", func(c *Config) { c.Bits = 100 }, "--bits 100"},
		{"weight", func(c *Config) { c.Weight = map[string]float64{"title": 0} }, "--weight title=0"},
		{"recall", func(c *Config) { c.Recall = 1.5 }, "--recall 1.5"},
		{"score", func(c *Config) { c.Score = "beauty" }, "--score beauty"},
		{"hamming", func(c *Config) { c.Hamming = -1 }, "--hamming -1"},
		{"bands", func(c *Config) { c.Bands = lshbands.MaxBands + 1 }, "--bands 1025"},
		{"rows", func(c *Config) { c.Rows = -1 }, "--rows -1"},
		{"verify", func(c *Config) { c.Verify = "hope" }, "--verify hope"},
		{"audit", func(c *Config) { c.Audit = "some" }, "--audit some"},
		{"emit", func(c *Config) { c.Emit = []string{output.Clusters, "fame"} }, "--emit fame"},
		{"output format", func(c *Config) { c.OutputFormat = "xml" }, "--output-format xml"},
		{"keep", func(c *Config) { c.Keep = "last" }, "--keep last"},
		{"split", func(c *Config) { c.Split = "pairs" }, "--split pairs"},
		{"memory", func(c *Config) { c.Memory = 1 << 20 }, "--memory 1048576"},
		{"lanes", func(c *Config) { c.Lanes = -2 }, "--lanes -2"},
	}
	right := testConfig(t, "x.jsonl")
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
		if err == nil || !strings.HasPrefix(err.Error(), c.flag) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one fault of %s", c.name, err, c.flag)
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
		if !strings.Contains("\n"+err.Error(), "\n"+c.flag) {
			t.Errorf("%s is not among the faults", c.flag)
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
		{"largest document", func(c *Config) { c.MaxDocument = 1<<32 - 1 }, true},
		{"larger document", func(c *Config) { c.MaxDocument = 1 << 32 }, false},
		{"one token", func(c *Config) { c.Shingle = 1 }, true},
		{"no token", func(c *Config) { c.Shingle = 0 }, false},
		{"nothing to write", func(c *Config) { c.Emit = nil }, false},
		{"no id field", func(c *Config) { c.IDField = "" }, true},
		{"bands and rows", func(c *Config) { c.Bands, c.Rows = 10, 4 }, true},
		{"weights", func(c *Config) { c.Weight = map[string]float64{"title": 3, "text": 1} }, true},
		{"weights and a text field", func(c *Config) { c.Weight, c.TextField = map[string]float64{"title": 3}, "body" }, false},
		{"features", func(c *Config) { c.Features = "features" }, true},
		{"features and weights", func(c *Config) { c.Features, c.Weight = "features", map[string]float64{"title": 3} }, false},
		{"features and stop words", func(c *Config) { c.Features, c.StopWords = "features", "words.txt" }, false},
		{"features, normalized", func(c *Config) { c.Features, c.Normalize.NFC = "features", true }, false},
		{"audit of a few", func(c *Config) { c.Audit = "5" }, true},
		{"audit of none", func(c *Config) { c.Audit = "0" }, false},
		{"audit of sketches", func(c *Config) { c.Audit, c.Verify = "5", methods.VerifySketch }, false},
		{"sketches without audit", func(c *Config) { c.Verify = methods.VerifySketch }, true},
		{"all pairs", func(c *Config) { c.Keys = methods.All }, true},
		{"all pairs in bands", func(c *Config) { c.Keys, c.Bands = methods.All, 3 }, false},
		{"all pairs unseen", func(c *Config) { c.Keys, c.Verify = methods.All, methods.VerifyNone }, false},
		{"Hamming distance", func(c *Config) { c.Score = methods.Hamming }, true},
		{"Hamming distance of shingles", func(c *Config) { c.Keys, c.Score = methods.Exact, methods.Hamming }, false},
		{"Hamming distance of sketches", func(c *Config) { c.Score, c.Verify = methods.Hamming, methods.VerifySketch }, false},
		{"Hamming distance with audit", func(c *Config) { c.Score, c.Audit = methods.Hamming, "5" }, false},
		{"SimHash, then Jaccard", func(c *Config) { c.Keys, c.Score = methods.SimHash, methods.Jaccard }, true},
		{"SimHash, then Jaccard, of recall 1", func(c *Config) { c.Keys, c.Score, c.Recall = methods.SimHash, methods.Jaccard, 1 }, false},
		{"SimHash of a threshold", func(c *Config) { c.Keys, c.Threshold = methods.SimHash, 0.7 }, false},
		{"SimHash, then Jaccard, of a threshold", func(c *Config) { c.Keys, c.Score, c.Threshold = methods.SimHash, methods.Jaccard, 0.7 }, true},
		{"distance without SimHash", func(c *Config) { c.Hamming = 5 }, false},
		{"bits without SimHash", func(c *Config) { c.Bits = 128 }, false},
		{"bits of sketches", func(c *Config) { c.Bits, c.Emit = 128, []string{output.Sketches} }, true},
		{"exact keys of another recall", func(c *Config) { c.Keys, c.Recall = methods.Exact, 0.5 }, false},
		{"SimHash in bands", func(c *Config) { c.Keys, c.Bands = methods.SimHash, 3 }, false},
		{"SimHash of all bits", func(c *Config) { c.Keys, c.Hamming = methods.SimHash, 64 }, false},
		{"too few bands", func(c *Config) { c.Bands = 2 }, false},
		{"too many rows", func(c *Config) { c.Rows = 60 }, false},
	} {
		config := testConfig(t, "x.jsonl")
		config.Keys = methods.Auto
		c.change(&config)
		if err := config.Validate(); (err == nil) != c.ok {
			t.Errorf("%s: %v, want right: %v", c.name, err, c.ok)
		}
	}
}

// TestHash changes every field in turn: the hash follows those that can change
// clusters or pairs, and no others. A new field must be entered here.
func TestHash(t *testing.T) {
	counts := map[string]bool{
		"Input": false, "Reference": false, "Format": false, "IDField": true, "TextField": true, "Features": true, "MaxDocument": true, "MaxRejects": false,
		"CJKSplit": true, "Normalize": true, "StopWords": true, "StopWordUse": true, "Weight": true, "Seed": true, "Bits": false, "Shingle": true, "Similarity": true, "Threshold": true, "Excerpt": true, "NoQuotations": true, "Keys": true, "Recall": true, "Bands": true, "Rows": true, "Verify": true, "Audit": false, "Score": true, "Hamming": false,
		"Output": false, "Overwrite": false, "Emit": false, "OutputFormat": true, "Keep": true, "Split": true,
		"Temp": false, "Memory": false, "Lanes": false, "Progress": false,
	}
	base := testConfig(t, "x.jsonl")
	base.Keys, base.Recall = methods.Auto, usualRecall
	want := base.Hash()
	if want == "" || base.Hash() != want {
		t.Fatalf("hash %q, then %q", want, base.Hash())
	}
	if other := base; other.Hash() != want {
		t.Error("the hash of a copy differs")
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		if f.Anonymous {
			continue
		}
		name := f.Name
		expected, known := counts[name]
		if !known {
			t.Errorf("%s is not in the list: can it change clusters or pairs?", name)
			continue
		}
		config := base
		field := reflect.ValueOf(&config).Elem().FieldByIndex(f.Index)
		switch field.Kind() {
		case reflect.String:
			field.SetString(field.String() + "x")
		case reflect.Bool:
			field.SetBool(!field.Bool())
		case reflect.Int, reflect.Int64:
			field.SetInt(field.Int() + 1)
		case reflect.Uint64:
			field.SetUint(field.Uint() + 1)
		case reflect.Float64:
			field.SetFloat(field.Float()/2 + 0.25)
		case reflect.Slice:
			field.Set(reflect.ValueOf([]string{"another"}))
		case reflect.Map:
			field.Set(reflect.ValueOf(map[string]float64{"another": 2}))
		case reflect.Struct:
			field.Field(0).SetBool(true)
		case reflect.Func:
			field.Set(reflect.ValueOf(func(string) {}))
		default:
			t.Fatalf("%s is of kind %v", name, field.Kind())
		}
		if changed := config.Hash() != want; changed != expected {
			t.Errorf("%s changes the hash: %v, want %v", name, changed, expected)
		}
	}
}

func TestByteSize(t *testing.T) {
	for _, c := range []struct {
		text string
		want ByteSize
	}{
		{"0", 0},
		{"1", 1},
		{"1048576", 1 << 20},
		{"7B", 7},
		{"64MiB", 64 << 20},
		{"1KiB", 1 << 10},
		{"2GiB", 2 << 30},
		{"3TiB", 3 << 40},
		{"1KB", 1000},
		{"500MB", 500e6},
		{"2GB", 2e9},
		{"1TB", 1e12},
		{"1K", 1 << 10},
		{"64M", 64 << 20},
		{"1G", 1 << 30},
		{"1T", 1 << 40},
		{"1.5KiB", 1536},
		{"0.5GB", 500e6},
		{"64 MiB", 64 << 20},
		{" 8 ", 8},
	} {
		var got ByteSize
		if err := got.UnmarshalText([]byte(c.text)); err != nil || got != c.want {
			t.Errorf("%q is %d (%v), want %d", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "-1KiB", "1e30", "NaN", "Inf", "1 2", "64Mi", "64mib", "1PiB", "ten", "9223372036854775808", "9TiBB"} {
		got := ByteSize(5)
		if err := got.UnmarshalText([]byte(text)); err == nil || got != 5 {
			t.Errorf("%q is taken for %d (%v), want an error", text, got, err)
		} else if !strings.Contains(err.Error(), text) {
			t.Errorf("%q: the error does not say so: %v", text, err)
		}
	}
}
