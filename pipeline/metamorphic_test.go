package pipeline

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// page is a document of a drawn corpus. Its id is its own.
type page struct{ id, text string }

// relation has the similarity of each pair of similar documents, by their ids, the lesser one first.
type relation map[[2]string]float64

func (r relation) set(a, b string, similarity float64) {
	if a != b {
		r[[2]string{min(a, b), max(a, b)}] = similarity
	}
}

// relationOf returns what rows of pairs say of all documents. Of identical documents only the first has rows, which
// hold for all.
func relationOf(rows []pairRow) relation {
	equal := map[string][]string{}
	for _, row := range rows {
		if row.Identical {
			equal[row.A] = append(equal[row.A], row.B)
		}
	}
	class := func(id string) []string { return append([]string{id}, equal[id]...) }
	r := relation{}
	for first := range equal {
		for _, a := range class(first) {
			for _, b := range class(first) {
				r.set(a, b, 1)
			}
		}
	}
	for _, row := range rows {
		if row.Identical {
			continue
		}
		for _, a := range class(row.A) {
			for _, b := range class(row.B) {
				r.set(a, b, row.Jaccard)
			}
		}
	}
	return r
}

// change is a change of a corpus. It returns the changed corpus and, given what is similar before, what is similar
// then.
type change struct {
	name string
	do   func(w *writer, pages []page, before relation) ([]page, relation)
}

// sameRelation makes a change that makes no difference.
func sameRelation(name string, do func(w *writer, pages []page) []page) change {
	return change{name, func(w *writer, pages []page, before relation) ([]page, relation) {
		return do(w, pages), before
	}}
}

// rewritten makes a change of all texts that the measure does not see.
func rewritten(name string, do func(w *writer, text string) string) change {
	return sameRelation(name, func(w *writer, pages []page) []page {
		for i := range pages {
			pages[i].text = do(w, pages[i].text)
		}
		return pages
	})
}

var changes = []change{
	{"a copy is inserted", func(w *writer, pages []page, before relation) ([]page, relation) {
		of, after := pick(w, pages), maps.Clone(before)
		w.made++
		copied := page{fmt.Sprintf("copy %d of %s", w.made, of.id), of.text}
		after.set(of.id, copied.id, 1)
		for ids, similarity := range before {
			for side, id := range ids {
				if id == of.id {
					after.set(copied.id, ids[1-side], similarity)
				}
			}
		}
		return slices.Insert(pages, w.random.IntN(len(pages)+1), copied), after
	}},
	{"some are deleted", func(w *writer, pages []page, before relation) ([]page, relation) {
		gone := map[string]bool{}
		for range 1 + w.random.IntN(len(pages)/4) {
			gone[pick(w, pages).id] = true
		}
		after := maps.Clone(before)
		maps.DeleteFunc(after, func(ids [2]string, _ float64) bool { return gone[ids[0]] || gone[ids[1]] })
		return slices.DeleteFunc(pages, func(p page) bool { return gone[p.id] }), after
	}},
	{"all have other ids", func(_ *writer, pages []page, before relation) ([]page, relation) {
		after := relation{}
		for ids, similarity := range before {
			after.set("new "+ids[0], "new "+ids[1], similarity)
		}
		for i := range pages {
			pages[i].id = "new " + pages[i].id
		}
		return pages, after
	}},
	{"the corpus stands twice", func(w *writer, pages []page, before relation) ([]page, relation) {
		w.made++
		after, again := relation{}, fmt.Sprintf("again %d ", w.made)
		for _, p := range slices.Clone(pages) {
			pages = append(pages, page{again + p.id, p.text})
			after.set(p.id, again+p.id, 1)
		}
		for ids, similarity := range before {
			for _, a := range []string{ids[0], again + ids[0]} {
				for _, b := range []string{ids[1], again + ids[1]} {
					after.set(a, b, similarity)
				}
			}
		}
		return pages, after
	}},
	sameRelation("foreign documents come", func(w *writer, pages []page) []page {
		for range 1 + w.random.IntN(20) {
			words := make([]string, 20)
			for i := range words {
				words[i] = fmt.Sprintf("foreign%d", w.random.Uint32())
			}
			pages = append(pages, page{words[0], strings.Join(words, " ")})
		}
		return pages
	}),
	sameRelation("the order is another", func(w *writer, pages []page) []page {
		w.random.Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
		return pages
	}),
	rewritten("capitals", func(w *writer, text string) string {
		return pick(w, []func(string) string{strings.ToUpper, strings.ToLower})(text)
	}),
	rewritten("punctuation", func(w *writer, text string) string {
		return "  " + strings.ReplaceAll(text, " ", pick(w, []string{"  ", " - ", "\t", ", ", " «» "})) +
			pick(w, []string{"", "!", "\n"})
	}),
}

