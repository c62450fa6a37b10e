package plan

import (
	"context"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"mirrorbeam/asmkernels"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/look/sample"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/start/failure"
	"mirrorbeam/job"
	"mirrorbeam/lshbands"
	"mirrorbeam/sketch"
)

type tableOption struct {
	lshbands.Tables
	flags string
}

// planTables does the work of [Make] for SimHash keys.
func planTables(ctx context.Context, c Config, config job.Config) (*Advice, error) {
	most := math.MaxInt
	if len(c.Input) > 0 {
		most = mostMeasuredTables
	}
	options, chosen, err := listTables(&config, most)
	if err != nil {
		return nil, failure.New(failure.Usage, err)
	}
	advice := &Advice{Config: c}
	workload := c.workload(lshbands.FingerprintCosts())
	simHash := chosen.method()
	workload.RecordBytes = func(keys float64) float64 {
		return simHash.KeyBytes(&methods.Parameters{SimHashBits: config.Bits}, keys)
	}
	var measured *fingerprintSurvey
	if len(c.Input) > 0 {
		if measured, err = surveyFingerprints(ctx, config, options); err != nil {
			return nil, err
		}
		advice.tell(&measured.facts, &workload)
		advice.Distances = measured.distances
	}
	for i := range options {
		option := &options[i]
		choice := Choice{Keys: methods.SimHash, Flags: option.flags}
		candidates := -1. // candidates of random fingerprints
		if measured != nil {
			candidates = measured.estimates[i].Candidates
			choice.doubt(measured.estimates[i], workload.Documents, &measured.corpus.inputs)
		}
		choice.Choice = workload.Permuted(option.Permuted, option.Blocks, candidates)
		choice.CPUSeconds = choice.Seconds
		if measured != nil {
			work := measured.work(choice.Choice, config.Bits)
			choice.Work, choice.Needs = &work, work.Needs(choice.Keys)
			choice.CPUSeconds += choice.Candidates * workload.Costs.Comparison
			choice.Seconds = choice.CPUSeconds
			// Pairs within the distance of the configuration that this choice misses.
			for _, n := range measured.distances[min(choice.Distance, config.Hamming)+1 : config.Hamming+1] {
				choice.Missed += n
			}
		}
		advice.Choices = append(advice.Choices, choice)
	}
	slices.SortStableFunc(advice.Choices, func(a, b Choice) int { return a.Compare(&b.Choice) })
	place := func(wanted func(c *Choice) bool) int {
		return slices.IndexFunc(advice.Choices, func(c Choice) bool { return wanted(&c) })
	}
	advice.Chosen = place(func(c *Choice) bool { return c.keying() == chosen })
	advice.Best = place(func(c *Choice) bool { return c.Fits && c.Distance == config.Hamming })
	advice.Cheaper = place(func(c *Choice) bool {
		return c.Distance < config.Hamming && c.Seconds < advice.Choices[advice.Chosen].Seconds
	})
	advice.Safer = place(func(c *Choice) bool { return c.Distance > config.Hamming })
	if measured != nil {
		advice.describe(&c, &measured.corpus.inputs)
	}
	return advice, nil
}

// mostMeasuredTables is the largest number of tables for which candidates are measured: more are only useful for
// thousands of millions of documents.
const mostMeasuredTables = 64

// listTables lists the tables for fingerprints within the distance of a configuration, up to most tables, and the tables
// that a job would have for one bit less and one more. Chosen is the keying that the job has.
func listTables(config *job.Config, most int) (options []tableOption, chosen keying, err error) {
	bits, distance := config.Bits, config.Hamming
	schemes, err := lshbands.TableSchemes(bits, distance)
	if err != nil {
		return nil, chosen, err
	}
	p, err := lshbands.PlanTables(bits, distance, config.Blocks...)
	if err != nil {
		return nil, chosen, err
	}
	usual, err := lshbands.PickTables(schemes)
	if err != nil {
		return nil, chosen, err
	}
	chosen = keying{keys: methods.SimHash, blocks: job.BlocksText(p.Blocks()), distance: distance}
	isListed := false
	for _, tables := range schemes {
		option := tableOption{Tables: tables}
		switch blocks := job.BlocksText(tables.Blocks); {
		case blocks == chosen.blocks:
			isListed = true
		case slices.Equal(tables.Blocks, usual.Blocks()):
			option.flags = fmt.Sprintf("--hamming %d", distance) // no --blocks
		default:
			option.flags = "--blocks " + blocks
		}
		if option.flags == "" || tables.Tables() <= max(most, p.Tables()) {
			options = append(options, option)
		}
	}
	if !isListed {
		options = append(options, tableOption{Tables: lshbands.Tables{Blocks: p.Blocks(), Permuted: p}})
	}
	for _, next := range []int{distance - 1, distance + 1} {
		// There may be no tables for a distance.
		if p, err := lshbands.PlanTables(bits, next); err == nil {
			options = append(options, tableOption{lshbands.Tables{Blocks: p.Blocks(), Permuted: p}, fmt.Sprintf("--hamming %d", next)})
		}
	}
	return options, chosen, nil
}

