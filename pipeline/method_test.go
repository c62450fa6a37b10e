package pipeline

import (
	"testing"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/inspect/plan"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/pairs/methods"
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

// TestRegisteredMethodIsPlanned: a plan measures a method by its registration only.
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
	if c.Keys != bySize || c.Flags != "" || c.Probability != 0 || c.KeysPerDocument != 1 ||
		int64(c.Candidates+0.5) != run.Counts.Candidates {
		t.Errorf("choice %+v; the job has %d candidates", c, run.Counts.Candidates)
	}
}
