package job

import (
	"maps"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/formats"
	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/lshbands"
)

// effect says when a setting that is given has no effect. It is then a mistake, which the user learns of.
type effect struct {
	setting string
	// isVoid reports that, from the configuration alone; nil: it never is.
	isVoid func(c *Config) bool
	// matters reports whether the setting changes how files of a format are read; nil: whatever the format.
	matters func(d *corpus.Definition, c *Config) bool
	why     string
}

func hasFields(d *corpus.Definition, _ *Config) bool { return d.HasFields }

func isTable(d *corpus.Definition, _ *Config) bool { return d.IsTable }

func comparesFeatures(c *Config) bool { return c.Features != "" && c.FeatureWeight == 0 }

// effects has a line for each setting that may have none and that no check of its value knows.
var effects = []effect{
	{"delimiter", nil, func(d *corpus.Definition, _ *Config) bool { return d.Format == corpus.CSV }, "is for CSV"},
	{"quote", nil, isTable, "is for CSV and TSV"},
	{"escape", nil, isTable, "is for CSV and TSV"},
	{"skip_lines", nil, isTable, "is for CSV and TSV"},
	{
		"id_field", nil, hasFields,
		"is for records with fields: a text is called by its path, a page of an archive by its WARC-Record-ID, " +
			"and a line by its place",
	},
	{
		"text_field", comparesFeatures, hasFields,
		"is for records with fields, whose texts are compared: other files are the text themselves, " +
			"and {features} replace it",
	},
	{"weight", nil, func(d *corpus.Definition, _ *Config) bool {
		return d.HasFields || d.Format == corpus.HTML || d.Format == corpus.WARC
	}, "is for records with fields and for web pages: other files are one text"},
	{"text_format", comparesFeatures, hasFields, "is for texts in fields of records: a page is read as what it is"},
	{"html_text", comparesFeatures, func(d *corpus.Definition, c *Config) bool {
		return d.HasPages || d.HasFields && c.TextFormat == webtext.HTML
	}, "is for web pages: pages in fields of records need {text_format} html, " +
		"and files of pages {format} html where their names and first bytes say something else"},
	{"encoding", nil, func(d *corpus.Definition, _ *Config) bool {
		return d.Charset != corpus.OwnCharset || d.IsWhole
	}, "is for texts, CSV, JSON and lines: other formats say their encoding themselves"},
	{"tokens", comparesFeatures, nil, "is for texts, and {features} replace them"},
	{"shingle", comparesFeatures, nil, "is for texts, and {features} replace them"},
	{
		"stopwords_use", func(c *Config) bool { return c.StopWords == "" }, nil,
		"is about {stopwords}: give a list, or leave it out",
	},
}

func (c *Config) checkEffects(check checker) {
	for _, e := range effects {
		isVoid := e.isVoid != nil && e.isVoid(c)
		if format, isChosen := corpus.ParseFormat(c.Format); isChosen && e.matters != nil {
			isVoid = isVoid || !e.matters(format.Definition(), c)
		}
		check(!isVoid || !slices.Contains(c.Given, e.setting), "{"+e.setting+"} "+e.why)
	}
}

// CheckEffects returns an error if a setting was given that has no effect on any of the files of the input.
func (c *Config) CheckEffects(files []corpus.File) error {
	for _, e := range effects {
		if e.matters == nil || len(files) == 0 || !slices.Contains(c.Given, e.setting) {
			continue
		}
		if !slices.ContainsFunc(files, func(f corpus.File) bool { return e.matters(f.Format.Definition(), c) }) {
			return setting.Errorf("{"+e.setting+"} "+e.why+"; the input is %v, as %s is", files[0].Format,
				files[0].At(0).Path)
		}
	}
	return c.checkPageTexts(files)
}

// checkPageTexts returns an error if the input is pages alone, and a weight is for none of their texts.
func (c *Config) checkPageTexts(files []corpus.File) error {
	if slices.ContainsFunc(files, func(f corpus.File) bool { return f.Format.HasFields() }) {
		return nil
	}
	if _, hasText := c.Weight[formats.PageText]; len(c.Weight) > 0 && !hasText {
		return setting.Errorf("{weight}: a web page has the text " + formats.PageText + ": weigh it, too")
	}
	for _, field := range slices.Sorted(maps.Keys(c.Weight)) {
		if !slices.Contains(formats.PageTexts, field) {
			return setting.Errorf("{weight} %s: the texts of a web page are %s", field,
				strings.Join(formats.PageTexts, ", "))
		}
	}
	return nil
}

// CheckFolder refuses an output that is meant to be one file: a job writes a folder.
func (c *Config) CheckFolder() error {
	const files = "results are several files: give a folder, such as out; 'cat out/unique-*' puts those of one " +
		"output together"
	if c.Output == corpus.Stdin || corpus.IsFileName(c.Output) {
		return setting.Errorf("{output} %s: "+files+"; a folder of that name ends with a slash, as in %[1]s/", c.Output)
	}
	return nil
}

// Exchanged returns the scheme of bands and rows that were given the wrong way round: pairs at the threshold are nearly
// all missed, and with the numbers exchanged they are found. Given are the ones in use.
func (c *Config) Exchanged() (given, other lshbands.Scheme, isExchanged bool) {
	given, err := c.Scheme()
	if err != nil || c.Bands == 0 || c.Rows == 0 {
		return given, other, false
	}
	const few, most = 0.1, 0.9
	other = lshbands.Scheme{Bands: given.Rows, Rows: given.Bands}
	return given, other, given.Probability(c.Threshold) < few && other.Probability(c.Threshold) > most
}
