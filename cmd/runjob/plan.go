package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/alecthomas/kong"

	"mirrorbeam/internal/look/plan"
)

// planCommand ranks the ways to find candidates.
type planCommand struct {
	plan.Config `kong:"-"`
	configFile
	JSON bool `name:"json" group:"Plan" help:"Print one JSON object."`
}

// BeforeApply notes which settings are given, before they are checked.
func (c *planCommand) BeforeApply(parsed *kong.Context) error {
	c.Given = given(parsed, measureFlags(&c.Measure))
	return nil
}

// Run makes the plan and prints it.
func (c *planCommand) Run(ctx context.Context, out io.Writer) error {
	c.Progress = showProgress
	stdin, remove, err := spoolStdin(ctx, c.Input, c.Reference)
	if err != nil {
		return err
	}
	defer remove()
	c.Stdin = stdin
	advice, err := plan.Make(ctx, c.Config)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(out, advice)
	}
	return printPlan(out, advice)
}

func printReads(w io.Writer, reads *plan.Reads) {
	if reads == nil {
		return
	}
	var parts []string
	for _, files := range reads.Files {
		name := files.Format
		if files.Compression != "" {
			name += " in " + files.Compression
		}
		part := fmt.Sprintf("%s of %s (%s)", counted(int64(files.Files), "file"), name, size(files.Bytes))
		if files.Reference {
			part += " of the reference"
		}
		parts = append(parts, part)
	}
	wrapped(w, "Reads %s, in %s.", strings.Join(parts, ", "), counted(int64(reads.Splits), "part"))
}

func printWrites(w io.Writer, a *plan.Advice) {
	if len(a.Writes) > 0 {
		var parts []string
		for _, one := range a.Writes {
			about := "about"
			if one.AtMost {
				about = "at most"
			}
			parts = append(parts, fmt.Sprintf("%s %s %s", one.Output, about, size(rounded(one.Bytes))))
		}
		wrapped(w, "Writes what --emit asks for, rows without compression: %s.", strings.Join(parts, ", "))
	}
	if a.TempFree == nil {
		return
	}
	verdict := "the temporary files fit"
	if needed := a.Choices[a.Chosen].TempBytes; float64(*a.TempFree) < needed {
		verdict = fmt.Sprintf("the temporary files, of about %s, do not fit", size(rounded(needed)))
	}
	wrapped(w, "The disk of --temp %s has %s free: %s.", a.Config.Temp, size(*a.TempFree), verdict)
}

// The drawing of the curve has a column for each sixtieth of similarity, and a line for each tenth of
// probability.
const (
	curveColumns = 60
	curveLines   = 10
)

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
