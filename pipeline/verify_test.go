package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/match/methods"
)

// verifyCorpus has documents of fewer and of many more shingles than a sketch.
func verifyCorpus() []file {
	w := newWriter(41)
	w.families(40, 6, 300, 900)
	w.families(15, 6, 20, 100)
	w.add("...")
	w.add("...")
	w.shuffle()
	return cut(w.lines, 2)
}

// TestVerifyModes runs without the full sets, with sketches of several sizes. Small documents are still compared exactly.
// Similarities of large ones are marked as estimates, and are as near to the truth as theory predicts: so the larger the
// sketches are, the nearer.
func TestVerifyModes(t *testing.T) {
	t.Parallel()
	files := verifyCorpus()
	input := putCorpus(t, plain, files...)
	tr := naiveTruth(3, true, files...)
	place := map[string]int{}
	for i := range tr.documents {
		place[tr.documents[i].name] = i
	}
	const threshold = 0.5
	scatter := map[int]float64{} // of estimates around the truth, by the size of sketches
	for _, c := range []struct {
		verify methods.Verification
		given  int // 0: the usual size
	}{{methods.VerifySketch, 0}, {methods.VerifyNone, 0}, {methods.VerifyNone, 50}, {methods.VerifySketch, 300}, {methods.VerifyNone, 300}} {
		verify, size := c.verify, cmp.Or(c.given, 128)
		t.Run(fmt.Sprintf("%s/%d", verify, size), func(t *testing.T) {
			config := byKeys(testConfig(t, input), methods.MinHash)
			config.Verify, config.SketchSize, config.Threshold, config.Recall = verify, c.given, threshold, 0.9999
			summary := runJob(t, config)
			rows := readRows[pairRow](t, config.Output, output.Pairs)
			checkKeepLaw(t, tr, rows, readRows[clusterRow](t, config.Output, output.Clusters), readRows[removedRow](t, config.Output, output.Removed))
			checkUnique(t, config, files)
			if summary.Counts.Pairs != int64(len(rows)) {
				t.Errorf("%d pairs are counted, %d listed", summary.Counts.Pairs, len(rows))
			}
			found := map[[2]int]bool{}
			var errors, squares, variance float64
			estimates := 0
			for _, row := range rows {
				a, b := place[row.A], place[row.B]
				found[[2]int{a, b}] = true
				j := tr.similarity(a, b)
				sizeA, sizeB := len(tr.documents[a].set), len(tr.documents[b].set)
				if want := row.Identical || sizeA <= size && sizeB <= size; row.Exact != want {
					t.Errorf("%+v of %d and %d shingles: exact is %v, want %v", row, sizeA, sizeB, row.Exact, want)
				}
				if row.Exact {
					if row.Jaccard != j {
						t.Errorf("%+v is called exact, the truth is %g", row, j)
					}
					continue
				}
				deviation := math.Sqrt(j * (1 - j) / float64(size))
				if math.Abs(row.Jaccard-j) > 5*deviation+1/float64(size) {
					t.Errorf("%+v: the truth is %g, %.1f standard errors away", row, j, math.Abs(row.Jaccard-j)/deviation)
				}
				n := float64(tr.shared[b][a])
				for _, c := range [][2]float64{{row.ContainmentA, n / float64(sizeA)}, {row.ContainmentB, n / float64(sizeB)}} {
					if c[0] > 1 || math.Abs(c[0]-c[1]) > 2.8/math.Sqrt(float64(size)) {
						t.Errorf("%+v: a containment is %g, the truth is %g", row, c[0], c[1])
					}
				}
				if verify == methods.VerifySketch && row.Jaccard < threshold {
					t.Errorf("%+v is below the threshold", row)
				}
				if j > 0.7 || verify == methods.VerifyNone { // far from where low estimates are dropped
					errors += row.Jaccard - j
					squares += (row.Jaccard - j) * (row.Jaccard - j)
					variance += j * (1 - j) / float64(size)
					estimates++
				}
			}
			if estimates < 100 {
				t.Fatalf("only %d estimates", estimates)
			}
			// Estimates of one family share documents, so their mean varies more than that of independent ones. A
			// deviation six times larger would be a bias.
			mean, spread := errors/float64(estimates), math.Sqrt(variance)/float64(estimates)
			if verify == methods.VerifyNone {
				scatter[size] = math.Sqrt(squares / float64(estimates))
			}
			t.Logf("%d pairs, %d estimates with a mean error of %.4f, scattered by %.4f", len(rows), estimates, mean, math.Sqrt(squares/float64(estimates)))
			if math.Abs(mean) > 6*spread {
				t.Errorf("the mean error is %.4f, six standard errors are %.4f", mean, 6*spread)
			}
			for _, e := range tr.edges(threshold + 0.2) { // the threshold plus four standard errors
				if !found[e] {
					t.Errorf("%s and %s, of similarity %g, are missed", tr.documents[e[0]].name, tr.documents[e[1]].name, tr.similarity(e[0], e[1]))
				}
			}
		})
	}
	if !(scatter[50] > 1.3*scatter[128] && scatter[128] > 1.3*scatter[300]) {
		t.Errorf("the scatter by the size of sketches is %v", scatter)
	}
}

// TestVerifyLaws: estimates are as independent of the way of a job as exact figures are.
func TestVerifyLaws(t *testing.T) {
	config := testConfig(t, putCorpus(t, plain, verifyCorpus()...))
	config.Threshold = 0.6
	for _, c := range []struct {
		verify methods.Verification
		size   int
	}{{methods.VerifySketch, 0}, {methods.VerifyNone, 0}, {methods.VerifySketch, 300}} {
		config.Verify, config.SketchSize = c.verify, c.size
		want, _ := runInner(t, config, wholeJob)
		got, _ := runInner(t, config, innerJob{splitBytes: 100 << 10, shards: 13, placeBytes: 20 << 10, lanes: 3})
		sameText(t, fmt.Sprint(c), got, want)
	}
}

// TestSketchSizeOfState: a state has sketches of one size, and a run that asks for another is refused. The usual size is the
// same whether it is given or not. Where sets are whole, the size is only that of the output.
func TestSketchSizeOfState(t *testing.T) {
	config := byKeys(testConfig(t, putCorpus(t, plain, cut(oddities(43), 2)...)), methods.MinHash)
	config.State, config.Overwrite = t.TempDir()+"/state", true
	run := func(verify methods.Verification, size int) error {
		config.Verify, config.SketchSize = verify, size
		_, err := Run(context.Background(), config)
		return err
	}
	for _, size := range []int{0, 128} {
		if err := run(methods.VerifySketch, size); err != nil {
			t.Errorf("sketches of the usual size, given as %d: %v", size, err)
		}
	}
	for _, size := range []int{64, 256} {
		if err := run(methods.VerifySketch, size); err == nil || !strings.Contains(err.Error(), "other settings ([sketch_size])") {
			t.Errorf("sketches of %d hashes after those of 128: %v", size, err)
		}
	}
	config.State, config.Emit = t.TempDir()+"/other", []string{output.Clusters, output.Sketches}
	for _, size := range []int{64, 256} {
		if err := run(methods.VerifyExact, size); err != nil {
			t.Errorf("rows of %d hashes: %v", size, err)
		}
	}
}
