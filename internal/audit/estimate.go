package audit

import (
	"math/rand/v2"
	"slices"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records/docref"
)

// Result is what an audit says about a job.
type Result struct {
	// Sampled is how many documents were sampled.
	Sampled int `json:"sampled"`
	// Partnered is how many of them have a near-duplicate among the documents that the audit compared.
	Partnered int `json:"partnered"`
	// Pairs is how many such near-duplicates they have in all.
	Pairs int64 `json:"pairs"`
	// Recall is the share, from 0 to 1, of all pairs at or above the threshold whose documents are joined by verified
	// pairs. Low, Recall and High are the same if every document was sampled.
	Recall float64 `json:"recall"`
	// Low is its lower bound with a confidence of 95 %.
	Low float64 `json:"low"`
	// High is its upper bound.
	High float64 `json:"high"`
	// Listed is the share of all pairs that follow from the rows of pairs and from identical documents.
	Listed float64 `json:"listed"`
	// ListedLow is its lower bound.
	ListedLow float64 `json:"listed_low"`
	// ListedHigh is its upper bound.
	ListedHigh float64 `json:"listed_high"`
	// Wide says that an interval is wider than 0.1: the audit found too few pairs.
	Wide bool `json:"wide,omitempty"`
}

// wide is the width beyond which an interval says little.
const wide = 0.1

// Scope says what an audit looked at.
type Scope struct {
	// AllSampled says that every document with words was sampled, AllProbed that every one was looked at as a partner.
	AllSampled, AllProbed bool
}

// tally counts pairs. In all fields but pairs, a pair with a document of the reference counts twice: only one
// of its documents can be sampled. Of other pairs both can.
type tally struct {
	pairs, weight, listed, together int64
}

func (t *tally) add(other tally, times int64) {
	t.pairs += times * other.pairs
	t.weight += times * other.weight
	t.listed += times * other.listed
	t.together += times * other.together
}

// groups is the number of groups among which the documents are dealt out for the bootstrap.
const groups = 256

// Estimate sums up what was seen. Joined reports whether two documents are in one component.
func (c *Classes) Estimate(l *Listing, joined func(a, b docref.Ref) bool, scope Scope) Result {
	sampled := map[SampledClass]tally{} // one document of each sampled class
	samples := map[SampledClass]int64{}
	for _, s := range c.samples {
		samples[s.class]++
	}
	e := estimate{scope: scope}
	for at := range AuditedClass(len(c.list)) {
		class := &c.list[at]
		var seen tally // seen from the audited class
		for i := range class.Partners {
			partner, t := class.Partners[i].Class(), c.tally(at, i, l, joined)
			one := sampled[partner]
			one.add(t, 1)
			sampled[partner] = one
			seen.add(t, samples[partner])
		}
		e.probed.deal(class.Digest, seen, class.Inputs+class.References)
	}
	for _, s := range c.samples {
		t := sampled[s.class]
		if t.weight == 0 {
			continue
		}
		e.partnered++
		e.listed.see(t.listed, t.weight)
		e.together.see(t.together, t.weight)
		e.sampled[s.group].add(t, 1)
		e.total.add(t, 1)
	}
	return e.result(len(c.samples))
}

// tally counts the pairs that one sampled document of a partner forms with the documents of an audited class. The
// partner is the one of the given number in its class.
func (c *Classes) tally(at AuditedClass, number int, l *Listing, joined func(a, b docref.Ref) bool) tally {
	class := &c.list[at]
	partner := class.Partners[number]
	own, isKnown := c.own[partner.Class()]
	if !isKnown {
		return tally{}
	}
	other := &c.list[own]
	inputs, references := class.Inputs, class.References
	switch {
	case class.Apart != nil:
		inputs -= class.Apart[number] // the sampled one is among them if it is of the class
	case partner.isSame():
		inputs-- // the sampled one itself
	}
	t := tally{pairs: inputs + references, weight: inputs + 2*references}
	switch {
	case partner.isSame():
		if inputs == 0 || joined(class.First, class.Last) {
			t.together += inputs
		}
		if references > 0 && joined(class.First, class.Reference) {
			t.together += 2 * references
		}
		t.listed = t.together
	case l.isListed(at, own):
		t.listed, t.together = t.weight, t.weight
	case class.Inputs > 0 && joined(other.First, class.First),
		class.References > 0 && joined(other.First, class.Reference):
		t.together = t.weight
	}
	return t
}

