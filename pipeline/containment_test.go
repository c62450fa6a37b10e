package pipeline

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/corporatest"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// passageRow is a row of pairs with the passages that both documents have.
type passageRow struct {
	pairRow
	Spans     []spanRow `json:"spans"`
	MoreSpans int       `json:"more_spans"`
}

type spanRow struct {
	A     [2]int `json:"a"`
	B     [2]int `json:"b"`
	Words int    `json:"words"`
}

// containmentConfig is a job that looks for passages.
func containmentConfig(t testing.TB, input ...string) job.Config {
	config := testConfig(t, input...)
	config.Similarity, config.Threshold, config.Excerpt = methods.Containment, 0.4, 20
	config.Keys = methods.Auto
	config.Emit = []string{"auto"}
	return config
}

// excerpts returns oddities, among them long documents with passages of others.
func excerpts(seed uint64) []line {
	w := newWriter(seed)
	w.lines = oddities(seed)
	w.made = len(w.lines)
	var sources [][]string
	for range 12 {
		words := w.text(300 + w.random.IntN(700))
		sources = append(sources, words)
		w.add(w.set(words))
	}
	for i := range 60 {
		source := pick(w, sources)
		length := []int{14, 25, 60, 200}[i%4]
		at := w.random.IntN(len(source) - length)
		excerpt := w.change(source[at:at+length], []float64{0, 0, 0.05, 0.1}[w.random.IntN(4)])
		w.add(w.set(slices.Concat(w.text(w.random.IntN(600)), excerpt, w.text(w.random.IntN(100)))))
	}
	w.shuffle()
	return w.lines
}

// expectedRows returns two sets of rows by their names: the rows of documents that are compared for certain, which a
// job must write, and those that it may write.
func expectedRows(t testing.TB, config job.Config, tr *truth) (must, may map[[2]string]passageRow) {
	t.Helper()
	measure := sketch.Measure{Shingle: config.Shingle, Tokens: config.Tokens}
	sequencer, err := sketch.NewSequencer(sketch.Options{Measure: measure}, false)
	if err != nil {
		t.Fatal(err)
	}
	var texts []*sketch.IndexedSequence
	var runs []map[string]bool
	for _, d := range tr.documents {
		_, s := sequencer.Sequence([]byte(d.text))
		texts = append(texts, sketch.NewIndexedSequence(sketch.Sequence{
			Shingles: slices.Clone(s.Shingles),
			Tokens:   slices.Clone(s.Tokens),
			Starts:   slices.Clone(s.Starts),
			Ends:     slices.Clone(s.Ends),
		}))
		runs = append(runs, naiveShingles(d.text, foundWords(config), config.Tokens != sketch.WordTokens))
	}
	matcher := sketch.NewMatcher(config.Shingle)
	must, may = map[[2]string]passageRow{}, map[[2]string]passageRow{}
	classes := tr.classes()
	first := classes.first
	mustName, mayName := map[int]bool{}, map[int]bool{} // the first of identical ones
	for i := range tr.documents {
		if i >= tr.references {
			mustName[first[i]], mayName[first[i]] = true, true
		}
		for j := range i {
			if first[i] != i || first[j] != j {
				continue
			}
			from, to, ok := classes.ends(j, i)
			n := tr.shared[i][j]
			if !ok || n == 0 {
				continue
			}
			a, b := &tr.documents[from], &tr.documents[to]
			row := passageRow{pairRow: pairRow{
				A:            a.name,
				B:            b.name,
				Jaccard:      tr.similarity(i, j),
				Exact:        true,
				ContainmentA: float64(n) / float64(len(a.set)),
				ContainmentB: float64(n) / float64(len(b.set)),
			}}
			matcher.Compare(texts[from], texts[to])
			spans := matcher.Spans()
			if max(row.ContainmentA, row.ContainmentB) < config.Threshold &&
				(config.Excerpt == 0 || int(spans[0].Words) < config.Excerpt) {
				continue
			}
			for _, s := range spans {
				row.Spans = append(row.Spans,
					spanRow{[2]int{int(s.StartA), int(s.EndA)}, [2]int{int(s.StartB), int(s.EndB)}, int(s.Words)})
			}
			names := [2]string{a.name, b.name}
			may[names], mayName[i], mayName[j] = row, true, true
			for run := range runs[to] {
				if runs[from][run] {
					must[names], mustName[i], mustName[j] = row, true, true
					break
				}
			}
		}
	}
	for i, j := range first {
		a, b := tr.documents[j].name, tr.documents[i].name
		row := passageRow{pairRow: pairRow{
			A:            a,
			B:            b,
			Jaccard:      1,
			ContainmentA: 1,
			ContainmentB: 1,
			Exact:        true,
			Identical:    true,
		}}
		if i != j && mayName[j] {
			may[[2]string{a, b}] = row
		}
		if i != j && mustName[j] {
			must[[2]string{a, b}] = row
		}
	}
	return must, may
}

