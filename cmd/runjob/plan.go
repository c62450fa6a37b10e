package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/alecthomas/kong"

	"mirrorbeam.dev/internal/inspect/plan"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/lshbands"
)

type planCommand struct {
	plan.Config `kong:"-"`
	configFile
	JSON bool `name:"json" group:"Plan"`
}

func (c *planCommand) BeforeApply(parsed *kong.Context, chosen *chooser) error {
	c.Given = chosen.given(parsed, flagsFor("plan", &c.Measure))
	return nil
}

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
	return answer(out, c.JSON, advice, printPlan)
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
		part := fmt.Sprintf("%s of %s (%s)", counted(files.Files, "file"), name, size(files.Bytes))
		if files.Reference {
			part += " of the reference"
		}
		parts = append(parts, part)
	}
	wrapped(w, "Reads %s, in %s.", strings.Join(parts, ", "), counted(reads.Splits, "part"))
}

func printRoom(w io.Writer, a *plan.Advice) {
	if a.TempFree == nil {
		return
	}
	answer := "the temporary files fit"
	if needed := a.Choices[a.Chosen].TempBytes; float64(*a.TempFree) < needed {
		answer = fmt.Sprintf("the temporary files, of about %s, do not fit", size(rounded(needed)))
	}
	wrapped(w, "The disk of --temp %s has %s free: %s.", a.Config.Temp, size(*a.TempFree), answer)
}

// The drawing of the curve has a column for each sixtieth of similarity, and a line for each tenth of probability.
const (
	curveColumns = 60
	curveLines   = 10
)

func printCurve(w io.Writer, a *plan.Advice) {
	if a.Chosen >= 0 && a.Choices[a.Chosen].Bands == 0 {
		say(w, "\nProbability that a pair is found, by similarity, with %s:\n\n", choiceName(&a.Choices[a.Chosen]))
		drawCurve(w, func(similarity float64) float64 {
			if similarity < a.Config.Threshold-1e-9 {
				return 0
			}
			return 1
		}, a.Config.Threshold)
		return
	}
	say(w, "\nProbability that %s %s a key, by similarity:\n\n", bandsText(a.Bands),
		verb(int64(a.Bands.Bands), "share"))
	drawCurve(w, a.Bands.Probability, a.Config.Threshold)
}

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

func printPlan(w io.Writer, a *plan.Advice) {
	printReads(w, a.Reads)
	if len(a.Tables) > 0 {
		printTables(w, a)
		return
	}
	printCorpus(w, a)
	printChoices(w, a)
	if a.Chosen >= 0 {
		printHotGroups(w, a.Choices[a.Chosen])
		printRoom(w, a)
	}
	printCurve(w, a)
	if a.Corpus != nil {
		printPairs(w, a.Curve)
	}
	say(w, "\n")
	printAdvice(w, a)
}

func printTables(w io.Writer, a *plan.Advice) {
	documents := a.Config.Documents
	if c := a.Corpus; c != nil {
		documents = c.Documents + c.ReferenceDocuments
		say(w, "%s, %s; %s rejected\n", counted(documents, "document"), size(c.Bytes), count(c.Rejected))
	} else {
		say(w, "%s\n", counted(documents, "document"))
	}
	say(w, "fingerprints of %d bits that differ in at most %d\n\n", a.Config.Bits, a.Config.Hamming)
	say(w, "  %6s %6s %10s %8s %9s  %s\n", "tables", "prefix", "candidates", "CPU-s", "keys", "flag")
	for i := range a.Tables {
		t, mark := &a.Tables[i], " "
		if i == a.Chosen {
			mark = "*"
		}
		say(w, "%s %6d %6d %10s %8s %9s  --blocks %s\n", mark, t.Tables, t.PrefixBits, short(t.Candidates),
			seconds(t.CPUSeconds), size(rounded(t.Bytes)), job.BlocksText(t.Blocks))
	}
	say(w, "* what 'runjob run' does with these flags; all find the same pairs\n")
}

