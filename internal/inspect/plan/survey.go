package plan

import (
	"context"
	"math"
	"sync"

	"golang.org/x/sync/errgroup"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/inspect/sample"
	"mirrorbeam.dev/internal/pairs/groups"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/lshbands"
)

// sampledShingles bounds the documents that a survey keeps: 64 MiB of sets.
const sampledShingles = 8 << 20

type survey struct {
	facts     Facts
	corpus    corpusRead
	estimates map[keying]sample.Estimate
	threshold float64
	// auditSample is the number of documents that the audit of the job samples, 0 without an audit.
	auditSample int
}

func takeSurvey(ctx context.Context, config job.Config, options *options) (*survey, error) {
	m := &survey{
		threshold:   config.Threshold,
		auditSample: config.AuditSample(),
		estimates:   map[keying]sample.Estimate{},
	}
	c, err := m.read(ctx, config)
	if err != nil {
		return nil, err
	}
	m.facts = c.facts(m.corpus.counts)
	m.facts.propose(&config, m.corpus.texts)
	firstInput, err := m.corpus.inputs.FirstInput()
	if err != nil {
		return nil, failure.Explain(&config, failure.Input, err)
	}
	if m.facts.Documents+m.facts.ReferenceDocuments <= mostLengths {
		m.estimates[keying{keys: methods.All}] = m.allPairs(c, firstInput)
	}
	if err := m.estimate(ctx, config, c, firstInput, options); err != nil {
		return nil, err
	}
	exact := m.estimates[keying{keys: methods.Exact}]
	for _, similarity := range exact.Similar {
		if similarity >= config.Threshold {
			m.facts.Pairs += exact.Weight
		}
	}
	return m, nil
}

// leastSampled is the least number of sampled documents of a larger corpus: fewer are no sample.
const leastSampled = 4

// read reads the corpus. If a corpus of few documents has too few in the sample, it reads it once more and fully.
func (m *survey) read(ctx context.Context, config job.Config) (c *census, err error) {
	take := func(limit int64) error {
		m.corpus, err = readCorpus(ctx, config, func(size int64) func() documents.Visitor {
			c = newCensus(sampledShingles, min(size, limit))
			return func() documents.Visitor {
				return c.visitor(func(d *documents.Surveyed) {
					c.documents.Add(sample.Document{
						Ref:    d.Ref,
						Hash:   d.Hash,
						Digest: d.Digest,
						Length: d.Length,
						Set:    d.Set,
					})
				})
			}
		})
		return err
	}
	if err := take(math.MaxInt64); err != nil || c.sampled.Load() >= leastSampled {
		return c, err
	}
	return c, take(0)
}

func (m *survey) estimate(ctx context.Context, config job.Config, c *census, firstInput docref.Ref,
	options *options,
) error {
	documents, share := c.documents.List()
	bounds := groups.UsualBounds()
	estimator := sample.Estimator{
		Threshold:      config.Threshold,
		FirstInput:     firstInput,
		OversizedPairs: float64(bounds.Group),
		Compare: func(a, b *sample.Document) float64 {
			shared := asmkernels.Intersect(a.Set, b.Set, 0)
			return float64(shared) / float64(len(a.Set)+len(b.Set)-shared)
		},
		LargestCompared: func(pairs []float64) float64 {
			oversizedGroups := make([]int64, len(pairs))
			for i := range pairs {
				oversizedGroups[i] = int64(pairs[i])
			}
			return float64(bounds.Limit(oversizedGroups, m.facts.Documents+m.facts.ReferenceDocuments))
		},
		Pivots: func(documents int) *graphs.Pivots {
			return graphs.NewPivots(documents, config.Threshold, func(n int) int {
				return lshbands.PrefixLength(config.Threshold, n)
			})
		},
	}
	return m.estimateAll(ctx, options, func(option *option, memory *sample.Memory) sample.Estimate {
		e := estimator
		e.MostRecords = min(max(int(m.facts.Bytes/bytesPerRecord), leastRecords), mostRecords)
		if option.method().Ordered {
			return m.estimateOrdered(e, option.keying, documents, share, memory)
		}
		if option.keying != options.chosen {
			e.MostRecords /= fewerRecords
		}
		return option.withKeys(e, nil).Estimate(documents, share, memory)
	})
}

