package plan

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"mirrorbeam.dev/internal/fingerprint/fingerprints"
	"mirrorbeam.dev/internal/inspect/sample"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/lshbands"
)

type keying struct {
	keys   methods.Name
	scheme lshbands.Scheme // scheme of MinHash, zero for others
}

func (k keying) method() *methods.Method {
	m, _ := methods.Of(k.keys)
	return m
}

func (k keying) parameters(threshold float64) *methods.Parameters {
	return &methods.Parameters{Threshold: threshold, Scheme: k.scheme}
}

func withScheme(s lshbands.Scheme) keying { return keying{keys: methods.MinHash, scheme: s} }

type option struct {
	keying
	flags string
}

type options struct {
	all    []option
	chosen keying
	// base holds the bands of the configuration, or those that it would have if it asked for MinHash.
	base lshbands.Scheme
	// steps are the options among which the next cheaper and safer ones are looked for. Other options differ in ways
	// that nobody asks for.
	steps []keying
}

// recalls are the steps of recall by which a plan goes to a cheaper or a safer choice.
var recalls = []float64{0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999}

// fewerRows and moreRows say how many rows fewer and more than the configuration's are worth a look: fewer rows give
// many more candidates, more rows many more keys.
const fewerRows, moreRows = 1, 2

// listOptions lists the options of a configuration: the two exact ways; bands of about as many rows that find a pair at
// the threshold as surely as it asks for; and bands a step of recall below and above its own.
func listOptions(config *job.Config) (*options, error) {
	o := &options{chosen: keying{keys: config.Method()}}
	recall, given := job.UsualRecall, lshbands.Scheme{}
	if config.Method() == methods.MinHash {
		recall, given = config.PromisedRecall(), lshbands.Scheme{Bands: config.Bands, Rows: config.Rows}
	}
	var err error
	if o.base, err = lshbands.Plan(config.Threshold, recall, given); err != nil {
		return nil, err
	}
	if config.Method() == methods.MinHash {
		o.chosen.scheme = o.base
	}
	exact := keying{keys: methods.Exact}
	o.steps = append(o.steps, exact)
	o.add(config, exact, "--keys exact")
	o.add(config, keying{keys: methods.All}, "--keys all")
	o.step(config, o.base, recall)
	for _, s := range lshbands.Schemes(config.Threshold, recall) {
		if s.Rows >= o.base.Rows-fewerRows && s.Rows <= o.base.Rows+moreRows {
			o.add(config, withScheme(s), bandFlags(s))
		}
	}
	var below, above lshbands.Scheme
	var recallBelow, recallAbove float64
	for _, recall := range recalls {
		// The same number of rows: a step along the same curve.
		s, err := lshbands.Plan(config.Threshold, recall, lshbands.Scheme{Rows: o.base.Rows})
		switch {
		case err != nil:
		case s.Bands < o.base.Bands:
			below, recallBelow = s, recall
		case s.Bands > o.base.Bands && above.Bands == 0:
			above, recallAbove = s, recall
		}
	}
	o.step(config, below, recallBelow)
	o.step(config, above, recallAbove)
	o.add(config, o.chosen, "") // if it is none of these
	return o, nil
}

// step adds bands that are a step of recall, if there are any.
func (o *options) step(config *job.Config, s lshbands.Scheme, recall float64) {
	if s.Bands == 0 {
		return
	}
	flags := bandFlags(s)
	if usual, err := lshbands.Plan(config.Threshold, recall, lshbands.Scheme{}); err == nil && usual == s {
		flags = fmt.Sprintf("--recall %g", recall)
	}
	keying := withScheme(s)
	o.steps = append(o.steps, keying)
	o.add(config, keying, flags)
}

func (o *options) settle(config *job.Config, documents int64) {
	if documents > config.AllPairsUpTo() {
		return
	}
	o.chosen = keying{keys: methods.All}
	for i := range o.all {
		switch o.all[i].keys {
		case methods.All:
			o.all[i].flags = ""
		case methods.Exact:
			o.all[i].flags = "--keys exact"
		}
	}
}

func (o *options) add(config *job.Config, k keying, flags string) {
	if slices.ContainsFunc(o.all, func(other option) bool { return other.keying == k }) {
		return
	}
	switch {
	case k == o.chosen:
		flags = ""
	case k.keys == methods.MinHash && config.Keys == methods.Exact:
		flags = "--keys minhash " + flags
	}
	o.all = append(o.all, option{k, flags})
}

func bandFlags(s lshbands.Scheme) string { return fmt.Sprintf("--bands %d --rows %d", s.Bands, s.Rows) }

