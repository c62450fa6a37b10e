package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"mirrorbeam.dev/internal/inspect/query"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
)

// templated returns pages of a template, an article that many have reprinted, documents that are the template and
// hardly anything else, and copies.
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

// commonTruth is what brute force finds: the row of each pair, what is counted, the shingles of each document, and
// which are common.
type commonTruth struct {
	rows         map[string]output.Pair
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

// naiveCommon finds the pairs of documents by their shingles as strings, those out that more than limit distinct sets
// have among the sets with enough of their own.
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
	truth, own := commonTruth{rows: map[string]output.Pair{}, sets: sets, common: common}, make([]set, len(lines))
	firstOf := map[string]int{}
	for i, s := range sets {
		if own[i] = kept(s, common); len(own[i]) == len(s) {
			truth.notIn++
		} else if len(own[i]) < 8 {
			own[i] = set{}
			truth.whole++
		}
		if center, is := firstOf[name(s)]; is {
			truth.rows[lines[center].id+" "+lines[i].id] = output.Pair{
				A:            lines[center].id,
				B:            lines[i].id,
				Jaccard:      1,
				ContainmentA: 1,
				ContainmentB: 1,
				JaccardWhole: 1,
				Exact:        true,
				Identical:    true,
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
			truth.rows[lines[a].id+" "+lines[b].id] = output.Pair{
				A:            lines[a].id,
				B:            lines[b].id,
				Jaccard:      float64(shared) / union,
				ContainmentA: float64(shared) / float64(len(own[a])),
				ContainmentB: float64(shared) / float64(len(own[b])),
				JaccardWhole: float64(whole) / float64(len(s)+len(sets[j])-whole),
				Exact:        true,
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
		t.Fatalf("brute force finds %d pairs, %d documents that are a template and %d without one", len(want.rows),
			want.whole, want.notIn)
	}
	percent := fmt.Sprintf("%.3f%%", math.Nextafter(10.5, 11)/float64(len(lines))*100)
	for _, c := range []struct {
		keys   methods.Name
		common string
		files  int
		lanes  int
	}{
		{methods.Exact, "10", 1, 1},
		{methods.Exact, percent, 4, 3},
		{methods.MinHash, "10", 3, 2},
		{methods.All, "10", 4, 1},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			config := byKeys(testConfig(t, putCorpus(t, plain, cut(lines, c.files)...)), c.keys)
			config.Threshold, config.Common, config.Lanes = 0.5, c.common, c.lanes
			if c.keys == methods.MinHash {
				config.Recall = certain
			}
			summary := runJob(t, config)
			rows := readRows[output.Pair](t, config.Output, output.Pairs)
			for _, row := range rows {
				if got := want.rows[row.A+" "+row.B]; !reflect.DeepEqual(got, row) {
					t.Errorf("row %+v, want %+v", row, got)
				}
			}
			if len(rows) != len(want.rows) {
				t.Errorf("%d rows, want %d", len(rows), len(want.rows))
			}
			if n := summary.Counts; n.CommonWhole != want.whole || n.CommonIn != int64(len(lines))-want.notIn {
				t.Errorf("%d documents with common shingles, %d with nothing else; want %d and %d", n.CommonIn,
					n.CommonWhole, int64(len(lines))-want.notIn, want.whole)
			}
		})
	}
}

// TestCommonIsIgnored holds each job without common shingles to one that ignores a text which has exactly these: both
// leave the same of documents, so they write the same, and answer queries alike.
func TestCommonIsIgnored(t *testing.T) {
	lines := templated(91)
	input := putCorpus(t, plain, cut(lines, 3)...)
	template := newWriter(91).text(60)
	menu := newWriter(1)
	menu.add(strings.Join(template[:30], " "))
	menu.add(strings.Join(template[30:], " "))
	base := putCorpus(t, plain, cut(menu.lines, 1)...)
	const state = "state" // to be asked
	for _, c := range []struct {
		name    string
		choose  func(c *job.Config)
		outputs []string
	}{
		{"passages", func(c *job.Config) {
			c.Similarity, c.Keys, c.Excerpt, c.Threshold = methods.Containment, methods.Auto, 12, 0.5
		}, []string{output.Pairs}},
		{
			"fingerprints", func(c *job.Config) { c.Keys, c.Hamming = methods.SimHash, 8 },
			[]string{output.Clusters, output.Pairs, output.Sketches, state},
		},
		{"wide fingerprints", func(c *job.Config) { c.Keys, c.Bits = methods.SimHash, 128 }, []string{output.Pairs}},
		{"bands", func(c *job.Config) {
			c.Keys, c.Bands, c.Rows, c.Audit, c.Threshold = methods.MinHash, 1, 4, "1000", 0.5
		}, []string{output.Clusters}},
		{
			"sets", func(c *job.Config) { c.Keys, c.Threshold = methods.Exact, 0.5 },
			[]string{output.Clusters, output.Sketches, state},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var written, answers []map[string]string
			for _, leaveOut := range []func(c *job.Config){
				func(c *job.Config) { c.Ignore = []string{base} },
				func(c *job.Config) { c.Common, c.Lanes = "10", 3 },
				func(c *job.Config) { c.Common, c.Lanes = "10", 1 },
			} {
				config := testConfig(t, input)
				config.Emit = slices.DeleteFunc(slices.Clone(c.outputs), func(name string) bool {
					return name == state
				})
				if len(config.Emit) < len(c.outputs) {
					config.State = filepath.Join(t.TempDir(), state)
				}
				c.choose(&config)
				leaveOut(&config)
				summary := runJob(t, config)
				if n := summary.Counts; n.CommonWhole+n.IgnoredWhole != 6 {
					t.Errorf("nothing is left of %d documents, want 6", n.CommonWhole+n.IgnoredWhole)
				}
				files := map[string]string{}
				for _, name := range c.outputs {
					if name == state {
						answers = append(answers, map[string]string{name: answer(t, config, input)})
					} else if files[name] = string(readOutput(t, config.Output, name)); len(files[name]) < 1000 {
						t.Errorf("%s has only %d bytes", name, len(files[name]))
					}
				}
				if (summary.Audit != nil) != (config.Audit == "1000") {
					t.Errorf("audit %s: %+v", config.Audit, summary.Audit)
				} else if summary.Audit != nil {
					files["audit"] = fmt.Sprintf("%+v", *summary.Audit)
				}
				written = append(written, files)
			}
			for _, all := range [][]map[string]string{written, answers} {
				for i := range all {
					for name := range all[0] {
						sameText(t, name, all[i][name], all[0][name])
					}
				}
			}
		})
	}
}

