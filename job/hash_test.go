package job

import (
	"reflect"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
)

// another returns a value that differs from the value of a field.
func another(field reflect.Value) reflect.Value {
	value := reflect.New(field.Type()).Elem()
	value.Set(field)
	switch field.Kind() {
	case reflect.String:
		value.SetString(field.String() + "x")
	case reflect.Bool:
		value.SetBool(!field.Bool())
	case reflect.Int, reflect.Int64:
		value.SetInt(field.Int() + 1)
	case reflect.Uint64:
		value.SetUint(field.Uint() + 1)
	case reflect.Float64:
		value.SetFloat(field.Float()/2 + 0.25)
	case reflect.Slice:
		value.Set(reflect.Append(reflect.MakeSlice(field.Type(), 0, 1), another(reflect.Zero(field.Type().Elem()))))
	case reflect.Map:
		value.Set(reflect.ValueOf(map[string]float64{"another": 2}))
	case reflect.Struct:
		value.Field(0).Set(another(value.Field(0)))
	case reflect.Func:
		value.Set(reflect.MakeFunc(field.Type(), func([]reflect.Value) []reflect.Value { return nil }))
	}
	return value
}

// TestHashes changes every field in turn: exactly the hashes of its list change. Exempt are settings that mean nothing
// to the job: the distance and the blocks without SimHash keys, the length of fingerprints and the size of sketches without these, and the field of sources
// without a list of preferred ones.
func TestHashes(t *testing.T) {
	base := validConfig()
	base.Emit = []string{output.Clusters}
	sketches, results := base.SketchHash(Lists{}), base.ResultHash(Lists{})
	if again := base; again.SketchHash(Lists{}) != sketches || again.ResultHash(Lists{}) != results || sketches == results {
		t.Fatalf("hashes %s and %s, then %s and %s", sketches, results, again.SketchHash(Lists{}), again.ResultHash(Lists{}))
	}
	if base.SketchHash(Lists{StopWords: "a\n"}) == sketches || base.ResultHash(Lists{StopWords: "a\n"}) == results {
		t.Error("stop words change no hash")
	}
	idle := []string{"bits", "hamming", "blocks", "sketch_size", "stopwords", "ignore", "source_field"}
	for at := range SettingsOf(&base) {
		config := base
		f := SettingsOf(&config)[at]
		f.Value.Set(another(f.Value))
		isIdle := slices.Contains(idle, f.Name)
		isSketch := f.Affects == Sketches && !isIdle
		isResult := isSketch || f.Affects == Results && !isIdle
		if changed := config.SketchHash(Lists{}) != sketches; changed != isSketch {
			t.Errorf("%s changes the hash of sketches: %v, want %v", f.Name, changed, isSketch)
		}
		if changed := config.ResultHash(Lists{}) != results; changed != isResult {
			t.Errorf("%s changes the hash of results: %v, want %v", f.Name, changed, isResult)
		}
	}
}

// TestHashesMean: equal work has equal hashes, whatever settings ask for it.
func TestHashesMean(t *testing.T) {
	change := func(change func(*Config)) *Config {
		config := validConfig()
		change(&config)
		return &config
	}
	plain := change(func(*Config) {})
	simHash := change(func(c *Config) { c.Keys = methods.SimHash })
	for _, c := range []struct {
		name          string
		one, other    *Config
		sketch, equal bool
	}{
		{"exact keys are automatic", plain, change(func(c *Config) { c.Keys = methods.Exact }), true, true},
		{"exact keys have recall 1", plain, change(func(c *Config) { c.Recall = 1 }), true, true},
		{"MinHash for recall .9", change(func(c *Config) { c.Recall = 0.9 }), change(func(c *Config) { c.Keys, c.Recall = methods.MinHash, 0.9 }), true, true},
		{"the usual recall", change(func(c *Config) { c.Keys = methods.MinHash }), change(func(c *Config) { c.Recall = UsualRecall }), true, true},
		{"another recall", plain, change(func(c *Config) { c.Recall = 0.9 }), true, false},
		{"the score of SimHash", simHash, change(func(c *Config) { c.Score = methods.Hamming }), true, true},
		{"the distance of SimHash", simHash, change(func(c *Config) { c.Keys, c.Hamming = methods.SimHash, 4 }), true, false},
		{"the bits of SimHash", simHash, change(func(c *Config) { c.Keys, c.Bits = methods.SimHash, 128 }), false, false},
		{"bits of sketches only", plain, change(func(c *Config) { c.Bits, c.Emit = 128, []string{output.Sketches} }), false, true},
		{"the size of sketches", change(func(c *Config) { c.Verify = methods.VerifySketch }), change(func(c *Config) { c.Verify, c.SketchSize = methods.VerifySketch, 256 }), false, false},
		{"the usual size", change(func(c *Config) { c.Verify = methods.VerifyNone }), change(func(c *Config) { c.Verify, c.SketchSize = methods.VerifyNone, 128 }), true, true},
		{
			"the size in the output only", change(func(c *Config) { c.Emit = []string{output.Sketches} }),
			change(func(c *Config) { c.Emit, c.SketchSize = []string{output.Sketches}, 256 }), false, true,
		},
		{"the threshold", plain, change(func(c *Config) { c.Threshold = 0.7 }), true, false},
		{"containment", plain, change(func(c *Config) { c.Similarity = methods.Containment }), true, false},
		{"the field of sources", plain, change(func(c *Config) { c.SourceField = "site" }), true, true},
		{
			"the field of ranked sources", change(func(c *Config) { c.Keep = "rank:list" }),
			change(func(c *Config) { c.Keep, c.SourceField = "rank:list", "site" }), true, false,
		},
		{"the name of the list of stop words", plain, change(func(c *Config) { c.StopWords = "other.txt" }), true, true},
	} {
		if same := c.one.SketchHash(Lists{}) == c.other.SketchHash(Lists{}); same != c.sketch {
			t.Errorf("%s: the hashes of sketches are equal: %v, want %v", c.name, same, c.sketch)
		}
		if same := c.one.ResultHash(Lists{}) == c.other.ResultHash(Lists{}); same != c.equal {
			t.Errorf("%s: the hashes of results are equal: %v, want %v", c.name, same, c.equal)
		}
	}
}

// TestHashGolden holds the hashes fixed: existing states are recognized by them.
func TestHashGolden(t *testing.T) {
	weighted := validConfig()
	weighted.Weight = map[string]float64{"title": 3, "text": 1}
	weighted.Normalize.Fold = true
	simHash := validConfig()
	simHash.Keys, simHash.Bits, simHash.Seed = methods.SimHash, 128, Seed{Number: 7}
	for _, c := range []struct {
		config           Config
		stopWords        string
		sketches, result string
	}{
		{validConfig(), "", "683a3d7990726840", "1179d20f66ec82c3"},
		{validConfig(), "the\na\n", "5d6a2a7e2d3d7319", "1294b40619235185"},
		{weighted, "", "08a9eccbcf02c453", "daf40fc14dea20f6"},
		{simHash, "", "121d17db04978cf6", "ab20259ec1bd643e"},
		{containmentConfig(), "", "683a3d7990726840", "23b138ed48708ebb"},
	} {
		if sketches, result := c.config.SketchHash(Lists{StopWords: c.stopWords}), c.config.ResultHash(Lists{StopWords: c.stopWords}); sketches != c.sketches || result != c.result {
			t.Errorf("hashes %q, %q, want %q, %q", sketches, result, c.sketches, c.result)
		}
	}
}
