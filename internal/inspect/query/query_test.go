package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/sketch"
)

// asked are the documents of a query: texts, their fingerprints, and the input that holds them.
type asked struct {
	texts  []text
	prints []sketch.Fingerprint
	input  string
}

// ask writes texts to an input. Some are also in the library, others are much like texts there.
func (l *library) ask(t *testing.T) *asked {
	t.Helper()
	a := &asked{texts: slices.Concat(l.texts, newTexts(7, 30))}
	lines, position := []string{}, 0
	for i := range a.texts {
		a.texts[i].position = int64(position)
		lines = append(lines, a.texts[i].line())
		position += len(lines[i])
	}
	a.input = store(t, "asked.jsonl", lines...)
	a.prints = fingerprints(t, &l.config, a.texts)
	return a
}

// answer returns what brute force finds for all documents of a query. Compare reports whether a document of the query
// and one of the library match, and sets what the row says of it. Documents that match better come first.
func (l *library) answer(a *asked, compare func(row *match, of, with *sketch.Fingerprint) bool) (rows []match) {
	for i := range a.texts {
		x, start := &a.texts[i], len(rows)
		for j := range l.texts {
			y := &l.texts[j]
			row := match{
				Ref:       fmt.Sprintf("%s:%d", filepath.Base(a.input), x.position),
				Match:     y.name(),
				MatchRef:  y.ref(),
				Reference: y.file == 0,
			}
			if row.ID = x.id; x.id == "" {
				row.ID = row.Ref
			}
			if compare(&row, &a.prints[i], &l.prints[j]) {
				rows = append(rows, row)
			}
		}
		slices.SortStableFunc(rows[start:], func(x, y match) int {
			return cmp.Or(cmp.Compare(y.Jaccard, x.Jaccard), cmp.Compare(x.Hamming, y.Hamming))
		})
	}
	return rows
}

// similar compares sets.
func similar(threshold float64) func(row *match, of, with *sketch.Fingerprint) bool {
	return func(row *match, of, with *sketch.Fingerprint) bool {
		shared := 0
		for _, shingle := range of.Set {
			if slices.Contains(with.Set, shingle) {
				shared++
			}
		}
		row.Identical = of.Digest == with.Digest
		row.Jaccard, row.ContainmentA, row.ContainmentB = 1, 1, 1
		if !row.Identical {
			if len(of.Set) == 0 || len(with.Set) == 0 {
				return false
			}
			row.Jaccard = float64(shared) / float64(len(of.Set)+len(with.Set)-shared)
			row.ContainmentA = float64(shared) / float64(len(of.Set))
			row.ContainmentB = float64(shared) / float64(len(with.Set))
		}
		return row.Jaccard >= threshold
	}
}

// near compares fingerprints.
func near(distance int) func(row *match, of, with *sketch.Fingerprint) bool {
	return func(row *match, of, with *sketch.Fingerprint) bool {
		if len(of.Set) == 0 || len(with.Set) == 0 {
			row.Identical = of.Digest == with.Digest
			return row.Identical
		}
		row.Hamming = sketch.Hamming(of.SimHash, with.SimHash)
		row.Identical = row.Hamming == 0
		return row.Hamming <= distance
	}
}

// answers returns the answer to a request that must succeed, and checks its counts.
func answers(t *testing.T, x *Index, q Request) []match {
	t.Helper()
	var out strings.Builder
	counts, err := x.Answer(t.Context(), q, &out)
	if err != nil {
		t.Fatal(err)
	}
	rows, matched := parse(t, out.String()), map[string]bool{}
	for _, row := range rows {
		matched[row.Ref] = true
	}
	if counts.Matches != int64(len(rows)) || counts.Matched != int64(len(matched)) {
		t.Errorf("counts %+v of %d rows for %d documents", counts, len(rows), len(matched))
	}
	return rows
}

func compareRows(t *testing.T, what string, got, want []match) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s: row %d of %d is\n%+v, want\n%+v", what, i, len(got), got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d rows, want %d", what, len(got), len(want))
	}
}

