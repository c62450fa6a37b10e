package pipeline

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/match/groups"
	"mirrorbeam/internal/match/methods"
)

// fingerprintOf reads the SimHash of a row of sketches.
func fingerprintOf(t testing.TB, hex string) []uint64 {
	t.Helper()
	var words []uint64
	for ; len(hex) > 0; hex = hex[:max(len(hex)-16, 0)] {
		word, err := strconv.ParseUint(hex[max(len(hex)-16, 0):], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		words = append(words, word)
	}
	return words
}

func hammingDistance(a, b []uint64) int {
	distance := 0
	for i := range a {
		distance += bits.OnesCount64(a[i] ^ b[i])
	}
	return distance
}

// simhashPairs returns the rows of pairs, as a set, that brute force finds in sketches. Equal fingerprints are joined
// to the first of them, and these first ones to each other if they are within the distance. Documents without tokens
// are equal if their texts are.
func simhashPairs(t testing.TB, tr *truth, sketches []sketchRow, distance int) map[string]bool {
	t.Helper()
	fingerprints := make([][]uint64, len(sketches))
	first := tr.firsts()
	for i, row := range sketches {
		if row.Ref != tr.documents[i].ref {
			t.Fatalf("sketch %d is of %s, want %s", i, row.Ref, tr.documents[i].ref)
		}
		if fingerprints[i] = fingerprintOf(t, row.SimHash); row.Shingles == 0 {
			continue
		}
		first[i] = slices.IndexFunc(fingerprints[:i+1], func(other []uint64) bool { return slices.Equal(other, fingerprints[i]) })
		for j := range i { // an empty text may have a fingerprint of zeros
			if first[i] == j && sketches[j].Shingles == 0 {
				first[i] = i
			}
		}
	}
	want := map[string]bool{}
	edges := classes{first, tr.references}.edges(func(i, j int) bool {
		return sketches[i].Shingles > 0 && sketches[j].Shingles > 0 && hammingDistance(fingerprints[i], fingerprints[j]) <= distance
	})
	for _, e := range edges {
		d := 0
		if first[e[0]] != first[e[1]] {
			d = hammingDistance(fingerprints[e[0]], fingerprints[e[1]])
		}
		want[fmt.Sprint(tr.documents[e[0]].name, "|", tr.documents[e[1]].name, "|", d)] = true
	}
	return want
}

// TestSimHash compares the pairs of a job by SimHash with brute force over the
// fingerprints that it writes.
func TestSimHash(t *testing.T) {
	files := cut(oddities(31), 3)
	tr := naiveTruth(3, true, files...)
	input := putCorpus(t, plain, files...)
	for _, c := range []struct {
		bits, distance, near int
		blocks               []int
	}{
		{32, 3, 5, nil},
		{32, 8, 20, []int{10}},
		{64, 3, 1, nil},
		{64, 3, 1, []int{4, 4}},
		{64, 0, 0, nil},
		{64, 12, 20, nil},
		{64, 12, 20, []int{15}},
		{128, 10, 5, nil},
		{256, 40, 20, nil},
	} {
		t.Run(fmt.Sprintf("%d bits within %d, blocks %v", c.bits, c.distance, c.blocks), func(t *testing.T) {
			config := testConfig(t, input)
			config.Keys, config.Bits, config.Hamming, config.Blocks = methods.SimHash, c.bits, c.distance, c.blocks
			config.Emit = append(config.Emit, output.Sketches)
			summary := runJob(t, config)
			want := simhashPairs(t, tr, readRows[sketchRow](t, config.Output, output.Sketches), c.distance)
			near := 0
			for _, row := range readRows[pairRow](t, config.Output, output.Pairs) {
				key := fmt.Sprint(row.A, "|", row.B, "|", row.Hamming)
				if !want[key] || row.Identical != (row.Hamming == 0) || !row.Exact || row.Cosine != output.Cosine(row.Hamming, c.bits) {
					t.Errorf("%+v is not a pair", row)
				}
				delete(want, key)
				if row.Hamming > 0 {
					near++
				}
			}
			for key := range want {
				t.Errorf("%s is missing", key)
			}
			if near < c.near {
				t.Errorf("only %d pairs with a distance", near)
			}
			if summary.Plan.ExpectedRecall != 1 || summary.Plan.Tables == 0 || summary.Audit != nil {
				t.Errorf("plan %+v, audit %+v", summary.Plan, summary.Audit)
			}
			checkUnique(t, config, files)
		})
	}
}

// TestSimHashCandidates: with the Jaccard score the pairs are those of exact keys whose fingerprints are within the
// distance. The audit counts the others.
func TestSimHashCandidates(t *testing.T) {
	files := cut(oddities(32), 3)
	tr := naiveTruth(3, true, files...)
	config := testConfig(t, putCorpus(t, plain, files...))
	config = byKeys(config, methods.SimHash)
	config.Score, config.Hamming, config.Threshold, config.Audit = methods.Jaccard, 6, 0.7, "100000"
	config.Emit = []string{output.Clusters, output.Pairs, output.Sketches}
	summary := runJob(t, config)
	sketches := readRows[sketchRow](t, config.Output, output.Sketches)
	fingerprints := map[string][]uint64{}
	for i, row := range sketches {
		fingerprints[tr.documents[i].name] = fingerprintOf(t, row.SimHash)
	}
	all := tr.pairRows(config.Threshold)
	within := slices.DeleteFunc(slices.Clone(all), func(row pairRow) bool {
		return !row.Identical && hammingDistance(fingerprints[row.A], fingerprints[row.B]) > config.Hamming
	})
	got := map[pairRow]bool{}
	for _, row := range readRows[pairRow](t, config.Output, output.Pairs) {
		got[row] = true
	}
	for _, row := range within {
		if !got[row] {
			t.Errorf("%+v is missing", row)
		}
	}
	if len(got) != len(within) || len(within) == len(all) {
		t.Errorf("%d pairs, want %d of %d", len(got), len(within), len(all))
	}
	want, _ := clusterRecall(tr, readRows[clusterRow](t, config.Output, output.Clusters), config.Threshold)
	if summary.Audit == nil || summary.Audit.Recall != want || want == 1 || summary.Plan.ExpectedRecall != 0 {
		t.Errorf("audit %+v, the recall is %g; plan %+v", summary.Audit, want, summary.Plan)
	}
}

// TestSimHashCutsChangeNothing: lanes, memory and shards change no byte.
func TestSimHashCutsChangeNothing(t *testing.T) {
	input := putCorpus(t, plain, cut(oddities(lawSeed), 4)...)
	for _, score := range []methods.Scoring{methods.Hamming, methods.Jaccard} {
		config := lawConfig(t, input)
		config = byKeys(config, methods.SimHash)
		config.Score, config.Hamming = score, 8
		want, _ := runInner(t, config, wholeJob)
		got, _ := runInner(t, config, innerJob{splitBytes: 5 << 10, shards: 20, placeBytes: 1 << 12, lanes: 3})
		sameText(t, string(score), got, want)
	}
}

// TestSimHashHeaps: if a group has more pairs than are listed, its clusters are still whole.
func TestSimHashHeaps(t *testing.T) {
	w := newWriter(27)
	for range 3 {
		page := w.text(600)
		for range 100 {
			w.add(w.set(append(page[:len(page):len(page)], w.text(1)...)))
		}
	}
	config := lawConfig(t, putCorpus(t, plain, file{"x.jsonl", w.lines}))
	config.Keys, config.Hamming = methods.SimHash, 8
	inner := innerJob{splitBytes: 1 << 30, shards: 3, placeBytes: 1 << 30, lanes: 2}
	_, want := runInner(t, config, inner)
	inner.bounds = groups.Bounds{Group: 1}
	_, got := runInner(t, config, inner)
	if got.Counts.Pairs >= want.Counts.Pairs || got.Skipped.Pairs == 0 {
		t.Fatalf("%d of %d pairs are listed, skipped %+v: a corpus without large groups", got.Counts.Pairs, want.Counts.Pairs, got.Skipped)
	}
	if got.Counts.Clusters != want.Counts.Clusters || got.Counts.Clustered != want.Counts.Clustered {
		t.Errorf("%d documents in %d clusters, want %d in %d", got.Counts.Clustered, got.Counts.Clusters, want.Counts.Clustered, want.Counts.Clusters)
	}
}

// TestSimHashOfWeightedTexts: documents of equal sets may have different fingerprints, since their texts have other
// weights. They are pairs if and only if they are within the distance.
func TestSimHashOfWeightedTexts(t *testing.T) {
	random := rand.New(rand.NewPCG(35, 36))
	words := func() string {
		var text strings.Builder
		for range 3 + random.IntN(28) {
			fmt.Fprintf(&text, "w%d ", random.IntN(1000))
		}
		return text.String()
	}
	var lines strings.Builder
	for i := range 200 {
		one, other := words(), words()
		fmt.Fprintf(&lines, "{\"id\":\"%03da\",\"title\":%q,\"text\":%q}\n{\"id\":\"%03db\",\"title\":%q,\"text\":%q}\n", i, one, other, i, other, one)
	}
	config := testConfig(t, put(t, filepath.Join(t.TempDir(), "weighted.jsonl"), []byte(lines.String()), plain))
	config = byKeys(config, methods.SimHash)
	config.Score, config.Hamming, config.Weight = methods.Jaccard, 6, map[string]float64{"title": 1.1, "text": 1}
	config.Emit = []string{output.Pairs, output.Sketches}
	runJob(t, config)
	sketches := readRows[sketchRow](t, config.Output, output.Sketches)
	want := map[string]bool{}
	for i := 0; i < len(sketches); i += 2 {
		a, b := sketches[i], sketches[i+1]
		if hammingDistance(fingerprintOf(t, a.SimHash), fingerprintOf(t, b.SimHash)) <= config.Hamming {
			want[a.ID] = true
		}
	}
	for _, row := range readRows[pairRow](t, config.Output, output.Pairs) {
		if !want[row.A] || row.Jaccard != 1 {
			t.Errorf("%+v is not a pair", row)
		}
		delete(want, row.A)
	}
	for name := range want {
		t.Errorf("the pair of %s is missing", name)
	}
}
