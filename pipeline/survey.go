package pipeline

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"mirrorbeam/asmkernels"
	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/sample"
	"mirrorbeam/lshbands"
	"mirrorbeam/sketch"
	"mirrorbeam/transforms"
)

const (
	// sampledShingles bounds the documents that a survey keeps to compare them: 64
	// MiB of sets.
	sampledShingles = 8 << 20
	// sampledKeys bounds the records that it keeps for each choice: 7 to 14
	// MiB.
	sampledKeys = 1 << 17
	// sampledPairs is about how many pairs are compared for the distribution of
	// similarities.
	sampledPairs = 1 << 21
)

// survey is what has been measured on a corpus.
type survey struct {
	facts     CorpusFacts
	inputs    transforms.Inputs
	estimates map[lshbands.Scheme]sample.Estimate
	// similarities are those of different pairs under the keys of base, share the
	// share of all such pairs that they are.
	base         lshbands.Scheme
	similarities []float64
	share        float64
}

// takeSurvey reads the corpus and estimates the candidates of each scheme, which
// differ. The pairs that it compares are those of the first.
func takeSurvey(ctx context.Context, config Config, schemes []lshbands.Scheme) (*survey, error) {
	stopWords, err := config.readStopWords()
	if err != nil {
		return nil, failure{ErrUsage, err}
	}
	inputs, size, err := list(config)
	if err != nil {
		return nil, config.fault(ErrInput, err)
	}
	inputs.StopWords = stopWords
	job := config.job(schemes[0], size, len(inputs.Splits), "", "", "")
	s := &surveyor{schemes: schemes, documents: sample.NewDocuments(sampledShingles)}
	for range schemes {
		s.keys = append(s.keys, sample.NewKeys(sampledKeys))
	}
	counts, err := transforms.Survey(ctx, job, inputs, s.visitor)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, config.fault(ErrInput, err)
	}
	if counts.Documents == 0 {
		return nil, failure{ErrInput, errors.New("no document in the input: there is nothing to plan for")}
	}
	m := &survey{inputs: inputs, base: schemes[0], estimates: map[lshbands.Scheme]sample.Estimate{}}
	documents, share := s.documents.List()
	m.facts = CorpusFacts{
		Documents: counts.Documents, ReferenceDocuments: counts.ReferenceDocuments,
		Bytes: counts.Bytes + counts.ReferenceBytes, Rejected: counts.Rejected,
		Shingles: float64(s.shingles.Load()) / float64(counts.Documents+counts.ReferenceDocuments),
		Wordless: s.wordless.Load(), DocumentShare: share,
	}
	for i := range documents {
		m.facts.Identical += float64(documents[i].Copies-1) / share
	}
	if err := s.estimate(ctx, m, job); err != nil {
		return nil, err
	}
	for _, similarity := range m.similarities {
		if similarity >= config.Threshold {
			m.facts.Pairs += m.weight(similarity)
		}
	}
	return m, nil
}

// surveyor collects the samples.
type surveyor struct {
	schemes            []lshbands.Scheme
	documents          *sample.Documents
	keys               []*sample.Keys // by scheme
	shingles, wordless atomic.Int64
}

// visitor returns a visitor of a part of the documents.
func (s *surveyor) visitor() func(*transforms.Surveyed) {
	signer := newSigner(s.schemes...)
	batches := make([][]candidates.Record, len(s.schemes))
	return func(d *transforms.Surveyed) {
		if d == nil {
			for i := range batches {
				s.keys[i].Add(batches[i])
				batches[i] = batches[i][:0]
			}
			return
		}
		if len(d.Set) == 0 { // like those of the same bytes only
			s.wordless.Add(1)
			return
		}
		s.shingles.Add(int64(len(d.Set)))
		if s.documents.Wants(d.Digest) {
			s.documents.Add(sample.Document{Ref: d.Ref, Digest: d.Digest, Set: d.Set, SimHash: d.SimHash})
		}
		signer.sign(d.Set)
		for i, scheme := range s.schemes {
			keys := signer.keys(scheme)
			if slices.ContainsFunc(keys, s.keys[i].Wants) {
				// Add leaves out those that it does not want.
				batches[i] = sample.AppendRecords(batches[i], d.Ref, d.Digest, len(d.Set), keys)
			}
		}
	}
}

// signer computes keys of sets for several schemes; not for concurrent use.
type signer struct {
	minhash   *sketch.MinHash
	signature []uint32
	buffer    []uint64
}

func newSigner(schemes ...lshbands.Scheme) *signer {
	components := 0
	for _, scheme := range schemes {
		components = max(components, scheme.Components())
	}
	return &signer{minhash: sketch.NewMinHash(components)}
}

// sign computes the signature of a set.
func (s *signer) sign(set []uint64) { s.signature = s.minhash.Signature(s.signature, set) }

// keys returns the keys of the signed set; valid until the next call.
func (s *signer) keys(scheme lshbands.Scheme) []uint64 {
	s.buffer = scheme.AppendKeys(s.buffer[:0], s.signature)
	return s.buffer
}

// estimate estimates the candidates of all schemes, side by side, and compares
// pairs.
func (s *surveyor) estimate(ctx context.Context, m *survey, job transforms.Job) error {
	firstInput, err := m.inputs.FirstInput()
	if err != nil {
		return err
	}
	estimator := func(scheme lshbands.Scheme) *sample.Estimator {
		signer := newSigner(scheme)
		return &sample.Estimator{
			Threshold: job.Threshold, MaxComparisons: job.GroupComparisons, FirstInput: firstInput,
			AppendKeys: func(keys []uint64, d *sample.Document) []uint64 {
				signer.sign(d.Set)
				return append(keys, signer.keys(scheme)...)
			},
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(transforms.Cores())
	group.Go(func() error {
		m.share = estimator(m.base).EachPair(s.documents, sampledPairs, func(a, b *sample.Document) {
			shared := asmkernels.Intersect(a.Set, b.Set, 0)
			m.similarities = append(m.similarities, float64(shared)/float64(len(a.Set)+len(b.Set)-shared))
		})
		return ctx.Err()
	})
	var mutex sync.Mutex
	for i, scheme := range s.schemes {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			estimate := estimator(scheme).Estimate(s.documents, s.keys[i])
			mutex.Lock()
			defer mutex.Unlock()
			m.estimates[scheme] = estimate
			return nil
		})
	}
	return group.Wait()
}

// weight returns for how many pairs of the corpus one of that similarity stands.
func (m *survey) weight(similarity float64) float64 {
	return 1 / (m.share * m.base.Probability(similarity))
}

// missed returns about how many pairs at or above the threshold share no key of
// the scheme.
func (m *survey) missed(scheme lshbands.Scheme, threshold float64) float64 {
	n := 0.
	for _, similarity := range m.similarities {
		if similarity >= threshold {
			n += m.weight(similarity) * (1 - scheme.Probability(similarity))
		}
	}
	return n
}

// leastHeap is how many documents a group has to have to be named.
const leastHeap = 100

// heaps names the largest groups of an estimate.
func (m *survey) heaps(estimate sample.Estimate) []Heap {
	var heaps []Heap
	for _, group := range estimate.Groups {
		if group.Documents >= leastHeap {
			heaps = append(heaps, Heap{group.Documents, group.Candidates, m.inputs.Name(group.Example)})
		}
	}
	return heaps
}