// TestAnswers: a query finds what brute force finds, in the same order, at the threshold of the index and above. Few
// matches are the first of all.
func TestAnswers(t *testing.T) {
	texts := newTexts(3, 150)
	for _, threshold := range []float64{0.05, 0.4, 0.8, 1} {
		l := newLibrary(t, texts, func(c *job.Config) { c.Threshold = threshold })
		x, a := l.open(t), l.ask(t)
		for _, least := range []float64{0, threshold, 0.6, 0.95, 1} {
			if least != 0 && least < threshold {
				continue
			}
			want := l.answer(a, similar(max(least, threshold)))
			if len(want) < len(texts) {
				t.Errorf("%d rows tell little", len(want))
			}
			what := fmt.Sprintf("an index of %g, asked for %g", threshold, least)
			compareRows(t, what, answers(t, x, Request{Input: []string{a.input}, Threshold: least}), want)
			for _, top := range []int{1, 2, 1000} {
				var first []match
				for _, row := range want {
					same := func(other match) bool { return other.Ref == row.Ref }
					if n := len(slices.DeleteFunc(slices.Clone(first), func(r match) bool {
						return !same(r)
					})); n < top {
						first = append(first, row)
					}
				}
				got := answers(t, x, Request{Input: []string{a.input}, Threshold: least, Top: top})
				compareRows(t, fmt.Sprintf("%s, the first %d", what, top), got, first)
			}
		}
	}
}

// TestAnswersByFingerprint: with SimHash keys a query finds what brute force over the fingerprints finds.
func TestAnswersByFingerprint(t *testing.T) {
	texts := newTexts(4, 200)
	for _, c := range []struct {
		bits, distance int
		blocks         []int
	}{
		{32, 4, nil},
		{64, 0, nil},
		{64, 3, nil},
		{64, 3, []int{4, 4}},
		{64, 10, nil},
		{64, 10, []int{12}},
		{128, 20, nil},
		{256, 0, nil},
		{1024, 200, []int{201}},
	} {
		distance := c.distance
		l := newLibrary(t, texts, func(config *job.Config) {
			config.Keys, config.Bits, config.Hamming, config.Blocks = methods.SimHash, c.bits, distance, c.blocks
		})
		x, a := l.open(t), l.ask(t)
		want := l.answer(a, near(distance))
		compareRows(t, fmt.Sprintf("%d bits, distance %d", c.bits, distance),
			answers(t, x, Request{Input: []string{a.input}}), want)
		apart := slices.ContainsFunc(want, func(m match) bool { return m.Hamming > 0 })
		// Few texts differ, and by three bits at the most.
		if len(want) < len(texts) || distance > 3 && !apart || distance == 0 && apart {
			t.Errorf("distance %d: %d rows tell little", distance, len(want))
		}
	}
}

