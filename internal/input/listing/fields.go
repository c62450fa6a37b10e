package listing

import (
	"slices"
	"strings"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/formats"
	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/job"
)

// textFields are the usual fields of texts, the most certain first. Of a group, all that are there are compared, at
// least two.
var textFields = [][]string{
	{"full_text"},
	{"text"},
	{"instruction", "input", "output"},
	{"instruction", "context", "response"},
	{"conversations.value"},
	{"conversations.content"},
	{"messages.content"},
	{"messages.content.text"},
	{"content"},
	{"prompt", "completion"},
	{"prompt", "response"},
	{"question", "answer"},
	{"question", "answers.text"},
	{"question", "answers"},
	{"prompt", "chosen"},
	{"prompt.content", "chosen.content"},
	{"chosen"},
	{"chosen.content"},
	{"raw_content"},
	{"body"},
	{"selftext"},
	{"html"},
	{"description"},
	{"abstract"},
	{"article"},
	{"document"},
}

var (
	idFields  = []string{"id", "_id", "_id.$oid", "doc_id", "uuid", "hexsha", "id_str"}
	urlFields = []string{"url", "uri", "link", "meta.url", "warc-target-uri"}
)

// source is the field below which Elasticsearch has the document.
const source = "_source."

// byFar is how many times as long the texts of a field are as of any other one, if no field has a usual name.
const byFar = 3

// leastText is how many bytes such texts have at least in the mean: shorter ones are names or numbers. A field with as
// long a name is the first record of a table without a header.
const leastText = 40

// ChooseFields fills in the fields of text, id and address of a configuration that names none, where the first records
// of the files lack the usual ones. It returns the names of the settings that it has chosen.
func ChooseFields(c *job.Config, files []corpus.File) (chosen []string) {
	usual, reading := job.Default(), c.Sketching(0).Reading
	isOpen := func(name, value, usual string) bool { return value == usual && !slices.Contains(c.Given, name) }
	wanted, limits := reading.Wanted(), reading.LineLimits()
	if len(files) == 0 {
		return nil
	}
	formats.ReadLists(files, c.Records)
	samples := map[int]*formats.Sample{}
	sample := func(at int) *formats.Sample {
		if samples[at] == nil {
			samples[at] = formats.NewSample(files[at], wanted, limits)
		}
		return samples[at]
	}
	choosesText := isOpen("text_field", c.TextField, usual.TextField) && len(c.Weight) == 0 && c.Features == "" &&
		c.Fingerprints == "" && !hasUsual(len(files), sample, usual.TextField)
	if choosesText && isOpen("records", c.Records, "") && len(usualTexts(sample(0))) == 0 {
		if c.Records = sample(0).ListOfRecords(); c.Records != "" {
			chosen, wanted.Records = append(chosen, "records"), c.Records
			formats.ReadLists(files, c.Records)
			clear(samples)
		}
	}
	at := slices.IndexFunc(files, func(f corpus.File) bool { return f.Format.HasFields() && !f.Recalled })
	if at < 0 {
		return chosen
	}
	names := sample(at).FieldNames()
	one := func(setting string, field *string, usual string, likely []string) {
		if found := firstOf(names, likely); isOpen(setting, *field, usual) && found != "" && found != usual {
			*field, chosen = found, append(chosen, setting)
		}
	}
	one("id_field", &c.IDField, usual.IDField, idFields)
	if c.HasSites() {
		one("url_field", &c.URLField, usual.URLField, urlFields)
	}
	if !choosesText || c.Records != "" && hasUsual(len(files), sample, usual.TextField) {
		return chosen
	}
	fields := likelyTexts(sample(at))
	if len(fields) > 1 && weigh(c, fields) {
		return append(chosen, "weight")
	}
	if len(fields) == 0 || fields[0] == usual.TextField {
		return chosen
	}
	c.TextField, chosen = fields[len(fields)-1], append(chosen, "text_field")
	if strings.HasSuffix(c.TextField, "html") && isOpen("text_format", string(c.TextFormat), string(usual.TextFormat)) {
		c.TextFormat, chosen = webtext.HTML, append(chosen, "text_format")
	}
	return chosen
}

// weigh makes several fields count alike, and reports whether the other settings allow it.
func weigh(c *job.Config, fields []string) bool {
	weighted := *c
	weighted.Weight = map[string]float64{}
	for _, field := range fields {
		weighted.Weight[field] = 1
	}
	if weighted.Validate() != nil {
		return false
	}
	c.Weight = weighted.Weight
	return true
}

// hasUsual reports whether the first records of some of the files have the usual field, and no better one.
func hasUsual(files int, sample func(at int) *formats.Sample, usual string) bool {
	for _, at := range slices.Compact([]int{0, files / 2, files - 1}) {
		names := sample(at).FieldNames()
		if slices.Contains(names, usual) && !slices.Contains(names, textFields[0][0]) {
			return true
		}
	}
	return false
}

// firstOf returns the first of some names that there is, or its spelling in other letters; empty: there is none.
func firstOf(names, likely []string) string {
	for _, name := range likely {
		for _, prefix := range []string{"", source} {
			if slices.Contains(names, prefix+name) && !hasFields(names, prefix+name) {
				return prefix + name
			}
		}
		at := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, name) && !hasFields(names, n) })
		if at >= 0 {
			return names[at]
		}
	}
	return ""
}

// hasFields reports whether a field is an object, or a list of them.
func hasFields(names []string, name string) bool {
	return slices.ContainsFunc(names, func(other string) bool { return strings.HasPrefix(other, name+".") })
}

// likelyTexts returns the fields of a file that probably are the text of a document; nil: nobody can tell.
func likelyTexts(sample *formats.Sample) []string {
	if usual := usualTexts(sample); len(usual) > 0 {
		return usual
	}
	return longestText(sample)
}

// LikelyText returns the field that probably is the text in the first file that has fields; empty: nobody can tell.
func LikelyText(files []corpus.File, wanted corpus.Wanted, limits corpus.Limits) string {
	at := slices.IndexFunc(files, func(f corpus.File) bool { return f.Format.HasFields() })
	if at < 0 {
		return ""
	}
	fields := likelyTexts(formats.NewSample(files[at], wanted, limits))
	if len(fields) == 0 {
		return ""
	}
	return fields[len(fields)-1]
}

// usualTexts returns the fields of a file that usually are the text of a document; nil: it has none.
func usualTexts(sample *formats.Sample) []string {
	names := sample.FieldNames()
	for _, group := range textFields {
		var there []string
		filled := 0
		for _, name := range group {
			found := firstOf(names, []string{name})
			if found == "" {
				continue
			}
			length := sample.TextBytes(found)
			if length >= 0 { // an empty field may have texts further down
				there = append(there, found)
			}
			if length > 0 {
				filled++
			}
		}
		if filled >= min(len(group), 2) {
			return there
		}
	}
	return nil
}

// longestText returns the field of a file whose texts are by far the longest; nil: there is none.
func longestText(sample *formats.Sample) []string {
	longest, most, second := "", 0, 0
	for _, name := range sample.FieldNames() {
		switch bytes := sample.TextBytes(name); {
		case len(name) >= leastText:
		case bytes > most:
			longest, most, second = name, bytes, most
		case bytes > second:
			second = bytes
		}
	}
	if most < max(leastText, byFar*second) {
		return nil
	}
	return []string{longest}
}
