package pipeline

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/output"
	"mirrorbeam/job"
)

// slices of a small corpus: near-duplicates and identical documents lie in several files.
type night struct {
	folder string
	random *rand.Rand
	words  []string
	next   int
	texts  []string
}

func newNight(t *testing.T, seed uint64) *night {
	n := &night{folder: t.TempDir(), random: rand.New(rand.NewPCG(seed, 1))}
	for i := range 300 {
		n.words = append(n.words, fmt.Sprintf("w%d", i))
	}
	return n
}

// file writes a file of documents. Half of them are like earlier ones.
func (n *night) file(t *testing.T, name string, documents int) {
	t.Helper()
	var b bytes.Buffer
	for range documents {
		text := n.text()
		n.texts = append(n.texts, text)
		fmt.Fprintf(&b, "{\"id\":\"d%d\",\"text\":%q}\n", n.next, text)
		n.next++
	}
	n.put(t, name, b.Bytes())
}

// put writes a file that looks as if it were not new.
func (n *night) put(t *testing.T, name string, content []byte) {
	t.Helper()
	path := filepath.Join(n.folder, name)
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	n.next++
	old := time.Now().Add(-time.Hour).Add(time.Duration(n.next) * time.Second)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

func (n *night) text() string {
	if len(n.texts) > 0 && n.random.IntN(2) == 0 {
		words := strings.Fields(n.texts[n.random.IntN(len(n.texts))])
		for range n.random.IntN(4) {
			words[n.random.IntN(len(words))] = n.words[n.random.IntN(len(n.words))]
		}
		return strings.Join(words, " ")
	}
	words := make([]string, 30+n.random.IntN(40))
	for i := range words {
		words[i] = n.words[n.random.IntN(len(n.words))]
	}
	return strings.Join(words, " ")
}

// run runs a job with the state and compares its results with those of one without. It returns the summary of the first.
func (n *night) run(t *testing.T, config job.Config) Summary {
	t.Helper()
	scheduled := config
	scheduled.Output = filepath.Join(t.TempDir(), "out")
	got := runJob(t, scheduled)
	whole := config
	whole.Output, whole.State, whole.Add, whole.AllowRemoval = filepath.Join(t.TempDir(), "out"), "", false, false
	want := runJob(t, whole)
	for _, name := range []string{output.Clusters, output.Pairs, output.Removed, output.Rejects} {
		if got, want := readOutput(t, scheduled.Output, name), readOutput(t, whole.Output, name); !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want the %d bytes of a run over everything", name, len(got), len(want))
		}
	}
	if got.Counts != want.Counts {
		t.Errorf("counts %+v, want %+v", got.Counts, want.Counts)
	}
	return got
}

// TestTenNights: ten runs, of which one brings a file that sorts before all others, one removes a file and one changes one,
// each write what a run over everything writes.
func TestTenNights(t *testing.T) {
	for _, keys := range []methods.Name{methods.Exact, methods.MinHash, methods.SimHash, methods.All, methods.SameBytes, methods.SameWords} {
		t.Run(string(keys), func(t *testing.T) {
			n := newNight(t, 7)
			config := byKeys(testConfig(t, n.folder), keys)
			config.State = filepath.Join(t.TempDir(), "state")
			for i := range 10 {
				switch i {
				case 4:
					n.file(t, "a-first.jsonl", 30)
				case 6:
					if err := os.Remove(filepath.Join(n.folder, "m2.jsonl")); err != nil {
						t.Fatal(err)
					}
					config.AllowRemoval = true
				case 8:
					n.file(t, "m3.jsonl", 25)
				default:
					n.file(t, fmt.Sprintf("m%d.jsonl", i), 30)
				}
				s := n.run(t, config)
				if s.State.Generation != i+1 || s.State.Files.New+s.State.Files.Changed+s.State.Files.Removed != 1 {
					t.Errorf("night %d: %+v", i, s.State)
				}
			}
		})
	}
}