type dealt [groups]tally

// deal spreads the sum of a number of equal documents evenly over the groups.
func (d *dealt) deal(hash uint64, sum tally, documents int64) {
	start := int64(hash % groups)
	portion := func(total, i, n int64) int64 { return total*(i+1)/n - total*i/n }
	for i := range min(documents, groups) {
		n := min(documents, groups)
		g := &d[(start+i)%groups]
		g.add(tally{
			pairs:    portion(sum.pairs, i, n),
			weight:   portion(sum.weight, i, n),
			listed:   portion(sum.listed, i, n),
			together: portion(sum.together, i, n),
		}, 1)
	}
}

type estimate struct {
	scope     Scope
	total     tally
	sampled   dealt // by the sampled document of a pair
	probed    dealt // by the other document
	partnered int
	listed    witnesses
	together  witnesses
}

// witnesses counts the sampled documents with a pair that the job has found, and those with a pair that it has missed.
type witnesses struct{ found, missed int }

// see takes in a sampled document by the weights of its found pairs and of all of them.
func (w *witnesses) see(found, all int64) {
	if found > 0 {
		w.found++
	}
	if found < all {
		w.missed++
	}
}

func (e *estimate) result(samples int) Result {
	r := Result{Sampled: samples, Partnered: e.partnered, Pairs: e.total.pairs}
	r.Recall, r.Low, r.High = e.interval(func(t *tally) int64 { return t.together }, e.together)
	r.Listed, r.ListedLow, r.ListedHigh = e.interval(func(t *tally) int64 { return t.listed }, e.listed)
	r.Wide = r.High-r.Low > wide || r.ListedHigh-r.ListedLow > wide
	return r
}

// resamples is how often the documents are drawn again for an interval.
const resamples = 1000

// few is the number of documents that do not show how much they vary.
const few = 5

// interval returns the share of the pairs that were found, and the bounds of that share with a confidence of 95 %. It
// uses the bootstrap by document (Efron and Tibshirani, An introduction to the bootstrap, 1993), because the pairs of
// one document are found or missed together. Documents are dealt to groups, and groups are drawn in their place.
//
// The bootstrap knows only what the sample shows. By the rule of three it shows no document of a kind that is
// rarer than three in the sample, such as the pivot of a hot group, whose pairs are all listed, while others have
// one listed pair each. So the bounds allow for that many documents whose pairs are all found, or all missed.
func (e *estimate) interval(found func(*tally) int64, seen witnesses) (share, low, high float64) {
	all := e.scope.AllSampled && e.scope.AllProbed
	if e.total.weight == 0 {
		if all {
			return 1, 1, 1
		}
		return 1, 0, 1
	}
	share = float64(found(&e.total)) / float64(e.total.weight)
	if all {
		return share, share, share
	}
	rare := min(3/float64(e.partnered), 1)
	low, high = share-share*rare, share+(1-share)*rare
	if seen.missed > 0 && seen.found > 0 {
		least, most := e.bootstrap(found, share)
		low, high = min(low, least), max(high, most)
	}
	if seen.missed < few {
		high = 1
	}
	if seen.found < few {
		low = 0
	}
	return share, low, high
}

