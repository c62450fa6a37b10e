package plan

import (
	"math/bits"

	"mirrorbeam/internal/carry/candidates"
	"mirrorbeam/internal/ground/digest"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/look/sample"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/measure/fingerprints"
	"mirrorbeam/lshbands"
)

// withKeys returns an estimator for these keys. The counters have counted the shingles, for
// keys that need frequencies.
func (k keying) withKeys(e sample.Estimator, counters *lshbands.Counters) *sample.Estimator {
	method := k.method()
	// NewKeys fails for SimHash keys only, and these are planned elsewhere.
	keys, _ := method.NewKeys(k.parameters(e.Threshold), counters)
	e.Exact = method.Exact
	return estimating(e, keys)
}

// estimating returns an estimator that uses these keys.
func estimating(e sample.Estimator, keys methods.Keys) *sample.Estimator {
	var document methods.Document
	e.AppendRecords = func(records []candidates.Record, d *sample.Document) []candidates.Record {
		document = methods.Document{Ref: d.Ref, Digest: digest.Digest{d.Digest}, Size: len(d.Set), Content: fingerprints.Content{Set: d.Set}, SimHash: d.Set}
		return keys(records, &document)
	}
	return &e
}

// estimateOrdered estimates the candidates of keys that need an order of shingles. The order is that of the sample. It
// is counted in a counter in which about as many shingles share a cell as in the job's.
func (m *survey) estimateOrdered(e sample.Estimator, k keying, documents []sample.Document, share float64, memory *sample.Memory) sample.Estimate {
	all := (float64(m.facts.Documents) + float64(m.facts.ReferenceDocuments)) * m.facts.Shingles
	estimate := k.withKeys(e, count(documents, int(all*share+0.5))).Estimate(documents, share, memory)
	if share < 1 {
		alike := estimate.Alike / max(estimate.Candidates-estimate.HeapCandidates, 1)
		copied := estimate.Hidden * alike / float64(m.facts.Documents+m.facts.ReferenceDocuments)
		estimate.Keys = exactKeys(documents, share, e.Threshold, all, min(copied, 1))
	}
	return estimate
}

// withTables returns an estimator for SimHash keys: no group is dense, and sizes do not matter.
func withTables(firstInput docref.Ref, tables *lshbands.Permuted) *sample.Estimator {
	return estimating(sample.Estimator{
		MostRecords: mostRecords,
		FirstInput:  firstInput,
		Compare: func(a, b *sample.Document) float64 {
			distance := 0
			for i, word := range a.Set {
				distance += bits.OnesCount64(word ^ b.Set[i])
			}
			return float64(distance)
		},
	}, methods.TableKeys(tables))
}
