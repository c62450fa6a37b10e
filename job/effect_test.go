package job

import (
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
	_ "mirrorbeam.dev/internal/input/formats" // registers them
	"mirrorbeam.dev/internal/util/setting"
)

// TestEffects: a setting that is given and has no effect is an error that names it; one that has an effect, or was not
// given, is none.
func TestEffects(t *testing.T) {
	set := map[string]func(*Config){
		"delimiter":     func(c *Config) { c.Delimiter = ";" },
		"quote":         func(c *Config) { c.Quote = "none" },
		"escape":        func(c *Config) { c.Escape = `\` },
		"skip_lines":    func(c *Config) { c.SkipLines = 1 },
		"id_field":      func(c *Config) { c.IDField = "x" },
		"text_field":    func(c *Config) { c.TextField = "x" },
		"weight":        func(c *Config) { c.Weight = map[string]float64{"title": 1, "text": 2} },
		"text_format":   func(c *Config) { c.TextFormat = "html" },
		"html_text":     func(c *Config) { c.HTMLText = "main" },
		"encoding":      func(c *Config) { c.Encoding = "windows-1252" },
		"tokens":        func(*Config) {},
		"shingle":       func(*Config) {},
		"stopwords_use": func(*Config) {},
	}
	void := map[string]string{
		"jsonl":   "delimiter quote escape skip_lines html_text stopwords_use",
		"csv":     "html_text stopwords_use",
		"tsv":     "delimiter html_text stopwords_use",
		"parquet": "delimiter quote escape skip_lines html_text encoding stopwords_use",
		"warc":    "delimiter quote escape skip_lines id_field text_field text_format encoding stopwords_use",
		"text":    "delimiter quote escape skip_lines id_field text_field weight text_format html_text stopwords_use",
		"html":    "delimiter quote escape skip_lines id_field text_field text_format stopwords_use",
		"lines":   "delimiter quote escape skip_lines id_field text_field weight text_format html_text stopwords_use",
	}
	for format, names := range void {
		for _, e := range effects {
			isVoid := strings.Contains(" "+names+" ", " "+e.setting+" ")
			f, _ := corpus.ParseFormat(format)
			c := Default()
			c.Input, c.Output, c.Format = []string{"in"}, "out", format
			set[e.setting](&c)
			if err := c.Validate(); err != nil && strings.Contains(err.Error(), e.why) {
				t.Errorf("%s of %s was not given: %v", e.setting, format, err)
			}
			c.Give(e.setting)
			says := func(err error) bool {
				return err != nil && strings.HasPrefix(setting.Text(err, setting.Flag), setting.Flag(e.setting)+" ")
			}
			if err := c.Validate(); says(err) != isVoid {
				t.Errorf("%s with format %s: %v", e.setting, format, err)
			}
			c.Format = corpus.AutoFormat
			other := corpus.File{Path: "b", Format: corpus.Arrow}
			if err := c.CheckEffects([]corpus.File{{Path: "a", Format: f}}); says(err) != (isVoid && e.matters != nil) {
				t.Errorf("%s with a file of %s: %v", e.setting, format, err)
			}
			if err := c.CheckEffects([]corpus.File{{Path: "a", Format: corpus.CSV}, other, {
				Path:   "c",
				Format: corpus.HTML,
			}}); err != nil {
				t.Errorf("%s with a file for which it matters: %v", e.setting, err)
			}
		}
	}
	c := Default()
	c.Features = "f"
	c.Give("text_field", "tokens", "shingle", "html_text")
	if err := c.Validate(); err == nil || strings.Count(err.Error(), "replace") < 3 {
		t.Errorf("with features: %v", err)
	}
}

// TestOutputIsAFolder: a name of a file, or the standard output, is refused with what to do.
func TestOutputIsAFolder(t *testing.T) {
	for output, isFolder := range map[string]bool{
		"-":             false,
		"out.jsonl":     false,
		"a/OUT.csv":     false,
		"out.jsonl.zst": false,
		"out":           true,
		"out.v2":        true,
		"out.parquet/":  true,
		"s3://b/out":    true,
	} {
		c := Default()
		c.Input, c.Output = []string{"in"}, output
		if err := c.CheckFolder(); (err == nil || !strings.Contains(err.Error(), "give a folder, such as out")) !=
			isFolder {
			t.Errorf("%s: %v", output, err)
		}
	}
}

// TestExchanged: bands and rows that were exchanged are told from others that find little.
func TestExchanged(t *testing.T) {
	for _, c := range []struct {
		bands, rows int
		want        bool
	}{{13, 60, true}, {60, 13, false}, {0, 0, false}, {5, 5, false}, {64, 64, false}} {
		config := Default()
		config.Keys, config.Bands, config.Rows = "minhash", c.bands, c.rows
		if given, other, got := config.Exchanged(); got != c.want {
			t.Errorf("%d bands of %d rows: %v, %v and %v", c.bands, c.rows, got, given, other)
		}
	}
}

// TestPageTexts: a page has the texts that its weights may name, and no others.
func TestPageTexts(t *testing.T) {
	pages := []corpus.File{{Path: "a", Format: corpus.HTML}, {Path: "b", Format: corpus.WARC}}
	for names, isWrong := range map[string]bool{
		"": false, "text": false, "headings text title": false, "title": true, "text tilte": true,
	} {
		c := Default()
		c.Weight = map[string]float64{}
		for _, name := range strings.Fields(names) {
			c.Weight[name] = 1
		}
		if err := c.CheckEffects(pages); (err != nil) != isWrong {
			t.Errorf("%q of pages: %v", names, err)
		}
		if err := c.CheckEffects(append(pages, corpus.File{Path: "c", Format: corpus.CSV})); err != nil {
			t.Errorf("%q of pages and records: %v", names, err)
		}
	}
}