// bootstrap returns the bounds of 95 % of the shares in samples that are drawn from the sample.
func (e *estimate) bootstrap(found func(*tally) int64, share float64) (low, high float64) {
	random := rand.New(rand.NewPCG(uint64(e.partnered), uint64(e.total.pairs)))
	shares := e.sampled.redraw(random, found, share)
	if !e.scope.AllProbed {
		// The other documents of the pairs are a sample as well.
		for i, other := range e.probed.redraw(random, found, share) {
			shares[i] = min(max(shares[i]+other-share, 0), 1)
		}
	}
	slices.Sort(shares)
	return shares[resamples*25/1000], shares[resamples*975/1000]
}

// redraw draws samples of the groups that have pairs, and returns the share of found pairs in each. A sample
// without a pair has the usual share.
func (d *dealt) redraw(random *rand.Rand, found func(*tally) int64, usual float64) []float64 {
	var list []tally
	for i := range d {
		if d[i].weight > 0 {
			list = append(list, d[i])
		}
	}
	shares := make([]float64, resamples)
	for i := range shares {
		weight, hits := int64(0), int64(0)
		for range list {
			t := &list[random.IntN(len(list))]
			weight += t.weight
			hits += found(t)
		}
		shares[i] = usual
		if weight > 0 {
			shares[i] = float64(hits) / float64(weight)
		}
	}
	return shares
}

// Shares says which share of the documents an audit looks at. These documents are set apart when they are
// fingerprinted. The zero Shares means no audit.
type Shares struct {
	// Sampled is the share of the input from which the sample is drawn. Probed is the share of all documents
	// among which partners are looked for. A share of 1 means all documents.
	Sampled, Probed float64

	sample int     // about how many documents are sampled
	most   float64 // Sampled, as long as nobody knows how many documents there are
	scale  float64 // by which all bounds are multiplied
}

// NewShares returns the shares for a sample of about the given number of documents from a corpus of textBytes
// bytes. A sample of 0 means no audit. Up to 64 MiB of text the audit looks at all documents, beyond that at
// a tenth of them or more. Up to 8 MiB it may draw any document. Beyond that it draws from a share a little
// larger than what the sample holds.
func NewShares(sample int, textBytes int64) Shares {
	if sample == 0 {
		return Shares{}
	}
	bytes := float64(textBytes) + 1
	s := Shares{sample: sample, scale: max(float64(sample)/UsualSample, 1)}
	s.Probed = min(max(0.1, 64<<20/bytes)*s.scale, 1)
	s.Sampled = min(max(1./12, 4<<20/bytes), 32<<20/bytes) * s.scale
	if bytes <= 8<<20 {
		s.Sampled = 1
	}
	s.Sampled = min(s.Sampled, s.Probed)
	s.most = s.Sampled
	return s
}

const (
	// drawnFrom is from how many times as many documents a sample is drawn as it holds, where it is known how many
	// there are. They have the smallest hashes of all, so the sample is the same as if it were drawn from more.
	drawnFrom = 1.5
	// keptFrom is the same for what a state keeps, so that a corpus may shrink, and documents differ in length.
	keptFrom = 2
	// mostKept is the largest share of the documents that is worth to be kept once more for a sample.
	mostKept = 1. / 32
)

// Of returns the shares for a corpus of about that many documents, or of nobody knows how many if it is 0.
func (s Shares) Of(documents int64) Shares {
	if documents > 0 && s.Sampled < 1 {
		s.Sampled = min(s.Sampled, drawnFrom*float64(s.sample)/float64(documents))
	}
	return s
}

// Kept returns the share of the input that a state keeps for the samples of later jobs, given about how many documents
// there are. It is 0 if so large a share is not worth keeping. Without a number, 0, it is a share that is large enough.
func (s Shares) Kept(documents float64) float64 {
	if documents == 0 {
		return min(s.most, mostKept)
	}
	if share := keptFrom * float64(s.sample) / documents; share <= mostKept {
		return min(share, s.most)
	}
	return 0
}

// elementBytes is how much memory a shingle of a sample takes: 8 bytes, and up to 36 in the index.
const elementBytes = 8 + 36

