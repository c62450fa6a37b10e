package pipeline

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/findings"
	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/preference"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/settle/keep"
	"mirrorbeam/job"
)

// heapCorpus is a corpus of about n documents that are much alike: pages of templates, in variants; random parts of one
// text, some of which reach the threshold; equal documents; and some like no other. Parts are partsOf10 tenths of them.
func heapCorpus(seed uint64, n int, partsOf10 int) []line {
	w := newWriter(seed)
	templates, parts := [][]string{w.text(50), w.text(70)}, make([][]string, 20)
	for i := range parts {
		parts[i] = w.text(6)
	}
	variants := [][]string{w.text(25), w.text(25), w.text(60)}
	for i := range n {
		var page []string
		switch kind := i % 10; {
		case kind < partsOf10:
			for _, part := range parts {
				if w.random.IntN(8) > 0 {
					page = append(page, part...)
				}
			}
		case kind < 6: // pages of a template that differ in one place or two
			page = w.change(pick(w, templates), 0.015)
			page = append(page, w.text(w.random.IntN(3))...)
		case kind < 8:
			page = append(slices.Clone(templates[0]), pick(w, variants)...)
			page = append(w.change(page, 0.01), w.text(2)...)
		default:
			page = w.text(40)
		}
		text := w.set(page)
		w.add(text)
		if w.random.IntN(12) == 0 { // equal under the measure, and longer
			w.add(text + strings.Repeat(" .", w.random.IntN(9)))
		}
	}
	w.shuffle()
	return w.lines
}

// heapConfig is a job over a corpus with heaps.
func heapConfig(t *testing.T, keys methods.Name, input, reference string) job.Config {
	config := byKeys(testConfig(t, input), keys)
	if reference != "" {
		config.Reference = []string{reference}
	}
	return config
}

// heapRows are the rows that an inner job wrote.
type heapRows struct {
	clusters []clusterRow
	pairs    []pairRow
	removed  []removedRow
}

func rowsOf(t *testing.T, text string) (rows heapRows) {
	t.Helper()
	parts := map[string]*strings.Builder{}
	at := ""
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "{") {
			at, _, _ = strings.Cut(line, "-")
			parts[at] = &strings.Builder{}
			continue
		}
		parts[at].WriteString(line)
	}
	rows.clusters = decodeRows[clusterRow](t, output.Clusters, []byte(parts[output.Clusters].String()))
	rows.pairs = decodeRows[pairRow](t, output.Pairs, []byte(parts[output.Pairs].String()))
	rows.removed = decodeRows[removedRow](t, output.Removed, []byte(parts[output.Removed].String()))
	return rows
}

// TestHeaps compares jobs over corpora with heaps with brute force. No listed pair is wrong. A document is only removed
// for a near-duplicate that is kept. Two kept documents are not near-duplicates, except those that are counted. The
// cuts of the job change no byte.
func TestHeaps(t *testing.T) {
	t.Parallel()
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1 // brute force takes minutes with the race detector
	}
	for seed := range seeds {
		lines := heapCorpus(700+seed, 700, int(2+2*seed))
		files := cut(lines, 3)
		known := []file{{"y.jsonl", heapCorpus(700+seed, 60, 2)}, {"z.jsonl", lines[:25]}}
		input, reference := putCorpus(t, plain, files...), putCorpus(t, plain, known...)
		alone := naiveTruth(3, true, files...)
		both := naiveTruth(3, true, append(slices.Clone(known), files...)...)
		both.references = countDocuments(known)
		for n, c := range []struct {
			keys      methods.Name
			keep      preference.Preference
			split     keep.Split
			reference bool
		}{
			{methods.Exact, preference.First, keep.Component, false},
			{methods.Exact, preference.Longest, keep.Star, false},
			{methods.Exact, preference.First, keep.Star, true},
			{methods.Exact, preference.Longest, keep.Component, true},
			{methods.MinHash, preference.Longest, keep.Component, false},
			{methods.MinHash, preference.First, keep.Component, true},
		} {
			t.Run(fmt.Sprintf("%d/%+v", seed, c), func(t *testing.T) {
				config, tr := heapConfig(t, c.keys, input, ""), alone
				if c.reference {
					config, tr = heapConfig(t, c.keys, input, reference), both
				}
				config.Keep, config.Split = c.keep, c.split
				config.Threshold = 0.7 + 0.05*float64(seed)
				whole := wholeJob
				whole.bounds = denseBounds
				text, result := runInner(t, config, whole)
				if result.Skipped.Groups == 0 {
					t.Fatalf("a corpus without heaps: %+v", result.Counts)
				}
				h := heapCheck{tr: tr, rows: rowsOf(t, text), threshold: config.Threshold, isExact: c.keys == methods.Exact}
				h.check(t, result.Skipped)
				inner := heapsInCuts
				if (int(seed)+n)%2 == 0 {
					inner = innerJob{splitBytes: 30 << 10, shards: 3, placeBytes: 64 << 10, bounds: denseBounds, lanes: 2}
				}
				got, other := runInner(t, config, inner)
				sameText(t, fmt.Sprintf("%+v", inner), got, text)
				if !reflect.DeepEqual(other.Counts, result.Counts) || !reflect.DeepEqual(other.Skipped, result.Skipped) {
					t.Errorf("%+v: counts %+v, skipped %+v, want %+v, %+v", inner, other.Counts, other.Skipped, result.Counts, result.Skipped)
				}
			})
		}
	}
}

