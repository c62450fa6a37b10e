package incremental

import (
	"testing"

	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/job"
)

// TestDecide: each reason for a run from scratch, and each plan without one.
func TestDecide(t *testing.T) {
	reused := Plan{Reuse: "pairs", Prune: "pairs"}
	containment := func(c *job.Config, _ *state.Content, _ *Listing) { c.Similarity = methods.Containment }
	common := func(c *job.Config, _ *state.Content, _ *Listing) { c.Common = "auto" }
	for name, test := range map[string]struct {
		change []func(*job.Config, *state.Content, *Listing)
		want   Plan
	}{
		"as before": {nil, reused},
		"new state": {with(func(_ *job.Config, s *state.Content, _ *Listing) { s.Number = 0 }), Plan{}},
		"rebuild":   {with(func(c *job.Config, _ *state.Content, _ *Listing) { c.Rebuild = true }), Plan{}},
		"dense": {
			with(func(_ *job.Config, _ *state.Content, l *Listing) { l.Dense = true }),
			because("there are oversized key groups, whose comparisons depend on all documents"),
		},
		"settings": {
			with(func(_ *job.Config, _ *state.Content, l *Listing) { l.Results = "others" }),
			because("settings that decide which pairs are similar have changed"),
		},
		"another order": {with(func(_ *job.Config, _ *state.Content, l *Listing) { l.InOrder = false }), reused},
		"no pairs": {
			with(func(_ *job.Config, s *state.Content, _ *Listing) { s.Pairs = "" }),
			because(withoutPairs),
		},
		"many pairs": {with(func(c *job.Config, s *state.Content, _ *Listing) {
			c.Runner, c.Memory, s.SimilarPairs = "flink", 1<<30, 1<<30
		}), because("the pairs of the last run take more than a quarter of a worker's memory")},
		"many pairs here": {with(func(_ *job.Config, s *state.Content, _ *Listing) {
			s.SimilarPairs = 1 << 40
		}), reused},
		"grown by less": {with(func(_ *job.Config, s *state.Content, _ *Listing) {
			s.Grouped, s.Documents = 800_000, 900_000
		}), reused},
		"grown by more": {
			with(func(_ *job.Config, s *state.Content, _ *Listing) { s.Grouped, s.Documents = 800_000, 900_001 }),
			because("the corpus has grown by more than an eighth since all documents were compared"),
		},
		"small, and grown": {with(func(_ *job.Config, s *state.Content, _ *Listing) {
			s.Grouped, s.Documents = 1, methods.SmallCorpus
		}), reused},
		"oversized key groups": {
			with(func(_ *job.Config, s *state.Content, _ *Listing) { s.OversizedPairs = 1 << 50 }),
			because("key groups of near-duplicates are near the limit of compared pairs"),
		},
		"common shingles": {with(common), Plan{Prune: "pairs"}},
		"passages":        {with(containment), Plan{Prune: "kept"}},
		"passages without pairs": {with(containment, func(_ *job.Config, s *state.Content, _ *Listing) {
			s.Kept = ""
		}), because(withoutPairs)},
		"passages in another order": {
			with(containment, func(_ *job.Config, _ *state.Content, l *Listing) { l.InOrder = false }),
			because("the order of the files has changed, and with it the first of equal documents"),
		},
		"passages and common shingles": {
			with(containment, common),
			because("these settings let unchanged documents decide which pairs of others are listed"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := job.Default()
			config.State = "state"
			last := state.Content{
				Number:    1,
				Results:   "results",
				Pairs:     "pairs",
				Kept:      "kept",
				Documents: 100,
				Grouped:   100,
			}
			now := Listing{Results: "results", InOrder: true}
			for _, change := range test.change {
				change(&config, &last, &now)
			}
			if got := Decide(&config, &last, now); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}

func with(changes ...func(*job.Config, *state.Content, *Listing)) []func(*job.Config, *state.Content, *Listing) {
	return changes
}

func because(why string) Plan { return Plan{Why: why} }

func TestPlanString(t *testing.T) {
	for _, test := range []struct {
		plan Plan
		want string
	}{
		{Plan{}, "all documents are compared"},
		{because("settings have changed"), "all documents are compared from scratch: settings have changed"},
		{Plan{Prune: "pairs"}, "documents that are in no pair and similar to no new document are pruned"},
		{
			Plan{Reuse: "pairs", Prune: "pairs"},
			"the pairs of unchanged documents are reused, and new documents are compared with similar ones",
		},
	} {
		if got := test.plan.String(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
