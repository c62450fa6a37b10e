package pipeline

import (
	"testing"

	"mirrorbeam/asmkernels"
	"mirrorbeam/internal/carry/candidates"
	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/look/plan"
	"mirrorbeam/internal/match/methods"
)

// bySize is a method of the test: documents meet if they have equally many shingles. The registration here is all there
// is of it.
const bySize methods.Name = "size"

func init() {
	methods.Register(methods.Method{
		Name: bySize,
		Keys: func(*methods.Parameters) (func() methods.Keys, error) {
			return func() methods.Keys {
				return func(all []candidates.Record, d *methods.Document) []candidates.Record {
					return candidates.AppendHashed(all, d.Record(), []uint64{asmkernels.SplitMix(uint64(d.Size))})
				}
			}, nil
		},
	})
}

// TestRegisteredMethod: a method that is registered joins a whole job.
func TestRegisteredMethod(t *testing.T) {
	t.Parallel()
	files := cut(oddities(91), 3)
	config := byKeys(testConfig(t, putCorpus(t, plain, files...)), bySize)
	summary := runJob(t, config)
	tr := naiveTruth(3, true, files...)
	want := tr.rowsOf(tr.classes().edges(func(i, j int) bool {
		return len(tr.documents[i].set) == len(tr.documents[j].set) && tr.similarity(i, j) >= config.Threshold
	}))
	sameRows(t, "pairs", readRows[pairRow](t, config.Output, output.Pairs), want)
	if all := tr.pairRows(config.Threshold); len(want) < 20 || len(want) >= len(all) {
		t.Errorf("%d pairs have equal sizes, of %d: that tells little", len(want), len(all))
	}
	if p := summary.Plan; p.Keys != bySize || p.ExpectedRecall != 0 || summary.Audit == nil {
		t.Errorf("plan %+v, audit %+v", p, summary.Audit)
	}
	checkInnerCuts(t, config)
}

// TestRegisteredMethodIsPlanned: a plan measures a method of which it knows only the registration.
func TestRegisteredMethodIsPlanned(t *testing.T) {
	files := cut(oddities(91), 3)
	config := plan.Default()
	config.Input, config.Keys = []string{putCorpus(t, plain, files...)}, bySize
	advice, err := plan.Make(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	if advice.Chosen < 0 {
		t.Fatal("it is none of the choices")
	}
	run := runJob(t, byKeys(testConfig(t, config.Input...), bySize))
	c := advice.Choices[advice.Chosen]
	if c.Keys != bySize || c.Flags != "" || c.Probability != 0 || c.KeysPerDocument != 1 || int64(c.Candidates+0.5) != run.Counts.Candidates {
		t.Errorf("choice %+v; the job has %d candidates", c, run.Counts.Candidates)
	}
}
