package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"mirrorbeam/internal/ground/quoting"
)

// count writes a number with commas between thousands.
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

// decimal writes a similarity.
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
	return r != '\n' && r != '\t' && quoting.IsControl(r) || r == '\u061c' || r == '\u200e' || r == '\u200f' || r == '\ufeff'
}

// longestName is the length, in bytes, of the longest name that is shown whole.
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