// way is a way to run a job over documents, which writes pairs and clusters of its configuration.
type way struct {
	name string
	run  func(t *testing.T, w *writer, pages []page, config job.Config)
}

// ways store the same documents in other ways, and run the same job in other ways.
var ways = []way{
	{"one file", func(t *testing.T, _ *writer, pages []page, config job.Config) {
		config.Input = []string{putPages(t, plain, [][]page{pages}, jsonPages)}
		runJob(t, config)
	}},
	{"many files, compressed", func(t *testing.T, w *writer, pages []page, config job.Config) {
		config.Input = []string{putPages(t, pick(w, []compression{gzipped, zstded}), parts(w, pages), jsonPages)}
		config.Lanes = 1 + w.random.IntN(8)
		runJob(t, config)
	}},
	{"tables, little memory", func(t *testing.T, w *writer, pages []page, config job.Config) {
		config.Input = []string{putPages(t, plain, parts(w, pages), csvPages)}
		config.Memory = job.LeastMemory
		runJob(t, config)
	}},
	{"an array, to be resumed", func(t *testing.T, w *writer, pages []page, config job.Config) {
		config.Input = []string{putPages(t, plain, parts(w, pages), arrayPages)}
		config.Resume = true
		runJob(t, config)
	}},
	{"runs", func(t *testing.T, w *writer, pages []page, config job.Config) {
		all := parts(w, pages)
		config.State, config.Overwrite, config.Input = filepath.Join(t.TempDir(), "state"), true, nil
		for _, part := range all {
			config.Input = append(config.Input, putPages(t, plain, [][]page{part}, jsonPages))
			runJob(t, config)
		}
	}},
	{"in pieces", func(t *testing.T, w *writer, pages []page, config job.Config) {
		config.Input = []string{putPages(t, plain, parts(w, pages), jsonPages)}
		runJob(t, config)
		want := published(t, config)
		got, _ := runInner(t, config, pick(w, someCuts))
		sameText(t, "in pieces", got, want)
	}},
}

// parts cuts documents into files.
func parts(w *writer, pages []page) (all [][]page) {
	for len(pages) > 0 {
		n := 1 + w.random.IntN(len(pages))
		all, pages = append(all, pages[:n]), pages[n:]
	}
	return all
}

// putPages writes files of documents to a folder, and returns it.
func putPages(t *testing.T, how compression, files [][]page,
	encode func(pages []page) (ending string, content []byte),
) string {
	t.Helper()
	folder := t.TempDir()
	for i, pages := range files {
		ending, content := encode(pages)
		put(t, filepath.Join(folder, fmt.Sprintf("%03d%s", i, ending)), content, how)
	}
	return folder
}

func jsonPages(pages []page) (string, []byte) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	for _, p := range pages {
		_ = encoder.Encode(map[string]string{"id": p.id, "text": p.text})
	}
	return ".jsonl", b.Bytes()
}

func arrayPages(pages []page) (string, []byte) {
	_, lines := jsonPages(pages)
	return ".json", slices.Concat([]byte("["), bytes.ReplaceAll(bytes.TrimSpace(lines), []byte("\n"), []byte(",\n")),
		[]byte("]"))
}

func csvPages(pages []page) (string, []byte) {
	var b bytes.Buffer
	writer := csv.NewWriter(&b)
	_ = writer.Write([]string{"text", "id"})
	for _, p := range pages {
		_ = writer.Write([]string{p.text, p.id})
	}
	writer.Flush()
	return ".csv", b.Bytes()
}

// drawnCorpus draws families of near-duplicates, some of them equal.
func drawnCorpus(w *writer) (pages []page) {
	w.families(2+w.random.IntN(5), 2+w.random.IntN(6), 8, 60)
	w.han()
	for _, l := range w.lines {
		pages = append(pages, page{l.id, l.text})
	}
	for range w.random.IntN(4) {
		pages = append(pages, page{fmt.Sprint("equal ", len(pages)), pick(w, pages).text})
	}
	w.random.Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
	return pages
}

