package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/sample"
	"mirrorbeam/lshbands"
	"mirrorbeam/transforms"
)

// readCorpus reads the corpus of a configuration and returns what it is. The visitors
// are told about how large it is.
func readCorpus(ctx context.Context, config Config, newVisitor func(size int64) func() func(*transforms.Surveyed)) (transforms.Inputs, transforms.Counts, error) {
	var counts transforms.Counts
	stopWords, err := config.readStopWords()
	if err != nil {
		return transforms.Inputs{}, counts, failure{ErrUsage, err}
	}
	inputs, size, err := list(ctx, config)
	if ctx.Err() != nil {
		return inputs, counts, ctx.Err()
	} else if err != nil {
		return inputs, counts, config.fault(ErrInput, err)
	}
	inputs.StopWords = stopWords
	job := config.job(lshbands.Scheme{}, size, len(inputs.Splits), "", "", "")
	counts, err = transforms.Survey(ctx, job, inputs, newVisitor(size))
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case err != nil:
		err = config.fault(ErrInput, err)
	case config.MaxRejects >= 0 && counts.Rejected > config.MaxRejects:
		err = failure{ErrInput, fmt.Errorf("%s, --max-rejects allows %d: %s", unreadable(counts.Rejected), config.MaxRejects, firstUnreadable(ctx, job, inputs))}
	case counts.Documents == 0 && counts.Rejected > 0:
		err = failure{ErrInput, fmt.Errorf("no document in the input, %s: %s", unreadable(counts.Rejected), firstUnreadable(ctx, job, inputs))}
	case counts.Documents == 0:
		err = failure{ErrInput, errors.New("no document in the input: there is nothing to plan for")}
	}
	return inputs, counts, err
}

// firstUnreadable reads the input once more, up to the first record that cannot be
// read, and says which one that is and why. The survey, which reads files side by
// side, keeps none.
func firstUnreadable(ctx context.Context, job transforms.Job, inputs transforms.Inputs) string {
	sketcher, err := transforms.NewSketcher(job, inputs.StopWords)
	if err != nil {
		return err.Error()
	}
	limit := transforms.LineLimit(job.MaxDocument)
	isFound := errors.New("found")
	for number, file := range inputs.Files {
		p := portion{name: file.Name}
		err := readCorpusFile(file, number, limit, func(_ string, batch corpus.Batch) error {
			p.batch = batch
			for range p.documents(sketcher) {
				if p.counts.Rejected > 0 {
					break
				}
			}
			if p.counts.Rejected > 0 {
				return isFound
			}
			return ctx.Err()
		})
		switch {
		case errors.Is(err, isFound):
			return "the first is at " + p.counts.FirstReject
		case err != nil:
			return err.Error()
		}
	}
	return "the input has changed since"
}

// census takes down of the documents of a corpus what does not depend on keys.
type census struct {
	documents          *sample.Documents
	shingles, wordless atomic.Int64
	// copies are the documents without words, each with its digest for a set, as
	// they are like those of the same bytes only.
	copies *sample.Documents
}

// sampledWordless bounds the different documents without words that are kept to count
// their copies: some 30 MiB.
const sampledWordless = 1 << 18

// newCensus returns one that keeps documents with so many shingles together.
func newCensus(shingles int) census {
	return census{documents: sample.NewDocuments(shingles), copies: sample.NewDocuments(sampledWordless)}
}

// hasWords takes down the size of a document and reports whether it has words. One
// that has none is taken down for good.
func (c *census) hasWords(d *transforms.Surveyed) bool {
	c.shingles.Add(int64(len(d.Set)))
	if len(d.Set) > 0 {
		return true
	}
	c.wordless.Add(1)
	if c.copies.Wants(d.Digest) {
		c.copies.Add(sample.Document{Ref: d.Ref, Digest: d.Digest, Set: []uint64{d.Digest}})
	}
	return false
}

// facts returns what is known of the corpus then.
func (c *census) facts(counts transforms.Counts) CorpusFacts {
	facts := CorpusFacts{
		Documents: counts.Documents, ReferenceDocuments: counts.ReferenceDocuments,
		Bytes: counts.Bytes + counts.ReferenceBytes, Rejected: counts.Rejected,
		Shingles: float64(c.shingles.Load()) / float64(counts.Documents+counts.ReferenceDocuments),
		Wordless: c.wordless.Load(), DocumentShare: 1,
	}
	for _, sampled := range []*sample.Documents{c.documents, c.copies} {
		documents, share := sampled.List()
		for i := range documents {
			facts.Identical += float64(documents[i].Copies-1) / share
		}
		facts.Overlong += float64(sampled.Overlong()) / share
		facts.DocumentShare = min(facts.DocumentShare, share)
	}
	return facts
}
