package methods

import (
	"fmt"

	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
)

// init registers MinHash. Its keys are hashes of bands of the signature. Sketch blocks hold them, since they are
// cheapest to make while a set is in the cache.
func init() {
	Register(Method{
		Name:     MinHash,
		Settings: Settings{Bands: true},
		Reads:    ReadsBands,
		Keys: func(*Parameters) (func() Keys, error) {
			return func() Keys {
				return func(all []candidates.Record, d *Document) []candidates.Record {
					return candidates.AppendHashed(all, d.Record(), d.Bands)
				}
			}, nil
		},
		Promise: func(p *Parameters) Promise { return Promise{Recall: p.Scheme.Probability(p.Threshold)} },
		Tell: func(t *Told) string {
			find := "finds"
			if t.Scheme.Bands != 1 {
				find = "find"
			}
			return fmt.Sprintf(
				"%s of %s %s a pair at the threshold %g with probability %.4f, more similar ones more surely",
				several(t.Scheme.Bands, "band"), several(t.Scheme.Rows, "row"), find, t.Threshold, t.Recall)
		},
	})
}

func several(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// HashBytes returns the size of the given number of key records, in bytes, if the keys are hashes.
func HashBytes(keys float64) float64 {
	before := min(keys, candidates.MaxPrevious)
	return records.KeySize*keys + 4*(before*(before-1)/2+before*(keys-before))
}
