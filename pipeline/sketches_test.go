package pipeline

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/sketch"
)

type sketchRow struct {
	ID          string   `json:"id"`
	Ref         string   `json:"ref"`
	Shingles    int      `json:"shingles"`
	SimHash     string   `json:"simhash"`
	Fingerprint []uint64 `json:"fingerprint"`
}

// wantSketch is the row of a document.
func wantSketch(id, ref string, f sketch.Fingerprint, hashes int) sketchRow {
	row := sketchRow{ID: id, Ref: ref, Shingles: len(f.Set), Fingerprint: slices.Clone(f.Set[:min(len(f.Set), hashes)])}
	for _, word := range slices.Backward(f.SimHash) {
		row.SimHash += fmt.Sprintf("%016x", word)
	}
	return row
}

func sameSketches(t *testing.T, got, want []sketchRow) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		if fmt.Sprint(got[i]) != fmt.Sprint(want[i]) {
			t.Fatalf("row %d is\n%+v, want\n%+v", i, got[i], want[i])
		}
	}
}

// TestSketches: every document of the input has a row and no document of the reference has one, in document order,
// whether the blocks hold full sets or not, with as many hashes as the configuration says.
func TestSketches(t *testing.T) {
	files := cut(oddities(71), 3)
	config := byKeys(testConfig(t, putCorpus(t, plain, files...)), methods.MinHash)
	config.Reference = []string{putCorpus(t, plain, file{"reference.jsonl", synthetic(72)})}
	config.Emit, config.Bits = []string{output.Clusters, output.Sketches}, 192
	fingerprinter, err := sketch.NewFingerprinter(sketch.Options{Measure: sketch.Measure{Shingle: 3, Tokens: sketch.ScriptTokens}, SimHashBits: 192})
	if err != nil {
		t.Fatal(err)
	}
	tr := naiveTruth(3, true, files...)
	for i, c := range []struct {
		verify methods.Verification
		size   int
	}{{methods.VerifyExact, 0}, {methods.VerifySketch, 0}, {methods.VerifyExact, 32}, {methods.VerifySketch, 45}} {
		var want []sketchRow
		for i := range tr.documents {
			f := fingerprinter.Texts([][]byte{[]byte(tr.documents[i].text)})
			want = append(want, wantSketch(tr.id(i), tr.documents[i].ref, f, cmp.Or(c.size, 128)))
		}
		config.Verify, config.SketchSize, config.Lanes = c.verify, c.size, 1+i%3
		config.Output = filepath.Join(t.TempDir(), "out")
		runJob(t, config)
		sameSketches(t, readRows[sketchRow](t, config.Output, output.Sketches), want)
	}
}
