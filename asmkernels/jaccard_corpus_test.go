package asmkernels

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"mirrorbeam.dev/internal/util/corporatest"
)

// readRows returns the columns of the rows of a file of tables.
func readRows(t testing.TB, name string) [][]string {
	var rows [][]string
	for line := range strings.Lines(string(corporatest.Read(t, name))) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows
}

// readSets returns the sets of shingles of the documents of a corpus by id, in
// about the job's way.
func readSets(t testing.TB, name string) (ids []string, sets map[string][]uint64) {
	sets = map[string][]uint64{}
	h := newHash(rand.New(rand.NewPCG(1, 2)))
	lines := bufio.NewScanner(bytes.NewReader(corporatest.Read(t, name)))
	lines.Buffer(nil, 1<<30)
	for lines.Scan() {
		var document struct{ ID, Text string }
		if err := json.Unmarshal(lines.Bytes(), &document); err != nil {
			t.Fatal(err)
		}
		words := strings.FieldsFunc(strings.ToLower(document.Text), func(r rune) bool {
			return !unicode.In(r, unicode.L, unicode.M, unicode.N)
		})
		hashes := make([]uint64, len(words))
		for i, word := range words {
			hashes[i] = h.Token(Prefix{}, readable([]byte(word)))
		}
		if len(words) < 3 {
			continue
		}
		set := make([]uint64, len(words)-2)
		h.Shingles(set, hashes, 3)
		slices.Sort(set)
		ids = append(ids, document.ID)
		sets[document.ID] = slices.Compact(set)
	}
	return ids, sets
}

// A setPair is two sets to compare, and what they must have in common.
type setPair struct {
	a, b []uint64
	need int
}

// readPairs returns pairs of documents of a corpus: those above the threshold,
// shuffled as they are in a job, or as many random ones.
func readPairs(t testing.TB, corpus, truth string, threshold float64, similar bool, most int) []setPair {
	random := rand.New(rand.NewPCG(1, 2))
	ids, sets := readSets(t, corpus)
	var pairs []setPair
	for _, row := range readRows(t, truth) {
		a, b := sets[row[0]], sets[row[1]]
		if !similar {
			a, b = sets[ids[random.IntN(len(ids))]], sets[ids[random.IntN(len(ids))]]
		}
		if min(len(a), len(b)) == 0 {
			continue
		}
		pairs = append(pairs, setPair{a, b, Required(threshold, len(a), len(b))})
	}
	random.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	return pairs[:min(len(pairs), most)]
}

func BenchmarkIntersectRealPairs(b *testing.B) {
	for _, c := range []struct{ name, corpus, truth string }{
		{"licenses", "licenses/all.jsonl.zst", "licenses/exact_w3_j0.5.tsv.zst"},
		{"reuters", "reuters21578/reuters.jsonl.zst", "reuters21578/exact_w3_j0.5.tsv.zst"},
	} {
		for _, similar := range []bool{true, false} {
			name := c.name + "/random"
			if similar {
				name = c.name + "/similar"
			}
			pairs := readPairs(b, c.corpus, c.truth, 0.8, similar, 1<<12)
			b.Run(name, func(b *testing.B) {
				onEveryTier(b, func(b *testing.B) {
					for b.Loop() {
						for _, p := range pairs {
							Intersect(p.a, p.b, p.need)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(pairs)), "ns/pair")
				})
			})
		}
	}
}
