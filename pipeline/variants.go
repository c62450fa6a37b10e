package pipeline

import (
	"context"
	"slices"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/keep/variants"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/paged"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/storage"
)

const (
	// leastJudged is the least number of pairs that say something of all.
	leastJudged = 30
	// rereadBytes and a share of all bytes, one of rereadShare, bound how much text is read again. A file that cannot
	// be read from its middle counts as a whole.
	rereadBytes = 64 << 20
	rereadShare = 4
)

// judge compares the texts of the sampled pairs. It returns nil for fewer than leastJudged. Texts that cannot be read
// from here say nothing.
func (r *run) judge(ctx context.Context, sample findings.Sample) *findings.Variants {
	if !r.Config.TellsRemoved() || !r.Config.Scorer().HasClusters || r.Config.Features != "" ||
		r.Config.Fingerprints != "" || r.Config.Variants.Keeps() || len(sample) < leastJudged {
		return nil
	}
	if slices.ContainsFunc(r.inputs.Files, func(f corpus.File) bool { return storage.Scheme(f.At(0).Path) != "" }) {
		return nil // hundreds of requests one after the other
	}
	var refs []docref.Ref
	for _, pair := range sample {
		refs = append(refs, docref.Ref(pair.Kept), docref.Ref(pair.Removed))
	}
	most := rereadBytes + r.Bytes/rereadShare
	byRef, err := finished.TextsAt(ctx, &r.Config, r.inputs.Files, refs, variants.MostBytes, most)
	if err != nil {
		return nil
	}
	var texts []string // their words
	numbers := map[docref.Ref]int{}
	for ref := range byRef {
		numbers[ref] = 0
	}
	for _, ref := range refs {
		if n, is := numbers[ref]; is && n == 0 {
			texts = append(texts, string(variants.AppendWords(nil, []byte(byRef[ref]))))
			numbers[ref] = len(texts)
		}
	}
	var pairs [][2]int
	var judged []findings.SampledPair
	for _, pair := range sample {
		removed, kept := numbers[docref.Ref(pair.Removed)], numbers[docref.Ref(pair.Kept)]
		if removed > 0 && kept > 0 {
			pairs, judged = append(pairs, [2]int{removed - 1, kept - 1}), append(judged, pair)
		}
	}
	if len(pairs) < leastJudged {
		return nil
	}
	v := &findings.Variants{Judged: int64(len(pairs))}
	example := len(pairs)
	(&variants.Pairs{
		Rule:      variants.Keep,
		Store:     &paged.Store{},
		Documents: len(texts),
		Words:     func(i int) string { return texts[i] },
		Len:       len(pairs),
		At:        func(i int) (removed, kept int) { return pairs[i][0], pairs[i][1] },
	}).Judge(func(i int) {
		v.Found++
		example = min(example, i)
	})
	if v.Found > 0 {
		v.Removed, v.Kept = judged[example].RemovedName, judged[example].KeptName
	}
	return v
}
