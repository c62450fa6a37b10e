package query

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/sketch"
)

// stream returns texts for a stream, some of them many times, and the stream with the refs that they have there.
func stream(seed uint64, n int) (texts []text, lines string) {
	random := rand.New(rand.NewPCG(seed, 2))
	some := newTexts(seed, n/2)
	var all strings.Builder
	for i := range n {
		x := some[min(random.IntN(len(some)), random.IntN(len(some)))]
		if x.id != "" {
			x.id = fmt.Sprintf("s%d", i)
		}
		x.position = int64(all.Len())
		texts = append(texts, x)
		all.WriteString(x.line())
	}
	return texts, all.String()
}

// answerStream returns what brute force finds for a stream: of each text, the matches in the library, then those among
// the last texts before it, as many as the window has room for.
func (l *library) answerStream(t *testing.T, texts []text, window, top int,
	compare func(row *match, of, with *sketch.Fingerprint) bool,
) (rows []match) {
	t.Helper()
	prints := fingerprints(t, &l.config, texts)
	name := func(x *text) (id, ref string) {
		ref = fmt.Sprintf("-:%d", x.position)
		return cmp.Or(x.id, ref), ref
	}
	for i := range texts {
		start := len(rows)
		take := func(row match, with *sketch.Fingerprint) {
			if row.ID, row.Ref = name(&texts[i]); compare(&row, &prints[i], with) {
				rows = append(rows, row)
			}
		}
		for j := range l.texts {
			y := &l.texts[j]
			take(match{Match: y.name(), MatchRef: y.ref(), Reference: y.file == 0}, &l.prints[j])
		}
		first := 0
		if window > 0 {
			first = max(i-window, 0)
		}
		for j := first; j < i; j++ {
			id, ref := name(&texts[j])
			take(match{Match: id, MatchRef: ref, Added: true}, &prints[j])
		}
		slices.SortStableFunc(rows[start:], func(x, y match) int {
			return cmp.Or(cmp.Compare(y.Jaccard, x.Jaccard), cmp.Compare(x.Hamming, y.Hamming))
		})
		if top > 0 {
			rows = rows[:min(len(rows), start+top)]
		}
	}
	return rows
}

// TestAdd: each document of a stream gets the matches that brute force finds in the library and among the last
// documents before it, in the same order.
func TestAdd(t *testing.T) {
	known := newTexts(12, 40)
	texts, lines := stream(12, 250)
	for name, c := range map[string]struct {
		change func(*job.Config)
		with   func(row *match, of, with *sketch.Fingerprint) bool
	}{
		"sets 0.8":  {func(c *job.Config) { c.Threshold = 0.8 }, similar(0.8)},
		"sets 0.3":  {func(c *job.Config) { c.Threshold = 0.3 }, similar(0.3)},
		"hamming 3": {func(c *job.Config) { c.Keys, c.Hamming = methods.SimHash, 3 }, near(3)},
		"128 bits":  {func(c *job.Config) { c.Keys, c.Bits, c.Hamming = methods.SimHash, 128, 20 }, near(20)},
		"hamming 0": {func(c *job.Config) { c.Keys, c.Hamming = methods.SimHash, 0 }, near(0)},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLibrary(t, known, c.change)
			x := l.open(t)
			for _, window := range []int{0, 1, 13, 90} {
				for _, top := range []int{0, 2} {
					want := l.answerStream(t, texts, window, top, c.with)
					got := answers(t, x, Request{
						Input:  []string{"-"},
						Stdin:  strings.NewReader(lines),
						Add:    true,
						Window: window,
						Top:    top,
					})
					compareRows(t, fmt.Sprintf("window %d, top %d", window, top), got, want)
					if !slices.ContainsFunc(want, func(m match) bool { return m.Added }) {
						t.Errorf("window %d: no match in the stream", window)
					}
				}
			}
		})
	}
}

// TestWindowIsBounded: a window holds no more than it needs, however long the stream is.
func TestWindowIsBounded(t *testing.T) {
	const window = 100
	random := rand.New(rand.NewPCG(5, 5))
	h := newAdded(0.8, nil, window)
	for i := range 300 * window {
		set := make([]uint64, 5*random.IntN(3)) // some documents have no shingles
		for k := range set {
			set[k] = uint64(random.IntN(20 * window))
		}
		slices.Sort(set)
		f := sketch.Fingerprint{Document: sketch.Document{
			Set:    slices.Compact(set),
			Digest: sketch.Digest{random.Uint64() % 2000},
		}}
		if len(f.Set) > 0 {
			f.Digest = sketch.NewDigester(0).Set(f.Set)
		}
		q := newQuestion([]byte(`"a"`), []byte(`"a"`), f, nil)
		h.search(nil, &q, 0)
		if err := h.add(&q); err != nil {
			t.Fatal(err)
		}
		if got := len(h.documents) - h.oldest; got != min(i+1, window) {
			t.Fatalf("%d documents are held, want %d", got, min(i+1, window))
		}
	}
	if len(h.byDigest) > window || cap(h.documents) > 8*window || len(h.sets) > 8*window ||
		cap(h.postings.all) > 40*window || len(h.free) > len(h.sets) {
		t.Errorf("%d keys, room for %d documents, %d sets, room for %d postings, %d free", len(h.byDigest),
			cap(h.documents), len(h.sets), cap(h.postings.all), len(h.free))
	}
	for _, shared := range h.shared {
		if shared > 0 {
			t.Error("a count is left")
		}
	}
}
