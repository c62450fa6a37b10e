package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"mirrorbeam/internal/look/plan"
)

// The drawing of the curve has a column for each sixtieth of similarity, and a line for each tenth of
// probability.
const (
	curveColumns = 60
	curveLines   = 10
)

// drawCurve draws the S-curve and marks the threshold.
func drawCurve(w io.Writer, probability func(float64) float64, threshold float64) {
	mark := int(math.Round(threshold * curveColumns))
	for line := curveLines; line >= 0; line-- {
		row := []byte(strings.Repeat(" ", curveColumns+1))
		row[mark] = ':'
		for column := range row {
			if int(math.Round(probability(float64(column)/curveColumns)*curveLines)) == line {
				row[column] = '*'
			}
		}
		say(w, "  %4.1f |%s\n", float64(line)/curveLines, strings.TrimRight(string(row), " "))
	}
	axis := []byte(strings.Repeat("+-----", curveColumns/6) + "+")
	axis[mark] = ':'
	labels := "0 "
	for tenth := 1; tenth <= 10; tenth++ {
		labels += fmt.Sprintf("%6.1f", float64(tenth)/10)
	}
	say(w, "        %s\n        %s\n", axis, labels)
}

// printPairs prints, under the curve, how many pairs of the corpus have each similarity.
func printPairs(w io.Writer, curve []plan.Point) {
	say(w, "  pairs ")
	perTenth := (len(curve) - 1) / 10
	for i := 0; i+perTenth < len(curve); i += perTenth {
		n, known := 0., true
		for _, point := range curve[i : i+perTenth] {
			if known = known && point.Pairs != nil; known {
				n += *point.Pairs
			}
		}
		text := "?"
		if known {
			text = short(n)
		}
		say(w, "%6s", text)
	}
	say(w, "\n")
}