// answer returns the matches of all documents of a corpus in the state of a job.
func answer(t *testing.T, config job.Config, input string) string {
	t.Helper()
	x := queryState(t, config)
	var out bytes.Buffer
	if _, err := x.Answer(t.Context(), query.Request{Input: []string{input}}, &out); err != nil || out.Len() < 1000 {
		t.Fatalf("%d bytes of matches (%v)", out.Len(), err)
	}
	return out.String()
}

// menus adds pages of a site. Each has the texts of a menu around its own, which nearly two others have.
func menus(w *writer, menu []string, pages int) {
	own := w.text(40)
	for range pages {
		w.add(w.set(slices.Concat(menu[:30], own, menu[30:])))
		if own = w.change(own, 0.04); w.made%3 == 0 {
			own = w.text(40)
		}
	}
}

// TestIncrementalCommon: the first run counts, later ones leave out the same shingles, and --rebuild counts again.
func TestIncrementalCommon(t *testing.T) {
	for _, keys := range []methods.Name{methods.Exact, methods.MinHash, methods.SimHash} {
		t.Run(string(keys), func(t *testing.T) { testCommonRuns(t, keys) })
	}
}

func testCommonRuns(t *testing.T, keys methods.Name) {
	folder := t.TempDir()
	template := newWriter(91).text(60)
	old := time.Unix(1_700_000_000, 0) // a file that has just changed is read again
	add := func(name string, lines []line) {
		t.Helper()
		if err := os.Chtimes(
			put(t, filepath.Join(folder, name), file{name, lines}.content(), plain), old, old,
		); err != nil {
			t.Fatal(err)
		}
	}
	add("a.jsonl", templated(91))
	menu := newWriter(1)
	menu.add(strings.Join(template[:30], " "))
	menu.add(strings.Join(template[30:], " "))
	base := putCorpus(t, plain, cut(menu.lines, 1)...)

	run := testConfig(t, folder)
	run.Keys = keys
	if keys == methods.SimHash {
		run.Hamming = 6
	} else {
		run.Threshold = 0.5
	}
	run.Common, run.State, run.Overwrite = "10", filepath.Join(t.TempDir(), "state"), true
	run.Emit = []string{output.Clusters, output.Pairs}
	whole := run
	whole.State, whole.Output = "", filepath.Join(t.TempDir(), "whole")
	compare := func(what string, with job.Config, outputs ...string) Summary {
		t.Helper()
		summary := runJob(t, run)
		runJob(t, with)
		for _, name := range outputs {
			sameText(t, what+": "+name, string(readOutput(t, run.Output, name)),
				string(readOutput(t, with.Output, name)))
		}
		return summary
	}
	compare("the first run", whole, output.Clusters, output.Pairs)

	other := newWriter(92)
	menus(other, other.text(60), 40)
	add("b.jsonl", other.lines)
	ignoring := whole
	ignoring.Common, ignoring.Ignore, ignoring.Output = "", []string{base}, filepath.Join(t.TempDir(), "out")
	compare("the second run", ignoring, output.Clusters)
	run.AllowRemoval = true
	for i := range 3 { // runs that leave out what is like nothing new, and was in no pair
		more := newWriter(uint64(93 + i))
		for at, old := range templated(91) {
			if at%4 == i {
				more.addAs(fmt.Sprintf("run %d-%d", i, at),
					strings.Join(more.change(strings.Fields(old.text), 0.03), " "))
			}
		}
		add(fmt.Sprintf("c%d.jsonl", i), more.lines)
		if i > 0 {
			if err := os.Remove(filepath.Join(folder, fmt.Sprintf("c%d.jsonl", i-1))); err != nil {
				t.Fatal(err)
			}
		}
		summary := compare(fmt.Sprintf("run %d", 3+i), ignoring, output.Clusters)
		if !slices.ContainsFunc(summary.Stages, func(s finished.Stage) bool {
			return s.Name == string(work.Prune) && s.Records > 0
		}) {
			t.Errorf("run %d looks at all pairs", 3+i)
		}
	}
	frozen := string(readOutput(t, run.Output, output.Clusters))

	run.Rebuild = true
	compare("a run that counts again", whole, output.Clusters, output.Pairs)
	if string(readOutput(t, run.Output, output.Clusters)) == frozen {
		t.Error("new common shingles change nothing")
	}
	run.Rebuild = false
	compare("the run after", whole, output.Clusters, output.Pairs)

	run.Common = "20"
	if _, err := Run(context.Background(), run); err == nil ||
		!strings.Contains(err.Error(), "other settings ([common])") {
		t.Errorf("another law: %v", err)
	}
}

// TestCommonShinglesCount: of a document that keeps its whole set since hardly anything else is left of it, only the
// common shingles count.
func TestCommonShinglesCount(t *testing.T) {
	texts := []string{count("common", 22) + "q1 q2"}
	for i := range 20 {
		texts = append(texts, count("common", 22)+count(fmt.Sprintf("own%dx", i), 30))
	}
	config := testConfig(t, putCorpus(t, plain, cut(trapped(texts), 1)...))
	config.Common = "16"
	if n := runJob(t, config).Counts; n.CommonIn != 21 || n.CommonShingles != 21*20 || n.CommonWhole != 1 {
		t.Errorf("%d common shingles in %d documents, %d of them whole", n.CommonShingles, n.CommonIn, n.CommonWhole)
	}
}
