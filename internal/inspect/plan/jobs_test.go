package plan_test

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"mirrorbeam.dev/internal/inspect/plan"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage/storagetest"
	"mirrorbeam.dev/internal/util/corporatest"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/pipeline"
)

// TestMain makes whole jobs of tests fast and silent.
func TestMain(m *testing.M) { storagetest.Main(m) }

// newConfig is a job over an input, whose clusters are written.
func newConfig(t *testing.T, input string, keys methods.Name) job.Config {
	config := job.Default()
	config.Input = []string{input}
	config.Output = filepath.Join(t.TempDir(), "out")
	config.Keys = keys
	config.Emit = []string{output.Clusters}
	return config
}

// planned plans a job and runs it.
func planned(t *testing.T, config job.Config) (*plan.Advice, pipeline.Summary) {
	t.Helper()
	advice, err := plan.Make(t.Context(), plan.Config{Input: config.Input, Measure: config.Measure})
	if err != nil {
		t.Fatal(err)
	}
	summary, err := pipeline.Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return advice, summary
}

// gzipped compresses a file, with a record at its end that is no document.
func gzipped(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "in.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := gzip.NewWriter(file)
	if _, err := w.Write(append(content, "no document\n"...)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Name()
}

// TestSmallCorpusIsPlanned: if a corpus is no larger than the samples, a plan counts all candidates, as a run does.
func TestSmallCorpusIsPlanned(t *testing.T) {
	input := gzipped(t, plan.Corpus(t, 21, 400))
	// One reference has nothing of the input, the other has half of it.
	other := plan.Corpus(t, 22, 200)
	for n, reference := range [][]string{nil, {other}, {plan.Corpus(t, 21, 200), other}} {
		for _, keys := range []methods.Name{methods.MinHash, methods.Exact} {
			t.Run(fmt.Sprintf("%s, reference %d", keys, n), func(t *testing.T) {
				config := newConfig(t, input, keys)
				config.Reference, config.Audit = reference, "off"
				config.Threshold = 0.5
				advice, summary := planned(t, config)
				facts, counts := advice.Corpus, summary.Counts
				candidates, real := advice.Choices[advice.Chosen].Candidates, counts.Candidates
				if candidates != float64(real) || real == 0 {
					t.Errorf("%g pairs are planned, %d are in the run", candidates, real)
				}
				// Documents without words are among the identical ones; a run lists few of the reference.
				if reference == nil && (facts.Identical != float64(counts.Identical) || facts.Wordless == 0) {
					t.Errorf("%g identical documents are planned, %d are in the run; %d are without words",
						facts.Identical, counts.Identical, facts.Wordless)
				}
				if facts.Documents != counts.Documents || facts.ReferenceDocuments != counts.ReferenceDocuments ||
					facts.Bytes != counts.Bytes+counts.ReferenceBytes || facts.Rejected != counts.Rejected ||
					counts.Rejected != 1 {
					t.Errorf("the corpus is %+v, in the run %+v", *facts, counts)
				}
			})
		}
	}
}

// TestPlannedWork compares a plan with the counts of real jobs: candidates, key records, and, the size of temporary
// files. CPU time depends on the machine.
func TestPlannedWork(t *testing.T) {
	comparePlans(t, map[string]string{"made up": plan.Corpus(t, 24, 300)})
}

// TestPlannedWorkOnCorpora does so with real texts.
func TestPlannedWorkOnCorpora(t *testing.T) {
	if testing.Short() {
		t.Skip("real corpora take a minute")
	}
	comparePlans(t, map[string]string{
		"all pairs of long texts": corporatest.Path(t, "mirrors/powershell_docs.jsonl.zst"),
		"news":                    corporatest.Path(t, "reuters21578/reuters.jsonl.zst"),
		"help":                    corporatest.Path(t, "prose/libreoffice_help.jsonl.zst"),
		"licenses":                corporatest.Path(t, "licenses/all.jsonl.zst"),
	})
}

// comparePlans compares plans with the runs that they are for, over inputs with names.
func comparePlans(t *testing.T, inputs map[string]string) {
	for name, input := range inputs {
		for _, keys := range []methods.Name{methods.Auto, methods.MinHash} {
			for _, threshold := range []float64{0.5, 0.8} {
				t.Run(fmt.Sprintf("%s, %s at %g", name, keys, threshold), func(t *testing.T) {
					config := newConfig(t, input, keys)
					config.Threshold, config.Audit = threshold, "auto"
					comparePlan(t, config)
				})
			}
		}
	}
}

// emptyProcess is about how many bytes of memory a process takes before it has work.
const emptyProcess = 53e6

// comparePlan compares a plan with the run that it is for.
func comparePlan(t *testing.T, config job.Config) {
	advice, summary := planned(t, config)
	planned := advice.Choices[advice.Chosen]
	if planned.Keys != summary.Plan.Keys {
		t.Errorf("keys %s are planned, the run has %s", planned.Keys, summary.Plan.Keys)
	}
	records := 0.
	for _, stage := range summary.Stages {
		if stage.Name == "group" {
			records = float64(stage.Records)
		}
	}
	for _, figure := range []struct {
		name          string
		planned, real float64
		atMost, few   float64 // largest quotient of plan and run, and the size below which none is taken
	}{
		{"candidates", planned.Candidates, float64(summary.Counts.Candidates), 2, 2000},
		{"key records", planned.KeysPerDocument * float64(summary.Counts.Documents), records, 1.5, 100},
		{"bytes of temporary files", planned.TempBytes, float64(summary.TempBytes), 1.4, 4 << 20},
	} {
		factor := figure.planned / figure.real
		t.Logf("%.0f %s planned, %.0f in the run", figure.planned, figure.name, figure.real)
		if max(figure.planned, figure.real) > figure.few && (factor > figure.atMost || factor < 1/figure.atMost) {
			t.Errorf("%.2f times the %s of the run are planned: want %g times at most", factor, figure.name,
				figure.atMost)
		}
	}
	if planned.MemoryBytes <= emptyProcess {
		t.Errorf("the job takes %g bytes of memory", planned.MemoryBytes)
	}
	if facts := advice.Corpus; facts.Documents != summary.Counts.Documents || facts.Bytes != summary.Counts.Bytes {
		t.Errorf("the corpus is %+v, in the run %+v", *facts, summary.Counts)
	}
}
