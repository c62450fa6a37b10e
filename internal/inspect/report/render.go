package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"mirrorbeam.dev/internal/inspect/difference"
	"mirrorbeam.dev/internal/result/workspace"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/schemas"
	"mirrorbeam.dev/internal/util/quoting"
)

//go:embed page/*.html
var pageFiles embed.FS

//go:embed page/style.css
var style string

// Style is the style sheet of the page, which other pages share.
func Style() string { return style }

//go:embed page/script.js
var script string

// policy lets the page load nothing, and run nothing but its own script.
var policy = fmt.Sprintf(
	"default-src 'none'; style-src '%s'; script-src '%s'; img-src data:; base-uri 'none'; form-action 'none'",
	hashOf(style), hashOf(script))

func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// encode writes figures as JSON in which no character can end an HTML element, or change how others are shown.
func encode(figures any) ([]byte, error) {
	plain, err := json.Marshal(figures) // it escapes <, > and &
	if err != nil {
		return nil, fmt.Errorf("write the figures of a report: %w", err)
	}
	if bytes.IndexFunc(plain, isHostile) < 0 {
		return plain, nil
	}
	var b []byte
	for _, r := range string(plain) {
		if isHostile(r) {
			b = fmt.Appendf(b, `\u%04x`, r)
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	return b, nil
}

var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("pages").Funcs(template.FuncMap{
		"count": whole, "percent": percent, "size": size, "duration": duration,
		"decimal": decimal, "short": short, "shown": shown, "name": name, "share": share,
		"hundred":   func(x float64) string { return fmt.Sprintf("%.0f", 100*x) },
		"hundredth": hundredth,
		"bar":       func(part, whole int64) template.HTML { return barOf(float64(part), float64(whole)) },
		"bars":      barOf,
		"table": func(pairs []Pair, v *view) pairTable {
			return pairTable{pairs, v.IsSimilarity(), v.Run.Partial}
		},
		"day":     func(date string) string { day, _, _ := strings.Cut(date, "T"); return name(day) },
		"capture": func(url, date string) capture { return capture{url, date} },
		"side":    func(label string, side difference.Side) labelled { return labelled{label, side} },
	}).ParseFS(pageFiles, "page/*.html"))
})

type pairTable struct {
	Pairs                   []Pair
	IsSimilarity, IsPartial bool
}

type capture struct{ URL, Date string }

type labelled struct {
	Label string
	Side  difference.Side
}

func barOf(part, whole float64) template.HTML {
	width := 0.
	if whole > 0 {
		width = 100 * part / whole
	}
	return template.HTML(
		fmt.Sprintf(
			`<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect width="%.1f" height="1"/></svg>`, width))
}

func whole(n any) string { return count(reflect.ValueOf(n).Int()) }

func share(x float64) string { return fmt.Sprintf("%.2f %%", 100*x) }

// hundredth returns a share in percent, as a number.
func hundredth(part, whole int64) string {
	if whole == 0 {
		return "0.0"
	}
	return fmt.Sprintf("%.1f", 100*float64(part)/float64(whole))
}

// Write writes the page of a run.
func Write(w io.Writer, f *Figures) error {
	view, err := newView(f)
	if err == nil {
		err = pages().ExecuteTemplate(w, "page.html", view)
	}
	if err != nil {
		return fmt.Errorf("write a report: %w", err)
	}
	return nil
}

func count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, digit := range digits {
		if i > 0 && digits[i-1] != '-' && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return b.String()
}

// percent writes a share, with more digits where it is small or nearly whole.
func percent(part, whole int64) string {
	if whole == 0 {
		return "–"
	}
	share := 100 * float64(part) / float64(whole)
	if share > 0 && share < 1 || share > 99 && share < 100 {
		return fmt.Sprintf("%.2f %%", share)
	}
	return fmt.Sprintf("%.1f %%", share)
}