// withKeys returns an estimator for these keys. The counters have counted the shingles, for
// keys that need frequencies.
func (k keying) withKeys(e sample.Estimator, counters *lshbands.Counters) *sample.Estimator {
	method := k.method()
	// NewKeys fails for SimHash keys only, and these are not planned.
	keys, _ := method.NewKeys(k.parameters(e.Threshold), counters)
	e.Exact = method.Exact
	var document methods.Document
	e.AppendRecords = func(records []candidates.Record, d *sample.Document) []candidates.Record {
		document = methods.Document{
			Ref:     d.Ref,
			Digest:  digest.Digest{d.Digest},
			Size:    len(d.Set),
			Content: fingerprints.Content{Set: d.Set},
		}
		return keys(records, &document)
	}
	return &e
}

// estimateOrdered estimates the candidates of keys that need an order of shingles. The order is the sample's. It
// is counted in a counter in which about as many shingles share a cell as in the job's.
func (m *survey) estimateOrdered(e sample.Estimator, k keying, documents []sample.Document, share float64,
	memory *sample.Memory,
) sample.Estimate {
	all := m.facts.all() * m.facts.Shingles
	estimate := k.withKeys(e, count(documents, int(all*share+0.5))).Estimate(documents, share, memory)
	if share < 1 {
		alike := estimate.Alike / max(estimate.Candidates-estimate.HotGroupCandidates, 1)
		copied := estimate.Hidden * alike / m.facts.all()
		estimate.Keys = exactKeys(documents, share, e.Threshold, all, min(copied, 1))
		estimate.Low, estimate.High = estimate.Low/orderError, estimate.High*orderError
	}
	return estimate
}

// orderError is by how much candidates may be off as shingles rare in the sample are not the rarest of the corpus.
const orderError = 1.25

// The number of exact keys of a document depends on how many of its shingles other documents have. A sample shows only
// few of these. Each doubling of the sample shows more; further doublings are assumed to show as many more as the last
// one. Also, a counter takes a shingle for a common one if another shingle shares its cell.

// spread says how much documents differ, beyond chance, in the share of their shingles that others have: 0 not at all,
// 1 where others have all or nothing.
const spread = 0.55

// exactKeys returns the mean number of exact keys of a document in a corpus of the given number of shingles, of which
// these documents are a share. Copied is the share of the corpus that is copied documents: most of their partners are
// not in the sample, and other documents have all of their shingles.
func exactKeys(documents []sample.Document, share, threshold, shingles, copied float64) float64 {
	half := slices.DeleteFunc(slices.Clone(documents), func(d sample.Document) bool {
		return d.Hash > uint64(share*math.MaxInt64)
	})
	now, before := newSharing(documents), newSharing(half)
	doublings := math.Log2(1 / share)
	// The shingles that are unique in the sample but not in the corpus count as found.
	found := now.shared() + (now.shared()-before.shared())*doublings
	stay := min(max((1-found)/max(1-now.shared(), 1e-9), 0), 1)
	distinct := now.distinct * math.Pow(max(now.distinct/max(before.distinct, 1), 1), doublings)
	stay *= math.Exp(-distinct / lshbands.Cells(shingles))
	sum, longest, copies := 0., 0., 0.
	for i := range documents {
		d := &documents[i]
		length := float64(lshbands.PrefixLength(threshold, len(d.Set)))
		unique := float64(now.unique[i])
		deviation := math.Sqrt((unique + spread*spread*unique*unique) * stay * (1 - stay))
		sum += float64(d.Copies) * expectedAbove(length-unique*stay, deviation)
		longest += float64(d.Copies) * length
		copies += float64(d.Copies)
	}
	return min(sum+(longest-sum)*copied, longest) / max(copies, 1)
}

// expectedAbove returns the mean of the part above 0 of a normal distribution.
func expectedAbove(mean, deviation float64) float64 {
	if deviation == 0 {
		return max(mean, 0)
	}
	z := mean / deviation
	density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
	return mean*math.Erfc(-z/math.Sqrt2)/2 + deviation*density
}

type sharing struct {
	unique       []int // number of unique shingles by document
	all, uniques float64
	distinct     float64
}

// spareCells is the factor by which a counter has more cells than a job's, so that shingles are unlikely to share one.
const spareCells = 2

func newSharing(documents []sample.Document) sharing {
	var s sharing
	shingles := 0
	for i := range documents {
		shingles += len(documents[i].Set) * min(documents[i].Copies, mostCopies)
	}
	order := count(documents, shingles*spareCells)
	var frequencies []byte
	for i := range documents {
		d := &documents[i]
		frequencies = order.AppendFrequencies(frequencies[:0], d.Set)
		unique := bytes.Count(frequencies, []byte{0})
		s.unique = append(s.unique, unique)
		s.all += float64(len(d.Set) * d.Copies)
		s.uniques += float64(unique * d.Copies)
	}
	s.distinct = s.uniques + (s.all-s.uniques)/sharers
	return s
}

// sharers is about how many documents have a shingle, if more than one has.
const sharers = 4

// shared returns the share of the shingles that others have.
func (s *sharing) shared() float64 { return 1 - s.uniques/max(s.all, 1) }
