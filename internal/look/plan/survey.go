package plan

import (
	"context"
	"math"
	"sync"

	"golang.org/x/sync/errgroup"

	"mirrorbeam/asmkernels"
	"mirrorbeam/internal/carry/audit"
	"mirrorbeam/internal/carry/findings"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/look/sample"
	"mirrorbeam/internal/match/groups"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/start/failure"
	"mirrorbeam/internal/start/listing"
	"mirrorbeam/job"
	"mirrorbeam/lshbands"
)

// sampledShingles bounds the documents that a survey keeps: 64 MiB of sets.
const sampledShingles = 8 << 20

type survey struct {
	facts     Facts
	corpus    corpusRead
	cut       Cut
	ids       ids
	reread    float64 // see [Work]
	estimates map[keying]sample.Estimate
	threshold float64
	// auditSample is the number of documents that the audit of the job samples, 0 without an audit.
	auditSample int
}

func takeSurvey(ctx context.Context, config job.Config, options *options) (*survey, error) {
	m := &survey{threshold: config.Threshold, auditSample: config.AuditSample(), estimates: map[keying]sample.Estimate{}}
	c, err := m.read(ctx, config)
	if err != nil {
		return nil, err
	}
	m.facts, m.cut, m.ids = c.facts(m.corpus.counts), c.cut(&m.corpus), c.ids(m.corpus.counts)
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
					c.documents.Add(sample.Document{Ref: d.Ref, Hash: d.Hash, Digest: d.Digest, Length: d.Length, Set: d.Set})
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

func (m *survey) estimate(ctx context.Context, config job.Config, c *census, firstInput docref.Ref, options *options) error {
	documents, share := c.documents.List()
	bounds := groups.UsualBounds()
	estimator := sample.Estimator{
		Threshold: config.Threshold, FirstInput: firstInput, CrowdedPairs: float64(bounds.Group),
		PlaceElements: float64(m.corpus.sizing.PlaceBytes) / 8,
		Compare: func(a, b *sample.Document) float64 {
			shared := asmkernels.Intersect(a.Set, b.Set, 0)
			return float64(shared) / float64(len(a.Set)+len(b.Set)-shared)
		},
		LargestCompared: func(pairs []float64) float64 {
			crowds := make([]int64, len(pairs))
			for i := range pairs {
				crowds[i] = int64(pairs[i])
			}
			return float64(bounds.Limit(crowds, m.facts.Documents+m.facts.ReferenceDocuments))
		},
		Leaders: func(documents int) *graphs.Leaders {
			return graphs.NewLeaders(documents, config.Threshold, func(n int) int { return lshbands.PrefixLength(config.Threshold, n) })
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

// estimateAll makes the estimates of all options but all pairs, side by side.
func (m *survey) estimateAll(ctx context.Context, options *options, estimate func(*option, *sample.Memory) sample.Estimate) error {
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

// count counts the shingles of documents, in a counter made for that many.
func count(documents []sample.Document, shingles int) *lshbands.Counters {
	order := lshbands.NewCounters(shingles)
	for i := range documents {
		for range min(documents[i].Copies, mostCopies) {
			order.Add(documents[i].Set)
		}
	}
	return order
}

// missed returns about how many pairs at or above the threshold share no key of
// the scheme.
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

func (m *survey) work(k keying) Work {
	facts, estimate := &m.facts, m.estimates[k]
	documents := float64(facts.Documents + facts.ReferenceDocuments)
	w := Work{
		Documents: documents, Bytes: float64(facts.Bytes), Shingles: documents * facts.Shingles,
		Gathered: estimate.Documents + estimate.HeapDocuments, GatheredShingles: estimate.DocumentElements,
		IDs: m.ids.number, IDBytes: m.ids.bytes, Rejected: float64(facts.Rejected), Identical: facts.Identical,
		Candidates: estimate.Candidates, Cut: m.cut,
	}
	w.Records, w.RecordBytes = documents*estimate.Keys, documents*k.keyBytes(estimate.Keys)
	alike := 0.
	switch {
	case k.scheme.Bands > 0:
		w.bands(k.scheme.Components(), k.scheme.Bands)
	case k.method().Ordered:
		w.Ordered = w.Shingles
	case k.method().ComparesAll:
		alike, w.Reread = facts.Pairs, m.reread
	}
	alike = max(alike, estimate.Alike)
	w.Edges = alike + estimate.HeapDocuments + facts.Identical
	w.Scanned = scanned(estimate.Elements, min(alike/max(estimate.Candidates, 1), 1), m.threshold)
	if !k.method().ComparesAll {
		w.Listed = estimate.Candidates - estimate.HeapCandidates
	}
	m.audit(k, &w)
	return w
}

// audit adds the work of the audit of a job with these keys.
func (m *survey) audit(k keying, w *Work) {
	sample := m.auditSample
	if sample == 0 && !k.method().Promise(k.parameters(m.threshold)).ByConstruction {
		sample = audit.UsualSample
	}
	if sample > 0 {
		w.setAside(sample, m.corpus.inputs.TextBytes())
	}
}

// leastHeap is the least number of documents of a group that is named.
const leastHeap = 100

// heaps names the largest groups of an estimate.
func heaps(inputs *documents.Inputs, estimate sample.Estimate) []Heap {
	var heaps []Heap
	for _, group := range estimate.Groups {
		if group.Documents >= leastHeap {
			heaps = append(heaps, Heap{group.Documents, group.Candidates, inputs.Name(group.Example), group.Dense})
		}
	}
	return heaps
}

// Scaled returns the work of a job on a corpus that is factor times as large and otherwise alike: a document has as many
// shingles, keys and near-duplicates. The temporary files are in a bucket. The job is cut for processes that aim to stay
// below memory bytes, 0 for ample, and work on the given number of tasks at a time.
func (w *Work) Scaled(factor float64, memory int64, tasks int) Work {
	s := *w
	for _, amount := range []*float64{
		&s.Documents, &s.Bytes, &s.Shingles, &s.IDs, &s.IDBytes, &s.Rejected, &s.Signature, &s.Weighed, &s.Records, &s.RecordBytes,
		&s.Gathered, &s.GatheredShingles, &s.Listed, &s.Candidates, &s.Scanned, &s.Edges, &s.Identical, &s.Ordered, &s.Blocks,
	} {
		*amount *= factor
	}
	bytes := int64(s.Bytes)
	sizing := job.PlanMemory(memory, bytes, tasks)
	s.Splits = math.Ceil(s.Bytes / float64(listing.SplitBytes(bytes)))
	s.Shards, s.Outputs = float64(sizing.Shards), float64(work.OutputShards(findings.Counts{Documents: int64(s.Documents)}))
	s.Lanes, s.RunBytes, s.PlaceBytes, s.CountBytes = float64(tasks), 0, float64(sizing.PlaceBytes), float64(sizing.CountBytes)
	s.KeyBytes = float64(sizing.KeyBytes)
	if s.Drawn > 0 {
		s.setAside(audit.UsualSample, bytes)
	}
	return s
}

// setAside adds the work of an audit, by the documents in its sample and the bytes of the corpus.
func (w *Work) setAside(sample int, bytes int64) {
	shares := audit.NewShares(sample, bytes)
	w.Probed = w.Shingles * shares.Probed
	// The sample is drawn from documents that are set aside, and so are those that are looked at, unless all are.
	share := shares.Sampled
	if shares.Probed < 1 {
		share = shares.Probed
	}
	w.SetAside = w.Shingles * share
	drawn := float64(shares.Elements(int64(w.Shingles), 0)) * w.Documents / max(w.Shingles, 1)
	w.Drawn = min(float64(sample), drawn, w.Documents*shares.Sampled)
}