func size(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB"}
	value, unit := float64(n), 0
	for value >= 999.5 && unit < len(units)-1 {
		value /= 1000
		unit++
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.3g %s", value, units[unit])
}

func duration(seconds float64) string {
	switch {
	case seconds < 10:
		return fmt.Sprintf("%.2f s", seconds)
	case seconds < 100:
		return fmt.Sprintf("%.1f s", seconds)
	case seconds < 120:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 7200:
		return fmt.Sprintf("%.0f min", seconds/60)
	}
	return fmt.Sprintf("%.1f h", seconds/3600)
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

// short writes a similarity in as few digits as it has, at most three.
func short(x float64) string {
	return strconv.FormatFloat(math.Round(x*1000)/1000, 'f', -1, 64)
}

// shown returns a name or a text for a reader: nothing in it can steer a page, or change the direction of what follows.
func shown(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\r\n", "\n")
	if strings.IndexFunc(text, isHostile) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if isHostile(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isHostile reports whether a character may change how others are shown.
func isHostile(r rune) bool {
	return r != '\n' && r != '\t' && quoting.IsControl(r) || r == '\u061c' || r == '\u200e' || r == '\u200f' ||
		r == '\ufeff'
}

const longestName = 120

// name returns a name for a reader, cut in its middle if it is very long.
func name(text string) string {
	text = strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(strings.ToValidUTF8(text, "\ufffd"))
	return shown(cutMiddle(text, longestName))
}

// cutMiddle cuts valid UTF-8 to about the given number of bytes, if it is longer.
func cutMiddle(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := most*2/3, len(text)-most/3
	for !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + "…" + text[tail:]
}

type view struct {
	*Figures
	// Mark tells the page from files of somebody else.
	Mark   template.HTML
	Policy string
	// Style and Script are files of the program. What is in JSON cannot end the element that it is in.
	Style  template.CSS
	Script template.JS
	JSON   template.JS

	Cards []card
	Parts []part
	// Has says which parts the page has, by their ids.
	Has map[string]bool

	Chart        *Chart
	Examples     []exampleCluster
	HasTexts     bool
	FirstTexts   int
	LongestStage float64
}

type card struct{ Name, Value, More string }

type part struct{ ID, Title string }

type exampleCluster struct {
	*Cluster
	Index, More int
	Open        bool
}

// Lead is the result of the run in a sentence, with the day.
func (v *view) Lead() string {
	c, day := v.Counts, ""
	if begun, err := time.Parse(time.RFC3339, v.Run.Begun); err == nil {
		day = "On " + begun.Format("2 January 2006") + ", "
	}
	switch {
	case v.Run.Passages && c.Pairs == 0:
		return capital(day + "no passages were found that documents share.")
	case v.Run.Passages:
		return capital(fmt.Sprintf("%spairs of documents with passages in common were found: %s.", day, count(c.Pairs)))
	case c.Clusters == 0:
		return capital(fmt.Sprintf("%sno near-duplicates were found among %s documents.", day,
			count(c.Documents+c.ReferenceDocuments)))
	}
	return capital(fmt.Sprintf("%s%s of %s documents (%s) are copies that can be removed, and %s stay.",
		day, count(c.Removed), count(c.Documents), percent(c.Removed, c.Documents), count(c.Kept)))
}

func (v *view) IsSimilarity() bool { return v.Run.Unit == Similarity }

func newView(f *Figures) (*view, error) {
	encoded, err := encode(f)
	v := &view{
		Figures: f,
		Mark:    workspace.PageMark,
		Policy:  policy,
		Style:   template.CSS(style),
		Script:  template.JS(script),
		JSON:    template.JS(encoded),
		Cards:   cards(f),
	}
	if f.Nearest != nil && len(f.Nearest.Bins) > 0 {
		v.Chart = chartOf(f.Nearest, f.Run.Unit)
	}
	for i := range f.Clusters {
		if c := &f.Clusters[i]; len(c.Documents) > 0 {
			v.Examples = append(v.Examples, exampleCluster{
				Cluster: c,
				Index:   i,
				More:    c.Size - len(c.Documents),
				Open:    i == 0,
			})
		}
	}
	v.FirstTexts = slices.IndexFunc(f.Pairs, func(p Pair) bool { return p.Texts != nil })
	v.HasTexts = v.FirstTexts >= 0
	for _, stage := range f.Stages {
		v.LongestStage = max(v.LongestStage, stage.Seconds)
	}
	v.list()
	return v, err
}

// Section renders a part of the page with the template that has the name of its id.
func (v *view) Section(id string) (template.HTML, error) {
	var b strings.Builder
	err := pages().ExecuteTemplate(&b, id, v)
	return template.HTML(b.String()), err
}

func (v *view) list() {
	v.Has = map[string]bool{}
	for _, p := range []struct {
		part
		is bool
	}{
		{part{"alerts", "Alerts"}, true},
		{part{"found", "Found"}, true},
		{part{"suspects", "Suspects"}, v.Sites != nil && len(v.Sites.Suspects) > 0},
		{part{"mirrors", "Mirrors"}, v.Sites != nil},
		{part{"changes", "Changes"}, v.Changes != nil},
		{part{"sizes", "Cluster sizes"}, v.Sizes != nil},
		{part{"nearest", "Similarity"}, v.Nearest != nil},
		{part{"method", "Recall"}, true},
		{part{"clusters", "Clusters"}, v.Clusters != nil},
		{part{"pairs", "Pairs"}, v.Pairs != nil},
		{part{"sources", "Sources"}, len(v.Sources) > 0},
		{part{"rejects", "Rejects"}, len(v.Rejects)+len(v.PassedOver) > 0},
		{part{"cost", "Cost"}, true},
		{part{"repeat", "Repeat"}, true},
	} {
		if p.is {
			v.Parts, v.Has[p.ID] = append(v.Parts, p.part), true
		}
	}
}

func cards(f *Figures) []card {
	c := f.Counts
	all := []card{{"documents", count(c.Documents), size(c.Bytes) + " read"}}
	if !f.Run.Passages {
		saved := int64(0)
		if c.Documents > 0 {
			saved = int64(float64(c.Bytes) * float64(c.Removed) / float64(c.Documents))
		}
		all = append(all,
			card{"duplicates removed", count(c.Removed), percent(c.Removed, c.Documents) + " of documents"},
			card{"documents kept", count(c.Kept), ""},
			card{"saved, about", size(saved), "at the mean size of a document"},
			card{"clusters", count(c.Clusters), count(c.Clustered) + " documents in them"},
		)
		if l := f.Lost; l != nil {
			more := "every shingle of the removed documents is in the one that stays"
			if l.Shingles > 0 {
				more = fmt.Sprintf("of the shingles of removed documents; %s loses %s of %s to %s", l.Worst.Removed,
					count(l.Worst.Shingles), count(l.Worst.Of), l.Worst.Kept)
			}
			all = append(all, card{"text lost", percent(l.Shingles, l.Of), more})
		}
	}
	all = append(all,
		card{"pairs", count(c.Pairs), count(c.Identical) + " of identical documents"},
		card{"candidates compared", count(c.Candidates), ""},
		card{"rejects", count(c.Rejected), ""},
	)
	if c.InvalidUTF8 > 0 {
		all = append(all, card{"not valid UTF-8", count(c.InvalidUTF8), "documents, read all the same"})
	}
	if s := f.Sites; s != nil {
		all = append(all, card{"sites", count(s.Sites), fmt.Sprintf("%s of mirrors in %s, %s",
			numbered(int(s.Pairs), "pair", "pairs"), numbered(int(s.Groups), "group", "groups"),
			numbered(int(s.Suspicious), "suspect", "suspects"))})
	}
	for _, figure := range findings.Figures(findings.Totals{Counts: c}) {
		value := count(figure.Value)
		if figure.IsBytes {
			value = size(figure.Value)
		}
		if figure.IsRare && figure.Value > 0 {
			all = append(all, card{figure.Label, value, schemas.Description("summary", figure.Path...)})
		}
	}
	return all
}