func printCorpus(w io.Writer, a *plan.Advice) {
	c := a.Corpus
	within := fmt.Sprintf("of at least %g", a.Config.Threshold)
	if c == nil {
		wrapped(w,
			"%s, of which nothing else is known: only --input shows what they have in common, and so the candidates.",
			counted(a.Config.Documents, "document"))
		say(w, "\n")
		return
	}
	say(w, "%s, %s", counted(c.Documents+c.ReferenceDocuments, "document"), size(c.Bytes))
	sayIf(w, c.ReferenceDocuments > 0, ", %s of them in the reference", count(c.ReferenceDocuments))
	defer printPreset(w, c)
	if c.SampledDocuments == c.Documents+c.ReferenceDocuments {
		say(w, "; %s rejected; %.1f distinct shingles each\n", count(c.Rejected), c.Shingles)
		say(w, "%s identical to an earlier one; of the others %s %s\n\n", count(rounded(c.Identical)),
			counted(rounded(c.Pairs), "pair"), within)
		return
	}
	say(w, "; %s rejected; about %.1f distinct shingles each\n", count(c.Rejected), c.Shingles)
	wrapped(w, "about %s identical to an earlier one; of the others about %s %s", short(c.Identical),
		pairsText(c.Pairs), within)
	wrapped(w, "The whole corpus was read, and %s of it (%s) fingerprinted. All figures below are estimates.",
		counted(c.SampledDocuments, "document"), size(c.SampledBytes))
	say(w, "\n")
}

func rounded(n float64) int64 { return int64(math.Round(n)) }

func printPreset(w io.Writer, c *plan.Facts) {
	if c.Preset != "" {
		wrapped(w, "Preset: --preset %s may suit this corpus, for %s.", c.Preset, c.Looks)
		say(w, "\n")
	}
}

func printChoices(w io.Writer, a *plan.Advice) {
	similarities := marks(a.Config.Threshold)
	say(w, "  %-12s", "")
	for _, similarity := range similarities {
		say(w, " %7s", fmt.Sprintf("at %.3g", similarity))
	}
	if a.Corpus != nil {
		say(w, " %11s %9s %9s\n", "candidates", "memory", "disk")
	} else {
		say(w, " %9s\n", "keys")
	}
	for i := range a.Choices {
		printChoice(w, a, i, similarities)
	}
	printFooter(w, a)
}

func printChoice(w io.Writer, a *plan.Advice, i int, similarities []float64) {
	c := &a.Choices[i]
	mark := " "
	if i == a.Chosen {
		mark = "*"
	}
	say(w, "%s %-12s %7.4f", mark, choiceName(c), c.Probability)
	for _, similarity := range similarities[1:] {
		probability := "" // of exact keys: rare shingles decide which pairs meet
		if c.Keys == methods.MinHash {
			probability = fmt.Sprintf("%.4f", c.Scheme.Probability(similarity))
		}
		say(w, " %7s", probability)
	}
	if a.Corpus != nil {
		say(w, " %11s %9s %9s", short(c.Candidates), size(rounded(c.MemoryBytes)), size(rounded(c.TempBytes)))
	} else {
		say(w, " %9s", size(rounded(c.Bytes)))
	}
	sayIf(w, !c.Fits, "  keys too large")
	say(w, "\n")
}

func choiceName(c *plan.Choice) string {
	switch c.Keys {
	case methods.MinHash:
		return fmt.Sprintf("%d x %d rows", c.Bands, c.Rows)
	case methods.All:
		return "all pairs"
	}
	return string(c.Keys) + " keys"
}

func printFooter(w io.Writer, a *plan.Advice) {
	if a.Chosen < 0 {
		say(w, "'runjob run' would take exact keys; only --input shows how many\n")
		return
	}
	say(w, "* what 'runjob run' does with these flags\n")
	if a.Corpus == nil {
		return
	}
	wrapped(w,
		"It takes about %s CPU-s, %s of memory and %s of temporary files, which in a bucket take about %s requests, "+
			"if it writes clusters only.",
		seconds(a.Estimate.CPUSeconds), size(rounded(a.Choices[a.Chosen].MemoryBytes)),
		size(rounded(a.Estimate.TempBytes)), short(a.Estimate.Requests))
}

// marks are the similarities whose probability the ranking shows: the threshold, and 0.1 and 0.2 less if above 0.
func marks(threshold float64) []float64 {
	marks := []float64{threshold}
	for _, below := range []float64{0.1, 0.2} {
		if threshold-below > 1e-9 { // not just a rounding error
			marks = append(marks, threshold-below)
		}
	}
	return marks
}

