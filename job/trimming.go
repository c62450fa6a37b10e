package job

import (
	"cmp"
	"slices"

	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/passages/trim"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/sketch"
)

// Trimming says which passages are cut from texts, since they occur earlier. It matters only to the outputs
// trimmed and passages.
type Trimming struct {
	// PassageWords is the length of a passage in words, or the least number of words of another unit, at least 1.
	PassageWords int `json:"passage_words,omitempty" affects:"outputs"`
	// PassageUnit says what passages are made of.
	PassageUnit trim.Unit `json:"passage_unit,omitempty" affects:"outputs"`
	// PassageCopies is how often a passage occurs before it is cut, at least 2.
	PassageCopies int64 `json:"passage_copies,omitempty" affects:"outputs"`
	// MinWords is the least number of words that a cut leaves of a document. One with fewer goes as a whole.
	MinWords int `json:"min_words,omitempty" affects:"outputs"`
	// PassageShare is the least share of the words of an item of the reference that a document must have, in their
	// order, at most 1; 0: three quarters.
	PassageShare float64 `json:"passage_share,omitempty" affects:"outputs"`
	// Cut is how many characters on both sides of an item are cut with it; with 0 the document goes as a whole.
	Cut int `json:"cut,omitempty" affects:"outputs"`
	// ItemFields are fields of the reference that are looked for, each apart; empty: its text.
	ItemFields []string `json:"item_fields,omitempty" affects:"sketches"`
}

var trimOutputs = []string{output.Trimmed, output.Passages}

// TrimRule returns which passages are cut.
func (t *Trimming) TrimRule() trim.Rule {
	rule := trim.Rule{Unit: t.PassageUnit, Words: t.PassageWords, Copies: t.PassageCopies, Least: t.MinWords}
	if rule.Unit == trim.Items {
		rule.Share, rule.Window, rule.Fields = cmp.Or(t.PassageShare, usualShare), t.Cut, t.ItemFields
	}
	return rule
}

func (c *Config) checkTrimming(check checker) {
	at := slices.IndexFunc(c.Outputs(), func(name string) bool { return slices.Contains(trimOutputs, name) })
	if at < 0 {
		c.refuse(check, &c.Trimming, "is for {emit} trimmed and passages")
		return
	}
	check(c.PassageWords >= 1, "{passage_words} %d: must be 1 or more", c.PassageWords)
	check(c.PassageCopies >= 2, "{passage_copies} %d: must be 2 or more: the first one stays", c.PassageCopies)
	c.checkItems(check)
	check(c.MinWords >= 0, "{min_words} %d: must be 0 or more", c.MinWords)
	of := "{emit} " + c.Outputs()[at] + ": "
	check(c.Features == "" && c.Fingerprints == "", of+"cuts texts; with {features} and {fingerprints} leave it out")
	check(c.TextFormat != webtext.HTML, of+"cuts words, not markup; leave {text_format} out")
	check(len(c.Weight) == 0, of+"cuts one text of each document; name it with {text_field}, and leave {weight} out")
	check(c.StopWords == "" || c.StopWordUse == sketch.RemoveStopWords,
		of+"{stopwords_use} %s leaves holes in passages; only remove can be used", c.StopWordUse)
	check(c.Within == "" && c.Across == "",
		of+"passages are looked for in the whole corpus; leave {within} and {across} out")
}

const (
	// leastItem is the least number of words of an item: fewer are in any corpus.
	leastItem = 3
	// usualShare is the least share of the words of an item, unless another one is given.
	usualShare = 0.75
)

func (c *Config) checkItems(check checker) {
	if c.PassageUnit != trim.Items {
		for _, name := range []string{"passage_share", "cut", "item_fields"} {
			check(!slices.Contains(c.Given, name), "{"+name+"}: is for {passage_unit} items")
		}
		return
	}
	of := "{passage_unit} items: "
	check(len(c.Reference) > 0, of+"the items are documents of {reference}; name the benchmarks there")
	check(c.PassageWords >= leastItem, of+"{passage_words} %d: must be %d or more", c.PassageWords, leastItem)
	check(c.PassageShare >= 0 && c.PassageShare <= 1, "{passage_share} %g: must be from 0 to 1", c.PassageShare)
	check(c.Cut >= 0, "{cut} %d: must be 0 or more", c.Cut)
}

// itemFields returns the fields of the reference that are looked for.
func (c *Config) itemFields() []string {
	if c.PassageUnit != trim.Items {
		return nil
	}
	return c.ItemFields
}

// RemovesOnly reports whether trimmed leaves out whole documents, and changes no text.
func (t *Trimming) RemovesOnly() bool { return t.PassageUnit == trim.Items && t.Cut == 0 }
