package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/formats"
	"mirrorbeam.dev/internal/result/write"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/job"
)

// accept refuses a result that the user would not want. The error is of a kind.
func (r *run) accept(result *write.Result) error {
	if err := acceptRecords(&r.Config, result, r.Bytes); err != nil {
		return failure.New(failure.Input, err)
	}
	err := acceptFields(&r.Config, result, r.inputs.Files)
	if err == nil {
		err = acceptRanking(&r.Config, result, r.inputs.Files)
	}
	if err != nil {
		return failure.New(failure.Usage, err)
	}
	return nil
}

const namedSources = 5

// acceptRanking refuses a result for which a list of preferred sources was given that has no source of the corpus.
func acceptRanking(config *job.Config, result *write.Result, files []corpus.File) error {
	if n := result.Counts; config.Keep.Ranking() == "" || n.Unranked == 0 || n.Unranked < n.Documents {
		return nil
	}
	var there []string
	for _, source := range result.Named {
		there = append(there, source.Name)
	}
	if config.SourceField == "" {
		for i := range files {
			if name, _ := files[i].Place(0); !files[i].Reference {
				there = append(there, name)
			}
		}
	}
	var quoted []string
	for _, name := range there[:min(len(there), namedSources)] {
		quoted = append(quoted, fmt.Sprintf("%.40q", name))
	}
	return setting.Errorf("{keep} %s: the list has no source of the corpus, such as %s", config.Keep,
		strings.Join(quoted, ", "))
}

func acceptRecords(config *job.Config, result *write.Result, size int64) error {
	counts := result.Counts
	if config.MaxRejects >= 0 && counts.Rejected > config.MaxRejects {
		return setting.Errorf("%s, {max_rejects} allows %d: %s", failure.Unreadable(counts.Rejected),
			config.MaxRejects, firstReject(*result))
	}
	if len(config.Reference) > 0 && counts.ReferenceDocuments == 0 {
		if counts.Rejected > 0 {
			hint := ""
			if config.TrimRule().Share > 0 && len(config.ItemFields) == 0 {
				hint = "; {item_fields} names the fields of the reference that have the items"
			}
			return setting.Errorf("no document in the {reference}, %s: %s"+hint, failure.Unreadable(counts.Rejected),
				firstReject(*result))
		}
		return setting.Errorf("no document in the {reference}: nothing can be compared with it")
	}
	if counts.Documents == 0 && counts.Rejected > 0 {
		hint := ""
		if config.Format == corpus.AutoFormat && corpus.IsGuessed(result.FirstReject.File) {
			hint = corpus.FormatHint
		}
		return setting.Errorf("no document in %d bytes of input, %s: %s"+hint, size,
			failure.Unreadable(counts.Rejected), firstReject(*result))
	}
	return nil
}

// acceptFields refuses a result if no document has a value of a named field: most likely the name is wrong.
func acceptFields(config *job.Config, result *write.Result, files []corpus.File) error {
	n := result.Counts
	id := config.IDField
	if id == job.Default().IDField {
		id = "" // nobody has asked for it
	}
	sourced := n.Documents
	if len(result.Named) == 1 && result.Named[0].Name == documents.NoValue {
		sourced = 0
	}
	ifGiven := func(name, field string) string {
		if config.HasSites() && slices.Contains(config.Given, name) {
			return field
		}
		return ""
	}
	type namedField struct {
		setting, field string
		lacking, all   int64
		what           string
	}
	all := []namedField{
		{"id_field", id, result.Unnamed, n.Documents + n.ReferenceDocuments, "an id in it"},
		{"within", config.Within, n.Unscoped, n.Documents + n.ReferenceDocuments, "a value of it"},
		{"across", config.Across, n.Unscoped, n.Documents + n.ReferenceDocuments, "a value of it"},
		{"source_field", config.SourceField, n.Documents - sourced, n.Documents, "a value of it"},
		{"url_field", ifGiven("url_field", config.URLField), n.Unsited, n.Documents, "an address in it"},
		{
			"date_field", ifGiven("date_field", config.DateField), result.Undated, n.Documents - n.Unsited,
			"a date in it",
		},
		{"keep", config.Keep.Field(), n.Unranked, n.Documents, "a " + config.Keep.Lacks()},
	}
	for i, field := range config.Keep.Fields()[1:] {
		all = append(all, namedField{"keep", field, n.UnrankedTies[i], n.Documents, "a value of " + field})
	}
	for _, named := range all {
		if named.field == "" || named.lacking == 0 || named.lacking < named.all {
			continue
		}
		return setting.Errorf("{"+named.setting+"}: no document has "+named.what+": %w",
			faultOfField(config, named.field, files))
	}
	return nil
}

// faultOfField says why no document has a value of a field, and which fields are there.
func faultOfField(config *job.Config, field string, files []corpus.File) error {
	reading := config.Sketching(0).Reading
	wanted := reading.Wanted()
	wanted.Fields = corpus.Fields{Texts: []string{field}}
	if err := formats.Probe(files, wanted, reading.LineLimits()); err != nil {
		return err
	}
	fault := fmt.Errorf("the field %s has other values, or is not there", field)
	if slices.ContainsFunc(files, func(f corpus.File) bool { return f.Format.HasFields() }) {
		return fault
	}
	return fmt.Errorf(
		"%w: a text has the names of its folders, such as lang of lang=de, a web page also %s, "+
			"and a page of an archive also %s",
		fault, strings.Join(formats.PageFields, ", "), strings.Join(formats.ArchiveFields, ", "))
}
