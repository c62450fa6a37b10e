package boilerplate

import (
	"cmp"
	"context"
	"slices"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/measure/common"
)

// SummingDelivery makes a task of [Summing] for each range of hashes that has shingles.
func SummingDelivery() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.BoilerplateSeen}}
}

// NewListing returns the step that lists the common shingles for the tasks of [Finding], and makes these: one for each split
// that holds the first document of a shingle.
func NewListing() common.Listing {
	return common.Listing{
		Found: work.Boilerplate, Reads: work.Boilerplate, Delivery: work.Delivery{Needed: []runfile.Kind{records.FirstHolders}},
	}
}

// Summing counts the documents that have each shingle of a range of hashes, and finds the first of them.
func Summing(ctx context.Context, _ work.Task, w *work.Desk) error {
	var seen []records.Sighting
	for _, piece := range w.Pieces {
		packed, err := w.ReadPiece(0, piece)
		if err != nil {
			return err
		}
		seen = slices.AppendSeq(seen, records.All[records.Sighting](packed))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	w.Figures.Records += int64(len(seen))
	slices.SortFunc(seen, func(a, b records.Sighting) int {
		return cmp.Or(cmp.Compare(a.Shingle, b.Shingle), cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.First, b.First))
	})
	for len(seen) > 0 {
		first, n, documents := seen[0], 0, int64(0)
		for n < len(seen) && seen[n].Shingle == first.Shingle && seen[n].Cause == first.Cause {
			documents += int64(seen[n].Documents)
			n++
		}
		seen = seen[n:]
		if first.Cause == records.OfCorpus {
			if err := records.Write(&w.Run, records.FrequentShingles, 0, &records.Frequent{Shingle: first.Shingle, Documents: documents}); err != nil {
				return err
			}
		}
		h := records.Holder{Ref: first.First, Shingle: first.Shingle, Documents: documents, Cause: first.Cause}
		if err := records.Write(&w.Run, records.FirstHolders, first.Split, &h); err != nil {
			return err
		}
	}
	return nil
}
