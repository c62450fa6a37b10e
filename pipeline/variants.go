package pipeline

import (
	"context"
	"slices"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/result/variants"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/storage"
)

const (
	// leastJudged is the least number of pairs that say something of all.
	leastJudged = 30
	judgedBytes = 8000
	// rereadBytes and a share of all bytes, one of rereadShare, bound how much text is read again. A file that cannot
	// be read from its middle counts as a whole.
	rereadBytes = 64 << 20
	rereadShare = 4
)

// judge compares the texts of the sampled pairs. It returns nil for fewer than leastJudged. Texts that cannot be read
// from here say nothing.
func (r *run) judge(ctx context.Context, sample findings.Sample) *findings.Variants {
	if !r.Config.TellsRemoved() || !r.Config.Scorer().HasClusters || r.Config.Features != "" ||
		r.Config.Fingerprints != "" || len(sample) < leastJudged {
		return nil
	}
	if slices.ContainsFunc(r.inputs.Files, func(f corpus.File) bool { return storage.Scheme(f.At(0).Path) != "" }) {
		return nil // hundreds of requests one after the other
	}
	var refs []docref.Ref
	for _, pair := range sample {
		refs = append(refs, docref.Ref(pair.Kept), docref.Ref(pair.Removed))
	}
	byRef, err := finished.TextsAt(ctx, &r.Config, r.inputs.Files, refs, judgedBytes, rereadBytes+r.Bytes/rereadShare)
	if err != nil {
		return nil
	}
	var texts []string
	numbers := map[docref.Ref]int{}
	for ref := range byRef {
		numbers[ref] = 0
	}
	for _, ref := range refs {
		if n, is := numbers[ref]; is && n == 0 {
			texts = append(texts, byRef[ref])
			numbers[ref] = len(texts)
		}
	}
	var pairs []variants.Pair
	var judged []findings.SampledPair
	for _, pair := range sample {
		removed, kept := numbers[docref.Ref(pair.Removed)], numbers[docref.Ref(pair.Kept)]
		if removed > 0 && kept > 0 {
			pairs, judged = append(pairs, variants.Pair{Removed: removed - 1, Kept: kept - 1}), append(judged, pair)
		}
	}
	if len(pairs) < leastJudged {
		return nil
	}
	v := &findings.Variants{Judged: int64(len(pairs))}
	for i, is := range variants.Judge(texts, pairs) {
		if !is {
			continue
		}
		if v.Found++; v.Found == 1 {
			v.Removed, v.Kept = judged[i].RemovedName, judged[i].KeptName
		}
	}
	return v
}
