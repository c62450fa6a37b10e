package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/settle/state"
	"mirrorbeam/job"
)

// pairsOfTwo writes a file of pairs of near-duplicates, each in a component of its own.
func (n *night) pairsOfTwo(t *testing.T, name string, pairs int) {
	t.Helper()
	var b strings.Builder
	for range pairs {
		words := make([]string, 30+n.random.IntN(40))
		for i := range words {
			words[i] = fmt.Sprintf("%s%d", n.words[n.random.IntN(len(n.words))], n.random.IntN(1000))
		}
		for range 2 {
			words[n.random.IntN(len(words))] = fmt.Sprint("v", n.next)
			n.texts = append(n.texts, strings.Join(words, " "))
			fmt.Fprintf(&b, "{\"id\":\"d%d\",\"text\":%q}\n", n.next, n.texts[len(n.texts)-1])
			n.next++
		}
	}
	n.put(t, name, []byte(b.String()))
}

// standingNight returns a corpus of many small components, and a job over it that may copy rows.
func standingNight(t *testing.T, seed uint64, keys methods.Name) (*night, job.Config) {
	n := newNight(t, seed)
	for file := range 4 {
		n.pairsOfTwo(t, fmt.Sprintf("m%d.jsonl", file), 40)
	}
	n.texts = n.texts[:4] // what files that follow have copies of
	config := byKeys(testConfig(t, n.folder), keys)
	config.Emit = []string{output.Clusters, output.Pairs, output.Removed}
	if config.Audit = "off"; keys == methods.SimHash {
		config.Hamming = 6
	}
	config.State, config.AllowRemoval = filepath.Join(t.TempDir(), "state"), true
	return n, config
}

// made returns how many documents of clusters a run has labelled. Components that stood are not labelled.
func made(s Summary) int64 {
	for _, stage := range s.Stages {
		if stage.Name == "cluster" {
			return stage.Records
		}
	}
	return 0
}

// TestStandingNights: components that nothing has touched stand, and a run over everything has the same results.
func TestStandingNights(t *testing.T) {
	for _, keys := range []methods.Name{methods.Exact, methods.MinHash, methods.SimHash} {
		t.Run(string(keys), func(t *testing.T) {
			n, config := standingNight(t, 31, keys)
			whole := made(n.run(t, config))
			for i, name := range []string{"a.jsonl", "m15.jsonl", "z.jsonl"} { // before, between and behind the others
				n.pairsOfTwo(t, name, 3)
				n.file(t, fmt.Sprintf("c%d.jsonl", i), 2)
				s := n.run(t, config)
				if stood := s.Counts.Clustered; made(s) > whole/2 || stood < whole {
					t.Errorf("%s: %d of %d documents were labelled, at first %d", name, made(s), stood, whole)
				}
			}
			if err := os.Remove(filepath.Join(n.folder, "m2.jsonl")); err != nil {
				t.Fatal(err)
			}
			if s := n.run(t, config); made(s) > whole/2 {
				t.Errorf("%d documents were labelled without a file, at first %d", made(s), whole)
			}
		})
	}
}

// TestStandsNot: where rows may be other ones, or the last results are not there, all are made anew.
func TestStandsNot(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, n *night, c *job.Config){
		"results elsewhere": func(_ *testing.T, n *night, _ *job.Config) { n.output = "" },
		"results gone":      func(_ *testing.T, n *night, _ *job.Config) { os.RemoveAll(n.output) },
		"a wish for it":     func(_ *testing.T, _ *night, c *job.Config) { c.Republish = true },
		"other outputs":     func(_ *testing.T, _ *night, c *job.Config) { c.Emit = c.Emit[:2] },
		"an id of two documents": func(t *testing.T, n *night, _ *job.Config) {
			n.put(t, "shared.jsonl", []byte(`{"id":"d0","text":"an id that an old document has, of a text that is like no other one here"}`+"\n"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			n, config := standingNight(t, 32, methods.Exact)
			whole := made(n.run(t, config))
			n.pairsOfTwo(t, "z.jsonl", 3)
			change(t, n, &config)
			s := n.run(t, config)
			if name != "an id of two documents" && made(s) < whole {
				t.Errorf("%d documents were labelled, at first %d", made(s), whole)
			}
		})
	}
}

