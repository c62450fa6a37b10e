package pipeline

import (
	"context"
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

// TestSketchSizeOfState: a state has sketches of one size, and a run that asks for another is refused. The usual size is the
// same whether it is given or not. Where sets are whole, the size is only the output's.
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
