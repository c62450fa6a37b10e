package methods

import (
	"fmt"

	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/lshbands"
)

// init registers Exact. Its keys are the shingles of a document that come first in an order from rare to frequent (see
// [lshbands.PrefixKeys]). So they depend on the whole corpus.
func init() {
	Register(Method{
		Name:    Exact,
		Reads:   ReadsContent,
		Ordered: true,
		Exact:   true,
		Keys: func(p *Parameters) (func() Keys, error) {
			prefix, err := lshbands.NewPrefixKeys(p.Threshold)
			if err != nil {
				return nil, err
			}
			return func() Keys {
				own := *prefix // each has its own buffers
				return exactKeys(&own)
			}, nil
		},
		Promise: func(*Parameters) Promise { return Promise{Recall: 1, ByConstruction: true} },
		Tell: func(t *Told) string {
			text := fmt.Sprintf("exact keys: recall 1 by construction at the threshold %g", t.Threshold)
			if t.Skips {
				text += ", except for skipped pairs"
			}
			return text
		},
		KeyBytes: func(keys float64) float64 {
			record := candidates.Record{Key: candidates.PrefixKeyOf(0)}
			return keys * float64(records.KeySize+4*record.Known())
		},
	})
}

// frequentKey is the frequency of a key from which the records of its documents have bitmaps: some 16 documents seem to
// have it. A document without such a key meets too few others to make up for the bytes.
const frequentKey = 12

func exactKeys(prefix *lshbands.PrefixKeys) Keys {
	return func(all []candidates.Record, d *Document) []candidates.Record {
		r := d.Record()
		keys := prefix.Of(d.Set, d.Frequencies)
		if len(keys) > 0 && keys[len(keys)-1].Frequency >= frequentKey {
			r.SetBitmap(candidates.BitmapOf(d.Set))
		}
		for k, key := range keys {
			r.Key, r.Position, r.First = candidates.PrefixKeyOf(key.Hash), key.Position, k == 0
			all = append(all, r)
			r.SetPrevious(key.Hash)
		}
		return all
	}
}
