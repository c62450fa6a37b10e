package warnings

import (
	"fmt"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

func TestNoWarnings(t *testing.T) {
	config := job.Default()
	got := Of(&config, &findings.Findings{Texts: findings.Texts{Records: 20, Empty: 5, Addresses: 5}}, []sources.Row{
		{Source: "nine tenths", Documents: 100, Removed: 90},
		{Source: "few documents", Documents: leastDocuments - 1, Removed: leastDocuments - 1},
	})
	if got == nil || len(got) > 0 {
		t.Errorf("warnings %#v, want an empty list", got)
	}
	if got := Of(&config,
		&findings.Findings{Texts: findings.Texts{Records: leastRecords - 1, Empty: leastRecords - 1}}, nil); len(got) >
		0 {
		t.Errorf("of few records: %+v", got)
	}
}

// TestProtectedMissing: a list of protected sites that no page belongs to protects nobody.
func TestProtectedMissing(t *testing.T) {
	config := job.Default()
	config.Emit, config.Protected = []string{output.Suspects}, "ours.txt"
	got := Of(&config, &findings.Findings{Extras: findings.Extras{Mirrors: &findings.Mirrors{Sites: 5}}}, nil)
	if len(got) != 1 || got[0].Kind != ProtectedMissing || !got[0].IsGrave() ||
		!strings.HasPrefix(got[0].Text, "none of 5 sites is") {
		t.Errorf("%+v", got)
	}
	if got := Of(&config,
		&findings.Findings{Extras: findings.Extras{Mirrors: &findings.Mirrors{Sites: 5, Protected: 1}}},
		nil); len(got) > 0 {
		t.Errorf("with a protected site: %+v", got)
	}
}

// TestBlank: documents without text are said to be identical where any are.
func TestBlank(t *testing.T) {
	config := job.Default()
	found := findings.Findings{
		Texts:  findings.Texts{Blank: 2},
		Totals: findings.Totals{Counts: findings.Counts{Documents: 9}},
	}
	if got := Of(&config, &found, nil); len(got) > 0 {
		t.Errorf("none is identical: %+v", got)
	}
	found.Counts.Identical = 1
	want := "2 of 9 documents have no text, so they are identical to each other: unique keeps one of them, and annotated all"
	if got := Of(&config, &found, nil); len(got) != 1 || got[0].Kind != BlankTexts || got[0].Text != want {
		t.Errorf("%+v", got)
	}
}

func TestTexts(t *testing.T) {
	for _, test := range []struct {
		weight map[string]float64
		texts  findings.Texts
		want   string
	}{
		{
			nil,
			findings.Texts{Records: 10, Empty: 6},
			"the text, field body, is empty in 6 of 10 records: the texts may be in another field (--text-field)",
		},
		{
			map[string]float64{"b": 1, "a": 2},
			findings.Texts{Records: 10, Empty: 5, Addresses: 1},
			"the text, field a and b, is empty in 5 and a web address in 1 of 10 records: the texts may be in another field (--weight)",
		},
	} {
		config := job.Default()
		config.TextField, config.Weight = "body", test.weight
		got := Of(&config, &findings.Findings{Texts: test.texts}, nil)
		if len(got) != 1 || got[0].Kind != TextField || got[0].Text+" ("+got[0].Flag+")" != test.want {
			t.Errorf("%+v, want %s", got, test.want)
		}
	}
}

// TestShort: short records warn if near-duplicates among them are removed, and only without --min-shingles.
func TestShort(t *testing.T) {
	found := findings.Findings{
		Texts:  findings.Texts{Records: 100, Short: 51},
		Totals: findings.Totals{Counts: findings.Counts{Removed: 12, Identical: 5}},
	}
	for _, test := range []struct {
		change func(*job.Config, *findings.Findings)
		warns  bool
	}{
		{func(*job.Config, *findings.Findings) {}, true},
		{func(_ *job.Config, f *findings.Findings) { f.Texts.Short = 50 }, false},
		{func(_ *job.Config, f *findings.Findings) { f.Texts.Records, f.Texts.Short = 49, 49 }, false},
		{func(_ *job.Config, f *findings.Findings) { f.Counts.Identical = 12 }, false},
		{func(c *job.Config, _ *findings.Findings) { c.MinShingles = 40 }, false},
	} {
		config, found := job.Default(), found
		test.change(&config, &found)
		got := Of(&config, &found, nil)
		if len(got) > 0 != test.warns ||
			test.warns &&
				(got[0].Kind != ShortRecords || got[0].Flag != "--min-shingles 40" ||
					!strings.Contains(got[0].Text, "7 documents")) {
			t.Errorf("%+v: %+v", found, got)
		}
	}
}

// TestMore: there are at most ten warnings of a kind, and the last says how many are not listed.
func TestMore(t *testing.T) {
	var found findings.Findings
	var table []sources.Row
	for i := range 13 {
		table = append(table, sources.Row{Source: fmt.Sprint(i), Documents: 100, Removed: 91 + int64(i)%3})
		found.Templates.Add(findings.Template{Cluster: fmt.Sprint(i), Documents: 100})
		found.Bridges.Add(findings.Bridge{Cluster: fmt.Sprint(i)})
	}
	config := job.Default()
	got := Of(&config, &found, table)
	if len(got) != 30 {
		t.Fatalf("%d warnings", len(got))
	}
	for i, warning := range got {
		if want := []Kind{SourceLoss, LikelyTemplate, OnePair}[i/10]; warning.Kind != want {
			t.Errorf("warning %d is %+v, want %s", i, warning, want)
		}
		if want := int64(i%10) / 9 * 3; warning.More != want {
			t.Errorf("warning %d is %+v, want %d more", i, warning, want)
		}
	}
	if !strings.HasPrefix(got[0].Text, "2 loses 93 of its 100") {
		t.Errorf("the first is %+v", got[0])
	}
}

// TestNothingRemoved: a job whose outputs tell of no removed document warns of none.
func TestNothingRemoved(t *testing.T) {
	pair := findings.Worst[findings.NearPair]{
		Count: 60,
		Named: []findings.NearPair{{Removed: "b", Kept: "a", Title: "x", KeptTitle: "y"}},
	}
	found := findings.Findings{
		Totals:     findings.Totals{Counts: findings.Counts{Documents: 100, Removed: 95}},
		Texts:      findings.Texts{Records: 100, Short: 60, Pages: 100},
		Near:       pair,
		NearShort:  pair,
		OtherTitle: pair,
		Extras:     findings.Extras{Variants: &findings.Variants{Judged: 60, Found: 60}},
		Templates:  findings.Worst[findings.Template]{Count: 1, Named: []findings.Template{{Cluster: "a"}}},
		Bridges:    findings.Worst[findings.Bridge]{Count: 1, Named: []findings.Bridge{{Cluster: "a"}}},
	}
	table := []sources.Row{{Source: "a", Documents: 100, Removed: 95}}
	for _, c := range []struct {
		emit  []string
		warns bool
	}{
		{[]string{output.Mirrors, output.Sites}, false},
		{[]string{output.Pairs}, false},
		{[]string{output.Mirrors, output.Removed}, true},
		{[]string{"auto"}, true},
	} {
		config := job.Default()
		config.Emit = c.emit
		if got := Of(&config, &found, table); c.warns && len(got) != len(ofRemoval) || !c.warns && len(got) != 0 {
			t.Errorf("%v: %+v", c.emit, got)
		}
	}
}

// TestFlags: only flags that would change something are named.
func TestFlags(t *testing.T) {
	for _, test := range []struct {
		change func(c *job.Config)
		want   string
	}{
		{func(*job.Config) {}, "--common auto, --threshold 0.9, --split star"},
		{func(c *job.Config) { c.Split, c.Common = keep.Star, "30" }, "--ignore PATH, --threshold 0.9"},
		{func(c *job.Config) { c.Common, c.Ignore = "1%", []string{"licences"} }, "--threshold 0.9, --split star"},
		{func(c *job.Config) { c.State = "state" }, "--common auto, --threshold 0.9, --split star"},
		{func(c *job.Config) { c.Features = "f" }, "--threshold 0.9, --split star"},
		{func(c *job.Config) { c.Keys = methods.SimHash }, "--common auto, --hamming 2, --split star"},
		{func(c *job.Config) { c.Keys, c.Hamming = methods.SimHash, 0 }, "--common auto, --split star"},
		{func(c *job.Config) { c.Threshold = 1 }, "--common auto, --split star"},
	} {
		config := job.Default()
		test.change(&config)
		var found findings.Findings
		found.Templates.Add(findings.Template{Cluster: "c"})
		if got := Of(&config, &found, nil); len(got) != 1 || got[0].Flag != test.want {
			t.Errorf("%+v, want %s", got, test.want)
		}
	}
}

// TestRepeatedIDs: ids of several documents are told of where rows name documents by their ids.
func TestRepeatedIDs(t *testing.T) {
	found := findings.Findings{
		Totals:   findings.Totals{Counts: findings.Counts{RepeatedIDs: 50}},
		Repeated: findings.RepeatedIDs{Documents: 200, Example: findings.IDExample{First: "in:0", Second: "in:90"}},
	}
	const want = "50 ids are used for 200 documents, such as in:0 and in:90: joining results with the input by id confuses them; " +
		"join by ref, which is unique, or name a field whose values differ"
	for emit, warns := range map[string]bool{
		"removed":          true,
		"clusters":         false,
		"pairs unique":     true,
		"clusters removed": true,
	} {
		config := job.Default()
		config.Emit = strings.Fields(emit)
		got := Of(&config, &found, nil)
		if len(got) > 0 != warns || warns && (got[0].Kind != RepeatedID || got[0].Text != want) {
			t.Errorf("%s: %+v", emit, got)
		}
	}
}

// TestNoText: rejects for want of a text are told of where they are more than one of a hundred.
func TestNoText(t *testing.T) {
	config := job.Default()
	if got := Of(&config, &findings.Findings{Totals: findings.Totals{Counts: findings.Counts{
		Documents: 99,
		Rejected:  1,
		Empty:     1,
	}}}, nil); len(got) > 0 {
		t.Errorf("%+v", got)
	}
	got := Of(&config, &findings.Findings{Totals: findings.Totals{Counts: findings.Counts{
		Documents: 100,
		Rejected:  100,
		Empty:     100,
	}}}, nil)
	if len(got) != 1 || got[0].Kind != NoText ||
		got[0].Text != "100 of 200 records are rejected since their text, field text, is null or missing" {
		t.Errorf("%+v", got)
	}
}

// TestPassageLoss: a corpus or a source that loses more than half of its words is told of, unless it has few.
func TestPassageLoss(t *testing.T) {
	source := func(cut, words int64) sources.Row { return sources.Row{Source: "s", WordsCut: cut, Words: words} }
	for _, test := range []struct {
		trimmed *findings.Trimmed
		table   []sources.Row
		want    []string // how the warnings begin
	}{
		{&findings.Trimmed{Of: 1000, Words: 501}, nil, []string{"501 of 1000 words are cut"}},
		{&findings.Trimmed{Of: 1000, Words: 500}, nil, nil},
		{&findings.Trimmed{Of: 999, Words: 999}, nil, nil},
		{
			&findings.Trimmed{Of: 9000, Words: 501},
			[]sources.Row{source(501, 1000), source(0, 8000)},
			[]string{"s loses 501 of its 1000 words"},
		},
		{&findings.Trimmed{Of: 9000, Words: 500}, []sources.Row{source(500, 1000), source(0, 8000)}, nil},
		{
			&findings.Trimmed{Of: 1000, Words: 501},
			[]sources.Row{source(501, 1000)},
			[]string{"501 of 1000 words are cut"},
		},
		{nil, []sources.Row{source(501, 1000), source(501, 1000)}, nil},
	} {
		config := job.Default()
		got := Of(&config, &findings.Findings{Extras: findings.Extras{Trimmed: test.trimmed}}, test.table)
		if len(got) != len(test.want) {
			t.Errorf("%+v, %+v: %+v", test.trimmed, test.table, got)
			continue
		}
		for i, w := range got {
			if w.Kind != PassageLoss || !strings.HasPrefix(w.Text, test.want[i]) ||
				w.Flag != "--passage-words, --passage-copies" {
				t.Errorf("%+v, want %s", w, test.want[i])
			}
		}
	}
}

// TestExpanding: files that become very long are told of, unless a limit is set.
func TestExpanding(t *testing.T) {
	for _, test := range []struct {
		files int64
		limit job.ByteSize
		warns bool
	}{{0, 0, false}, {2, 0, true}, {2, 1 << 30, false}} {
		config := job.Default()
		config.MaxExpanded = test.limit
		got := Of(&config, &findings.Findings{Totals: findings.Totals{Counts: findings.Counts{Expanding: test.files}}},
			nil)
		if len(got) > 0 != test.warns ||
			test.warns &&
				(got[0].Kind != Expanding || got[0].Flag != "--max-expanded" ||
					!strings.HasSuffix(got[0].Text, ": 2; a file that was made to cost time looks so")) {
			t.Errorf("%+v: %+v", test, got)
		}
	}
}

// nearFindings are findings of 100 documents. A number are removed for one that is not equal.
func nearFindings(near int) *findings.Findings {
	found := &findings.Findings{Totals: findings.Totals{Counts: findings.Counts{Documents: 100, Removed: int64(near)}}}
	for i := range near {
		found.Near.Add(findings.NearPair{
			Removed:    fmt.Sprint("r", i),
			Kept:       fmt.Sprint("k", i),
			Similarity: .8 + float64(i)/100,
		})
	}
	return found
}

// TestOtherPreset: a preset is proposed for code and for pages if near-duplicates go, and if it would change something.
func TestOtherPreset(t *testing.T) {
	for _, test := range []struct {
		change func(*job.Config, *findings.Findings)
		flag   string
	}{
		{func(*job.Config, *findings.Findings) {}, ""},
		{func(_ *job.Config, f *findings.Findings) { f.Texts.Code = 50 }, ""},
		{func(_ *job.Config, f *findings.Findings) { f.Texts.Code = 51 }, "--preset code"},
		{func(_ *job.Config, f *findings.Findings) { f.Texts.Pages = 51 }, "--preset web"},
		{func(c *job.Config, f *findings.Findings) { f.Texts.Code, c.Preset = 51, "corpus" }, ""},
		{func(c *job.Config, f *findings.Findings) { f.Texts.Code, c.Code.Language = 51, "go" }, ""},
		{func(c *job.Config, f *findings.Findings) { f.Texts.Pages, c.Common = 51, "auto" }, ""},
		{func(c *job.Config, f *findings.Findings) { f.Texts.Code, c.Similarity = 51, methods.Containment }, ""},
		{func(_ *job.Config, f *findings.Findings) { f.Texts.Code, f.Near.Count = 51, leastNear-1 }, ""},
	} {
		config, found := job.Default(), nearFindings(10)
		test.change(&config, found)
		flag := ""
		for _, w := range Of(&config, found, nil) {
			if flag = w.Flag; w.Kind != OtherPreset || w.A != "r0" || w.B != "k0" ||
				!strings.Contains(w.Text, "51 of 100 documents are") ||
				!strings.HasSuffix(w.Text, "such as r0 for k0 at 0.80") {
				t.Errorf("%+v", w)
			}
		}
		if flag != test.flag {
			t.Errorf("proposes %q, want %q: %+v", flag, test.flag, found)
		}
	}
}

// TestNearShort: near-duplicates that are short are told of, even if most records are long.
func TestNearShort(t *testing.T) {
	for short, warns := range map[int64]bool{5: false, 6: true} {
		config, found := job.Default(), nearFindings(10)
		found.NearShort = found.Near
		found.NearShort.Count = short
		got := Of(&config, found, nil)
		if len(got) > 0 != warns ||
			warns &&
				(got[0].Kind != ShortRecords ||
					!strings.HasPrefix(got[0].Text, "6 of 10 documents that are removed") || got[0].A != "r0") {
			t.Errorf("%d short: %+v", short, got)
		}
	}
}

// TestOtherTitle: pages that are removed for pages of another title are told of, unless they are few, or titles tell
// pages apart already.
func TestOtherTitle(t *testing.T) {
	for _, test := range []struct {
		change func(*job.Config, *findings.Findings)
		warns  bool
	}{
		{func(*job.Config, *findings.Findings) {}, true},
		{func(_ *job.Config, f *findings.Findings) { f.Counts.Removed = 2000 }, true},
		{func(_ *job.Config, f *findings.Findings) { f.Counts.Removed = 2001 }, false},
		{func(_ *job.Config, f *findings.Findings) { f.OtherTitle = findings.Worst[findings.NearPair]{} }, false},
		{func(c *job.Config, _ *findings.Findings) { c.Within = "title_words" }, false},
		{func(c *job.Config, _ *findings.Findings) { c.Within = "language" }, true},
	} {
		config := job.Default()
		found := findings.Findings{Totals: findings.Totals{Counts: findings.Counts{Removed: 3}}}
		found.OtherTitle.Add(findings.NearPair{
			Removed:    "add.html",
			Kept:       "sub.html",
			Similarity: 1,
			Title:      "ADD",
			KeptTitle:  "SUB",
		})
		found.OtherTitle.Add(findings.NearPair{
			Removed:    "x.html",
			Kept:       "y.html",
			Similarity: .9,
			Title:      "Operand of x",
			KeptTitle:  "Operand of y",
		})
		test.change(&config, &found)
		got := Of(&config, &found, nil)
		if len(got) > 0 != test.warns {
			t.Errorf("%+v: %+v", found, got)
		}
		for _, w := range got {
			if w.Kind != OtherTitle || w.Flag != "--within title_words" || w.A != "x.html" || w.B != "y.html" ||
				!strings.HasPrefix(w.Text, "2 of ") ||
				!strings.HasSuffix(w.Text, `such as x.html, titled "Operand of x", for y.html, titled "Operand of y"`) {
				t.Errorf("%+v", w)
			}
		}
	}
}

// TestSmallTexts: containment is told of where it compares documents for equality only.
func TestSmallTexts(t *testing.T) {
	found := findings.Findings{
		Texts:  findings.Texts{Tiny: 60},
		Totals: findings.Totals{Counts: findings.Counts{Documents: 599}},
	}
	for _, test := range []struct {
		change func(*job.Config, *findings.Findings)
		flag   string
	}{
		{func(*job.Config, *findings.Findings) {}, "--similarity jaccard"},
		{func(_ *job.Config, f *findings.Findings) { f.Counts.CommonWhole = 61 }, "--common off"},
		{func(_ *job.Config, f *findings.Findings) { f.Counts.Documents = 600 }, ""},
		{func(c *job.Config, _ *findings.Findings) { c.Similarity = methods.Resemblance }, ""},
	} {
		config, found := job.Default(), found
		config.Similarity = methods.Containment
		test.change(&config, &found)
		got := Of(&config, &found, nil)
		if len(got) > 0 != (test.flag != "") ||
			len(got) > 0 && (got[0].Kind != SmallTexts || got[0].Flag != test.flag) {
			t.Errorf("%+v, want %s", got, test.flag)
		}
	}
}

// TestCommonPhrases: containment is told of where more pairs share a passage than copying explains.
func TestCommonPhrases(t *testing.T) {
	for _, test := range []struct {
		change func(*job.Config, *findings.Counts)
		flag   string
	}{
		{func(*job.Config, *findings.Counts) {}, "--rarity 3"},
		{func(c *job.Config, _ *findings.Counts) { c.Shingle = 2 }, "--rarity 3, --shingle 4"},
		{func(c *job.Config, _ *findings.Counts) { c.Rarity = 3 }, ""},
		{func(c *job.Config, _ *findings.Counts) { c.Similarity = methods.Resemblance }, ""},
		{func(_ *job.Config, n *findings.Counts) { n.Identical++ }, ""},
		{func(_ *job.Config, n *findings.Counts) { n.ReferenceDocuments++ }, ""},
		{func(_ *job.Config, n *findings.Counts) { n.Documents-- }, ""},
	} {
		config, found := job.Default(), findings.Findings{Totals: findings.Totals{Counts: findings.Counts{
			Documents: 50,
			Pairs:     507,
			Identical: 7,
		}}}
		config.Similarity = methods.Containment
		test.change(&config, &found.Counts)
		got := Of(&config, &found, nil)
		if len(got) > 0 != (test.flag != "") ||
			len(got) > 0 && (got[0].Kind != CommonPhrases || got[0].Flag != test.flag) {
			t.Errorf("%+v, want %s", got, test.flag)
		}
	}
}

// TestMarkup: web pages in fields are told of.
func TestMarkup(t *testing.T) {
	for markup, warns := range map[int64]bool{2: false, 3: true} {
		config := job.Default()
		config.HTMLText = webtext.Main
		got := Of(&config, &findings.Findings{Texts: findings.Texts{Records: 20, Markup: markup}}, nil)
		if len(got) > 0 != warns ||
			warns &&
				(got[0].Kind != Markup || !strings.HasPrefix(got[0].Text, "3 of 20 records have a web page") ||
					!strings.Contains(got[0].Text, "html-text main has no effect")) {
			t.Errorf("%d: %+v", markup, got)
		}
	}
}

// TestLosesMore: a source that loses far more than the others is told of.
func TestLosesMore(t *testing.T) {
	config := job.Default()
	for _, test := range []struct {
		one, other sources.Row
		warns      bool
	}{
		{sources.Row{Documents: 100, Removed: 34}, sources.Row{Documents: 1000, Removed: 68}, true},
		{sources.Row{Documents: 100, Removed: 34}, sources.Row{Documents: 1000, Removed: 69}, false},
		{sources.Row{Documents: 100, Removed: 33}, sources.Row{Documents: 1000}, false},
		{sources.Row{Documents: 100, Removed: 90}, sources.Row{Documents: leastDocuments - 1}, false},
		{sources.Row{Documents: leastDocuments - 1, Removed: 40}, sources.Row{Documents: 1000}, false},
	} {
		got := Of(&config, &findings.Findings{}, []sources.Row{test.one, test.other})
		if len(got) > 0 != test.warns || len(got) > 0 && got[0].Kind != SourceLoss {
			t.Errorf("%+v: %+v", test, got)
		}
	}
}

// TestVariants: a quarter of the removed documents is enough.
func TestVariants(t *testing.T) {
	for _, test := range []struct {
		judged, found int64
		removeIf      string
		warns         bool
	}{
		{0, 0, "", false},
		{40, 9, "", false},
		{40, 10, "", true},
		{40, 10, "contained", false},
	} {
		config, found := job.Default(), findings.Findings{}
		config.RemoveIf = keep.Condition(test.removeIf)
		if test.judged > 0 {
			found.Variants = &findings.Variants{Judged: test.judged, Found: test.found, Removed: "x", Kept: "y"}
		}
		got := Of(&config, &found, nil)
		if is := len(got) == 1 && got[0].Kind == Variants && got[0].A == "x" && got[0].B == "y"; is != test.warns {
			t.Errorf("%+v: %+v", test, got)
		}
	}
}
