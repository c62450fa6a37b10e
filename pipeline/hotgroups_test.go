package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
)

// hotGroupCorpus is a corpus of about n documents that are much alike: pages of templates, in variants; random parts of
// one text, and some of these reach the threshold; equal documents; and some like no other. Parts are partsOf10 tenths
// of them.
func hotGroupCorpus(seed uint64, n int, partsOf10 int) []line {
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

// partsOf returns the rows that an inner job wrote, by output.
func partsOf(text string) map[string][]byte {
	parts, at := map[string][]byte{}, ""
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "{") {
			parts[at] = append(parts[at], line...)
		} else {
			at, _, _ = strings.Cut(line, "-")
		}
	}
	return parts
}

// hotGroupScene is a corpus with hot groups. Some of its documents are in a reference, if isReferred is true.
func hotGroupScene(seed uint64, documents, partsOf10 int, isReferred bool) *scene {
	lines := hotGroupCorpus(seed, documents, partsOf10)
	s := &scene{files: cut(lines, 3)}
	if isReferred {
		s.known = []file{{"y.jsonl", hotGroupCorpus(seed, 60, 2)}, {"z.jsonl", lines[:25]}}
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

// TestHotGroups compares jobs over corpora with hot groups with brute force. No listed pair is wrong. A document is
// only removed for a near-duplicate that is kept. Two kept documents are not near-duplicates, except those that are
// counted. The cuts of the job, and tasks that break off, change no byte.
func TestHotGroups(t *testing.T) {
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
		{"exact", hotGroupScene(700, 700, 2, false), `{"keys":"exact","threshold":0.7}`},
		{
			"longest stars", hotGroupScene(701, 700, 4, false),
			`{"keys":"exact","threshold":0.75,"keep":"longest","split":"star"}`,
		},
		{"minhash", hotGroupScene(702, 700, 6, false), `{"keys":"minhash","threshold":0.8,"keep":"longest"}`},
		{"reference", hotGroupScene(700, 700, 2, true), `{"keys":"exact","threshold":0.7,"split":"star"}`},
		{"reference, longest", hotGroupScene(701, 700, 4, true), `{"keys":"exact","threshold":0.75,"keep":"longest"}`},
		{"reference, minhash", hotGroupScene(702, 700, 6, true), `{"keys":"minhash","threshold":0.8}`},
		{
			"within", hotGroupScene(47, 600, 3, false).marked(inScopes),
			`{"keys":"exact","threshold":0.7,"within":"lang"}`,
		},
		{
			"within, minhash", hotGroupScene(47, 600, 3, false).marked(inScopes),
			`{"keys":"minhash","threshold":0.7,"within":"lang"}`,
		},
		{
			"across", hotGroupScene(57, 600, 3, false).marked(onSides(`"a"`, `"b"`, `"c"`)),
			`{"keys":"exact","threshold":0.7,"across":"source"}`,
		},
		{
			"across, minhash", hotGroupScene(57, 600, 3, false).marked(onSides(`"a"`, `"b"`, `"c"`)),
			`{"keys":"minhash","threshold":0.7,"across":"source","keep":"longest"}`,
		},
		{
			"across few", hotGroupScene(58, 600, 3, false).marked(onSides(`"a"`, `"a"`, `"a"`, `"b"`)),
			`{"keys":"exact","threshold":0.7,"across":"source","keep":"longest"}`,
		},
		{
			"across few, minhash", hotGroupScene(58, 600, 3, false).marked(onSides(`"a"`, `"a"`, `"a"`, `"b"`)),
			`{"keys":"minhash","threshold":0.7,"across":"source"}`,
		},
		{
			"across many", hotGroupScene(59, 600, 3, false).marked(onSides(many...)),
			`{"keys":"exact","threshold":0.7,"across":"source"}`,
		},
		{
			"across many, minhash", hotGroupScene(59, 600, 3, false).marked(onSides(many...)),
			`{"keys":"minhash","threshold":0.7,"across":"source","keep":"longest"}`,
		},
		{
			"greatest score", hotGroupScene(34, 500, 3, false).marked(scored),
			`{"keys":"exact","threshold":0.8,"keep":"max:score"}`,
		},
		{"last", hotGroupScene(34, 500, 3, false), `{"keys":"exact","threshold":0.8,"keep":"last"}`},
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
			tr, parts := c.scene.truth(config), partsOf(text)
			clusters := decodeRows[clusterRow](t, output.Clusters, parts[output.Clusters])
			kept := checkHotGroups(t, tr, config.Threshold, decodeRows[pairRow](t, output.Pairs, parts[output.Pairs]),
				clusters,
				decodeRows[removedRow](t, output.Removed, parts[output.Removed]))
			if config.Keys == methods.Exact { // bands may miss some
				tr.checkCounted(t, config.Threshold, kept, result.Skipped.Kept)
			}
			if most := len(tr.clusterRows(config.Threshold, config.Keep == "longest", false)); 10*
				len(clusters) < 9*most {
				t.Errorf("%d documents are in clusters, of %d", len(clusters), most)
			}
			inner := innerJob{
				splitBytes: 16 << 10,
				shards:     12,
				placeBytes: 16 << 10,
				bounds:     denseBounds,
				lanes:      5,
				ranges:     6,
			}
			if n%2 == 0 {
				inner = innerJob{
					splitBytes: 30 << 10,
					shards:     3,
					placeBytes: 64 << 10,
					bounds:     denseBounds,
					lanes:      2,
					ranges:     n,
					unreliable: uint64(n + 1),
				}
			}
			got, other := runInner(t, config, inner)
			sameText(t, fmt.Sprintf("%+v", inner), got, text)
			sameResult(t, other, result)
		})
	}
}

