package warnings

import (
	"fmt"

	"mirrorbeam.dev/internal/fingerprint/common"
	"mirrorbeam.dev/internal/input/formats"
	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/sketch"
)

// leastNear is the least number of near-duplicates that say something of all.
const leastNear = 10

// ofShort warns of near-duplicates among short records: if most records, or most near-duplicates, are short.
func ofShort(c *job.Config, found *findings.Findings) []Warning {
	t, near := found.Texts, found.Counts.Removed-found.Counts.Identical
	short := t.Short - t.Empty - t.Addresses // these are short, and ofTexts is about them
	if c.MinShingles >= findings.ShortText || !c.Kind().HasShingles {
		return nil
	}
	w := Warning{Kind: ShortRecords, Flag: fmt.Sprintf("--min-shingles %d", findings.ShortText)}
	if named := found.NearShort.Named; len(named) > 0 {
		w.A, w.B = named[0].Removed, named[0].Kept
	}
	switch {
	case t.Records >= leastDocuments && 2*short > t.Records && near > 0:
		w.Text = fmt.Sprintf(
			"%d of %d records have fewer than %d shingles: one more word at an end makes a near-duplicate, "+
				"and %d documents are removed that are not equal to another",
			short, t.Records, findings.ShortText, near)
	case found.Near.Count >= leastNear && 2*found.NearShort.Count > found.Near.Count:
		w.Text = fmt.Sprintf(
			"%d of %d documents that are removed, and not equal to the one that stays, have fewer than %d shingles, "+
				"where a word more or less makes a near-duplicate",
			found.NearShort.Count, found.Near.Count, findings.ShortText)
	default:
		return nil
	}
	if w.A != "" {
		w.Text += fmt.Sprintf(", such as %s for %s", w.A, w.B)
	}
	return []Warning{w}
}

// ofSmall warns of documents that containment compares for equality only, where they are more than a tenth.
func ofSmall(c *job.Config, found *findings.Findings) []Warning {
	n := found.Texts.Tiny + found.Counts.CommonWhole + found.Counts.IgnoredWhole
	if c.Scorer().HasClusters || n < leastDocuments || 10*n <= found.Counts.Documents {
		return nil
	}
	w := about(SmallTexts, "--similarity jaccard",
		"%d of %d documents have fewer than %d shingles that count: passages of these are not found, "+
			"and only equal ones are listed", n, found.Counts.Documents, findings.TinyText)
	if found.Counts.CommonWhole > found.Texts.Tiny {
		w.Flag = "--common " + common.Off
	}
	return []Warning{w}
}

const (
	// manyPairs for each document: then most may share nothing but phrases of their language or form.
	manyPairs = 10
	// rarePassage is the rarity below which these phrases are.
	rarePassage = 3
	// commonShingle is the length of shingles, in words, that nearly all texts share where each character is a word.
	commonShingle = 2
)

func ofPhrases(c *job.Config, found *findings.Findings) []Warning {
	n := found.Counts.Pairs - found.Counts.Identical
	if c.Scorer().HasClusters || c.Rarity >= rarePassage || compared(found) < leastDocuments ||
		n < manyPairs*compared(found) {
		return nil
	}
	w := about(CommonPhrases, fmt.Sprintf("--rarity %d", rarePassage),
		"%d pairs of %d documents share a passage: most may be phrases of the language, or of a form, "+
			"that nobody copied", n, compared(found))
	if c.Shingle <= commonShingle {
		w.Flag += fmt.Sprintf(", --shingle %d", 2*commonShingle)
		w.Text += "; where a character is a word, as in Chinese and Japanese, longer shingles also take less time"
	}
	return []Warning{w}
}

func ofMarkup(c *job.Config, t findings.Texts) []Warning {
	if t.Records < leastRecords || 10*t.Markup <= t.Records {
		return nil
	}
	w := about(Markup, "--text-format "+string(webtext.HTML),
		"%d of %d records have a web page with all its tags as their text, which count as words",
		t.Markup, t.Records)
	if c.HTMLText == webtext.Main {
		w.Text += "; html-text main has no effect on them"
	}
	return []Warning{w}
}

// ofTitles warns of web pages that are removed for pages of another title, where these are at least one of a thousand.
func ofTitles(c *job.Config, found *findings.Findings) []Warning {
	n := found.OtherTitle.Count
	if n == 0 || 1000*n < found.Counts.Removed || c.Within == formats.TitleWords {
		return nil
	}
	pair := found.OtherTitle.Named[0]
	return []Warning{{
		Kind: OtherTitle,
		Flag: "--within " + formats.TitleWords,
		Text: fmt.Sprintf(
			"%d of %d removed documents are web pages whose title differs in more than numbers from the title of the "+
				"page that stays, such as %s, titled %q, for %s, titled %q",
			n, found.Counts.Removed, pair.Removed, pair.Title, pair.Kept, pair.KeptTitle),
		A: pair.Removed,
		B: pair.Kept,
	}}
}

// ofVariants warns if at least a quarter of the removed documents are about something else than the one that stays.
func ofVariants(c *job.Config, found *findings.Findings) []Warning {
	v := found.Variants
	if v == nil || 4*v.Found < v.Judged || c.RemoveIf != "" {
		return nil
	}
	return []Warning{{
		Kind: Variants,
		Flag: "--variants keep, --within FIELD",
		Text: fmt.Sprintf(
			"%d of %d removed documents that are not identical to the one that stays, and were looked at, differ from "+
				"it in what they are about: rare words are exchanged, as in records of one form, such as %s for %s; "+
				"a person would likely not call these copies",
			v.Found, v.Judged, v.Removed, v.Kept),
		A: v.Removed,
		B: v.Kept,
	}}
}

// ofPreset proposes a preset for a corpus that looks like one, if removed documents do not equal the kept one.
func ofPreset(c *job.Config, found *findings.Findings) []Warning {
	if c.Preset != "" || found.Near.Count < leastNear || !c.Scorer().HasClusters {
		return nil
	}
	name, what := Preset(c, found.Texts, found.Counts.Documents)
	if name == "" || name == "titles" { // ofShort is about these
		return nil
	}
	pair := found.Near.Named[0]
	return []Warning{{
		Kind: OtherPreset,
		Flag: "--preset " + name,
		Text: fmt.Sprintf(
			"%s, and %d documents are removed that are not equal to the one that stays, such as %s for %s at %.2f",
			what, found.Near.Count, pair.Removed, pair.Kept, pair.Similarity),
		A: pair.Removed,
		B: pair.Kept,
	}}
}

// Preset returns the name of the preset for what most of the documents are, and what that means. The name is empty if
// there is none, or if the job has the settings of the preset already.
func Preset(c *job.Config, t findings.Texts, documents int64) (name, what string) {
	switch {
	case documents < leastDocuments:
		return "", ""
	case 2*t.Code > documents && c.Code == (sketch.Code{}):
		return "code", fmt.Sprintf(
			"%d of %d documents are program code, by their names: licences and comments count like code", t.Code,
			documents)
	case 2*t.Pages > documents && c.CommonLaw().IsOff():
		return "web", fmt.Sprintf(
			"%d of %d documents are web pages: what the pages of a site share counts like their text", t.Pages,
			documents)
	case 2*t.Short > documents && c.MinShingles < findings.ShortText:
		return "titles", fmt.Sprintf(
			"about %d of %d documents have fewer than %d shingles: one more word at an end makes a near-duplicate",
			t.Short, documents, findings.ShortText)
	}
	return "", ""
}
