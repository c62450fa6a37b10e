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
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"mirrorbeam/internal/look/difference"
	"mirrorbeam/internal/start/workspace"
)

//go:embed page/*.html
var pageFiles embed.FS

//go:embed page/style.css
var style string

//go:embed page/script.js
var script string

// policy lets the page load nothing, and run nothing but its own script.
var policy = fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; img-src data:; base-uri 'none'; form-action 'none'", hashOf(style), hashOf(script))

// hashOf returns the hash of a style sheet or of a script, as a policy has it.
func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// frame is what every page has.
type frame struct {
	// Mark tells the page from files of somebody else.
	Mark   template.HTML
	Policy string
	Style  template.CSS
	Script template.JS
	JSON   template.JS
}

// newFrame returns the frame of a page that holds the figures.
func newFrame(figures any) (frame, error) {
	encoded, err := encode(figures)
	// The style and the script are files of the program. What is in the JSON cannot end the element that it stands in.
	return frame{workspace.PageMark, policy, template.CSS(style), template.JS(script), template.JS(encoded)}, err
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

// pages are the templates.
var pages = sync.OnceValues(func() (*template.Template, error) {
	return template.New("pages").Funcs(template.FuncMap{
		"count": whole, "percent": percent, "size": size, "duration": duration,
		"decimal": decimal, "short": short, "shown": shown, "name": name, "share": share,
		"hundred":   func(x float64) string { return fmt.Sprintf("%.0f", 100*x) },
		"hundredth": hundredth,
		"bar":       func(part, whole int64) template.HTML { return barOf(float64(part), float64(whole)) },
		"bars":      barOf,
		"table": func(pairs []Pair, v *view) pairTable {
			hasWhy := slices.ContainsFunc(pairs, func(pair Pair) bool { return pair.Why != "" })
			return pairTable{pairs, v.IsSimilarity(), hasWhy, v.Run.Partial}
		},
		"overlap":  func(name string, o Overlap) namedOverlap { return namedOverlap{name, o} },
		"disputed": func(in, not string, documents []Member) disputedList { return disputedList{in, not, documents} },
		"day":      func(date string) string { day, _, _ := strings.Cut(date, "T"); return name(day) },
		"figure":   figure,
		"change":   change,
		"side":     func(label string, side difference.Side) labelled { return labelled{label, side} },
	}).ParseFS(pageFiles, "page/*.html")
})

func fill(w io.Writer, name string, view any) error {
	templates, err := pages()
	if err != nil {
		return err
	}
	return templates.ExecuteTemplate(w, name, view)
}

// pairTable is a table of pairs.
type pairTable struct {
	Pairs                           []Pair
	IsSimilarity, HasWhy, IsPartial bool
}

// labelled is a text with its letter.
type labelled struct {
	Label string
	Side  difference.Side
}

// namedOverlap is a row of a comparison.
type namedOverlap struct {
	Name string
	Overlap
}

// All returns how many there are in one of the runs or both.
func (o namedOverlap) All() int64 { return o.Both + o.OnlyA + o.OnlyB }

// disputedList has documents that are removed in one run and not in the other.
type disputedList struct {
	In, Not   string
	Documents []Member
}

func figure(x float64, unit RowUnit) string {
	switch unit {
	case Bytes:
		return size(int64(x))
	case Seconds:
		return duration(x)
	case Share:
		if x == 0 {
			return "–" // it was not measured
		}
		return share(x)
	}
	return count(int64(x))
}

// change writes how much larger the figure of B is than the figure of A.
func change(r Row) string {
	switch {
	case r.A == r.B:
		return "same"
	case r.A == 0 || r.B == 0:
		return "–"
	case r.Unit == Share:
		return signed(fmt.Sprintf("%+.2f points", 100*(r.B-r.A)))
	}
	return signed(fmt.Sprintf("%+.1f %%", 100*(r.B/r.A-1)))
}

// signed writes a true minus sign, and none before a zero.
func signed(number string) string {
	if strings.Trim(number, "+-0. %points") == "" {
		number = strings.TrimLeft(number, "+-")
	}
	return strings.Replace(number, "-", "−", 1)
}

// barOf draws a bar that fills a share of its width.
func barOf(part, whole float64) template.HTML {
	width := 0.
	if whole > 0 {
		width = 100 * part / whole
	}
	return template.HTML(fmt.Sprintf(`<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect width="%.1f" height="1"/></svg>`, width))
}

// whole writes a whole number of any type.
func whole(n any) string { return count(reflect.ValueOf(n).Int()) }

// share writes a share from 0 to 1.
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
		err = fill(w, "page.html", view)
	}
	if err != nil {
		return fmt.Errorf("write a report: %w", err)
	}
	return nil
}
