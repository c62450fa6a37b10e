package sketch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/util/corporatest"
)

// readLines calls line for every line of a compressed file of the corpora.
func readLines(t testing.TB, name string, line func(line []byte)) {
	t.Helper()
	lines := bufio.NewScanner(corporatest.Open(t, name))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		line(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// readTexts returns the texts of a corpus by their ids.
func readTexts(t testing.TB, names ...string) map[string][]byte {
	t.Helper()
	texts := make(map[string][]byte)
	for _, name := range names {
		readLines(t, name, func(line []byte) {
			var document struct{ ID, Text string }
			if err := json.Unmarshal(line, &document); err != nil {
				t.Fatal(err)
			}
			texts[document.ID] = []byte(document.Text)
		})
	}
	return texts
}

// TestSingleHashVectorsOfCorpora compares fingerprints with the output of the article's own
// program.
func TestSingleHashVectorsOfCorpora(t *testing.T) {
	for _, vectors := range []struct {
		name     string
		corpora  []string
		compared int // number of the texts that the corpora hold
	}{
		{"articles2500", []string{"chrisjm/articles_2500.jsonl.zst"}, 2500},
		{"multilingual", []string{
			"udhr/udhr.jsonl.zst", "tang/tang.jsonl.zst", "prose/tweets_tweeteval.jsonl.zst",
		}, 1492},
	} {
		t.Run(vectors.name, func(t *testing.T) {
			texts := readTexts(t, vectors.corpora...)
			hasher := must(NewSingleHash(SingleHashOptions{Words: 3, Size: 128, Article: true}))
			var fingerprint []uint32
			var got bytes.Buffer
			compared, missing := 0, 0
			readLines(t, "vectors/gudkov_k3n128_"+vectors.name+".tsv.zst", func(line []byte) {
				id, want, _ := strings.Cut(string(line), "\t")
				text, ok := texts[id]
				if !ok {
					missing++
					return
				}
				var words int
				fingerprint, words = hasher.Fingerprint(fingerprint, text)
				got.Reset()
				fmt.Fprintf(&got, "%d\t%d\t", words, len(fingerprint))
				for i, h := range fingerprint {
					if i > 0 {
						got.WriteByte(',')
					}
					fmt.Fprintf(&got, "%08x", h)
				}
				if got.String() != want {
					t.Errorf("%s: fingerprint is %.60s..., want %.60s...", id, got.String(), want)
				}
				compared++
			})
			t.Logf("%d fingerprints compared, %d texts missing", compared, missing)
			if compared != vectors.compared {
				t.Errorf("%d fingerprints were compared, want %d", compared, vectors.compared)
			}
		})
	}
}

// TestJaccardVectorsOfCorpora compares scores with the output of the article's own
// program.
func TestJaccardVectorsOfCorpora(t *testing.T) {
	fingerprints := make(map[string][]uint32)
	readLines(t, "vectors/gudkov_k3n128_articles2500.tsv.zst", func(line []byte) {
		fields := strings.Split(string(line), "\t")
		for hash := range strings.SplitSeq(fields[3], ",") {
			h, err := strconv.ParseUint(hash, 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			fingerprints[fields[0]] = append(fingerprints[fields[0]], uint32(h))
		}
	})
	readLines(t, "vectors/gudkov_jaccard_articles2500.tsv.zst", func(line []byte) {
		fields := strings.Split(string(line), "\t")
		want, err := strconv.ParseFloat(fields[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := asmkernels.JaccardClassical(fingerprints[fields[0]], fingerprints[fields[1]]); got != want {
			t.Errorf("%s and %s: %v, want %v", fields[0], fields[1], got, want)
		}
	})
}

// TestNearDuplicateVectorsOfCorpora goes the article's whole way, from texts that are near-
// duplicates in part to the scores of its three functions.
func TestNearDuplicateVectorsOfCorpora(t *testing.T) {
	texts := readTexts(t, "mirrors/etcd_docs.jsonl.zst", "licenses/all.jsonl.zst")
	hasher := must(NewSingleHash(SingleHashOptions{Words: 3, Size: 128, Article: true}))
	fingerprints := make(map[string][]uint32)
	fingerprint := func(id string) ([]uint32, bool) {
		f, done := fingerprints[id]
		if text, ok := texts[id]; ok && !done {
			f, _ = hasher.Fingerprint(nil, text)
			fingerprints[id], done = f, true
		}
		return f, done
	}
	compared, missing := 0, 0
	readLines(t, "vectors/gudkov_jaccard_neardup.tsv.zst", func(line []byte) {
		fields := strings.Split(string(line), "\t")
		a, hasA := fingerprint(fields[0])
		b, hasB := fingerprint(fields[1])
		if !hasA || !hasB {
			missing++
			return
		}
		compared++
		var numbers [4]float64
		for i := range numbers {
			var err error
			if numbers[i], err = strconv.ParseFloat(fields[2+i], 64); err != nil {
				t.Fatal(err)
			}
		}
		alpha, want := numbers[0], [3]float64(numbers[1:])
		got := [3]float64{
			asmkernels.JaccardClassical(a, b), asmkernels.JaccardFast(a, b, alpha),
			asmkernels.JaccardTurbo(a, b, alpha),
		}
		if got != want {
			t.Fatalf("%s and %s at %g: %v, want %v", fields[0], fields[1], alpha, got, want)
		}
	})
	t.Logf("%d pairs compared, %d without their texts", compared, missing)
	if compared < 10_000 {
		t.Errorf("only %d pairs were compared", compared)
	}
}
