package pipeline

import (
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// TestFieldsOfNobody: a job that names a field which no document has a value of is refused, and told which fields there
// are. One document with a value is enough.
func TestFieldsOfNobody(t *testing.T) {
	folder := t.TempDir()
	put(t, filepath.Join(folder, "in.jsonl"),
		[]byte(`{"id":"a","text":"one two three","lang":"en","day":"2026-01-02","url":"https://a.example/"}`+"\n"+
			`{"id":"b","text":"four five six","url":"https://b.example/"}`+"\n"), plain)
	dated := func(field string) func(c *job.Config) {
		return func(c *job.Config) {
			c.Emit, c.DateField = []string{output.Sites}, field
			c.Give("date_field")
		}
	}
	for name, c := range map[string]struct {
		change func(c *job.Config)
		fault  string // empty for none
	}{
		"id": {
			func(c *job.Config) { c.IDField = "key" },
			`no document has an id in it: .*no field "key" in the first 2 records; there are "day", "id", "lang", "text", "url"`,
		},
		"within": {func(c *job.Config) { c.Within = "language" }, `no field "language"`},
		"across": {func(c *job.Config) { c.Across = "language" }, `no field "language"`},
		"keep":   {func(c *job.Config) { c.Keep = preference.Preference("max:date") }, `no field "date"`},
		"keep, of words": {
			func(c *job.Config) { c.Keep = preference.Preference("max:lang") },
			`the field lang has other values, or is not there`,
		},
		"date":            {dated("date"), `no document has a date in it: .*no field "date" in the first 2 records`},
		"date, of some":   {dated("day"), ""},
		"within, of some": {func(c *job.Config) { c.Within = "lang" }, ""},
		"keep, of some":   {func(c *job.Config) { c.Keep = preference.Preference("max:day") }, ""},
		"id, of some":     {func(c *job.Config) { c.IDField = "lang" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			config := testConfig(t, folder)
			c.change(&config)
			_, err := Run(t.Context(), config)
			switch {
			case c.fault == "" && err != nil:
				t.Error(err)
			case c.fault != "" && (!errors.Is(err, ErrUsage) || !regexp.MustCompile(c.fault).MatchString(err.Error())):
				t.Errorf("error %v", err)
			}
			if files, _ := filepath.Glob(filepath.Join(config.Output, "*")); c.fault != "" && len(files) > 0 {
				t.Errorf("results of a job that was refused: %s", strings.Join(files, ", "))
			}
		})
	}
}

// TestUnmatchedPatterns: a summary names the patterns of files that match none.
func TestUnmatchedPatterns(t *testing.T) {
	config := testConfig(t, putCorpus(t, plain, cut(oddities(7), 2)...))
	config.Include, config.Exclude = []string{"*", "*.json"}, []string{"*.{jsonl,csv}", "*.csv"}
	summary, err := Run(t.Context(), config)
	if want := []string{"*.json", "*.{jsonl,csv}", "*.csv"}; err != nil ||
		!slices.Equal(summary.Files.Unmatched, want) {
		t.Errorf("unmatched: %q, want %q; %v", summary.Files.Unmatched, want, err)
	}
}

// TestFieldsOfPages: records without fields of their own are told apart from records that have other ones.
func TestFieldsOfPages(t *testing.T) {
	folder := t.TempDir()
	put(t, filepath.Join(folder, "lang=de", "a.html"), []byte("<title>Operand 3</title>one two three"), plain)
	for field, fault := range map[string]string{
		"title":       "lang=de, a web page also canonical, language, ",
		"lang":        "",
		"title_words": "",
	} {
		t.Run(field, func(t *testing.T) {
			config := testConfig(t, folder)
			config.Format, config.Within = "html", field
			_, err := Run(t.Context(), config)
			if (err != nil) != (fault != "") || err != nil && !strings.Contains(err.Error(), fault) {
				t.Errorf("%s: error %v", field, err)
			}
		})
	}
}
