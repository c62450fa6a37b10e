package plan

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/formats"
	"mirrorbeam.dev/internal/input/listing"
	"mirrorbeam.dev/internal/inspect/sample"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/result/warnings"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/job"
)

type corpusRead struct {
	inputs documents.Inputs
	sizing job.Sizing // sizing of a job on it
	counts findings.Counts
	texts  findings.Texts
}

func readCorpus(ctx context.Context, config job.Config,
	newVisitor func(size int64) func() documents.Visitor,
) (c corpusRead, err error) {
	stopWords, err := config.ReadStopWords()
	if err != nil {
		return c, failure.New(failure.Usage, err)
	}
	inputs, size, err := listing.Inputs(ctx, &config)
	if ctx.Err() != nil {
		return c, ctx.Err()
	} else if err != nil {
		return c, failure.Explain(&config, failure.Input, err)
	}
	inputs.StopWords = stopWords
	c.inputs, c.sizing = inputs, config.Sizing(size)
	sketching := config.Sketching(c.sizing.WindowBytes)
	c.counts, c.texts, err = documents.Survey(ctx, sketching, &inputs, newVisitor(size))
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case err != nil:
		err = failure.Explain(&config, failure.Input, err)
	case config.MaxRejects >= 0 && c.counts.Rejected > config.MaxRejects:
		err = failure.New(failure.Input,
			setting.Errorf("%s, {max_rejects} allows %d: %s", failure.Unreadable(c.counts.Rejected), config.MaxRejects,
				firstUnreadable(ctx, sketching, inputs)))
	case c.counts.Documents == 0 && c.counts.Rejected > 0:
		hint := ""
		if config.Format == corpus.AutoFormat && corpus.IsGuessed(inputs.Files[0].Name) {
			hint = corpus.FormatHint
		}
		err = failure.New(failure.Input,
			setting.Errorf("no document in the input, %s: %s"+hint, failure.Unreadable(c.counts.Rejected),
				firstUnreadable(ctx, sketching, inputs)))
	case c.counts.Documents == 0:
		err = failure.New(failure.Input, errors.New("no document in the input: there is nothing to plan for"))
	}
	return c, err
}

// firstUnreadable reads the input once more, up to the first record that cannot be read. It returns its name and why.
// The survey cannot keep the first record, since it reads files side by side.
func firstUnreadable(ctx context.Context, sketching documents.Sketching, inputs documents.Inputs) string {
	sketcher, err := documents.NewSketcher(sketching, documents.Kept{}, inputs.StopWords)
	if err != nil {
		return err.Error()
	}
	for number := range inputs.Files {
		file := &inputs.Files[number]
		for batch, err := range formats.Batches(*file, number, sketching.LineLimits(), sketching.Wanted()) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err.Error()
			}
			p := documents.Portion{File: file, Batch: batch}
			for range p.Sketch(sketcher) {
				if p.Rejected > 0 {
					break
				}
			}
			if p.Rejected > 0 {
				return "the first is at " + p.FirstReject
			}
		}
	}
	return "the input has changed since"
}

type census struct {
	documents *sample.Documents
	// copies are the documents without words. Their digests serve as sets: only documents of equal bytes are similar.
	copies *sample.Documents

	// Sums over the sampled documents.
	sampled, shingles, wordless, bytes atomic.Int64

	mutex sync.Mutex
	texts []text       // of the first documents that were read; all of a small corpus
	votes graphs.Votes // for texts
}

type length struct {
	length      int64
	isReference bool
}

type text struct {
	hash uint64
	length
}

// sampledWordless bounds the distinct documents without words that are kept to count their copies.
const sampledWordless = 1 << 18

// A plan reads all of a large corpus, which takes a tenth of a job, but fingerprints only a part, to cost little.
const (
	wholeBytes   = 2 << 20  // bytes of text that are always fingerprinted
	mostBytes    = 40 << 20 // the most bytes that are fingerprinted
	sampledShare = 1. / 6   // share in between
)

func halvings(size int64) uint32 {
	wanted := min(max(float64(size)*sampledShare, wholeBytes), mostBytes)
	n := uint32(0)
	for float64(size) > wanted {
		size /= 2
		n++
	}
	return n
}

func newCensus(shingles int, size int64) *census {
	n := halvings(size)
	return &census{documents: sample.NewDocuments(shingles, n), copies: sample.NewDocuments(sampledWordless, n)}
}

