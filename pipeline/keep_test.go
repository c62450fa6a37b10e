package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/preference"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/settle/keep"
	"mirrorbeam/job"
)

// marked returns documents with further fields. Mark returns those of a document, in JSON, and may change the rest of
// the line.
func marked(lines []line, mark func(i int, l *line) map[string]string) []line {
	lines = slices.Clone(lines)
	for i := range lines {
		l := &lines[i]
		if l.kind != documentLine {
			continue
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal([]byte(l.raw), &fields); err != nil {
			panic(err)
		}
		for name, value := range mark(i, l) {
			fields[name] = json.RawMessage(value)
		}
		raw, err := json.Marshal(fields)
		if err != nil {
			panic(err)
		}
		l.raw = string(raw)
	}
	return lines
}

// values are values of a field and the numbers that they stand for; infinite: none.
var values = []struct {
	json   string
	number float64
}{
	{`3`, 3},
	{`-2.5`, -2.5},
	{`"7e2"`, 700},
	{`0`, 0},
	{`-0.0`, 0},
	{`" 12 "`, 12},
	{`"2024-02-29"`, 1709164800},
	{`"2024-02-29T01:00:00+01:00"`, 1709164800},
	{`"1969-12-31 23:59:59.5"`, -.5},
	{`9007199254740993`, 9007199254740992},
	{`null`, math.Inf(1)},
	{`"yesterday"`, math.Inf(1)},
	{`""`, math.Inf(1)},
	{`true`, math.Inf(1)},
	{`{"of":1}`, math.Inf(1)},
	{`[3]`, math.Inf(1)},
	{`"0x10"`, math.Inf(1)},
	{`"inf"`, math.Inf(1)},
	{`1e999`, math.Inf(1)},
}

// TestKeepByValue compares with the naive choice by the numbers and dates in a field.
func TestKeepByValue(t *testing.T) {
	for _, c := range []struct {
		keep preference.Preference
		keys methods.Name
		sign float64
		turn func(i int, l *line) float64
	}{
		{"max:of.score", methods.Exact, -1, nil},
		{"min:of.score", methods.MinHash, 1, nil},
		{preference.Last, methods.All, 0, func(i int, _ *line) float64 { return -float64(i) }},
		{preference.Shortest, methods.Exact, 0, func(_ int, l *line) float64 { return float64(l.length) }},
	} {
		t.Run(fmt.Sprintf("%s/%s", c.keep, c.keys), func(t *testing.T) {
			unranked := int64(0)
			random := newWriter(7)
			lines := marked(synthetic(31), func(i int, l *line) map[string]string {
				if c.turn != nil {
					l.turn = c.turn(i, l)
					return nil
				}
				value := pick(random, values)
				if l.turn = c.sign * value.number; math.IsInf(value.number, 0) {
					l.turn = math.Inf(1)
					unranked++
				}
				return map[string]string{"of": `{"score":` + value.json + `}`}
			})
			files := cut(lines, 3)
			config := byKeys(testConfig(t, putCorpus(t, plain, files...)), c.keys)
			config.Threshold, config.Keep = 0.6, c.keep
			if c.keys == methods.MinHash {
				config.Recall = certain
				config.Split = keep.Star
			}
			summary := runJob(t, config)
			checkAgainstTruth(t, config, summary, naiveTruth(3, true, files...))
			checkUnique(t, config, files)
			if summary.Counts.Unranked != unranked || c.turn == nil && unranked == 0 {
				t.Errorf("%d documents without a value, want %d", summary.Counts.Unranked, unranked)
			}
		})
	}
}

// TestKeepByRank compares with the naive choice by a list of sources, which are in a field or the names of files.
func TestKeepByRank(t *testing.T) {
	list := "# the best first\nnews.example.org\n\nexample.org\nd\na.jsonl\n"
	sources := []struct {
		source string // in JSON
		turn   float64
	}{
		{`"https://News.Example.org:80/a?b"`, 1},
		{`"news.example.org"`, 1},
		{`"http://www.example.org/"`, 2},
		{`"d/e/f"`, 3},
		{`"https://example.org.other/"`, 9},
		{`"dd"`, 9},
		{`7`, 9},
		{`null`, 9},
	}
	for _, isField := range []bool{true, false} {
		t.Run(fmt.Sprint(isField), func(t *testing.T) {
			random := newWriter(8)
			lines := marked(synthetic(32), func(_ int, l *line) map[string]string {
				s := pick(random, sources)
				l.turn, l.source = s.turn, shownSource(s.source)
				return map[string]string{"source": s.source}
			})
			files := cut(lines, 4)
			want := int64(0)
			for i := range files {
				for k := range files[i].lines {
					l := &files[i].lines[k]
					if !isField {
						l.turn = map[string]float64{"d/e.jsonl": 3, "a.jsonl": 4}[files[i].name]
						if l.turn == 0 {
							l.turn = 9
						}
					}
					if l.turn == 9 {
						want++
					}
				}
			}
			config := testConfig(t, putCorpus(t, plain, files...))
			config.Threshold = 0.6
			config.Keep = preference.Preference("rank:" + put(t, filepath.Join(t.TempDir(), "sources.txt"), []byte(list), plain))
			if isField {
				config.SourceField = "source"
			}
			summary := runJob(t, config)
			checkAgainstTruth(t, config, summary, naiveTruth(3, true, files...))
			if summary.Counts.Unranked != want || want == 0 {
				t.Errorf("%d documents without a rank, want %d", summary.Counts.Unranked, want)
			}
		})
	}
}

// TestKeepReference: documents of a reference come first, whatever the preference is.
func TestKeepReference(t *testing.T) {
	parts := cut(marked(oddities(33), func(i int, l *line) map[string]string {
		l.turn = float64(-i % 5)
		return map[string]string{"score": fmt.Sprint(i % 5)}
	}), 4)
	reference, input := parts[:2], parts[2:]
	tr := naiveTruth(3, true, slices.Concat(reference, input)...)
	tr.references = countDocuments(reference)
	config := testConfig(t, putCorpus(t, plain, input...))
	config.Reference = []string{putCorpus(t, plain, reference...)}
	config.Threshold, config.Keep = 0.5, "max:score"
	checkAgainstTruth(t, config, runJob(t, config), tr)
}

// TestKeepIsLawful: how a job runs does not change which documents it keeps.
func TestKeepIsLawful(t *testing.T) {
	t.Parallel()
	files := cut(marked(heapCorpus(34, 500, 3), func(i int, _ *line) map[string]string {
		return map[string]string{"score": fmt.Sprint(i * 7919 % 41)}
	}), 3)
	for _, preferred := range []preference.Preference{"max:score", preference.Last} {
		config := heapConfig(t, methods.Exact, putCorpus(t, plain, files...), "")
		config.Keep = preferred
		whole := wholeJob
		whole.bounds = denseBounds
		want, result := runInner(t, config, whole)
		if result.Skipped.Groups == 0 {
			t.Fatalf("a corpus without heaps: %+v", result.Counts)
		}
		for _, inner := range []innerJob{
			{splitBytes: 30 << 10, shards: 3, placeBytes: 64 << 10, bounds: denseBounds, lanes: 2},
			heapsInCuts,
		} {
			got, _ := runInner(t, config, inner)
			sameText(t, fmt.Sprintf("%s %+v", preferred, inner), got, want)
		}
	}
}

// TestKeepRefused: a list of sources that cannot be used is a fault of the usage.
func TestKeepRefused(t *testing.T) {
	input := putCorpus(t, plain, file{"x.jsonl", synthetic(35)[:3]})
	empty := put(t, filepath.Join(t.TempDir(), "empty.txt"), []byte("# nothing\n\n"), plain)
	for _, c := range []struct{ path, says string }{{empty, "it holds no source"}, {empty + "x", "no such file"}} {
		config := testConfig(t, input)
		config.Keep = preference.Preference("rank:" + c.path)
		if _, err := Run(context.Background(), config); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "keep rank:") {
			t.Errorf("error %v, want one that says %q", err, c.says)
		}
	}
	var config job.Config
	config.Keep = preference.Preference("rank:" + empty)
	if config.ResultHash(job.Lists{Ranking: "a\n"}) == config.ResultHash(job.Lists{Ranking: "b\n"}) {
		t.Error("another list has the same hash")
	}
}