// checkPassages compares the pairs of a job with the expected rows, and returns the rows.
func checkPassages(t testing.TB, config job.Config, tr *truth) []passageRow {
	t.Helper()
	must, may := expectedRows(t, config, tr)
	rows := readRows[passageRow](t, config.Output, output.Pairs)
	found := map[[2]string]bool{}
	for _, row := range rows {
		names := [2]string{row.A, row.B}
		want, right := may[names]
		if !right || found[names] {
			t.Errorf("%v are no pair, or there twice", names)
			continue
		}
		found[names] = true
		slices.SortFunc(want.Spans, compareSpans)
		if more := len(want.Spans) - 16; more > 0 {
			want.Spans, want.MoreSpans = want.Spans[:16], more
		}
		if !reflect.DeepEqual(row, want) {
			t.Errorf("row\n%+v, want\n%+v", row, want)
		}
	}
	for names := range must {
		if !found[names] {
			t.Errorf("%v are missing", names)
		}
	}
	t.Logf("%d pairs, %d of them found for certain, %d may be; %d found", len(rows), len(must), len(may), len(found))
	return rows
}

func compareSpans(x, y spanRow) int {
	if x.Words != y.Words {
		return y.Words - x.Words
	}
	if x.A[0] != y.A[0] {
		return x.A[0] - y.A[0]
	}
	return x.B[0] - y.B[0]
}

// TestContainmentDense: documents that share a passage with very many others are not all compared with each other,
// which the job reports. Other passages that two of them share are still found.
func TestContainmentDense(t *testing.T) {
	w := newWriter(75)
	licence := w.text(60)
	for range 120 {
		w.add(w.set(slices.Concat(licence, w.text(80))))
	}
	copied := w.text(90)
	for range 3 {
		w.add(w.set(slices.Concat(licence, w.text(60), copied)))
	}
	config := containmentConfig(t, putCorpus(t, plain, cut(w.lines, 2)...))
	config.Threshold = 0.9
	want, result := runInner(t, config, innerJob{
		splitBytes: 1 << 30,
		shards:     1,
		placeBytes: 1 << 30,
		lanes:      1,
		bounds:     groups.Bounds{Group: 400, Passages: 400},
	})
	if result.Skipped.Groups == 0 || result.Skipped.Pairs < 1000 || result.Counts.Candidates > 3000 {
		t.Errorf("skipped %+v of %+v", result.Skipped, result.Counts)
	}
	if n := strings.Count(want, "\"words\":150"); n != 0 {
		t.Errorf("%d spans reach over what differs", n)
	}
	long := 0
	for _, words := range []int{89, 90, 91, 92, 93} { // some words before and after the passage may agree
		long += strings.Count(want, fmt.Sprintf("\"words\":%d}", words))
	}
	if long < 3 {
		t.Errorf("%d pairs have the copied passage, want 3", long)
	}
	got, other := runInner(t, config, innerJob{
		splitBytes: 4 << 10,
		shards:     7,
		placeBytes: 4 << 10,
		lanes:      2,
		ranges:     5,
		bounds:     groups.Bounds{Group: 400, Passages: 400},
	})
	sameText(t, "pairs", got, want)
	if !reflect.DeepEqual(other.Skipped, result.Skipped) {
		t.Errorf("skipped %+v, want %+v", other.Skipped, result.Skipped)
	}
}