// visitor returns a visitor that shows the sampled documents of its part to add.
func (c *census) visitor(add func(d *documents.Surveyed)) documents.Visitor {
	var texts []text
	return documents.Visitor{
		Wants: func(seen *documents.Seen) bool {
			texts = append(texts, text{seen.Hash, length{seen.Length, seen.Reference}})
			return c.documents.Wants(seen.Hash) || c.copies.Wants(seen.Hash)
		},
		Visit: func(d *documents.Surveyed) {
			if d == nil {
				c.addTexts(texts)
				texts = texts[:0]
				return
			}
			if c.hasWords(d) && c.documents.Wants(d.Hash) {
				add(d)
			}
		},
	}
}

// mostLengths is the largest number of documents for which a plan weighs all pairs.
const mostLengths = 4 * methods.SmallCorpus

func (c *census) addTexts(texts []text) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for i := range texts {
		c.votes.Add(texts[i].hash)
	}
	c.texts = append(c.texts, texts[:min(len(texts), mostLengths-len(c.texts))]...)
}

// distinctLengths returns the lengths of distinct texts. A text is of the reference only if all its documents are.
func (c *census) distinctLengths() []length {
	texts := slices.SortedFunc(slices.Values(c.texts), func(a, b text) int { return cmp.Compare(a.hash, b.hash) })
	var lengths []length
	for i, t := range texts {
		if i == 0 || t.hash != texts[i-1].hash {
			lengths = append(lengths, t.length)
		} else if !t.isReference {
			lengths[len(lengths)-1].isReference = false
		}
	}
	return lengths
}

// hasWords counts a document and reports whether it has words. A document without words needs nothing more.
func (c *census) hasWords(d *documents.Surveyed) bool {
	c.sampled.Add(1)
	c.bytes.Add(int64(d.Bytes))
	c.shingles.Add(int64(len(d.Set)))
	if len(d.Set) > 0 {
		return true
	}
	c.wordless.Add(1)
	c.copies.Add(sample.Document{Ref: d.Ref, Hash: d.Hash, Digest: d.Digest, Set: []uint64{d.Digest}})
	return false
}

func (c *census) facts(counts findings.Counts) Facts {
	facts := Facts{
		Documents:          counts.Documents,
		ReferenceDocuments: counts.ReferenceDocuments,
		Bytes:              counts.Bytes + counts.ReferenceBytes,
		Rejected:           counts.Rejected,
		DocumentShare:      1,
		SampledDocuments:   c.sampled.Load(),
		SampledBytes:       c.bytes.Load(),
	}
	all := facts.all()
	perSampled := all / float64(max(facts.SampledDocuments, 1))
	if facts.SampledDocuments == facts.Documents+facts.ReferenceDocuments {
		facts.Shingles = float64(c.shingles.Load()) / all
	} else if facts.SampledBytes > 0 {
		// Long documents in the sample make up for a small number of them.
		facts.Shingles = float64(c.shingles.Load()) * float64(facts.Bytes) / float64(facts.SampledBytes) / all
	}
	facts.Wordless = int64(math.Round(float64(c.wordless.Load()) * perSampled))
	equal, frequent := 0., c.votes.Frequent()
	for _, sampled := range []*sample.Documents{c.documents, c.copies} {
		documents, share := sampled.List()
		ofText, others := sample.Identical(documents, share)
		equal += ofText
		for i := range documents {
			if d := &documents[i]; frequent[d.Hash] > 0 { // which stands for no other text
				delete(frequent, d.Hash)
				equal += float64(d.Copies-d.Texts) * (1 - 1/share)
			}
		}
		facts.Identical += others
		facts.Overlong += float64(sampled.Overlong()) / share
		facts.DocumentShare = min(facts.DocumentShare, share)
	}
	for _, copies := range frequent { // which the sample has left out
		if facts.DocumentShare < 1 {
			equal += float64(copies - 1)
		}
	}
	if float64(len(c.texts)) == all {
		equal = all - float64(len(c.distinctLengths())) // all are known
	}
	facts.Identical += equal
	return facts
}

func (f *Facts) propose(config *job.Config, texts findings.Texts) {
	if config.Preset != "" || f.SampledDocuments == 0 {
		return
	}
	texts.Short = int64(float64(texts.Short) * float64(f.Documents+f.ReferenceDocuments) / float64(f.SampledDocuments))
	f.Preset, f.Looks = warnings.Preset(config, texts, f.Documents)
}
