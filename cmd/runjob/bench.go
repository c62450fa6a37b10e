package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"text/tabwriter"
	"time"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/sketch"
)

type benchCommand struct {
	What      string  `arg:"" optional:"" enum:"kernels" default:"kernels"`
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

const fingerprintHashes = 128

func (c *benchCommand) Run(ctx context.Context, out io.Writer) error {
	texts, characters := drawTexts(c.Documents)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	say(table, "kernels: %s\t\t\t\t\n%d texts, one core\tseconds\tM characters/s\ttimes\t\n",
		asmkernels.SelectedTier(), c.Documents)
	fingerprints := make([][]uint32, len(texts))
	steps, err := textSteps(texts, fingerprints)
	if err == nil {
		err = measure(ctx, table, float64(characters), steps)
	}
	if err != nil {
		return err
	}
	pairs := len(texts) * (len(texts) - 1) / 2
	say(table, "\t\t\t\t\n%d pairs from %v\tseconds\tM pairs/s\ttimes\t\n", pairs, c.Threshold)
	if err := measure(ctx, table, float64(pairs), c.pairSteps(fingerprints)); err != nil {
		return err
	}
	return table.Flush()
}

type benchStep struct {
	name string
	work func()
}

// measure times the steps, and writes a row for each, with the amount of work for each second and with how many times
// as fast as the first step it is.
func measure(ctx context.Context, table io.Writer, amount float64, steps []benchStep) error {
	first := 0.0
	for _, step := range steps {
		seconds := timed(step.work)
		if first == 0 {
			first = seconds
		}
		say(table, "%s\t%.4f\t%.1f\t%.2f\t\n", step.name, seconds, amount/seconds/1e6, first/seconds)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// textSteps make fingerprints of texts. The first of them fills fingerprints.
func textSteps(texts [][]byte, fingerprints [][]uint32) ([]benchStep, error) {
	hasher, err := sketch.NewSingleHash(sketch.SingleHashOptions{Words: 3, Size: fingerprintHashes})
	if err != nil {
		return nil, err
	}
	fingerprinter, err := sketch.NewFingerprinter(sketch.Options{Measure: sketch.Measure{Shingle: 3}})
	if err != nil {
		return nil, err
	}
	minhash, err := sketch.NewMinHash(fingerprintHashes)
	if err != nil {
		return nil, err
	}
	each := func(of func(i int, text []byte)) func() {
		return func() {
			for i, text := range texts {
				of(i, text)
			}
		}
	}
	var signature []uint32
	return []benchStep{
		{"single-hash fingerprint", each(func(i int, text []byte) {
			fingerprints[i], _ = hasher.Fingerprint(fingerprints[i][:0], text)
		})},
		{"runjob: exact set of shingles", each(func(_ int, text []byte) { fingerprinter.Texts([][]byte{text}) })},
		{"runjob: exact set and MinHash", each(func(_ int, text []byte) {
			signature = minhash.Signature(signature, fingerprinter.Texts([][]byte{text}).Set)
		})},
	}, nil
}

func (c *benchCommand) pairSteps(fingerprints [][]uint32) []benchStep {
	all := asmkernels.NewFingerprints[uint32](fingerprintHashes, asmkernels.AsSets)
	for _, fingerprint := range fingerprints {
		all.Add(fingerprint)
	}
	each := func(of func(x, y []uint32)) func() {
		return func() {
			for i, x := range fingerprints {
				for _, y := range fingerprints[:i] {
					of(x, y)
				}
			}
		}
	}
	return []benchStep{
		{"article: classical", each(func(x, y []uint32) { asmkernels.JaccardClassical(x, y) })},
		{"article: fast abort", each(func(x, y []uint32) { asmkernels.JaccardFast(x, y, c.Threshold) })},
		{"article: pcmpestrm, fast abort", each(func(x, y []uint32) { asmkernels.JaccardTurbo(x, y, c.Threshold) })},
		{"runjob: pair by pair", each(func(x, y []uint32) {
			asmkernels.Intersect(x, y, asmkernels.Required(c.Threshold, len(x), len(y)))
		})},
		{"runjob: all pairs, bitmaps first", func() { all.Pairs(c.Threshold, func(_, _, _, _ int) {}) }},
	}
}

// timed returns the seconds that work takes: the least of three.
func timed(work func()) float64 {
	var least time.Duration
	for run := range 3 {
		begun := time.Now()
		work()
		if took := time.Since(begun); run == 0 || took < least {
			least = took
		}
	}
	return least.Seconds()
}

// drawTexts returns texts of 400 words, always the same, and the number of their characters. Words have frequencies as
// words of a language, and a tenth of the texts are an earlier one in which a few words differ.
func drawTexts(documents int) (texts [][]byte, characters int) {
	random := rand.New(rand.NewPCG(1, 2))
	frequencies := rand.NewZipf(random, 1.1, 8, 1<<16)
	var earlier [][]string
	for range documents {
		words := make([]string, 400)
		for i := range words {
			words[i] = fmt.Sprintf("w%x", frequencies.Uint64())
		}
		if len(earlier) > 0 && random.IntN(10) == 0 {
			words = slices.Clone(earlier[random.IntN(len(earlier))])
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
	return texts, characters
}