// Elements returns how many shingles a sample holds at most if the corpus has the given number: all shingles
// of a small corpus, else a sixteenth. It is less if that would take more than memory, in bytes; 0 stands for no limit.
func (s Shares) Elements(all, memory int64) int {
	most := min(max(all/16, 1<<18), 1<<21)
	if all <= 1<<19 {
		most = all
	}
	elements := int64(float64(most) * s.scale)
	if memory > 0 {
		elements = min(elements, memory/elementBytes)
	}
	return int(elements)
}

// Budget returns the bound of the comparisons.
func (s Shares) Budget() Budget {
	return Budget{Pairs: 1 << 18 * s.scale, Elements: 1 << 26 * s.scale}
}

// Listing notes which audited pairs of classes are joined by a verified edge. Edges pass by one at a time and
// are not kept. An edge names only one document of a class of equal documents. The star that joins equal
// documents says which document that is.
type Listing struct {
	HasSides bool

	refs    graphs.Numbering[uint32] // of documents of audited classes
	classes []AuditedClass           // by number of the ref
	filter  []uint64                 // a bit for the hash of each ref, since few documents are audited
	pairs   graphs.Numbering[uint32] // of different classes
	joined  []bool                   // by number of the pair
}

const filterBits = 1 << 20

// NewListing returns a Listing of the pairs that the classes form.
func NewListing(c *Classes) *Listing {
	l := &Listing{filter: make([]uint64, filterBits/64)}
	for at := range AuditedClass(len(c.list)) {
		class := &c.list[at]
		l.HasSides = l.HasSides || class.Apart != nil
		if class.Inputs > 0 {
			l.name(class.First, at)
			l.name(class.Last, at)
		}
		if class.References > 0 {
			l.name(class.Reference, at)
		}
		for _, partner := range class.Partners {
			if other, ok := c.own[partner.Class()]; ok && !partner.isSame() {
				l.pairs.Add(pairKey(at, other))
			}
		}
	}
	l.joined = make([]bool, len(l.pairs.Keys))
	return l
}

// Refs returns the documents that are known to be in audited classes. The caller must not change them.
func (l *Listing) Refs() []uint64 { return l.refs.Keys }

func pairKey(a, b AuditedClass) uint64 { return uint64(min(a, b))<<32 | uint64(max(a, b)) }

func (l *Listing) name(ref docref.Ref, class AuditedClass) {
	if _, isNew := l.refs.Add(uint64(ref)); isNew {
		l.classes = append(l.classes, class)
		l.filter[Hash(uint64(ref))%filterBits/64] |= 1 << (Hash(uint64(ref)) % 64)
	}
}

// Class returns the audited class that a document is known to be in.
func (l *Listing) Class(ref docref.Ref) (class AuditedClass, known bool) {
	hash := Hash(uint64(ref))
	if l.filter[hash%filterBits/64]>>(hash%64)&1 == 0 {
		return 0, false
	}
	number, known := l.refs.Find(uint64(ref))
	if !known {
		return 0, false
	}
	return l.classes[number], true
}

// Star takes in documents of one class of equal documents: the representatives, which edges may name, and any
// others. It keeps only what concerns an audited class.
func (l *Listing) Star(representatives []docref.Ref, others []docref.Ref) {
	for _, refs := range [][]docref.Ref{representatives, others} {
		for _, ref := range refs {
			if class, known := l.Class(ref); known {
				for _, representative := range representatives {
					l.name(representative, class)
				}
				return
			}
		}
	}
}

// Edge takes in a verified edge between documents of two audited classes.
func (l *Listing) Edge(a, b AuditedClass) {
	if number, audited := l.pairs.Find(pairKey(a, b)); audited {
		l.joined[number] = true
	}
}

func (l *Listing) isListed(a, b AuditedClass) bool {
	number, audited := l.pairs.Find(pairKey(a, b))
	return audited && l.joined[number]
}
