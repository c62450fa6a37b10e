package methods

import (
	"context"
	"fmt"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/work"
)

const allRecords = records.Digests

// init registers All, which needs no candidates. Its keys bring equal documents together. One document stands for its
// equals, and the documents that stand for others are all compared with each other.
func init() {
	Register(Method{
		Name:        All,
		ComparesAll: true,
		Refuses: []Refusal{{
			Setting: "verify",
			Only:    string(VerifyNone),
			Why:     "with {keys} all every pair would be one; give exact or sketch",
		}},
		Keys: func(*Parameters) (func() Keys, error) {
			return func() Keys { return AppendDigest }, nil
		},
		Records: allRecords,
		Group: func(_ context.Context, p *Parameters, l *documents.Layout, shard int, w *work.TaskContext) error {
			e := groups.Equals{FirstInput: l.FirstInput, Shards: p.Shards}
			return e.Shard(w, shard)
		},
		OversizedGroups: NeverWait,
		Promise:         func(*Parameters) Promise { return Promise{Recall: 1, ByConstruction: true} },
		Tell: func(t *Told) string {
			return fmt.Sprintf("all pairs are compared: recall 1 by construction at the threshold %g", t.Threshold)
		},
	})
}
