package pipeline

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/preference"
	"mirrorbeam/internal/look/query"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/settle/keep"
	"mirrorbeam/job"
)

// equals is a corpus in which most documents are equal to others, of the reference
// and of the input.
type equals struct {
	folder string
	input  []file
	truth  *truth
}

// makeEquals draws documents from few texts. The files of the reference are
// called r*, those of the input x*.
func makeEquals(t *testing.T, seed uint64) equals {
	t.Helper()
	w := newWriter(seed)
	texts := [][]string{{}, {"one", "two"}, {"one"}}
	for range 10 {
		base := w.text(10 + w.random.IntN(60))
		for range 1 + w.random.IntN(5) {
			texts = append(texts, w.change(base, pick(w, []float64{0.01, 0.03, 0.06})))
		}
	}
	for i := range 60 + w.random.IntN(60) {
		id := fmt.Sprintf("doc-%03d", i)
		if w.random.IntN(6) == 0 {
			id = pick(w, []string{"", "twice", "often"})
		}
		w.addAs(id, w.set(pick(w, texts)))
	}
	end := len(w.lines) * (1 + w.random.IntN(3)) / 4
	reference := []file{{"r1.jsonl", w.lines[:end/2]}, {"r2.jsonl", w.lines[end/2 : end]}}
	e := equals{input: []file{{"x1.jsonl", w.lines[end : end+5]}, {"x2.jsonl", w.lines[end+5:]}}}
	all := append(slices.Clone(reference), e.input...)
	e.folder, e.truth = putCorpus(t, plain, all...), naiveTruth(3, true, all...)
	e.truth.references = end
	return e
}

// config is a job that compares the input with the reference.
func (e equals) config(t *testing.T) job.Config {
	config := testConfig(t, filepath.Join(e.folder, "x*"))
	config.Reference = []string{filepath.Join(e.folder, "r*")}
	return config
}