// TestInputsAreOneInput: files and a stream give the rows of one file that holds the same lines, one after the other.
func TestInputsAreOneInput(t *testing.T) {
	l := newLibrary(t, newTexts(5, 60), nil)
	x := l.open(t)
	var lines []string
	for i := range l.texts {
		lines = append(lines, l.texts[i].line())
	}
	plain := func(rows []match) (all []string) {
		for _, row := range rows {
			all = append(all, fmt.Sprint(row.Match, row.MatchRef, row.Jaccard, row.Reference))
		}
		return all
	}
	want := plain(answers(t, x, Request{Input: []string{store(t, "all.jsonl", lines...)}}))
	folder := t.TempDir()
	for i, line := range lines {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%03d.jsonl", i)), []byte(line), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got := plain(answers(t, x, Request{Input: []string{folder}})); !slices.Equal(got, want) ||
		len(want) < len(lines) {
		t.Errorf("%d files give %d rows, one %d", len(lines), len(got), len(want))
	}
	stream := strings.NewReader(strings.Join(lines[30:], ""))
	first := store(t, "first.jsonl", lines[:30]...)
	if got := plain(answers(t, x, Request{Input: []string{"-", first}, Stdin: stream})); !slices.Equal(got, want) {
		t.Errorf("a file, then a stream give %d rows, one file %d", len(got), len(want))
	}
}

// TestUnreadable: what cannot be read is counted, and the first of it is named. The rest is answered.
func TestUnreadable(t *testing.T) {
	l := newLibrary(t, newTexts(6, 20), nil)
	x := l.open(t)
	good := l.texts[0].line()
	mixed := store(t, "mixed.jsonl", good, "{\n", good, "[]\n", "\n", good)
	counts, err := x.Answer(t.Context(), Request{Input: []string{mixed}, Top: 1}, new(strings.Builder))
	first := fmt.Sprintf("mixed.jsonl:%d: malformed JSON", len(good))
	if err != nil || counts.Documents != 3 || counts.Rejected != 2 || counts.Matches != 3 ||
		!strings.HasPrefix(counts.FirstReject, first) {
		t.Errorf("counts %+v (%v), the first %s", counts, err, first)
	}
	none := store(t, "none.jsonl", "{\"id\":\"a\"}\n", "[]\n")
	inputs := []string{store(t, "a.jsonl", good), mixed, none, store(t, "z.jsonl", good)}
	if counts, err = x.Answer(t.Context(), Request{Input: inputs}, new(strings.Builder)); err != nil ||
		counts.Rejected != 4 || !strings.HasPrefix(counts.FirstReject, first) {
		t.Errorf("several files: counts %+v (%v), the first in mixed.jsonl", counts, err)
	}
	counts, err = x.Answer(t.Context(), Request{Input: []string{none}}, new(strings.Builder))
	if !errors.Is(err, failure.Input) || !strings.Contains(fmt.Sprint(err), "none.jsonl:0") || counts.Rejected != 2 {
		t.Errorf("counts %+v, error %v", counts, err)
	}
	if counts, err = x.Answer(t.Context(), Request{Input: []string{store(t, "empty.jsonl")}},
		new(strings.Builder)); err != nil || counts != (Counts{}) {
		t.Errorf("an empty input: counts %+v (%v)", counts, err)
	}
}

// broken is a writer that fails.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no room") }

// TestRefused: a request that cannot be answered fails with an error of its kind.
func TestRefused(t *testing.T) {
	texts := newTexts(8, 20)
	sets := newLibrary(t, texts, func(c *job.Config) { c.Threshold = 0.7 }).open(t)
	prints := newLibrary(t, texts, func(c *job.Config) { c.Keys = methods.SimHash }).open(t)
	input := store(t, "in.jsonl", texts[0].line())
	for _, c := range []struct {
		name string
		x    *Index
		q    Request
		kind failure.Kind
		want string
	}{
		{
			"too low", sets,
			Request{Input: []string{input}, Threshold: 0.69},
			failure.Usage,
			"threshold 0.69: the state was made for 0.7 or more",
		},
		{
			"no sets", prints,
			Request{Input: []string{input}, Threshold: 0.9},
			failure.Usage,
			"fingerprints within hamming 3",
		},
		{"nothing there", sets, Request{Input: []string{input + "x"}}, failure.Input, "in.jsonlx"},
	} {
		var out strings.Builder
		counts, err := c.x.Answer(t.Context(), c.q, &out)
		if !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.want) || counts != (Counts{}) ||
			out.Len() > 0 {
			t.Errorf("%s: error %v, counts %+v, want %q", c.name, err, counts, c.want)
		}
	}
	if _, err := sets.Answer(t.Context(), Request{Input: []string{input}},
		broken{}); !errors.Is(err, failure.Storage) || !strings.Contains(fmt.Sprint(err), "no room") {
		t.Errorf("rows that cannot be written: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sets.Answer(ctx, Request{Input: []string{input}}, new(strings.Builder)); !errors.Is(err,
		context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

// TestFieldsOfRequest: the fields of a request replace the job's, where the job reads texts of one field.
func TestFieldsOfRequest(t *testing.T) {
	q := Request{IDField: "name", TextField: "body"}
	for _, c := range []struct {
		job   func(c *job.Config)
		fault string
	}{
		{func(*job.Config) {}, ""},
		{func(c *job.Config) { c.Features, c.FeatureWeight = "tags", 3 }, ""},
		{func(c *job.Config) { c.Features = "tags" }, "features"},
		{func(c *job.Config) { c.Weight = map[string]float64{"title": 3, "text": 1} }, "weight"},
	} {
		config := job.Default()
		c.job(&config)
		got, err := q.reading(config)
		switch {
		case c.fault != "":
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("error %v, want one about %s", err, c.fault)
			}
		case err != nil || got.IDField != "name" || got.TextField != "body":
			t.Errorf("fields %q and %q, error %v", got.IDField, got.TextField, err)
		}
		if got, err := new(Request).reading(config); err != nil || got.IDField != config.IDField ||
			got.TextField != config.TextField {
			t.Errorf("a request without fields has %q and %q, error %v", got.IDField, got.TextField, err)
		}
	}
}
