package recut

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/keep/variants"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/result/warnings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage/storagetest"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/pipeline"
)

func TestMain(m *testing.M) { storagetest.Main(m) }

// corpusOf writes a corpus of near-duplicates, every twentieth of them in a reference, and returns a job over it.
func corpusOf(t *testing.T, id func(i int) string) job.Config {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	bases := make([][]string, 30)
	for i := range bases {
		for range 60 {
			bases[i] = append(bases[i], fmt.Sprint("w", random.IntN(300)))
		}
	}
	var input, reference bytes.Buffer
	for i := range 400 {
		words := append([]string{}, bases[random.IntN(len(bases))]...)
		for range random.IntN(4) {
			words[random.IntN(len(words))] = fmt.Sprint("w", random.IntN(300))
		}
		to := &input
		if i%20 == 19 {
			to = &reference
		}
		fmt.Fprintf(to, `{"id":%s,"text":%q}`+"\n", id(i), strings.Join(words, " "))
	}
	folder, c := t.TempDir(), job.Default()
	put := func(name string, content []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	c.Input, c.Reference = []string{put("in.jsonl", input.Bytes())}, []string{put("ref.jsonl", reference.Bytes())}
	c.Emit = []string{output.Clusters, output.Pairs, output.Removed}
	c.Output = filepath.Join(folder, "out")
	c.Threshold = .7
	return c
}

func run(t *testing.T, c job.Config) *finished.Folder {
	t.Helper()
	if _, err := pipeline.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	folder, err := finished.Open(c.Output)
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestRun: the files are the bytes that a run at the threshold writes, and the summary has its counts.
func TestRun(t *testing.T) {
	for name, id := range map[string]func(i int) string{
		"integers": func(i int) string { return fmt.Sprint(i) },
		"strings":  func(i int) string { return fmt.Sprintf("%q", fmt.Sprint("�ff", i)) },
		"repeated": func(i int) string { return fmt.Sprint(i - i%2*(i%3)%2) },
		"none":     func(int) string { return "null" },
	} {
		t.Run(name, func(t *testing.T) {
			c := corpusOf(t, id)
			c.Keep = "longest"
			folder := run(t, c)
			for i, threshold := range []float64{.7, .8, .9, 1} {
				o := Options{
					Threshold: threshold,
					Keep:      preference.First,
					Split:     keep.Component,
					Format:    output.JSONL,
					Emit:      c.Emit,
				}
				if i%2 == 1 {
					o.Keep, o.Split, o.Format = preference.Last, keep.Star, output.Parquet
				}
				o.Output = filepath.Join(t.TempDir(), "out")
				again := c
				again.Threshold = threshold
				again.Keep = o.Keep
				again.Split = o.Split
				again.OutputFormat = o.Format
				again.Output = filepath.Join(t.TempDir(), "out")
				compare(t, folder, o, run(t, again))
			}
		})
	}
}

// compare cuts a run and compares what is written with another run.
func compare(t *testing.T, folder *finished.Folder, o Options, want *finished.Folder) {
	t.Helper()
	summary, err := Run(t.Context(), folder, o)
	if err != nil {
		t.Fatal(err)
	}
	counts := want.Summary.Counts
	counts.Candidates = summary.Counts.Candidates
	if diff := cmp.Diff(counts, summary.Counts); diff != "" || summary.ConfigHash != want.Summary.ConfigHash {
		t.Errorf("threshold %v: counts (-want +got):\n%s", o.Threshold, diff)
	}
	want.Summary.Warnings = slices.DeleteFunc(want.Summary.Warnings, func(w warnings.Warning) bool {
		return w.Kind == warnings.Variants // it reads texts, which a recut has not
	})
	if diff := cmp.Diff(want.Summary.Warnings, summary.Warnings); diff != "" {
		t.Errorf("threshold %v: warnings (-want +got):\n%s", o.Threshold, diff)
	}
	got, err := finished.Open(o.Output)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(o.Emit, output.Rejects) {
		for i, path := range want.Paths(name) {
			a, err := os.ReadFile(path)
			b, fault := os.ReadFile(got.Paths(name)[i])
			if err := errors.Join(err, fault); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a, b) {
				t.Errorf("threshold %v: other %s", o.Threshold, name)
			}
		}
	}
}

// TestSays: what pairs do not suffice for is refused, and the message says what lacks.
func TestSays(t *testing.T) {
	usual := func(c job.Config) Options {
		return Options{
			Threshold: .9,
			Keep:      preference.First,
			Split:     keep.Component,
			Format:    output.JSONL,
			Emit:      c.Emit,
			Output:    c.Output + "2",
		}
	}
	for _, c := range []struct {
		change  func(c *job.Config)
		options func(o *Options)
		kind    failure.Kind
		want    string
	}{
		{
			func(c *job.Config) { c.Emit = []string{output.Clusters} }, func(*Options) {}, failure.Usage,
			"pairs is required",
		},
		{func(*job.Config) {}, func(o *Options) { o.Threshold = .5 }, failure.Usage, "begin at threshold 0.7"},
		{func(*job.Config) {}, func(o *Options) { o.Threshold = 1.5 }, failure.Usage, "not 1.5"},
		{func(*job.Config) {}, func(o *Options) { o.Threshold = math.NaN() }, failure.Usage, "not NaN"},
		{
			func(*job.Config) {}, func(o *Options) { o.Keep = "rank:none" }, failure.Usage, "no such file",
		},
		{func(*job.Config) {}, func(o *Options) { o.Emit = []string{output.Trimmed} }, failure.Usage, "emit trimmed"},
		{func(c *job.Config) { c.Across, c.Reference = "id", nil }, func(*Options) {}, failure.Usage, "across id"},
		{
			func(c *job.Config) { c.Keys, c.Threshold = "simhash", job.Default().Threshold }, func(*Options) {},
			failure.Usage, "not scored by the Jaccard similarity",
		},
		{
			func(c *job.Config) { c.Keys, c.Verify = "minhash", "sketch" }, func(*Options) {}, failure.Usage,
			"are estimates",
		},
		{func(c *job.Config) { c.Variants = variants.Keep }, func(*Options) {}, failure.Usage, "variants keep judges"},
	} {
		config := corpusOf(t, func(i int) string { return fmt.Sprint(i) })
		c.change(&config)
		o := usual(config)
		c.options(&o)
		_, err := Run(t.Context(), run(t, config), o)
		if err == nil || !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want one of %s that says %q", err, c.kind, c.want)
		}
		if _, err := os.Stat(o.Output); err == nil {
			t.Errorf("%s: there is an output folder", c.want)
		}
	}
}

// TestFraction: two numbers have the quotient of the two that are found, and these are no larger.
func TestFraction(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		union := 1 + random.IntN(1<<(1+random.IntN(25)))
		shared := 1 + random.IntN(union)
		x := float64(shared) / float64(union)
		if n, d := fraction(x); float64(n)/float64(d) != x || n > shared || d > union {
			t.Fatalf("%d/%d: %d/%d", shared, union, n, d)
		}
	}
}
