package job

import (
	"slices"

	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/passages/trim"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/sketch"
)

// Trimming says which passages are cut from texts, since they occur earlier. It matters only to the outputs
// trimmed and passages.
type Trimming struct {
	// PassageWords is the length of a passage in words, or the least number of words of a passage of other units, at
	// least 1.
	PassageWords int `json:"passage_words,omitempty" affects:"outputs"`
	// PassageUnit says what passages are made of.
	PassageUnit trim.Unit `json:"passage_unit,omitempty" affects:"outputs"`
	// PassageCopies is how often a passage occurs before it is cut, at least 2.
	PassageCopies int64 `json:"passage_copies,omitempty" affects:"outputs"`
	// MinWords is the least number of words that are left of a document. One that has fewer after a cut goes as a
	// whole.
	MinWords int `json:"min_words,omitempty" affects:"outputs"`
}

var trimOutputs = []string{output.Trimmed, output.Passages}

// TrimRule returns which passages are cut.
func (t *Trimming) TrimRule() trim.Rule {
	return trim.Rule{Unit: t.PassageUnit, Words: t.PassageWords, Copies: t.PassageCopies, Least: t.MinWords}
}

func (c *Config) checkTrimming(check checker) {
	at := slices.IndexFunc(c.Outputs(), func(name string) bool { return slices.Contains(trimOutputs, name) })
	if at < 0 {
		c.refuse(check, &c.Trimming, "is for {emit} trimmed and passages")
		return
	}
	check(c.PassageWords >= 1, "{passage_words} %d: must be 1 or more", c.PassageWords)
	check(slices.Contains(trim.Units, c.PassageUnit),
		"{passage_unit} %s: must be words, lines, paragraphs or sentences", c.PassageUnit)
	check(c.PassageCopies >= 2, "{passage_copies} %d: must be 2 or more: the first one stays", c.PassageCopies)
	check(c.MinWords >= 0, "{min_words} %d: must be 0 or more", c.MinWords)
	of := "{emit} " + c.Outputs()[at] + ": "
	check(c.Features == "", of+"cuts texts; with {features} leave it out")
	check(c.TextFormat != webtext.HTML, of+"cuts words, not markup; leave {text_format} out")
	check(len(c.Weight) == 0, of+"cuts one text of each document; name it with {text_field}, and leave {weight} out")
	check(c.StopWords == "" || c.StopWordUse == sketch.RemoveStopWords,
		of+"{stopwords_use} %s leaves holes in passages; only remove can be used", c.StopWordUse)
	check(c.Within == "" && c.Across == "",
		of+"passages are looked for in the whole corpus; leave {within} and {across} out")
}
