package pipeline

import (
	"math"
	"path/filepath"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/job"
)

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

// TestRarity: a row tells the rarity of the shingles that lie in its spans, by plain sets of words. With a least rarity the
// other rows go, and no more.
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
