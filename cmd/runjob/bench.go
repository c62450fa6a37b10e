package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"text/tabwriter"
	"time"

	"mirrorbeam.dev/asmkernels"
)

type benchCommand struct {
	What      string  `arg:"" optional:"" enum:"kernels,simhash,tables,tutorial,exlsh" default:"kernels"`
	Documents int     `default:"2000" placeholder:"N"`
	Threshold float64 `default:"0.5" placeholder:"T"`
}

func (c *benchCommand) Validate() error {
	switch {
	case c.Documents < 2 || c.Documents > 100_000:
		return fmt.Errorf("--documents %d: must be from 2 to 100,000", c.Documents)
	case !(c.Threshold > 0 && c.Threshold <= 1):
		return fmt.Errorf("--threshold %v: must be above 0 and at most 1", c.Threshold)
	}
	return nil
}

// benches are the measurements, each of what one article measures.
var benches = map[string]func(*benchCommand) ([]benchTable, error){
	"kernels":  (*benchCommand).kernels,
	"simhash":  (*benchCommand).simhash,
	"tables":   (*benchCommand).tables,
	"tutorial": (*benchCommand).tutorial,
	"exlsh":    (*benchCommand).exlsh,
}

// benchTable has the steps that do the same work, which the next table may need.
type benchTable struct {
	name, unit string
	// amount is the number of units that a step works on.
	amount float64
	steps  []benchStep
}

type benchStep struct {
	name string
	// printed is the figure that the article prints, if it does.
	printed string
	work    func()
	// found says what the work has found, after it; nil: nothing.
	found func() string
}

// Run prints the tables: a row has the time of a step, the millions of units that it does in a second, and how many
// times as fast as the first step it is.
func (c *benchCommand) Run(ctx context.Context, out io.Writer) error {
	tables, err := benches[c.What](c)
	if err != nil {
		return err
	}
	say(out, "%s: kernels for %s, one core\n", c.What, asmkernels.SelectedTier())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, table := range tables {
		say(w, "\t\t\t\t\t\t\n%s\tseconds\tM %s/s\ttimes\tarticle\t\t\n", table.name, table.unit)
		first := 0.
		for _, step := range table.steps {
			seconds, found := timed(step.work), ""
			first = cmp.Or(first, seconds)
			if step.found != nil {
				found = step.found()
			}
			say(w, "%s\t%.4f\t%.2f\t%.2f\t%s\t%s\t\n", step.name, seconds, table.amount/seconds/1e6, first/seconds,
				step.printed, found)
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return w.Flush()
}

// each returns work on each of several items.
func each[T any](items []T, of func(i int, item T)) func() {
	return func() {
		for i, item := range items {
			of(i, item)
		}
	}
}

// timed returns the seconds that work takes: the least of three, or of one that takes a second.
func timed(work func()) float64 {
	var least time.Duration
	for run := range 3 {
		begun := time.Now()
		work()
		if took := time.Since(begun); run == 0 || took < least {
			least = took
		}
		if least > time.Second {
			break
		}
	}
	return least.Seconds()
}

// drawTexts returns texts of that many words, always the same, and the number of their characters. Words have
// frequencies as words of a language, and a tenth of the texts are plants: an earlier text in which a few words differ,
// and plants has both numbers.
func drawTexts(documents, length int) (texts [][]byte, characters int, plants map[[2]int]bool) {
	plants = map[[2]int]bool{}
	random := rand.New(rand.NewPCG(1, 2))
	frequencies := rand.NewZipf(random, 1.1, 8, 1<<16)
	var earlier [][]string
	for number := range documents {
		words := make([]string, length)
		for i := range words {
			words[i] = fmt.Sprintf("w%x", frequencies.Uint64())
		}
		if len(earlier) > 0 && random.IntN(10) == 0 {
			of := random.IntN(len(earlier))
			words, plants[[2]int{of, number}] = slices.Clone(earlier[of]), true
			for range 1 + random.IntN(20) {
				words[random.IntN(len(words))] = fmt.Sprintf("w%x", frequencies.Uint64())
			}
		}
		earlier = append(earlier, words)
		var text []byte
		for _, word := range words {
			text = append(append(text, word...), ' ')
		}
		texts, characters = append(texts, text), characters+len(text)
	}
	return texts, characters, plants
}
