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

// TestHashes changes every field in turn: exactly those that affect sketches or results change the hash. Exempt are
// settings that mean nothing to the job: the distance and the blocks without SimHash keys, the length of fingerprints
// and the size of sketches without these, and the field of sources without a list of preferred ones.
func TestHashes(t *testing.T) {
	base := validConfig()
	base.Emit = []string{output.Clusters}
	results := base.ResultHash(Lists{})
	if again := base; again.ResultHash(Lists{}) != results {
		t.Fatalf("the hash %s, then %s", results, again.ResultHash(Lists{}))
	}
	if base.ResultHash(Lists{StopWords: "a\n"}) == results {
		t.Error("stop words do not change the hash")
	}
	idle := []string{"bits", "hamming", "blocks", "sketch_size", "stopwords", "ignore", "source_field"}
	for at := range SettingsOf(&base) {
		config := base
		f := SettingsOf(&config)[at]
		f.Value.Set(another(f.Value))
		isResult := slices.Contains([]Affects{Sketches, Results}, f.Affects) && !slices.Contains(idle, f.Name)
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
		name       string
		one, other *Config
		equal      bool
	}{
		{"exact keys are automatic", plain, change(func(c *Config) { c.Keys = methods.Exact }), true},
		{"exact keys have recall 1", plain, change(func(c *Config) { c.Recall = 1 }), true},
		{"MinHash for recall .9", change(func(c *Config) { c.Recall = 0.9 }), change(func(c *Config) {
			c.Keys, c.Recall = methods.MinHash, 0.9
		}), true},
		{"the usual recall", change(func(c *Config) { c.Keys = methods.MinHash }), change(func(c *Config) {
			c.Recall = UsualRecall
		}), true},
		{"another recall", plain, change(func(c *Config) { c.Recall = 0.9 }), false},
		{"the score of SimHash", simHash, change(func(c *Config) { c.Score = methods.Hamming }), true},
		{"the distance of SimHash", simHash, change(func(c *Config) { c.Keys, c.Hamming = methods.SimHash, 4 }), false},
		{"the bits of SimHash", simHash, change(func(c *Config) { c.Keys, c.Bits = methods.SimHash, 128 }), false},
		{"bits of sketches only", plain, change(func(c *Config) {
			c.Bits, c.Emit = 128, []string{output.Sketches}
		}), true},
		{"the size of sketches", change(func(c *Config) { c.Verify = methods.VerifySketch }), change(func(c *Config) {
			c.Verify, c.SketchSize = methods.VerifySketch, 256
		}), false},
		{"the usual size", change(func(c *Config) { c.Verify = methods.VerifyNone }), change(func(c *Config) {
			c.Verify, c.SketchSize = methods.VerifyNone, 128
		}), true},
		{
			"the size in the output only", change(func(c *Config) { c.Emit = []string{output.Sketches} }),
			change(func(c *Config) { c.Emit, c.SketchSize = []string{output.Sketches}, 256 }), true,
		},
		{"the threshold", plain, change(func(c *Config) { c.Threshold = 0.7 }), false},
		{"containment", plain, change(func(c *Config) { c.Similarity = methods.Containment }), false},
		{"the field of sources", plain, change(func(c *Config) { c.SourceField = "site" }), true},
		{
			"the field of ranked sources", change(func(c *Config) { c.Keep = "rank:list" }),
			change(func(c *Config) { c.Keep, c.SourceField = "rank:list", "site" }), false,
		},
		{"the name of the list of stop words", plain, change(func(c *Config) { c.StopWords = "other.txt" }), true},
	} {
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
		config    Config
		stopWords string
		result    string
	}{
		{validConfig(), "", "1179d20f66ec82c3"},
		{validConfig(), "the\na\n", "1294b40619235185"},
		{weighted, "", "daf40fc14dea20f6"},
		{simHash, "", "ab20259ec1bd643e"},
		{containmentConfig(), "", "23b138ed48708ebb"},
	} {
		if result := c.config.ResultHash(Lists{StopWords: c.stopWords}); result != c.result {
			t.Errorf("hash %q, want %q", result, c.result)
		}
	}
}
