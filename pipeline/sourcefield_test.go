package pipeline

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/preference"
	"mirrorbeam/internal/look/warnings"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/settle/keep"
	"mirrorbeam/job"
)

// shownSource returns a value in JSON as a table of sources shows it.
func shownSource(value string) string {
	var text string
	switch {
	case value == "null":
		return "(none)"
	case value == `""`:
		return value
	case json.Unmarshal([]byte(value), &text) == nil:
		return text
	}
	return value
}

// fromSources returns documents of many sources, in the field site. A few of them have many documents each; many have one
// or two. Some documents lack the field.
func fromSources(lines []line, many int, seed uint64) []line {
	random := newWriter(seed)
	lines = slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return l.kind == rejectLine })
	return marked(lines, func(_ int, l *line) map[string]string {
		n := int(math.Pow(float64(many), random.random.Float64())) - 1
		value := fmt.Sprintf(`"site %d.example"`, n)
		switch {
		case n%7 == 3:
			value = fmt.Sprint(n)
		case n == 4:
			value = `""`
		case n == 5:
			value = `null`
		case n == 6:
			l.source = "(none)"
			return nil
		}
		l.source = shownSource(value)
		return map[string]string{"site": value}
	})
}

// TestSourceField compares with brute force over the pairs of a corpus: the values of a field are the sources.
func TestSourceField(t *testing.T) {
	t.Parallel()
	for _, many := range []int{6, 40, 2000} {
		lines := fromSources(sided(slices.Concat(oddities(71), equalTexts(72), spread(73)), sides, 74), many, 75)
		files := cut(lines, 4)
		apart, input := naiveTruth(3, true, files...), putCorpus(t, plain, files...)
		for i := range files {
			files[i].lines = slices.Clone(files[i].lines)
			for k := range files[i].lines {
				files[i].lines[k].side = ""
			}
		}
		alone, both := naiveTruth(3, true, files...), naiveTruth(3, true, files...)
		both.references = countDocuments(files[:2])
		reference, later := putCorpus(t, plain, files[:2]...), putCorpus(t, plain, files[2:]...)
		for _, c := range []struct {
			name   string
			tr     *truth
			change func(*job.Config)
		}{
			{"alone", alone, func(c *job.Config) { c.Lanes = 1 }},
			{"alone, MinHash", alone, func(c *job.Config) {
				c.Keys, c.Recall, c.Lanes, c.Keep, c.Split = methods.MinHash, certain, 3, preference.Longest, keep.Star
			}},
			{"alone, all pairs", alone, func(c *job.Config) { c.Keys = methods.All }},
			{"reference", both, func(c *job.Config) {
				c.Input, c.Reference = []string{later}, []string{reference}
			}},
			{"across", apart, func(c *job.Config) { c.Across, c.Lanes = "source", 2 }},
		} {
			t.Run(fmt.Sprintf("%d/%s", many, c.name), func(t *testing.T) {
				config := testConfig(t, input)
				config.Threshold, config.SourceField = 0.5, "site"
				c.change(&config)
				summary := runJob(t, config)
				checkAgainstTruth(t, config, summary, c.tr)
				found := len(summary.Sources)
				if most := map[bool]int{false: 100, true: 128}[len(config.Reference) > 0]; many == 2000 && found != most || found < 4 {
					t.Errorf("%d sources", found)
				}
			})
		}
	}
}

// TestSourceFieldInCuts: the sources do not depend on how the job is cut.
func TestSourceFieldInCuts(t *testing.T) {
	t.Parallel()
	files := cut(fromSources(oddities(76), 2000, 77), 3)
	config := lawConfig(t, putCorpus(t, plain, files...))
	config.SourceField = "site"
	want, whole := runInner(t, config, wholeJob)
	if len(whole.Named) != 100 {
		t.Fatalf("sources %+v", whole.Named)
	}
	cuts := []innerJob{
		{splitBytes: 4 << 10, shards: 7, placeBytes: 1 << 12, lanes: 3},
		{splitBytes: 3 << 10, shards: 20, placeBytes: 1 << 12, lanes: 7},
	}
	sameInCuts(t, config, want, whole, cuts...)
	for _, cut := range cuts {
		_, result := runInner(t, config, cut)
		checkSame(t, "names of sources", result.Named, whole.Named)
	}
}

// TestSourceFieldOnRunners: the sources are the same on a portable runner.
func TestSourceFieldOnRunners(t *testing.T) {
	config := lawConfig(t, putCorpus(t, plain, cut(fromSources(oddities(81), 2000, 82), 4)...))
	config.SourceField = "site"
	want := runJob(t, config)
	startPrism(t)
	config.Runner, config.Output = portable, filepath.Join(t.TempDir(), "portable")
	got := runJob(t, config)
	checkSame(t, "sources", got.Sources, want.Sources)
	checkSame(t, "warnings", got.Warnings, want.Warnings)
}

// TestSourceFieldChangesNothingElse: the rows of a job are the same with and without the field, and so is the hash of its
// configuration. With passages the table counts documents that share one.
func TestSourceFieldChangesNothingElse(t *testing.T) {
	input := putCorpus(t, plain, cut(fromSources(oddities(78), 20, 79), 4)...)
	for _, similarity := range []methods.Similarity{methods.Resemblance, methods.Containment} {
		config := lawConfig(t, input)
		if config.Similarity = similarity; similarity == methods.Containment {
			config.Keys, config.Emit = methods.Auto, []string{output.Pairs}
		}
		plain := runJob(t, config)
		want := string(readOutput(t, config.Output, output.Pairs))
		config.SourceField, config.Output = "site", filepath.Join(t.TempDir(), "by field")
		summary := runJob(t, config)
		sameText(t, string(similarity), string(readOutput(t, config.Output, output.Pairs)), want)
		if !reflect.DeepEqual(summary.Counts, plain.Counts) || summary.ConfigHash != plain.ConfigHash {
			t.Errorf("%s: counts %+v and hash %s, want %+v and %s", similarity, summary.Counts, summary.ConfigHash, plain.Counts, plain.ConfigHash)
		}
		documents, elsewhere := int64(0), int64(0)
		for _, row := range summary.Sources {
			documents, elsewhere = documents+row.Documents, elsewhere+row.Elsewhere
		}
		if documents != summary.Counts.Documents || elsewhere == 0 {
			t.Errorf("%s: sources of %d documents, %d of them elsewhere: %+v", similarity, documents, elsewhere, summary.Sources)
		}
	}
}

// TestSourceFieldWarns of a source that is all in another one, though both are in one file.
func TestSourceFieldWarns(t *testing.T) {
	w := newWriter(80)
	for range 60 {
		text := strings.Join(w.text(60), " ")
		w.add(text)
		w.add(text)
	}
	lines := marked(w.lines, func(i int, _ *line) map[string]string {
		return map[string]string{"site": []string{`"first"`, `"second\u001b[1m"`}[i%2]}
	})
	config := testConfig(t, putCorpus(t, plain, file{"a.jsonl", lines}))
	config.SourceField = "site"
	want := []warnings.Warning{{
		Kind: warnings.SourceLoss, Flag: "--keep rank:FILE",
		Text: "second\x1b[1m loses 60 of its 60 documents; 60 have near-duplicates in first, which may hold the same data",
	}}
	if got := runJob(t, config).Warnings; !slices.Equal(got, want) {
		t.Errorf("warnings %+v, want %+v", got, want)
	}
}