// heapCheck checks the rows of a job with heaps.
type heapCheck struct {
	tr        *truth
	rows      heapRows
	threshold float64
	isExact   bool // the keys are exact

	number map[string]int // number of documents by name
	kept   map[int]bool
}

func (h *heapCheck) check(t *testing.T, skipped findings.Skipped) {
	t.Helper()
	h.number, h.kept = map[string]int{}, map[int]bool{}
	for i := range h.tr.documents {
		h.number[h.tr.documents[i].ref], h.number[h.tr.documents[i].name] = i, i
		h.kept[i] = true
	}
	for _, row := range h.rows.removed {
		h.kept[h.number[row.Ref]] = false
	}
	h.checkPairs(t)
	h.checkClusters(t)
	h.checkRemoved(t)
	h.checkKept(t, skipped.Kept)
}

// checkPairs checks that every row is true.
func (h *heapCheck) checkPairs(t *testing.T) {
	t.Helper()
	last := [2]int{-1, -1}
	for _, row := range h.rows.pairs {
		i, j := h.number[row.A], h.number[row.B]
		if want := h.tr.similarity(i, j); math.Abs(row.Jaccard-want) > 1e-9 || want < h.threshold || row.Identical != (want == 1) || !row.Exact {
			t.Fatalf("%+v: the similarity is %v", row, want)
		}
		if [2]int{i, j} == last || j < h.tr.references && !row.Identical {
			t.Errorf("%+v is a repeat, or within the reference", row)
		}
		last = [2]int{i, j}
	}
}

// checkClusters checks that no cluster joins documents that brute force does not join.
func (h *heapCheck) checkClusters(t *testing.T) {
	t.Helper()
	root := h.tr.components(h.tr.edges(h.threshold))
	cluster := map[string]int{}
	for _, row := range h.rows.clusters {
		i := h.number[row.Ref]
		if first, known := cluster[row.Cluster]; known && root[first] != root[i] {
			t.Fatalf("%s is in the cluster of %s", row.ID, row.Cluster)
		}
		cluster[row.Cluster] = i
		if row.Kept != h.kept[i] {
			t.Errorf("%+v, and the rows of removed say otherwise", row)
		}
	}
}

// checkRemoved checks that a removed document goes for a near-duplicate that is kept.
func (h *heapCheck) checkRemoved(t *testing.T) {
	t.Helper()
	listed := map[[2]int]bool{}
	first := h.tr.firsts()
	for _, row := range h.rows.pairs {
		i, j := first[h.number[row.A]], first[h.number[row.B]]
		listed[[2]int{min(i, j), max(i, j)}] = true
	}
	for _, row := range h.rows.removed {
		i, kept := h.number[row.Ref], h.number[row.KeptID]
		similarity := h.tr.similarity(i, kept)
		if !h.kept[kept] || i < h.tr.references || similarity < h.threshold || math.Abs(similarity-row.Similarity) > 1e-9 {
			t.Fatalf("%+v: the similarity is %v, and that it stays is %v", row, similarity, h.kept[kept])
		}
		if a, b := first[i], first[kept]; a != b && !listed[[2]int{min(a, b), max(a, b)}] {
			t.Fatalf("%+v: no row of pairs says so", row)
		}
	}
}

// checkKept checks that of two kept near-duplicates one is counted. Bands may miss some.
func (h *heapCheck) checkKept(t *testing.T, counted int64) {
	t.Helper()
	if !h.isExact {
		return
	}
	matched := map[int]bool{}
	n := int64(0)
	for j := h.tr.references; j < len(h.tr.documents); j++ {
		for i := range j {
			if h.kept[i] && h.kept[j] && !matched[i] && !matched[j] && h.tr.similarity(i, j) >= h.threshold {
				matched[i], matched[j] = true, true
				n++
			}
		}
	}
	stay := int64(0)
	for _, kept := range h.kept {
		if kept {
			stay++
		}
	}
	if n > counted || counted > stay {
		t.Errorf("%d disjoint pairs of near-duplicates stay, %d documents are counted of %d", n, counted, stay)
	}
	t.Logf("%d disjoint pairs of near-duplicates stay, %d documents are counted", n, counted)
}