// TestMetamorphic draws corpora and settings, changes the corpus and runs the job in another way. The results change as
// was predicted from the ones before, and clusters are the connected components of pairs. CASES asks for more cases,
// and CASES_SEED for another first one.
func TestMetamorphic(t *testing.T) {
	first, cases := drawnCases(t, 50)
	for seed := first; seed < first+cases; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { checkMetamorphic(t, uint64(seed)) })
	}
}

// drawnCases returns the seed of the first of the cases that a test draws, and how many there are: few, unless the
// environment says otherwise.
func drawnCases(t *testing.T, few int) (first, cases int) {
	t.Helper()
	cases = few
	for name, of := range map[string]*int{"CASES": &cases, "CASES_SEED": &first} {
		if text := os.Getenv(name); text != "" {
			if _, err := fmt.Sscan(text, of); err != nil {
				t.Fatal(name, err)
			}
		}
	}
	return first, cases
}

func checkMetamorphic(t *testing.T, seed uint64) {
	w := newWriter(1_000_000 + seed)
	config := testConfig(t)
	config.Emit = []string{output.Clusters, output.Pairs}
	config.Keys = pick(w, []methods.Name{methods.Exact, methods.Exact, methods.Auto, methods.All, methods.MinHash})
	if config.Keys == methods.MinHash {
		config.Recall = 0.9999999
	}
	config.Threshold, config.Shingle = pick(w, []float64{.3, .5, .6, .7, .8, .9, 1}), 1+w.random.IntN(4)
	config.Split = pick(w, []keep.Split{keep.Component, keep.Star})
	pages := drawnCorpus(w)
	run := func(way way, config job.Config) relation {
		config.Output = filepath.Join(t.TempDir(), "out")
		way.run(t, w, slices.Clone(pages), config)
		rows := readRows[pairRow](t, config.Output, output.Pairs)
		if config.Split == keep.Component {
			checkComponents(t, rows, readRows[clusterRow](t, config.Output, output.Clusters))
		}
		return relationOf(rows)
	}
	predicted, story := run(ways[0], config), ""
	for range 1 + w.random.IntN(3) {
		c := pick(w, changes)
		pages, predicted = c.do(w, slices.Clone(pages), predicted)
		story += c.name + ", "
	}
	if w.random.IntN(3) == 0 {
		config.Threshold = min(1, config.Threshold+pick(w, []float64{.05, .1, .2}))
		maps.DeleteFunc(predicted, func(_ [2]string, similarity float64) bool { return similarity < config.Threshold })
		story += "a higher threshold, "
	}
	way := pick(w, ways)
	got := run(way, config)
	if !maps.Equal(got, predicted) {
		t.Errorf("%s%s (%s keys, %g): %s", story, way.name, config.Keys, config.Threshold,
			firstDifference(got, predicted))
	}
}

// firstDifference tells in which pair two relations differ.
func firstDifference(got, want relation) string {
	all := maps.Clone(want)
	maps.Copy(all, got)
	for _, ids := range slices.SortedFunc(maps.Keys(all), func(a, b [2]string) int {
		return slices.Compare(a[:], b[:])
	}) {
		if got[ids] != want[ids] {
			return fmt.Sprintf("%d pairs, want %d: %q have %v, want %v", len(got), len(want), ids, got[ids], want[ids])
		}
	}
	return ""
}

// checkComponents checks that clusters are the connected components of pairs.
func checkComponents(t *testing.T, pairs []pairRow, members []clusterRow) {
	t.Helper()
	label := map[string]string{}
	var find func(id string) string
	find = func(id string) string {
		if up, ok := label[id]; ok && up != id {
			return find(up)
		}
		return id
	}
	for _, p := range pairs {
		label[find(p.A)] = find(p.B)
	}
	sizes, clusters := map[string]int{}, map[string]string{}
	for _, m := range members {
		root := find(m.ID)
		if known, ok := clusters[root]; ok && known != m.Cluster {
			t.Errorf("%s and %s are one component", known, m.Cluster)
		}
		clusters[root] = m.Cluster
		sizes[m.Cluster]++
	}
	seen := map[string]bool{}
	for _, p := range pairs {
		seen[p.A], seen[p.B] = true, true
	}
	if len(seen) != len(members) {
		t.Errorf("%d documents in clusters, want %d", len(members), len(seen))
	}
	for _, m := range members {
		if sizes[m.Cluster] != int(m.Size) || !seen[m.ID] {
			t.Errorf("row %+v, but the cluster has %d rows", m, sizes[m.Cluster])
		}
	}
}
