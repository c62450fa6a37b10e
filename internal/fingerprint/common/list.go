package common

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/sketch"
)

// Listing makes a list of the shingles that [Counting] has found, as [records.Frequent], and the tasks that use it.
type Listing struct {
	// Reads is the stage whose run files the tasks get.
	Reads    work.Stage
	Delivery work.Delivery
	// Stays says that the list is what the job has found: see [Found].
	Stays bool
}

// NewListing returns the step that lists what [Counting] has found, and makes the tasks of a delivery of whole sets.
func NewListing(whole work.Delivery) Listing {
	return Listing{Reads: work.Fingerprint, Delivery: whole}
}

// Plan writes the list next to the catalog of the tasks.
func (l *Listing) Plan(_ context.Context, p *work.Planning) error {
	frequent, err := readFrequent(p)
	if err != nil {
		return err
	}
	hashes := make([]uint64, len(frequent))
	for i := range frequent {
		hashes[i] = frequent[i].Shingle
	}
	return l.deliver(p, sketchblock.AppendPacked(nil, hashes))
}

// readFrequent returns the shingles that [Counting] has found, ascending: the most frequent ones if there are too many.
func readFrequent(p *work.Planning) (frequent []records.Frequent, err error) {
	err = work.EachRecordOf(p.Outcomes, work.Common, records.FrequentShingles, p.Memory, func(packed []byte) error {
		frequent = slices.AppendSeq(frequent, records.All[records.Frequent](packed))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list frequent shingles: %w", err)
	}
	return mostFrequent(frequent, sketch.MostShingles), nil
}

// deliver makes the tasks, and writes a list next to their catalog.
func (l *Listing) deliver(p *work.Planning, list []byte) error {
	p.Runs.ReleaseStage(p.Outcomes, work.Common)
	written := ""
	var failed error
	if l.Stays {
		if err := Give(string(p.Runs.Folder), list); err != nil {
			return err
		}
	}
	err := l.Delivery.Deliver(string(p.Runs.Folder), work.RunsIn(p.Outcomes, l.Reads), p.Counts, func(t work.Task) {
		if written != t.Catalog {
			written, failed = t.Catalog, storage.WriteFile(listPath(t.Catalog), list)
		}
		if failed == nil {
			p.Emit(t)
		}
	})
	if err = cmp.Or(err, failed); err != nil {
		return fmt.Errorf("make tasks that use a list of shingles: %w", err)
	}
	return nil
}

// mostFrequent returns the shingles, ascending. Of more than most it returns those that more documents have than a
// number, which is the least that leaves so few.
func mostFrequent(frequent []records.Frequent, most int) []records.Frequent {
	if len(frequent) > most {
		slices.SortFunc(frequent, func(a, b records.Frequent) int { return cmp.Compare(b.Documents, a.Documents) })
		n := most
		for n > 0 && frequent[n-1].Documents == frequent[most].Documents {
			n--
		}
		frequent = frequent[:n]
	}
	slices.SortFunc(frequent, byShingle)
	return frequent
}

func byShingle(x, y records.Frequent) int { return cmp.Compare(x.Shingle, y.Shingle) }

// List is a list of shingles that tasks of this process share.
type List struct{ *sketch.Shingles }

var lists work.Shared[List]

func listPath(catalog string) string { return catalog + "-common" }

func foundPath(folder string) string { return storage.Join(folder, "common-shingles") }

// Found returns the common shingles that a job has found which has ended, packed as in a sketch block and ascending.
// Folder is the folder of its run files.
func Found(folder string) ([]byte, error) {
	packed, err := storage.ReadFile(foundPath(folder))
	if err != nil {
		return nil, fmt.Errorf("read common shingles: %w", err)
	}
	return packed, nil
}

// Give writes common shingles, as [Found] returns them, to the folder of a job.
func Give(folder string, packed []byte) error {
	if err := storage.WriteFile(foundPath(folder), packed); err != nil {
		return fmt.Errorf("write common shingles: %w", err)
	}
	return nil
}

// ReadList returns the list of the tasks of a catalog. The caller holds it while it uses it; see [work.TaskContext].
func ReadList(catalog string) (*List, error) { return readList(listPath(catalog)) }

func readList(path string) (*List, error) {
	return lists.Get(path, func(path string) (*List, error) {
		packed, err := storage.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read common shingles: %w", err)
		}
		shingles, err := sketch.NewShingles(sketchblock.AppendSet(nil, packed))
		return &List{shingles}, err
	})
}

// BeyondPairs is the law of the shingles that more documents have than the two of a pair.
func BeyondPairs() Law { return Law{Above: 2} }

// Weighing lists how many documents have the shingles that [Counting] has found by [BeyondPairs], and makes the tasks.
type Weighing struct {
	Listing
}

// NewWeighing returns the step that lists what [Counting] has found, and makes tasks of what pairs are scored by.
func NewWeighing(gathered work.Delivery) Weighing {
	return Weighing{Listing{Reads: work.Gather, Delivery: gathered}}
}

// Plan writes the list next to the catalog of the tasks.
func (l *Weighing) Plan(_ context.Context, p *work.Planning) error {
	frequent, err := readFrequent(p)
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

// Of returns the rarity of a shingle in the unit of [records.RarityUnit]: one, over the number of other
// documents that have it. A shingle that is not listed counts as one of two documents.
func (r *Rarities) Of(shingle uint64) uint32 {
	at, found := slices.BinarySearchFunc(r.frequent, records.Frequent{Shingle: shingle}, byShingle)
	if !found {
		return records.RarityUnit
	}
	others := r.frequent[at].Documents - 1
	return uint32((records.RarityUnit + others/2) / others)
}