// TestContainmentCorpora compares real texts with all pairs.
func TestContainmentCorpora(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"clough/clough.jsonl.zst", "mirrors/clang_text.jsonl.zst"} {
		t.Run(strings.Split(name, "/")[0], func(t *testing.T) {
			// Only some hundred documents, since comparing all their pairs takes long.
			w := newWriter(79)
			records := decodeLoose[struct{ ID, Text string }](t, readFile(t, corporatest.Path(t, name)))
			for i := 0; i < len(records); i += max(len(records)/100, 1) {
				w.addAs(records[i].ID, records[i].Text)
			}
			f := cut(w.lines, 1)
			config := containmentConfig(t, putCorpus(t, plain, f...))
			config.Threshold, config.Excerpt = 0.1, job.Default().Excerpt
			summary := runJob(t, config)
			if summary.Skipped.Pairs > 0 {
				t.Errorf("skipped %+v", summary.Skipped)
			}
			checkPassages(t, config, naiveTruth(3, true, f...))
		})
	}
}

// foundWords returns the least number of words in a row that are found for certain.
func foundWords(config job.Config) int { return planOf(config, lshbands.Scheme{}, nil, false).Words }

// rareRow is a row of pairs that tells how rare its passages are.
type rareRow struct {
	passageRow
	Rarity float64 `json:"rarity"`
}

// rarityConfig is a job that tells how rare passages are.
func rarityConfig(t testing.TB, input string) job.Config {
	config := containmentConfig(t, input)
	config.Threshold, config.Excerpt, config.Rarity = 0.6, 8, 0.001
	return config
}

// TestRarity: a row tells the rarity of the shingles that lie in its spans, by plain sets of words. With a least rarity
// the other rows go, and no more.
func TestRarity(t *testing.T) {
	files := cut(excerpts(79), 3)
	config := rarityConfig(t, putCorpus(t, plain, files...))
	tr := naiveTruth(3, true, files...)
	first := tr.classes().first
	documents, texts := map[string]int{}, map[string]string{}
	for i, d := range tr.documents {
		texts[d.name] = d.text
		if first[i] == i { // equal documents count once
			for shingle := range d.set {
				documents[shingle]++
			}
		}
	}
	runJob(t, config)
	const least = 30
	kept, passages := map[[2]string]bool{}, 0
	for _, row := range readRows[rareRow](t, config.Output, output.Pairs) {
		shared := map[string]bool{}
		for _, s := range row.Spans {
			b := naiveShingles(texts[row.B][s.B[0]:s.B[1]], 3, true)
			for shingle := range naiveShingles(texts[row.A][s.A[0]:s.A[1]], 3, true) {
				if b[shingle] {
					shared[shingle] = true
				}
			}
		}
		want := 0.
		for shingle := range shared {
			want += math.Round(1000/float64(documents[shingle]-1)) / 1000
		}
		if math.Abs(row.Rarity-want) > 1e-6 {
			t.Errorf("%s and %s: rarity %v, want %v", row.A, row.B, row.Rarity, want)
		}
		kept[[2]string{row.A, row.B}] = row.Identical || row.Rarity >= least
		if len(row.Spans) > 0 {
			passages++
		}
	}
	if passages < 30 {
		t.Errorf("only %d rows have passages", passages)
	}
	config.Rarity, config.Output = least, filepath.Join(t.TempDir(), "out")
	runJob(t, config)
	left := 0
	for _, row := range readRows[rareRow](t, config.Output, output.Pairs) {
		left++
		if !kept[[2]string{row.A, row.B}] {
			t.Errorf("%s and %s, of rarity %v, are a row", row.A, row.B, row.Rarity)
		}
	}
	for _, stays := range kept {
		if stays {
			left--
		}
	}
	if left != 0 || len(kept) == passages {
		t.Errorf("%d rows too many with a least rarity, of %d with %d passages", left, len(kept), passages)
	}
}