// checkHotGroups checks that every row is true: of pairs, once and with its similarity; of clusters, which join only
// what brute force joins; and of removed. It returns which documents are kept.
func checkHotGroups(t *testing.T, tr *truth, threshold float64, pairs []pairRow, clusters []clusterRow,
	removed []removedRow,
) []bool {
	t.Helper()
	number, kept := map[string]int{}, make([]bool, len(tr.documents))
	for i, d := range tr.documents {
		number[d.ref], number[d.name], kept[i] = i, i, true
	}
	seen := map[[2]int]bool{}
	for _, row := range pairs {
		i, j := number[row.A], number[row.B]
		if want := tr.similarity(i, j); math.Abs(row.Jaccard-want) > 1e-9 || want < threshold ||
			row.Identical != (want == 1) || !row.Exact {
			t.Fatalf("%+v: the similarity is %v", row, want)
		}
		if seen[[2]int{i, j}] || j < tr.references && !row.Identical {
			t.Errorf("%+v is a repeat, or within the reference", row)
		}
		seen[[2]int{i, j}] = true
	}
	root, first := tr.components(tr.edges(threshold)), map[string]int{}
	for _, row := range clusters {
		i := number[row.Ref]
		if other, known := first[row.Cluster]; known && root[other] != root[i] {
			t.Fatalf("%s is in the cluster of %s", row.ID, row.Cluster)
		}
		first[row.Cluster] = i
	}
	checkKeepLaw(t, tr, tr.firsts(), pairs, clusters, removed)
	for _, row := range removed {
		if i, near := number[row.Ref], number[row.KeptID]; tr.similarity(i, near) < threshold {
			t.Errorf("%+v: the similarity is %v", row, tr.similarity(i, near))
		}
		kept[number[row.Ref]] = false
	}
	return kept
}

// checkCounted checks that of two kept near-duplicates one is counted.
func (tr *truth) checkCounted(t *testing.T, threshold float64, kept []bool, counted int64) {
	t.Helper()
	matched, n, stay := map[int]bool{}, int64(0), int64(0)
	for j := range tr.documents {
		if kept[j] {
			stay++
		}
		for i := range j {
			if j >= tr.references && kept[i] && kept[j] && !matched[i] && !matched[j] &&
				tr.similarity(i, j) >= threshold {
				matched[i], matched[j] = true, true
				n++
			}
		}
	}
	if n > counted || counted > stay {
		t.Errorf("%d disjoint pairs of near-duplicates stay, %d documents are counted of %d", n, counted, stay)
	}
}
