package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/output"
)

// templated returns pages of a template, an article that many have reprinted, documents that are the template and hardly
// anything else, and copies.
func templated(seed uint64) []line {
	w := newWriter(seed)
	template, article := w.text(60), w.text(80)
	for range 20 {
		own := w.text(40)
		for range 1 + w.random.IntN(3) {
			w.add(w.set(slices.Concat(template[:30], own, template[30:])))
			own = w.change(own, 0.03)
		}
	}
	for range 15 {
		w.add(w.set(slices.Concat(article, w.text(4))))
	}
	for range 3 {
		w.add(w.set(append(slices.Clone(template), w.text(2)...)))
		w.add(strings.ToUpper(w.lines[len(w.lines)-1].text))
	}
	often := w.set(w.text(50))
	for range 14 {
		w.add(often)
	}
	w.families(10, 3, 20, 60)
	w.add("")
	w.shuffle()
	return w.lines
}

// commonTruth is what brute force finds: the row of each pair, what is counted, the shingles of each document, and which are
// common.
type commonTruth struct {
	rows         map[string]output.PartialPair
	whole, notIn int64
	sets         []map[string]bool
	common       map[string]bool
}

// shinglesInOrder returns the shingles of a text of small words, in its order.
func shinglesInOrder(text string) (all []string) {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' })
	for at := range max(len(words)-2, 0) {
		all = append(all, strings.Join(words[at:at+3], " "))
	}
	return all
}

// naiveCommon finds the pairs of documents by their shingles as strings, those out that more than limit distinct sets have
// among the sets with enough of their own.
func naiveCommon(lines []line, limit int, threshold float64) commonTruth {
	type set = map[string]bool
	kept := func(s set, out set) set {
		rest := set{}
		for shingle := range s {
			if !out[shingle] {
				rest[shingle] = true
			}
		}
		return rest
	}
	name := func(s set) string {
		all := make([]string, 0, len(s))
		for shingle := range s {
			all = append(all, shingle)
		}
		slices.Sort(all)
		return strings.Join(all, "|")
	}
	sets, distinct := make([]set, len(lines)), map[string]set{}
	for i, l := range lines {
		sets[i] = set{}
		for _, shingle := range shinglesInOrder(l.text) {
			sets[i][shingle] = true
		}
		distinct[name(sets[i])] = sets[i]
	}
	frequent := func(isIn func(s set, shingle string) bool) set {
		counts, found := map[string]int{}, set{}
		for _, s := range distinct {
			for shingle := range s {
				if isIn(s, shingle) {
					counts[shingle]++
				}
			}
		}
		for shingle, n := range counts {
			if n > limit {
				found[shingle] = true
			}
		}
		return found
	}
	first := frequent(func(set, string) bool { return true })
	common := frequent(func(s set, shingle string) bool {
		own := len(kept(s, first))
		return first[shingle] && own >= 8 && own*5 >= len(s)
	})
	truth, own := commonTruth{rows: map[string]output.PartialPair{}, sets: sets, common: common}, make([]set, len(lines))
	firstOf := map[string]int{}
	for i, s := range sets {
		if own[i] = kept(s, common); len(own[i]) == len(s) {
			truth.notIn++
		} else if len(own[i]) < 8 {
			own[i] = set{}
			truth.whole++
		}
		if center, is := firstOf[name(s)]; is {
			truth.rows[lines[center].id+" "+lines[i].id] = output.PartialPair{
				A: lines[center].id, B: lines[i].id, Jaccard: 1, ContainmentA: 1, ContainmentB: 1, JaccardWhole: 1, Exact: true, Identical: true,
			}
			continue
		}
		firstOf[name(s)] = i
		for _, j := range firstOf {
			shared, whole := len(own[j])-len(kept(own[j], own[i])), len(sets[j])-len(kept(sets[j], s))
			a, b := min(i, j), max(i, j)
			union := float64(len(own[i]) + len(own[j]) - shared)
			if i == j || union == 0 || float64(shared)/union < threshold {
				continue
			}
			truth.rows[lines[a].id+" "+lines[b].id] = output.PartialPair{
				A: lines[a].id, B: lines[b].id, Jaccard: float64(shared) / union,
				ContainmentA: float64(shared) / float64(len(own[a])), ContainmentB: float64(shared) / float64(len(own[b])),
				JaccardWhole: float64(whole) / float64(len(s)+len(sets[j])-whole), Exact: true,
			}
		}
	}
	return truth
}

// TestCommon compares the pairs of jobs without common shingles with brute force, both similarities included.
func TestCommon(t *testing.T) {
	lines := templated(91)
	want := naiveCommon(lines, 10, 0.5)
	if want.whole != 6 || want.notIn < 40 || len(want.rows) < 100 {
		t.Fatalf("brute force finds %d pairs, %d documents that are a template and %d without one", len(want.rows), want.whole, want.notIn)
	}
	percent := fmt.Sprintf("%.3f%%", math.Nextafter(10.5, 11)/float64(len(lines))*100)
	for _, c := range []struct {
		keys   methods.Name
		common string
		files  int
		lanes  int
	}{
		{methods.Exact, "10", 1, 1}, {methods.Exact, percent, 4, 3}, {methods.MinHash, "10", 3, 2}, {methods.All, "10", 4, 1},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			config := byKeys(testConfig(t, putCorpus(t, plain, cut(lines, c.files)...)), c.keys)
			config.Threshold, config.Common, config.Lanes = 0.5, c.common, c.lanes
			if c.keys == methods.MinHash {
				config.Recall = certain
			}
			summary := runJob(t, config)
			rows := readRows[output.PartialPair](t, config.Output, output.Pairs)
			for _, row := range rows {
				if got := want.rows[row.A+" "+row.B]; got != row {
					t.Errorf("row %+v, want %+v", row, got)
				}
			}
			if len(rows) != len(want.rows) {
				t.Errorf("%d rows, want %d", len(rows), len(want.rows))
			}
			if n := summary.Counts; n.CommonWhole != want.whole || n.CommonIn != int64(len(lines))-want.notIn {
				t.Errorf("%d documents with common shingles, %d with nothing else; want %d and %d", n.CommonIn, n.CommonWhole, int64(len(lines))-want.notIn, want.whole)
			}
		})
	}
}
