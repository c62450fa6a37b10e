package pipeline

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/sketch"
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
		first[i] = slices.IndexFunc(fingerprints[:i+1], func(other []uint64) bool {
			return slices.Equal(other, fingerprints[i])
		})
		for j := range i { // an empty text may have a fingerprint of zeros
			if first[i] == j && sketches[j].Shingles == 0 {
				first[i] = i
			}
		}
	}
	want := map[string]bool{}
	edges := classes{first, tr.references}.edges(func(i, j int) bool {
		return sketches[i].Shingles > 0 && sketches[j].Shingles > 0 &&
			hammingDistance(fingerprints[i], fingerprints[j]) <= distance
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

// TestSimHashHotGroups: if a group has more pairs than are listed, its clusters are still whole.
func TestSimHashHotGroups(t *testing.T) {
	w := newWriter(27)
	for range 3 {
		page := w.text(600)
		for range 100 {
			w.add(w.set(append(page[:len(page):len(page)], w.text(1)...)))
		}
	}
	config := lawConfig(t, putCorpus(t, plain, file{"x.jsonl", w.lines}))
	config.Keys, config.Hamming, config.Threshold = methods.SimHash, 8, job.Default().Threshold
	inner := innerJob{splitBytes: 1 << 30, shards: 3, placeBytes: 1 << 30, lanes: 2}
	_, want := runInner(t, config, inner)
	inner.bounds = groups.Bounds{Group: 1}
	_, got := runInner(t, config, inner)
	if got.Counts.Pairs >= want.Counts.Pairs || got.Skipped.Pairs == 0 {
		t.Fatalf("%d of %d pairs are listed, skipped %+v: a corpus without large groups", got.Counts.Pairs,
			want.Counts.Pairs, got.Skipped)
	}
	if got.Counts.Clusters != want.Counts.Clusters || got.Counts.Clustered != want.Counts.Clustered {
		t.Errorf("%d documents in %d clusters, want %d in %d", got.Counts.Clustered, got.Counts.Clusters,
			want.Counts.Clustered, want.Counts.Clusters)
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
		fmt.Fprintf(&lines,
			"{\"id\":\"%03da\",\"title\":%q,\"text\":%q}\n{\"id\":\"%03db\",\"title\":%q,\"text\":%q}\n", i, one,
			other, i, other, one)
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

// fingerprints returns the rows of sketches of all documents of a scene, the reference's first.
func (s *scene) fingerprints(t testing.TB, config job.Config) []sketchRow {
	t.Helper()
	if len(s.known) > 0 {
		config.Input, config.Reference = []string{putCorpus(t, plain, slices.Concat(s.known, s.files)...)}, nil
		config.Output, config.Emit = filepath.Join(t.TempDir(), "out"), []string{output.Sketches}
		runJob(t, config)
	}
	return readRows[sketchRow](t, config.Output, output.Sketches)
}

// checkFingerprints compares the pairs of a job by SimHash with brute force over the fingerprints that it writes.
func checkFingerprints(t *testing.T, s *scene, config job.Config, summary Summary) {
	t.Helper()
	want := simhashPairs(t, s.truth(config), s.fingerprints(t, config), config.Hamming)
	near := 0
	for _, row := range readRows[pairRow](t, config.Output, output.Pairs) {
		key := fmt.Sprint(row.A, "|", row.B, "|", row.Hamming)
		if !want[key] || row.Identical != (row.Hamming == 0) || !row.Exact ||
			row.Cosine != output.Cosine(row.Hamming, config.Bits) {
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
	if (near == 0) != (config.Hamming == 0) {
		t.Errorf("%d pairs with a distance", near)
	}
	if summary.Plan.ExpectedRecall != 1 || summary.Plan.Tables == 0 || summary.Audit != nil {
		t.Errorf("plan %+v, audit %+v", summary.Plan, summary.Audit)
	}
	checkUnique(t, config, s.files)
}

// checkCandidates: with the Jaccard score the pairs are the pairs of exact keys whose fingerprints are within the
// distance. The audit counts the others.
func checkCandidates(t *testing.T, s *scene, config job.Config, summary Summary) {
	t.Helper()
	tr := s.truth(config)
	fingerprints := map[string][]uint64{}
	for i, row := range s.fingerprints(t, config) {
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

// checkEqualFingerprints: all that is true by fingerprints follows from the rows, and no document of the input stays
// that is like one of the reference.
func checkEqualFingerprints(t *testing.T, s *scene, config job.Config, summary Summary) {
	t.Helper()
	tr, sketches := s.truth(config), s.fingerprints(t, config)
	rows := readRows[pairRow](t, config.Output, output.Pairs)
	isTrue := func(i, j int) bool {
		switch {
		case sketches[i].Shingles == 0 || sketches[j].Shingles == 0:
			return tr.similarity(i, j) == 1
		case config.Score == methods.Jaccard && tr.similarity(i, j) < config.Threshold:
			return false
		}
		return hammingDistance(fingerprintOf(t, sketches[i].SimHash), fingerprintOf(t, sketches[j].SimHash)) <=
			config.Hamming
	}
	checkFollows(t, tr, rows, isTrue)
	checkUnique(t, config, s.files)
	gone, forReference := int64(0), int64(0)
	removed := map[string]bool{}
	for _, row := range readRows[removedRow](t, config.Output, output.Removed) {
		removed[row.Ref] = true
		gone++
	}
	for i := range tr.documents {
		likeReference := false
		for j := range tr.references {
			likeReference = likeReference || i >= tr.references && isTrue(j, i)
		}
		if likeReference {
			forReference++
		}
		if ref := tr.documents[i].ref; removed[ref] && i < tr.references || likeReference && !removed[ref] {
			t.Errorf("%s goes: %v, like the reference: %v", ref, removed[ref], likeReference)
		}
	}
	if n := summary.Counts; n.Removed != gone || n.RemovedForReference != forReference || n.Kept+gone != n.Documents ||
		n.Pairs != int64(len(rows)) {
		t.Errorf("counts %+v; %d go, %d of them for the reference, %d rows", n, gone, forReference, len(rows))
	}
}

type sketchRow = output.Sketch

// TestSketches: every document of the input has a row and no document of the reference has one, in document order,
// whether the blocks hold full sets or not, with as many hashes as the configuration says.
func TestSketches(t *testing.T) {
	files := cut(oddities(71), 3)
	config := byKeys(testConfig(t, putCorpus(t, plain, files...)), methods.MinHash)
	config.Reference = []string{putCorpus(t, plain, file{"reference.jsonl", synthetic(72)})}
	config.Emit, config.Bits = []string{output.Clusters, output.Sketches}, 192
	fingerprinter, err := sketch.NewFingerprinter(sketch.Options{
		Measure:     sketch.Measure{Shingle: 3, Tokens: sketch.ScriptTokens},
		SimHashBits: 192,
	})
	if err != nil {
		t.Fatal(err)
	}
	tr := naiveTruth(3, true, files...)
	for i, c := range []struct {
		verify methods.Verification
		size   int
	}{{methods.VerifyExact, 0}, {methods.VerifySketch, 0}, {methods.VerifyExact, 32}, {methods.VerifySketch, 45}} {
		t.Run(fmt.Sprintf("%s, %d hashes", c.verify, c.size), func(t *testing.T) {
			var want []sketchRow
			for i := range tr.documents {
				f := fingerprinter.Texts([][]byte{[]byte(tr.documents[i].text)})
				row := sketchRow{ID: tr.id(i), Ref: tr.documents[i].ref, Shingles: int64(len(f.Set))}
				for _, hash := range f.Set[:min(len(f.Set), cmp.Or(c.size, 128))] {
					row.Fingerprint = append(row.Fingerprint, int64(hash))
				}
				for _, word := range slices.Backward(f.SimHash) {
					row.SimHash += fmt.Sprintf("%016x", word)
				}
				want = append(want, row)
			}
			config.Verify, config.SketchSize, config.Lanes = c.verify, c.size, 1+i%3
			config.Output = filepath.Join(t.TempDir(), "out")
			runJob(t, config)
			checkSame(t, "sketches", readRows[sketchRow](t, config.Output, output.Sketches), want)
		})
	}
}