// TestNamedOnesAreTouched: the summary names the least similar pairs. If new documents touch most of those that were spared for it, it names others,
// whose rows were to be copied. So all rows are made anew.
func TestNamedOnesAreTouched(t *testing.T) {
	n, config := standingNight(t, 36, methods.Exact)
	n.pairsOfTwo(t, "m4.jsonl", 40)
	texts := slices.Clone(n.texts[4:]) // of m4.jsonl
	for file := range 4 {
		if err := os.Remove(filepath.Join(n.folder, fmt.Sprintf("m%d.jsonl", file))); err != nil {
			t.Fatal(err)
		}
	}
	whole := made(n.run(t, config))
	n.texts = n.texts[:4]
	n.pairsOfTwo(t, "y.jsonl", 3)
	if s := n.run(t, config); made(s) > whole {
		t.Errorf("%d of %d documents were labelled before", made(s), whole)
	}
	var b strings.Builder
	for i := range 70 {
		fmt.Fprintf(&b, "{\"id\":\"n%d\",\"text\":%q}\n", i, texts[i])
	}
	n.put(t, "z.jsonl", []byte(b.String()))
	if s := n.run(t, config); made(s) < s.Counts.Clustered {
		t.Errorf("%d of %d documents were labelled", made(s), s.Counts.Clustered)
	}
}

// TestIDsAreNumbers: rows call documents by numbers while all ids are numbers. If a new one is none, all rows are made anew.
func TestIDsAreNumbers(t *testing.T) {
	n, config := standingNight(t, 35, methods.Exact)
	for _, name := range n.names(t) {
		path := filepath.Join(n.folder, name)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n.put(t, name, []byte(strings.ReplaceAll(string(b), `"id":"d`, `"id":"`)))
	}
	n.run(t, config)
	n.put(t, "number.jsonl", []byte(`{"id":99999,"text":"like no other"}`+"\n"))
	n.run(t, config)
	n.put(t, "text.jsonl", []byte(`{"id":"a","text":"like no other, too"}`+"\n"))
	n.run(t, config)
}

// TestChangedResults: rows that somebody has changed are not copied. The error says what to do, and that helps.
func TestChangedResults(t *testing.T) {
	n, config := standingNight(t, 33, methods.Exact)
	n.run(t, config)
	path := onlyFile(t, n.output, "pairs-*")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(b), `"exact":true`, `"exact":tru3`)), 0o666); err != nil {
		t.Fatal(err)
	}
	n.pairsOfTwo(t, "z.jsonl", 3)
	config.Output, config.Overwrite = n.output, true
	if _, err := Run(context.Background(), config); !errors.Is(err, ErrStorage) || !strings.Contains(err.Error(), "--republish") {
		t.Fatal(err)
	}
	config.Republish = true
	n.run(t, config)
}

// TestPairsThatAreGone: pairs of documents that are gone stay in the state, until all rows are made anew.
func TestPairsThatAreGone(t *testing.T) {
	n, config := standingNight(t, 34, methods.Exact)
	n.run(t, config)
	before, most := int64(0), int64(0)
	for night := range 12 {
		n.pairsOfTwo(t, "m3.jsonl", 40) // in place of the others
		n.run(t, config)
		last, err := state.Read(config.State)
		if err != nil {
			t.Fatal(err)
		}
		if last.SimilarPairs < before && night > 1 {
			most = max(most, before)
		}
		before = last.SimilarPairs
	}
	if most < 200 || most > 500 {
		t.Errorf("at most %d pairs, of 160 documents at a time", most)
	}
}
