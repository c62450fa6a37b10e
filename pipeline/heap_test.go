package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/findings"
	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/preference"
	"mirrorbeam/internal/match/methods"
)

// heapCorpus is a corpus of about n documents that are much alike: pages of templates, in variants; random parts of one
// text, and some of these reach the threshold; equal documents; and some like no other. Parts are partsOf10 tenths of them.
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

// heapScene is a corpus with heaps. Some of its documents are in a reference, if isReferred is true.
func heapScene(seed uint64, documents, partsOf10 int, isReferred bool) *scene {
	lines := heapCorpus(seed, documents, partsOf10)
	s := &scene{files: cut(lines, 3)}
	if isReferred {
		s.known = []file{{"y.jsonl", heapCorpus(seed, 60, 2)}, {"z.jsonl", lines[:25]}}
		s.files = named(s.files, "b.jsonl", "c.jsonl", "d/e.jsonl")
	}
	return s
}

// marked adds a field to the documents of the scene.
func (s *scene) marked(mark func(i int, l *line) map[string]string) *scene {
	for i := range s.files {
		s.files[i].lines = marked(s.files[i].lines, mark)
	}
	return s
}

// TestHeaps compares jobs over corpora with heaps with brute force. No listed pair is wrong. A document is only removed
// for a near-duplicate that is kept. Two kept documents are not near-duplicates, except those that are counted. The
// cuts of the job, and tasks that break off, change no byte.
func TestHeaps(t *testing.T) {
	inScopes := func(i int, l *line) map[string]string {
		l.scope = []string{`"a"`, `"b"`}[i%2]
		return map[string]string{"lang": l.scope}
	}
	onSides := func(values ...string) func(i int, l *line) map[string]string {
		random := newWriter(58)
		return func(_ int, l *line) map[string]string {
			l.side = pick(random, values)
			return map[string]string{"source": l.side}
		}
	}
	var many []string
	for i := range 40 {
		many = append(many, fmt.Sprint(i))
	}
	scored := func(i int, _ *line) map[string]string { return map[string]string{"score": fmt.Sprint(i * 7919 % 41)} }
	for n, c := range []struct {
		name   string
		scene  *scene
		change string
	}{
		{"exact", heapScene(700, 700, 2, false), `{"keys":"exact","threshold":0.7}`},
		{"longest stars", heapScene(701, 700, 4, false), `{"keys":"exact","threshold":0.75,"keep":"longest","split":"star"}`},
		{"minhash", heapScene(702, 700, 6, false), `{"keys":"minhash","threshold":0.8,"keep":"longest"}`},
		{"reference", heapScene(700, 700, 2, true), `{"keys":"exact","threshold":0.7,"split":"star"}`},
		{"reference, longest", heapScene(701, 700, 4, true), `{"keys":"exact","threshold":0.75,"keep":"longest"}`},
		{"reference, minhash", heapScene(702, 700, 6, true), `{"keys":"minhash","threshold":0.8}`},
		{"within", heapScene(47, 600, 3, false).marked(inScopes), `{"keys":"exact","threshold":0.7,"within":"lang"}`},
		{"within, minhash", heapScene(47, 600, 3, false).marked(inScopes), `{"keys":"minhash","threshold":0.7,"within":"lang"}`},
		{"across", heapScene(57, 600, 3, false).marked(onSides(`"a"`, `"b"`, `"c"`)), `{"keys":"exact","threshold":0.7,"across":"source"}`},
		{"across, minhash", heapScene(57, 600, 3, false).marked(onSides(`"a"`, `"b"`, `"c"`)), `{"keys":"minhash","threshold":0.7,"across":"source","keep":"longest"}`},
		{"across few", heapScene(58, 600, 3, false).marked(onSides(`"a"`, `"a"`, `"a"`, `"b"`)), `{"keys":"exact","threshold":0.7,"across":"source","keep":"longest"}`},
		{"across few, minhash", heapScene(58, 600, 3, false).marked(onSides(`"a"`, `"a"`, `"a"`, `"b"`)), `{"keys":"minhash","threshold":0.7,"across":"source"}`},
		{"across many", heapScene(59, 600, 3, false).marked(onSides(many...)), `{"keys":"exact","threshold":0.7,"across":"source"}`},
		{"across many, minhash", heapScene(59, 600, 3, false).marked(onSides(many...)), `{"keys":"minhash","threshold":0.7,"across":"source","keep":"longest"}`},
		{"greatest score", heapScene(34, 500, 3, false).marked(scored), `{"keys":"exact","threshold":0.8,"keep":"max:score"}`},
		{"last", heapScene(34, 500, 3, false), `{"keys":"exact","threshold":0.8,"keep":"last"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && n%3 > 0 {
				t.Skip("brute force takes minutes with the race detector; the rows of TestLaws run the same code")
			}
			config := c.scene.config(t, c.change)
			whole := wholeJob
			whole.bounds = denseBounds
			text, result := runInner(t, config, whole)
			if result.Skipped.Groups == 0 {
				t.Fatalf("a corpus without heaps: %+v", result.Counts)
			}
			h := heapCheck{tr: c.scene.truth(config), rows: rowsOf(t, text), threshold: config.Threshold, isExact: config.Keys == methods.Exact}
			h.check(t, result.Skipped)
			if most := len(h.tr.clusterRows(config.Threshold, config.Keep == preference.Longest, false)); 10*len(h.rows.clusters) < 9*most {
				t.Errorf("%d documents are in clusters, of %d", len(h.rows.clusters), most)
			}
			inner := innerJob{splitBytes: 16 << 10, shards: 12, placeBytes: 16 << 10, bounds: denseBounds, lanes: 5}
			if n%2 == 0 {
				inner = innerJob{splitBytes: 30 << 10, shards: 3, placeBytes: 64 << 10, bounds: denseBounds, lanes: 2, unreliable: uint64(n + 1)}
			}
			got, other := runInner(t, config, inner)
			sameText(t, fmt.Sprintf("%+v", inner), got, text)
			checkSame(t, "counts", other.Counts, result.Counts)
			checkSame(t, "skipped", other.Skipped, result.Skipped)
		})
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
