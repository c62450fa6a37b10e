package pipeline

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"mirrorbeam/asmkernels"
	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/docref"
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
	estimates map[keying]sample.Estimate
	// similarities are those of different pairs under the keys of base, share the
	// share of all such pairs that they are.
	base         lshbands.Scheme
	similarities []float64
	share        float64
}

// takeSurvey reads the corpus and estimates the candidates of each option. The
// pairs that it compares are those of the base.
func takeSurvey(ctx context.Context, config Config, options *options) (*survey, error) {
	var s *surveyor
	inputs, counts, err := readCorpus(ctx, config, func(size int64) func() func(*transforms.Surveyed) {
		s = newSurveyor(options, size)
		return s.visitor
	})
	if err != nil {
		return nil, err
	}
	m := &survey{
		facts: s.facts(counts), inputs: inputs,
		base: options.base, estimates: map[keying]sample.Estimate{},
	}
	firstInput, err := inputs.FirstInput()
	if err != nil {
		return nil, config.fault(ErrInput, err)
	}
	estimator := sample.Estimator{Threshold: config.Threshold, MaxComparisons: plannedComparisons, FirstInput: firstInput}
	if err := s.estimate(ctx, m, estimator); err != nil {
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
	census
	schemes  []lshbands.Scheme
	keys     []*sample.Keys // by scheme
	counters chan *lshbands.Counter
}

// mostCounters is how many counters of shingles there are: few, as one may take 64
// MiB, and counting is a small part of the work.
const mostCounters = 2

// bytesPerShingle is how much text there is at least, as the sizes of files tell,
// for each distinct shingle of a document: a fourth of what is usual, since some
// files are compressed to less than is thought.
const bytesPerShingle = 2

// newSurveyor returns a surveyor of a corpus of about that many bytes.
func newSurveyor(options *options, size int64) *surveyor {
	s := &surveyor{census: newCensus(sampledShingles), counters: make(chan *lshbands.Counter, mostCounters)}
	for _, option := range options.all {
		if option.keys == transforms.MinHash {
			s.schemes = append(s.schemes, option.scheme)
			s.keys = append(s.keys, sample.NewKeys(sampledKeys))
		}
	}
	for range min(mostCounters, transforms.Cores()) {
		s.counters <- lshbands.NewCounter(size / bytesPerShingle)
	}
	return s
}

// visitor returns a visitor of a part of the documents.
func (s *surveyor) visitor() func(*transforms.Surveyed) {
	signer := newSigner(s.schemes...)
	batches := make([][]candidates.Record, len(s.schemes))
	var shingles []uint64
	return func(d *transforms.Surveyed) {
		if d == nil {
			for i := range batches {
				s.keys[i].Add(batches[i])
				batches[i] = batches[i][:0]
			}
			counter := <-s.counters
			counter.Add(shingles) // where a set ends does not matter
			s.counters <- counter
			shingles = shingles[:0]
			return
		}
		if !s.hasWords(d) {
			return
		}
		shingles = append(shingles, d.Set...)
		if s.documents.Wants(d.Digest) {
			s.documents.Add(sample.Document{Ref: d.Ref, Digest: d.Digest, Set: d.Set})
		}
		signer.sign(d.Set)
		for i, scheme := range s.schemes {
			keys := signer.keys(scheme)
			batches[i] = appendWanted(batches[i], s.keys[i], d.Ref, d.Digest, len(d.Set), keys)
		}
	}
}

// appendWanted appends those records of a document with these keys that are in the
// sample.
func appendWanted(records []candidates.Record, sampled *sample.Keys, ref docref.Ref, digest uint64, size int, keys []uint64) []candidates.Record {
	if !slices.ContainsFunc(keys, sampled.Wants) {
		return records
	}
	n := len(records)
	records = sample.AppendRecords(records, ref, digest, size, keys)
	unwanted := func(r candidates.Record) bool { return !sampled.Wants(r.Key) }
	return records[:n+len(slices.DeleteFunc(records[n:], unwanted))]
}

// order returns the order of all shingles as the job would have it: counted in a
// counter for just so many, which one for twice as many folds down to.
func (s *surveyor) order() (*lshbands.Counter, error) {
	sum := (<-s.counters).Bytes()
	for len(s.counters) > 0 {
		lshbands.AddCounts(sum, (<-s.counters).Bytes())
	}
	for want := len(lshbands.NewCounter(s.shingles.Load()).Bytes()); len(sum) > want; {
		half := len(sum) / 2
		lshbands.AddCounts(sum[:half], sum[half:])
		sum = sum[:half]
	}
	order, err := lshbands.CounterOf(int64(len(sum)))
	if err != nil {
		return nil, err
	}
	copy(order.Bytes(), sum)
	return order, nil
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

// estimate estimates the candidates of all options, side by side, and compares
// pairs.
func (s *surveyor) estimate(ctx context.Context, m *survey, estimator sample.Estimator) error {
	order, err := s.order()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(min(transforms.Cores(), mostEstimates))
	var mutex sync.Mutex
	estimate := func(keying keying, estimator *sample.Estimator, keys *sample.Keys) {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			estimate := estimator.Estimate(s.documents, keys)
			mutex.Lock()
			defer mutex.Unlock()
			m.estimates[keying] = estimate
			return nil
		})
	}
	group.Go(func() error {
		m.share = withBands(estimator, m.base).EachPair(s.documents, sampledPairs, func(a, b *sample.Document) {
			shared := asmkernels.Intersect(a.Set, b.Set, 0)
			m.similarities = append(m.similarities, float64(shared)/float64(len(a.Set)+len(b.Set)-shared))
		})
		return ctx.Err()
	})
	estimate(keying{keys: transforms.ExactKeys}, withExactKeys(estimator, order), nil)
	for i, scheme := range s.schemes {
		estimate(withScheme(scheme), withBands(estimator, scheme), s.keys[i])
	}
	return group.Wait()
}

// plannedComparisons are the pairs of a group that a plan takes for dense: a job knows
// all groups when it decides, a plan a sample of them. All pairs of 4,096.
const plannedComparisons = 4096 * 4095 / 2

// mostEstimates is how many estimates are made at a time: one takes some 30 MiB.
const mostEstimates = 4

// withBands returns an estimator for MinHash keys.
func withBands(e sample.Estimator, scheme lshbands.Scheme) *sample.Estimator {
	signer := newSigner(scheme)
	e.AppendRecords = func(records []candidates.Record, d *sample.Document) []candidates.Record {
		signer.sign(d.Set)
		return sample.AppendRecords(records, d.Ref, d.Digest, len(d.Set), signer.keys(scheme))
	}
	return &e
}

// withExactKeys returns an estimator for exact keys.
func withExactKeys(e sample.Estimator, order *lshbands.Counter) *sample.Estimator {
	prefix := lshbands.NewPrefixKeys(order, e.Threshold)
	e.Exact = true
	e.AppendRecords = func(records []candidates.Record, d *sample.Document) []candidates.Record {
		return transforms.AppendExactRecords(records, d.Ref, d.Digest, d.Set, prefix)
	}
	return &e
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
func heaps(inputs *transforms.Inputs, estimate sample.Estimate) []Heap {
	var heaps []Heap
	for _, group := range estimate.Groups {
		if group.Documents >= leastHeap {
			heaps = append(heaps, Heap{group.Documents, group.Candidates, inputs.Name(group.Example)})
		}
	}
	return heaps
}