type fingerprintSurvey struct {
	facts     Facts
	corpus    corpusRead
	cut       Cut
	ids       ids
	estimates []sample.Estimate // by option
	distances []float64         // numbers of pairs by distance, up to one more than asked for
}

func (m *fingerprintSurvey) work(c lshbands.Choice, bits int) Work {
	facts := &m.facts
	documents := float64(facts.Documents + facts.ReferenceDocuments)
	return Work{
		Documents: documents, Bytes: float64(facts.Bytes), Weighed: documents * facts.Shingles * float64(bits),
		Records: documents * c.KeysPerDocument, RecordBytes: c.Bytes, Kept: float64(8 * sketch.SimHashWords(bits)),
		IDs: m.ids.number, IDBytes: m.ids.bytes, Rejected: float64(facts.Rejected), Identical: facts.Identical,
		Edges: facts.Pairs + facts.Identical, Cut: m.cut,
	}
}

// surveyFingerprints reads the corpus, estimates the candidates of each option, and
// counts pairs by their distance.
func surveyFingerprints(ctx context.Context, config job.Config, options []tableOption) (*fingerprintSurvey, error) {
	var c *census
	corpus, err := readCorpus(ctx, config, func(size int64) func() documents.Visitor {
		c = newCensus(sampledFingerprints*sketch.SimHashWords(config.Bits), size)
		return func() documents.Visitor {
			return c.visitor(func(d *documents.Surveyed) {
				// One document stands for all of the same fingerprint.
				c.documents.Add(sample.Document{Ref: d.Ref, Hash: d.Hash, Digest: fingerprintDigest(d.SimHash), Set: d.SimHash})
			})
		}
	})
	if err != nil {
		return nil, err
	}
	m := &fingerprintSurvey{
		facts: c.facts(corpus.counts), corpus: corpus, cut: c.cut(&corpus), ids: c.ids(corpus.counts),
		distances: make([]float64, config.Hamming+2),
	}
	firstInput, err := corpus.inputs.FirstInput()
	if err != nil {
		return nil, failure.Explain(&config, failure.Input, err)
	}
	documents, share := c.documents.List()
	largest := 0
	m.estimates = make([]sample.Estimate, len(options))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(min(work.Cores(), mostEstimates))
	for i := range options {
		if options[i].Distance() > options[largest].Distance() {
			largest = i
		}
		group.Go(func() error {
			if ctx.Err() == nil {
				m.estimates[i] = withTables(firstInput, options[i].Permuted).Estimate(documents, share, new(sample.Memory))
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	m.facts.DocumentShare = min(m.facts.DocumentShare, m.estimates[largest].Share)
	for _, distance := range m.estimates[largest].Similar {
		if int(distance) < len(m.distances) {
			m.distances[int(distance)] += m.estimates[largest].Weight
		}
	}
	for distance := range m.distances[:config.Hamming+1] {
		m.facts.Pairs += m.distances[distance]
	}
	return m, nil
}

// sampledFingerprints bounds the documents that are kept: some 60 MiB.
const sampledFingerprints = 1 << 19

// fingerprintDigest returns an evenly spread hash of a fingerprint.
func fingerprintDigest(fingerprint []uint64) uint64 {
	digest := uint64(0)
	for _, word := range fingerprint {
		digest = asmkernels.SplitMix(digest ^ word)
	}
	return digest
}