// Bounds on the records that an estimate looks at: one for some bytes of text, so that a plan costs little of a job,
// and fewer for options that the configuration does not ask for.
const (
	bytesPerRecord = 512
	leastRecords   = 1 << 15
	mostRecords    = 1 << 19
	fewerRecords   = 4
)

func (m *survey) estimateAll(ctx context.Context, options *options,
	estimate func(*option, *sample.Memory) sample.Estimate,
) error {
	todo := make(chan *option, len(options.all))
	for i := range options.all {
		if !options.all[i].method().ComparesAll {
			todo <- &options.all[i]
		}
	}
	close(todo)
	group, ctx := errgroup.WithContext(ctx)
	var mutex sync.Mutex
	for range min(work.Cores(), mostEstimates) {
		group.Go(func() error {
			var memory sample.Memory
			for option := range todo {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				found := estimate(option, &memory)
				mutex.Lock()
				m.estimates[option.keying] = found
				mutex.Unlock()
			}
			return nil
		})
	}
	return group.Wait()
}

// mostEstimates is the number of estimates that are made at a time: one takes some 50 MiB.
const mostEstimates = 4

// mostCopies is the largest number of identical documents that are counted: the shingles of more are not rare.
const mostCopies = 16

func count(documents []sample.Document, shingles int) *lshbands.Counters {
	order := lshbands.NewCounters(shingles)
	for i := range documents {
		for range min(documents[i].Copies, mostCopies) {
			order.Add(documents[i].Set)
		}
	}
	return order
}

// missed returns about how many pairs at or above the threshold share no key of the scheme.
func (m *survey) missed(scheme lshbands.Scheme) float64 {
	exact := m.estimates[keying{keys: methods.Exact}]
	n := 0.
	for _, similarity := range exact.Similar {
		if similarity >= m.threshold {
			n += exact.Weight * (1 - scheme.Probability(similarity))
		}
	}
	return n
}

func (m *survey) load(k keying) load {
	facts, estimate, sizing := &m.facts, m.estimates[k], &m.corpus.sizing
	documents := facts.all()
	l := load{
		bytes:     float64(facts.Bytes),
		documents: documents,
		records:   documents * estimate.Keys,
		gathered:  estimate.DocumentElements,
		splits:    float64(len(m.corpus.inputs.Splits)),
		shards:    float64(sizing.Shards),
		lanes:     float64(min(sizing.Lanes, work.Cores())),
		keyBytes:  float64(sizing.KeyBytes),
	}
	alike := estimate.Alike
	switch {
	case k.method().Ordered:
		l.ordered = documents * facts.Shingles
	case k.method().ComparesAll:
		alike = max(alike, facts.Pairs)
	}
	l.edges = alike + estimate.HotGroupDocuments + facts.Identical
	sample := m.auditSample
	if sample == 0 && !k.method().Promise(k.parameters(m.threshold)).ByConstruction {
		sample = audit.UsualSample
	}
	if sample > 0 {
		l.probed = documents * facts.Shingles * audit.NewShares(sample, m.corpus.inputs.TextBytes()).Probed
	}
	return l
}

const leastHotGroup = 100

func hotGroups(inputs *documents.Inputs, estimate sample.Estimate) []HotGroup {
	var named []HotGroup
	for _, group := range estimate.Groups {
		if group.Documents >= leastHotGroup {
			named = append(named, HotGroup{group.Documents, group.Candidates, inputs.Name(group.Example), group.Dense})
		}
	}
	return named
}
