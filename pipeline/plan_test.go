package pipeline

import (
	"context"
	"fmt"
	"math"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/ground/corporatest"
	"mirrorbeam/internal/look/finished"
	"mirrorbeam/internal/look/plan"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/job"
)

// planConfig plans for the job of a configuration.
func planConfig(config job.Config) plan.Config {
	return plan.Config{Input: config.Input, Measure: config.Measure, Shingles: 100}
}

// TestPlanOfSmallCorpus: if a corpus is no larger than the samples, a plan counts all candidates, as a run does.
func TestPlanOfSmallCorpus(t *testing.T) {
	input := putCorpus(t, gzipped, cut(oddities(21), 4)...)
	// One reference has nothing of the input, the other has half of it.
	references := [][]string{
		nil,
		{putCorpus(t, plain, cut(synthetic(22), 1)...)},
		{putCorpus(t, plain, append(cut(oddities(21), 4)[:2], file{"more.jsonl", synthetic(22)})...)},
	}
	for _, keys := range []methods.Name{methods.MinHash, methods.Exact, methods.SimHash} {
		for n, reference := range references {
			t.Run(fmt.Sprintf("%s, reference %d", keys, n), func(t *testing.T) {
				config := testConfig(t, input)
				config.Keys, config.Threshold, config.Audit, config.Emit = keys, 0.5, "off", []string{output.Clusters}
				if keys == methods.SimHash {
					config.Threshold = job.Default().Threshold
				}
				config.Reference = reference
				advice, err := plan.Make(context.Background(), planConfig(config))
				if err != nil {
					t.Fatal(err)
				}
				counts := runJob(t, config).Counts
				planned, real := advice.Choices[advice.Chosen].Candidates, counts.Candidates
				if keys == methods.SimHash {
					planned, real = advice.Corpus.Pairs, counts.Pairs-counts.Identical
				}
				if planned != float64(real) || real == 0 {
					t.Errorf("%g pairs are planned, %d are in the run", planned, real)
				}
				// Documents without words are among the identical ones; a run lists few of the reference.
				if facts := advice.Corpus; reference == nil && (facts.Identical != float64(counts.Identical) || facts.Wordless == 0) {
					t.Errorf("%g identical documents are planned, %d are in the run; %d are without words", facts.Identical, counts.Identical, facts.Wordless)
				}
				if facts := advice.Corpus; facts.Documents != counts.Documents || facts.ReferenceDocuments != counts.ReferenceDocuments ||
					facts.Bytes != counts.Bytes+counts.ReferenceBytes || facts.Rejected != counts.Rejected {
					t.Errorf("the corpus is %+v, in the run %+v", *facts, counts)
				}
			})
		}
	}
}

// TestPlannedWork compares a plan with the counts of real jobs: candidates, key records, and the size of temporary
// files. CPU time depends on the machine.
func TestPlannedWork(t *testing.T) {
	comparePlans(t, map[string]string{"synthetic": putCorpus(t, plain, cut(synthetic(24), 2)...)})
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
					config := byKeys(testConfig(t, input), keys)
					config.Threshold, config.Audit, config.Emit = threshold, "auto", []string{output.Clusters}
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
	advice, err := plan.Make(context.Background(), planConfig(config))
	if err != nil {
		t.Fatal(err)
	}
	planned, summary := advice.Choices[advice.Chosen], runJob(t, config)
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
	w := newWriter(27)
	w.families(2500, 5, 60, 240)
	compareTraffics(t, map[string]string{
		"small":    putCorpus(t, plain, cut(synthetic(24), 2)...),
		"oddities": putCorpus(t, gzipped, cut(oddities(21), 4)...),
		"families": putCorpus(t, plain, cut(w.lines, 3)...),
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
				config := byKeys(testConfig(t, input), keys)
				config.Audit, config.Emit = "auto", []string{output.Clusters}
				compareTraffic(t, config)
			})
		}
	}
}

// compareTraffic compares the planned traffic of a job with the real one.
func compareTraffic(t *testing.T, config job.Config) {
	advice, err := plan.Make(t.Context(), planConfig(config))
	if err != nil {
		t.Fatal(err)
	}
	chosen := advice.Choices[advice.Chosen]
	planned, summary := map[string]plan.Stage{}, runJob(t, config)
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

// TestPlannedRequests compares the requests that a plan foresees in a bucket with those that a service sees. Besides the
// temporary files a job lists, reads its input, and writes and publishes its results.
func TestPlannedRequests(t *testing.T) {
	all := []methods.Name{methods.Exact, methods.MinHash, methods.SimHash}
	if testing.Short() {
		all = all[:1]
	}
	for _, keys := range all {
		t.Run(string(keys), func(t *testing.T) {
			proxy := services[0].serve(t)
			w := newWriter(28)
			w.families(4000, 6, 60, 240)
			config := byKeys(testConfig(t, putCorpus(t, plain, cut(w.lines, 3)...)), keys)
			config.Emit = []string{output.Clusters}
			config = inBucket(t, config, "gs")
			advice, err := plan.Make(t.Context(), planConfig(config))
			if err != nil {
				t.Fatal(err)
			}
			proxy.Requests()
			if _, err := Run(t.Context(), config); err != nil {
				t.Fatal(err)
			}
			planned, real := advice.Choices[advice.Chosen].Requests, proxy.Requests()
			t.Logf("%+v are planned, the job makes %v", planned, real)
			sameFigure(t, "requests to read", planned.Reads, int64(real["read"]+real["stat"]), 0.2, 80)
			sameFigure(t, "requests to write", planned.Writes, int64(real["write"]), 0.2, 30)
		})
	}
}

// TestFewLongDocumentsArePlanned: if no document of a corpus of few long ones is in the sample, the corpus is read once
// more.
func TestFewLongDocumentsArePlanned(t *testing.T) {
	w := newWriter(26)
	for range 2 {
		w.add(w.set(w.text(500000)))
	}
	advice, err := plan.Make(context.Background(), planConfig(testConfig(t, putCorpus(t, plain, cut(w.lines, 1)...))))
	if err != nil {
		t.Fatal(err)
	}
	if facts := advice.Corpus; facts.SampledDocuments != 2 || facts.Shingles < 1000 {
		t.Errorf("%+v: want both documents", *facts)
	}
}
