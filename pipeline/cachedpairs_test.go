package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam.dev/job"
)

// lookalikes writes a file of near-duplicates of one text: each differs in one word from it. The first further
// documents are like no other.
func (n *incrementalJob) lookalikes(t *testing.T, name string, first, alike, others int) {
	t.Helper()
	var b bytes.Buffer
	add := func(id string, words []string) {
		fmt.Fprintf(&b, "{\"id\":%q,\"lang\":\"l%d\",\"text\":%q}\n", id, len(id)%2, strings.Join(words, " "))
	}
	for i := range alike {
		words := make([]string, 80)
		for k := range words {
			words[k] = fmt.Sprint("word", k)
		}
		words[n.random.IntN(80)] = fmt.Sprint("x", first+i)
		add(fmt.Sprint("alike", first+i), words)
	}
	for i := range others {
		words := make([]string, 9)
		for k := range words {
			words[k] = fmt.Sprint("o", n.random.IntN(1_000_000))
		}
		add(fmt.Sprint("other", first, "-", i), words)
	}
	n.put(t, name, b.Bytes())
}

// TestCachedPairs: a large group of near-duplicates in a corpus above [methods.SmallCorpus] keeps all of its pairs as
// it grows by one document a run, as unrelated documents come, and as one of it goes. No pair of two unchanged
// documents is scored again.
func TestCachedPairs(t *testing.T) {
	for i, change := range []string{
		`{"keys":"exact"}`, `{"keys":"minhash"}`, `{"keys":"simhash","hamming":12}`, `{"keys":"exact","across":"lang"}`,
		`{"keys":"simhash","hamming":12,"score":"jaccard"}`,
	} {
		t.Run(change, func(t *testing.T) {
			if testing.Short() && i > 1 {
				t.Skip("other methods and scopes run the same code")
			}
			n := newIncrementalJob(t, uint64(90+i))
			config := testConfig(t, n.folder)
			if err := json.Unmarshal([]byte(change), &config); err != nil {
				t.Fatal(err)
			}
			config.Emit = []string{"clusters", "pairs", "removed"}
			config.State = filepath.Join(t.TempDir(), "state")
			config.AllowRemoval = true
			n.lookalikes(t, "m.jsonl", 0, 150, 4000)
			n.lookalikes(t, "n.jsonl", 1000, 3, 0)
			run := func(what string) job.Config {
				s := n.run(t, config)
				if s.Counts.Clusters == 0 || s.Counts.Pairs < 150 {
					t.Errorf("%s: %d pairs in %d clusters", what, s.Counts.Pairs, s.Counts.Clusters)
				}
				if what != "first" && s.State.Scratch == "" && s.Counts.Candidates > 400 {
					t.Errorf("%s: %d pairs are scored", what, s.Counts.Candidates)
				}
				return s.Config
			}
			run("first")
			n.lookalikes(t, "o.jsonl", 2000, 1, 60)
			run("one more")
			n.lookalikes(t, "p.jsonl", 3000, 0, 1)
			run("an unrelated one")
			n.lookalikes(t, "a.jsonl", 2000, 1, 0) // equal to none, but before all
			n.lookalikes(t, "n.jsonl", 1001, 1, 0)
			run("one more, and some gone")
		})
	}
}
