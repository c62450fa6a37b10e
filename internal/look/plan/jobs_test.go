package plan_test

import (
	"compress/gzip"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/ground/corporatest"
	"mirrorbeam/internal/ground/storage/storagetest"
	"mirrorbeam/internal/look/finished"
	"mirrorbeam/internal/look/plan"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/job"
	"mirrorbeam/pipeline"
)

// TestMain makes whole jobs of tests fast and silent.
func TestMain(m *testing.M) { storagetest.Main(m) }

// newConfig is a job over an input, whose clusters are written.
func newConfig(t *testing.T, input string, keys methods.Name) job.Config {
	config := job.Default()
	config.Input, config.Output, config.Keys, config.Emit = []string{input}, filepath.Join(t.TempDir(), "out"), keys, []string{output.Clusters}
	return config
}

// planned plans a job and runs it.
func planned(t *testing.T, config job.Config) (*plan.Advice, pipeline.Summary) {
	t.Helper()
	advice, err := plan.Make(t.Context(), plan.Config{Input: config.Input, Measure: config.Measure, Shingles: 100})
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

// families writes a corpus of near-duplicates of many degrees, five of a kind, and documents like no other.
func families(t *testing.T, n int) string {
	t.Helper()
	random := rand.New(rand.NewPCG(27, 1))
	shares := []float64{0.002, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3}
	var content strings.Builder
	for i := range n {
		base := make([]string, 60+random.IntN(180))
		for member := range 6 {
			words, share := slices.Clone(base), shares[random.IntN(len(shares))]
			for at := range words {
				if member == 0 || member == 5 || random.Float64() < share {
					words[at] = fmt.Sprint("w", random.IntN(1500))
				}
			}
			if member == 0 || random.IntN(3) == 0 {
				base = words
			}
			fmt.Fprintf(&content, "{\"id\":\"%d-%d\",\"text\":%q}\n", i, member, strings.Join(words, " "))
		}
	}
	path := filepath.Join(t.TempDir(), "in.jsonl")
	if err := os.WriteFile(path, []byte(content.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSmallCorpusIsPlanned: if a corpus is no larger than the samples, a plan counts all candidates, as a run does.
func TestSmallCorpusIsPlanned(t *testing.T) {
	input := gzipped(t, plan.Corpus(t, 21, 400))
	// One reference has nothing of the input, the other has half of it.
	other := plan.Corpus(t, 22, 200)
	for n, reference := range [][]string{nil, {other}, {plan.Corpus(t, 21, 200), other}} {
		for _, keys := range []methods.Name{methods.MinHash, methods.Exact, methods.SimHash} {
			t.Run(fmt.Sprintf("%s, reference %d", keys, n), func(t *testing.T) {
				config := newConfig(t, input, keys)
				config.Reference, config.Audit = reference, "off"
				if keys != methods.SimHash {
					config.Threshold = 0.5
				}
				advice, summary := planned(t, config)
				facts, counts := advice.Corpus, summary.Counts
				candidates, real := advice.Choices[advice.Chosen].Candidates, counts.Candidates
				if keys == methods.SimHash {
					candidates, real = facts.Pairs, counts.Pairs-counts.Identical
				}
				if candidates != float64(real) || real == 0 {
					t.Errorf("%g pairs are planned, %d are in the run", candidates, real)
				}
				// Documents without words are among the identical ones; a run lists few of the reference.
				if reference == nil && (facts.Identical != float64(counts.Identical) || facts.Wordless == 0) {
					t.Errorf("%g identical documents are planned, %d are in the run; %d are without words", facts.Identical, counts.Identical, facts.Wordless)
				}
				if facts.Documents != counts.Documents || facts.ReferenceDocuments != counts.ReferenceDocuments ||
					facts.Bytes != counts.Bytes+counts.ReferenceBytes || facts.Rejected != counts.Rejected || counts.Rejected != 1 {
					t.Errorf("the corpus is %+v, in the run %+v", *facts, counts)
				}
			})
		}
	}
}

// TestPlannedWork compares a plan with the counts of real jobs: candidates, key records, and the size of temporary
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
		{"key records", planned.Work.Records, records, 1.5, 100},
		{"bytes of temporary files", planned.TempBytes, float64(summary.TempBytes), 1.3, 4 << 20},
	} {
		factor := figure.planned / figure.real
		t.Logf("%.0f %s planned, %.0f in the run", figure.planned, figure.name, figure.real)
		if max(figure.planned, figure.real) > figure.few && (factor > figure.atMost || factor < 1/figure.atMost) {
			t.Errorf("%.2f times the %s of the run are planned: want %g times at most", factor, figure.name, figure.atMost)
		}
	}
	if planned.CPUSeconds <= 0 || planned.MemoryBytes <= emptyProcess {
		t.Errorf("the job takes %+v", planned.Needs)
	}
	if (planned.AuditSeconds > 0) != (summary.Audit != nil) {
		t.Errorf("the audit takes %g of the planned CPU seconds, in the run it is %+v", planned.AuditSeconds, summary.Audit)
	}
	if facts := advice.Corpus; facts.Documents != summary.Counts.Documents || facts.Bytes != summary.Counts.Bytes {
		t.Errorf("the corpus is %+v, in the run %+v", *facts, summary.Counts)
	}
}

// TestPlannedTraffic compares what a plan says of the temporary files, stage by stage, with what jobs report.
func TestPlannedTraffic(t *testing.T) {
	if testing.Short() {
		t.Skip("many jobs, which a run without -short has; TestPlannedWork plans some of them in this one")
	}
	compareTraffics(t, map[string]string{
		"small":      plan.Corpus(t, 24, 300),
		"compressed": gzipped(t, plan.Corpus(t, 21, 400)),
		"large":      families(t, 2500),
	})
}

// TestPlannedTrafficOfCorpora does so with real texts.
func TestPlannedTrafficOfCorpora(t *testing.T) {
	if testing.Short() {
		t.Skip("many jobs, which a run without -short has; TestPlannedWork plans some of them in this one")
	}
	compareTraffics(t, map[string]string{
		"news":      corporatest.Path(t, "reuters21578/reuters.jsonl.zst"),
		"licenses":  corporatest.Path(t, "licenses/all.jsonl.zst"),
		"aphorisms": corporatest.Path(t, "prose/fortunes.jsonl.zst"),
	})
}

// compareTraffics compares the planned traffic of jobs by each method with the real one, over inputs with names.
func compareTraffics(t *testing.T, inputs map[string]string) {
	for name, input := range inputs {
		for _, keys := range []methods.Name{methods.Auto, methods.Exact, methods.MinHash, methods.SimHash} {
			t.Run(fmt.Sprintf("%s, %s", name, keys), func(t *testing.T) {
				compareTraffic(t, newConfig(t, input, keys))
			})
		}
	}
}

// compareTraffic compares the planned traffic of a job with the real one.
func compareTraffic(t *testing.T, config job.Config) {
	advice, summary := planned(t, config)
	chosen := advice.Choices[advice.Chosen]
	planned := map[string]plan.Stage{}
	var all plan.Stage
	for _, stage := range chosen.Stages {
		planned[string(stage.Name)] = stage
		all.Pieces, all.ReadBytes, all.WrittenBytes = all.Pieces+stage.Pieces, all.ReadBytes+stage.ReadBytes, all.WrittenBytes+stage.WrittenBytes
	}
	// A tenth of all, and besides some pieces of a few documents, or as many bytes as some blocks of a file system. Of a
	// stage that moves little of the whole, little is known.
	const fewPieces, fewBytes = 8, 64 << 10
	ofStage := fewBytes + all.WrittenBytes/50
	var real finished.Stage
	for _, stage := range summary.Stages {
		real.Pieces, real.ReadBytes, real.WrittenBytes = real.Pieces+stage.Pieces, real.ReadBytes+stage.ReadBytes, real.WrittenBytes+stage.WrittenBytes
		p := planned[stage.Name]
		t.Logf("%-11s %7.0f, %7d pieces; %10.0f, %10d read; %10.0f, %10d written", stage.Name, p.Pieces, stage.Pieces, p.ReadBytes, stage.ReadBytes, p.WrittenBytes, stage.WrittenBytes)
		if stage.Name == "gather" || stage.Name == "score" {
			continue // they follow from an estimate of candidates
		}
		sameFigure(t, stage.Name+": pieces", p.Pieces, stage.Pieces, 0.1, fewPieces)
		sameFigure(t, stage.Name+": bytes read", p.ReadBytes, stage.ReadBytes, 0.25, ofStage)
		sameFigure(t, stage.Name+": bytes written", p.WrittenBytes, stage.WrittenBytes, 0.25, ofStage)
	}
	sameFigure(t, "pieces", all.Pieces, real.Pieces, 0.1, fewPieces)
	sameFigure(t, "bytes read", all.ReadBytes, real.ReadBytes, 0.1, fewBytes)
	sameFigure(t, "bytes written", all.WrittenBytes, real.WrittenBytes, 0.1, fewBytes)
	sameFigure(t, "bytes of temporary files", chosen.TempBytes, summary.TempBytes, 0.1, fewBytes)
}

// sameFigure fails if a planned figure differs from the real one by more than a share of it and a few.
func sameFigure(t *testing.T, name string, planned float64, real int64, share, few float64) {
	t.Helper()
	if math.Abs(planned-float64(real)) > share*float64(real)+few {
		t.Errorf("%s: %.0f are planned, the job has %d", name, planned, real)
	}
}
