package common

import (
	"context"
	"fmt"
	"slices"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/storage"
)

// BeyondPairs is the law of the shingles that more documents have than the two of a pair.
func BeyondPairs() Law { return Law{Above: 2} }

// Weighing makes a list of how many documents have the shingles that [Counting] has found by [BeyondPairs], and the tasks
// that use it.
type Weighing struct {
	Listing
}

// NewWeighing returns the step that lists what [Counting] has found, and makes tasks of what pairs are scored by.
func NewWeighing(gathered work.Delivery) Weighing {
	return Weighing{Listing{Found: work.Common, Reads: work.Gather, Delivery: gathered}}
}

// Plan writes the list beside the catalog of the tasks.
func (l *Weighing) Plan(_ context.Context, p *work.Planning) error {
	frequent, err := readFrequent(p, l.Found)
	if err != nil {
		return err
	}
	var packed []byte
	for _, f := range frequent {
		packed = records.Append(packed, &f)
	}
	return l.deliver(p, packed)
}

// Rarities tell how rare a shingle is that two documents have.
type Rarities struct {
	frequent []records.Frequent // ascending
}

var rarities work.Shared[Rarities]

// ReadRarities returns the rarities for the tasks of a catalog.
func ReadRarities(catalog string) (*Rarities, error) {
	return rarities.Get(listPath(catalog), func(path string) (*Rarities, error) {
		packed, err := storage.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read how rare shingles are: %w", err)
		}
		return &Rarities{slices.Collect(records.All[records.Frequent](packed))}, nil
	})
}

// Of returns the rarity of a shingle in the unit of [records.RarityUnit]: one, over the number of documents that have it
// besides the one. A shingle that is not listed counts as one of two documents.
func (r *Rarities) Of(shingle uint64) uint32 {
	at, found := slices.BinarySearchFunc(r.frequent, records.Frequent{Shingle: shingle}, byShingle)
	if !found {
		return records.RarityUnit
	}
	others := r.frequent[at].Documents - 1
	return uint32((records.RarityUnit + others/2) / others)
}