func printHotGroups(w io.Writer, c plan.Choice) {
	if c.CandidatesLow < c.CandidatesHigh {
		say(w, "Candidates are estimates: %s, and in nine of ten plans from %s to %s.\n", short(c.Candidates),
			short(c.CandidatesLow), short(c.CandidatesHigh))
	}
	sayIf(w, len(c.HotGroups) > 0, "Large groups of documents under one key:\n")
	for _, hotGroup := range c.HotGroups {
		treated := "all compared"
		if hotGroup.Dense {
			treated = "too many: compared with pivots"
		}
		say(w, "  %6s such as %s: %s, %s\n", short(hotGroup.Documents), hotGroup.Example,
			pairsText(hotGroup.Candidates), treated)
	}
}

func printAdvice(w io.Writer, a *plan.Advice) {
	if a.Chosen < 0 {
		return
	}
	chosen := &a.Choices[a.Chosen]
	printBest(w, a)
	tell := func(title string, c *plan.Choice) {
		wrapped(w, "%s: %s (%s) %s and %s.", title, c.Flags, choiceText(c), savingText(c.Saving(chosen)),
			promiseText(a, c))
	}
	if a.Cheaper >= 0 {
		tell("Cheaper", &a.Choices[a.Cheaper])
	} else {
		wrapped(w, "Cheaper: no choice that finds less.")
	}
	switch {
	case a.Safer >= 0:
		tell("Safer", &a.Choices[a.Safer])
	case chosen.Probability == 1:
		wrapped(w, "Safer: no choice; this one misses no pair.")
	default:
		wrapped(w, "Safer: exact keys, which miss no pair; only --input shows what they cost.")
	}
}

func promiseText(a *plan.Advice, c *plan.Choice) string {
	chosen := &a.Choices[a.Chosen]
	text := fmt.Sprintf("finds a pair at the threshold with probability %.4f instead of %.4f", c.Probability,
		chosen.Probability)
	switch {
	case a.Corpus == nil:
	case max(c.Missed, chosen.Missed) < 0.5: // the number that bands miss is an expectation
		text += "; here neither is likely to miss one"
	default:
		text += fmt.Sprintf("; here that misses about %s instead of %s", pairsText(c.Missed), short(chosen.Missed))
	}
	return text
}

func savingText(share float64) string {
	verb := "saves"
	if share < 0 {
		verb = "takes another"
	}
	return fmt.Sprintf("%s %.0f %% of the CPU time of keys and candidates", verb, 100*math.Abs(share))
}

func printBest(w io.Writer, a *plan.Advice) {
	chosen := &a.Choices[a.Chosen]
	if a.Best < 0 {
		wrapped(w, "Advice: no choice as sure fits into --memory %s; raise the threshold or lower the recall.",
			size(int64(a.Config.Memory)))
		return
	}
	best := &a.Choices[a.Best]
	switch share := best.Saving(chosen); {
	case !chosen.Fits:
		wrapped(w, "Advice: %s (%s) is as sure; the keys that 'runjob run' would take need %s, more than --memory %s.",
			best.Flags, choiceText(best), size(rounded(chosen.Bytes)), size(int64(a.Config.Memory)))
	case a.Saves(best):
		wrapped(w, "Advice: %s (%s) is as sure, and %s.", best.Flags, choiceText(best), savingText(share))
	default:
		wrapped(w, "Advice: change nothing; no choice as sure saves a twentieth of the job.")
	}
}

func choiceText(c *plan.Choice) string {
	if c.Keys == methods.Exact {
		return fmt.Sprintf("%.1f exact keys a document", c.KeysPerDocument)
	}
	if c.Scheme.Bands > 0 {
		return bandsText(c.Scheme)
	}
	return choiceName(c)
}

func bandsText(s lshbands.Scheme) string {
	return fmt.Sprintf("%s of %s", counted(s.Bands, "band"), counted(s.Rows, "row"))
}

// short writes a number in a few characters: 950, 31k, 4.3M.
func short(n float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if n >= 9.95*unit.size {
			return fmt.Sprintf("%.0f%s", n/unit.size, unit.name)
		}
		if n >= unit.size {
			return fmt.Sprintf("%.1f%s", n/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%.0f", n)
}

func pairsText(n float64) string {
	text := short(n)
	if text == "1" {
		return "1 pair"
	}
	return text + " pairs"
}

func seconds(s float64) string {
	if s < 10 {
		return fmt.Sprintf("%.2f", s)
	}
	return count(int64(math.Round(s)))
}