// checkFollows checks the rows. They name each pair of classes of identical documents once. Each row is true. Two
// documents of the reference share a row only if they are identical. All that is true follows from the rows: the
// documents are in one class, or a row joins their classes.
func checkFollows(t *testing.T, tr *truth, rows []pairRow, isTrue func(i, j int) bool) {
	t.Helper()
	number := map[string]int{}
	for i := range tr.documents {
		number[tr.documents[i].name] = i
	}
	class := make([]int, len(tr.documents)) // the first document of each class
	for i := range class {
		class[i] = i
	}
	for _, row := range rows {
		if a, b := number[row.A], number[row.B]; row.Identical {
			if class[b] != b || class[a] != a || a > b {
				t.Errorf("%+v is in no star of a first document", row)
			}
			class[b] = a
		}
	}
	joined := map[[2]int]bool{}
	for _, row := range rows {
		a, b := number[row.A], number[row.B]
		if !isTrue(a, b) || a >= b {
			t.Errorf("%+v is wrong", row)
		}
		if row.Identical {
			continue
		}
		classes := [2]int{min(class[a], class[b]), max(class[a], class[b])}
		if joined[classes] || class[a] == class[b] || b < tr.references {
			t.Errorf("%+v is there twice, or of the reference only", row)
		}
		joined[classes] = true
	}
	found := 0
	for j := tr.references; j < len(class); j++ {
		for i := range j {
			if !isTrue(i, j) {
				continue
			}
			found++
			if !joined[[2]int{min(class[i], class[j]), max(class[i], class[j])}] && class[i] != class[j] {
				t.Errorf("%s and %s do not follow from the rows", tr.documents[i].name, tr.documents[j].name)
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d true pairs", found)
	}
}

// TestEqualDocuments splits corpora of many equal documents into a reference and an input, and compares with brute
// force: all that is true follows from the rows.
func TestEqualDocuments(t *testing.T) {
	for seed := range uint64(8) {
		e := makeEquals(t, 100+seed)
		for n, keys := range []methods.Name{methods.Exact, methods.All, methods.MinHash} {
			t.Run(fmt.Sprintf("%s, %d", keys, seed), func(t *testing.T) {
				config := e.config(t)
				config.Keys, config.Threshold = keys, []float64{0.5, 0.8}[seed%2]
				config.Keep = []preference.Preference{preference.First, preference.Longest}[(int(seed)+n)%2]
				config.Split = []keep.Split{keep.Component, keep.Star}[seed/2%2]
				if keys == methods.MinHash {
					config.Recall = certain
				}
				summary := runJob(t, config)
				rows := readRows[pairRow](t, config.Output, output.Pairs)
				checkFollows(t, e.truth, rows, func(i, j int) bool { return e.truth.similarity(i, j) >= config.Threshold })
				checkAgainstTruth(t, config, summary, e.truth)
				checkUnique(t, config, e.input)
				if summary.Audit != nil && summary.Audit.Recall != 1 {
					t.Errorf("audit %+v", summary.Audit)
				}
			})
		}
	}
}

// TestEqualDocumentsAtUsualRecall: pairs found by MinHash keys are true, and identical documents are found whatever the
// recall.
func TestEqualDocumentsAtUsualRecall(t *testing.T) {
	for seed := range uint64(3) {
		e := makeEquals(t, 120+seed)
		config := byKeys(e.config(t), methods.MinHash)
		config.Threshold = 0.5
		runJob(t, config)
		right := map[pairRow]bool{}
		for _, row := range e.truth.pairRows(config.Threshold) {
			right[row] = true
		}
		rows := readRows[pairRow](t, config.Output, output.Pairs)
		for _, row := range rows {
			if !right[row] {
				t.Errorf("%+v is wrong, or there twice", row)
			}
			delete(right, row)
		}
		inInput := map[string]bool{} // the first of identical documents
		for i, first := range e.truth.firsts() {
			if i >= e.truth.references {
				inInput[e.truth.documents[first].name] = true
			}
		}
		for row := range right {
			if row.Identical && inInput[row.A] {
				t.Errorf("%+v is missing", row)
			}
		}
	}
}

// TestEqualDocumentsOfFingerprints is TestEqualDocuments for SimHash keys with both
// scores.
func TestEqualDocumentsOfFingerprints(t *testing.T) {
	for seed := range uint64(4) {
		e := makeEquals(t, 140+seed)
		everything := testConfig(t, e.folder)
		everything.Emit = []string{output.Sketches}
		everything.Keys = methods.SimHash
		runJob(t, everything)
		sketches := readRows[sketchRow](t, everything.Output, output.Sketches)
		distance := func(i, j int) int {
			return hammingDistance(fingerprintOf(t, sketches[i].SimHash), fingerprintOf(t, sketches[j].SimHash))
		}
		for _, score := range []methods.Scoring{methods.Hamming, methods.Jaccard} {
			t.Run(fmt.Sprintf("%s, %d", score, seed), func(t *testing.T) {
				config := e.config(t)
				config.Keys, config.Score, config.Hamming = methods.SimHash, score, 10
				if score == methods.Jaccard {
					config.Threshold = 0.5
				}
				config.Keep = []preference.Preference{preference.First, preference.Longest}[seed%2]
				summary := runJob(t, config)
				rows := readRows[pairRow](t, config.Output, output.Pairs)
				isTrue := func(i, j int) bool {
					switch {
					case sketches[i].Shingles == 0 || sketches[j].Shingles == 0:
						return e.truth.similarity(i, j) == 1
					case score == methods.Jaccard && e.truth.similarity(i, j) < config.Threshold:
						return false
					}
					return distance(i, j) <= config.Hamming
				}
				checkFollows(t, e.truth, rows, isTrue)
				checkUnique(t, config, e.input)
				gone, forReference := int64(0), int64(0)
				removed := map[string]bool{}
				for _, row := range readRows[removedRow](t, config.Output, output.Removed) {
					removed[row.Ref] = true
					gone++
				}
				for i := range e.truth.documents {
					likeReference := i >= e.truth.references && slices.ContainsFunc(numbers(e.truth.references), func(j int) bool { return isTrue(j, i) })
					if likeReference {
						forReference++
					}
					if ref := e.truth.documents[i].ref; removed[ref] && i < e.truth.references || likeReference && !removed[ref] {
						t.Errorf("%s goes: %v, like the reference: %v", ref, removed[ref], likeReference)
					}
				}
				counts := summary.Counts
				if counts.Removed != gone || counts.RemovedForReference != forReference || counts.Kept+gone != counts.Documents ||
					counts.Pairs != int64(len(rows)) {
					t.Errorf("counts %+v; %d go, %d of them for the reference, %d rows", counts, gone, forReference, len(rows))
				}
				if score == methods.Hamming {
					want := simhashPairs(t, e.truth, sketches, config.Hamming)
					for _, row := range rows {
						delete(want, fmt.Sprint(row.A, "|", row.B, "|", row.Hamming))
					}
					for key := range want {
						t.Errorf("%s is missing", key)
					}
				}
			})
		}
	}
}

// numbers returns 0 to n-1.
func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// TestEqualDocumentsWithPassages is TestEqualDocuments for passages: all that must be found is listed, equal documents
// included, and nothing else.
func TestEqualDocumentsWithPassages(t *testing.T) {
	for seed := range uint64(4) {
		e := makeEquals(t, 160+seed)
		config := containmentConfig(t, e.config(t).Input...)
		config.Reference = e.config(t).Reference
		summary := runJob(t, config)
		rows := checkPassages(t, config, e.truth)
		if n := summary.Counts; n.Pairs != int64(len(rows)) || n.Removed != 0 || n.RemovedForReference != 0 || n.Kept != n.Documents {
			t.Errorf("%d rows, counts %+v", len(rows), n)
		}
		number := map[string]int{}
		for i := range e.truth.documents {
			number[e.truth.documents[i].name] = i
		}
		for _, row := range rows {
			if b := number[row.B]; !row.Identical && b < e.truth.references {
				t.Errorf("%v joins two documents of the reference", row)
			}
		}
	}
}

// TestQueryOfEqualDocuments: an index has all documents of the reference and of the input, however many of them are
// equal.
func TestQueryOfEqualDocuments(t *testing.T) {
	e := makeEquals(t, 180)
	config := e.config(t)
	config.Threshold = 0.5
	x := runIndex(t, config)
	rows, _ := runQuery(t, x, query.Request{Input: []string{e.folder}})
	sameRows(t, "query", rows, e.truth.matchRows(config.Threshold))
}
