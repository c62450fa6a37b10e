package report

import (
	"strings"
	"testing"

	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/sketch"
)

// histogramOf returns bins of the given counts from .5 on; the last one is of identical documents.
func histogramOf(counts ...int64) []Bin {
	var bins []Bin
	for i, n := range counts {
		bins = append(bins, Bin{From: 0.5 + float64(i)/100, Count: n})
	}
	return bins
}

func TestValley(t *testing.T) {
	for _, test := range []struct {
		name string
		bins []Bin
		want float64 // 0: none
	}{
		{"two peaks", histogramOf(100, 90, 20, 10, 10, 10, 20, 90, 100, 0), 0.54},
		{"one peak", histogramOf(10, 20, 50, 90, 100, 90, 50, 20, 10, 5000), 0},
		{"a peak of identical documents alone", histogramOf(100, 80, 60, 40, 20, 10, 5, 2, 1, 5000), 0},
		{"a shallow valley", histogramOf(100, 100, 90, 90, 90, 100, 100, 100, 100, 0), 0},
		{"few documents", histogramOf(10, 10, 0, 0, 0, 0, 0, 10, 10, 0), 0},
		{"two bins", histogramOf(10, 10), 0},
		{"the deeper of two", histogramOf(100, 100, 50, 50, 100, 100, 5, 5, 100, 100, 0), 0.57},
	} {
		got := valley(test.bins)
		if (got == nil) != (test.want == 0) || got != nil && short(*got) != short(test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestCrowding(t *testing.T) {
	scores := newTally(Similarity, 0)
	for range 100 {
		scores.add(0.81)
		scores.add(0.9)
		scores.add(1) // not identical, but of estimates
	}
	for range 50 {
		scores.add(0.88)
		scores.add(0.92)
	}
	c := sensitivity(scores, 0.8, nil)
	if c.At != 0.8 || c.Above != 100 || c.Pairs != 100 || c.Of != 300 || !c.isSensitive(0.8) {
		t.Errorf("%+v", c)
	}
	at := 0.9
	if c = sensitivity(scores, 0.8, &at); c.Pairs != 150 {
		t.Errorf("around .9: %+v", c)
	}
}

// TestTally: each similarity counts in the bin that begins at it.
func TestTally(t *testing.T) {
	for i := range steps + 1 {
		one := newTally(Similarity, 0)
		one.add(float64(i) / steps)
		if one.counts[i] != 1 {
			t.Errorf("%d thousandths are counted elsewhere", i)
		}
	}
	bits := newTally(Bits, 3)
	bits.add(3)
	bits.add(9)
	if bins := bits.bins(0); len(bins) != 4 || bins[3].Count != 2 {
		t.Errorf("distances: %+v", bins)
	}
	if bins := newTally(Similarity, 0).bins(0.855); bins[0].From != 0.85 || len(bins) != 16 {
		t.Errorf("%d bins from %g", len(bins), bins[0].From)
	}
}

// TestSizes: each size is in the class that says so.
func TestSizes(t *testing.T) {
	m := newMemberPass(newSampler(1), newTally(Similarity, 0))
	for size := 2; size <= 70; size++ {
		m.count(&Cluster{Cluster: finished.Cluster{Size: size}})
	}
	documents := int64(0)
	for _, class := range m.sizes {
		if class.Clusters != int64(min(class.To, 70)-class.From+1) {
			t.Errorf("%+v", class)
		}
		documents += class.Documents
	}
	if documents != 70*71/2-1 {
		t.Errorf("%d documents", documents)
	}
}

func TestSampler(t *testing.T) {
	if s := newSampler(mostTracked); s.share != 1 {
		t.Error("documents that fit are sampled")
	}
	s, chosen := newSampler(4*mostTracked), 0
	for i := range 40_000 {
		if _, is := s.choose(strings.Repeat("x", i%7) + count(int64(i))); is {
			chosen++
		}
	}
	if chosen < 9_500 || chosen > 10_500 {
		t.Errorf("%d of 40,000 are chosen, want about a quarter", chosen)
	}
}

func TestCommand(t *testing.T) {
	c := job.Default()
	c.Input, c.Output, c.Tokens, c.Threshold = []string{"a b/*.jsonl", "c,d"}, "out", sketch.WordTokens, 0.55
	c.Weight = map[string]float64{"title": 2, "body": 1}
	c.Emit, c.Keep = []string{"clusters", "pairs"}, "rank:/home/secret"
	const want = `runjob run --input='a b/*.jsonl' --input=c,d --output=out --emit=clusters,pairs --keep=rank:/home/secret --threshold=0.55 --tokens=words --weight=body=1,title=2`
	if got := strings.ReplaceAll(command(&c, false), " \\\n  ", " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := command(&c, true); strings.Contains(got, "secret") ||
		!strings.Contains(got, "--input=INPUT \\\n  --output=OUTPUT \\\n") {
		t.Errorf("hidden: %s", got)
	}
}

func TestFormat(t *testing.T) {
	for got, want := range map[string]string{
		count(0): "0", count(1234567): "1,234,567", count(-1234): "-1,234", count(100): "100",
		percent(1, 3): "33.3 %", percent(1, 100000): "0.00 %", percent(999, 1000): "99.90 %", percent(1, 0): "–",
		size(999): "999 B", size(1000): "1 kB", size(123456789): "123 MB", size(999_600): "1 MB",
		duration(0.123): "0.12 s", duration(119): "119 s", duration(600): "10 min", duration(36000): "10.0 h",
		short(0.8): "0.8", shown("a\u202eb\x1b"): `a\u202eb\x1b`, name("a\nb"): `a\nb`, name("\xff"): "\ufffd",
		name(strings.Repeat("é", 200)): strings.Repeat("é", 40) + "…" + strings.Repeat("é", 20),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
