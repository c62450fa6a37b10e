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
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"mirrorbeam.dev/internal/inspect/difference"
	"mirrorbeam.dev/internal/util/quoting"
)

//go:embed page/*.html
var pageFiles embed.FS

//go:embed page/style.css
var style string

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

var pages = sync.OnceValues(func() (*template.Template, error) {
	return template.New("pages").Funcs(template.FuncMap{
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
	}).ParseFS(pageFiles, "page/*.html")
})

type pairTable struct {
	Pairs                   []Pair
	IsSimilarity, IsPartial bool
}

// capture says from where and when a page was fetched.
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
	if err != nil {
		return fmt.Errorf("write a report: %w", err)
	}
	templates, err := pages()
	if err == nil {
		err = templates.ExecuteTemplate(w, "page.html", view)
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
