package sample

import (
	"cmp"
	"math"
	"slices"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records/docref"
)

const (
	// mostMeetings bounds the time of an estimate, mostPairs its time and memory.
	mostMeetings = 1 << 22
	mostPairs    = 1 << 20
	// mostElements is about how many elements of sets are compared.
	mostElements = 1 << 20
	// largestGroups is how many groups are named.
	largestGroups = 3
)

// Estimator estimates how many candidate pairs the keys give a job: what [candidates.Grouper] makes of all records.
type Estimator struct {
	// MostRecords bounds the number of records of keys that an estimate looks at. So it bounds time and memory.
	MostRecords int
	// Threshold, Exact and FirstInput have the values of the Grouper.
	Threshold  float64
	Exact      bool
	FirstInput docref.Ref
	// AppendRecords appends the records of a document's keys, in the order of the keys.
	AppendRecords func(records []candidates.Record, d *Document) []candidates.Record
	// LargestCompared returns the largest number of pairs of a group whose pairs are all compared, given the numbers of
	// pairs of all groups above OversizedPairs; only pairs with different previous keys count. Larger groups are
	// compared with pivots. If it is nil, all pairs of all groups are compared.
	LargestCompared func(pairs []float64) float64
	OversizedPairs  float64
	// Pivots returns an index of pivots for the given number of documents. It must be set if LargestCompared is.
	Pivots func(documents int) *graphs.Pivots
	// Compare returns the similarity of two documents. Similar and Alike rest on it.
	Compare func(a, b *Document) float64
}

// Estimate is what an Estimator finds. All numbers are for the whole corpus.
type Estimate struct {
	// Keys is the mean number of keys of a document.
	Keys float64
	// Candidates is the number of different candidate pairs, including pairs of hot groups.
	Candidates float64
	// Error is the standard error of Candidates. It is 0 if nothing was left to chance.
	Error float64
	// Low and High are the ends of an interval. In nine of ten samples or more it holds what Candidates estimates.
	Low, High float64
	// Alike is how many candidates reach the threshold, without pairs of hot groups.
	Alike float64
	// DocumentElements is the number of elements in the sets of documents with a candidate, and of hot groups.
	DocumentElements float64
	// Hidden is how many documents with a candidate have no partner in the sample.
	Hidden float64
	// HotGroupDocuments is how many documents are in groups too large to compare all their pairs. HotGroupCandidates is
	// how many pairs of a document and a pivot are compared there.
	HotGroupDocuments, HotGroupCandidates float64
	// Similar are the similarities of pairs that share a key, with dense groups. Each is for Weight pairs.
	Similar []float64
	Weight  float64
	// Groups are the groups with the most candidates, largest first. Their example documents differ.
	Groups []Group
	// Share is the share of the documents that the estimate looked at.
	Share float64
}

// Group is a group of documents under one key.
type Group struct {
	// Documents is how many documents of the group are not identical to each other. Candidates is how many of their
	// pairs become candidates here first.
	Documents, Candidates float64
	// Example is the first document of the group in the sample.
	Example docref.Ref
	// Dense says that the group is too large to compare all its pairs.
	Dense bool
}

// Estimate estimates the candidates from a sample, given all its documents and its share of the corpus.
func (e *Estimator) Estimate(documents []Document, share float64, m *Memory) Estimate {
	t := e.thin(documents, share, m)
	for {
		if estimate, ok := e.count(&t); ok {
			return estimate
		}
		t.halve()
		t = e.thin(t.documents, t.share, m)
	}
}

// number is the number of a document in a thinned sample, from 0. A record of the document has the mark number plus 1.
type number uint32

func numberOf(r *candidates.Record) number { return number(r.Mark - 1) }

// met is a list of pairs that have met. Each word holds two numbers.
type met []uint64

func (m *met) add(a, b *candidates.Record) {
	x, y := numberOf(a), numberOf(b)
	*m = append(*m, uint64(min(x, y))<<32|uint64(max(x, y)))
}

func numbersOf(pair uint64) (a, b number) { return number(pair >> 32), number(pair) }

// distinct sorts the pairs and drops repeats.
func (m *met) distinct() {
	slices.Sort(*m)
	*m = slices.Compact(*m)
}

type oversizedGroup struct {
	group   Group
	unmet   float64             // pairs whose previous keys differ, in the corpus
	records []candidates.Record // in the sample
	pairs   met                 // in the sample
}

// grouper returns what finds the candidates of groups and adds them to pairs.
func (e *Estimator) grouper(pairs *met) candidates.Grouper {
	return candidates.Grouper{
		Threshold:      e.Threshold,
		MaxComparisons: math.MaxInt64,
		Exact:          e.Exact,
		FirstInput:     e.FirstInput,
		Candidate:      pairs.add,
		Identical:      func(_, _ *candidates.Record) {},
	}
}

func (e *Estimator) count(t *thinned) (Estimate, bool) {
	result := Estimate{Keys: t.keys, Share: t.share}
	var pairs met
	var oversizedGroups []oversizedGroup
	perPair := 1 / (t.share * t.share)
	g := e.grouper(&pairs)
	meetings := 0
	for group := range groups(t.records) {
		before := len(pairs)
		unmet := float64(e.unmet(group)) * perPair
		isOversized := e.LargestCompared != nil && unmet > e.OversizedPairs
		records := group
		if isOversized {
			records = slices.Clone(group)
		}
		g.Groups(group)
		found := Group{
			Documents:  float64(len(group)) / t.share,
			Candidates: float64(len(pairs)-before) * perPair,
			Example:    firstOf(group),
		}
		if isOversized {
			oversizedGroups = append(oversizedGroups,
				oversizedGroup{found, unmet, records, slices.Clone(pairs[before:])})
			pairs = pairs[:before]
		} else {
			result.note(found)
		}
		if meetings += len(group) * (len(group) - 1) / 2; meetings > mostMeetings {
			return result, false
		}
		if len(pairs) > 2*mostPairs {
			if pairs.distinct(); len(pairs) > mostPairs {
				return result, false
			}
		}
	}
	dense, hotGroup, limit := e.settle(oversizedGroups, &result)
	e.within(t, pairs, oversizedGroups, &result)
	pairs = e.upTo(limit, t, pairs, oversizedGroups)
	e.describe(t, pairs, &result)
	all := append(dense, pairs...)
	all.distinct()
	e.compareAll(t, all, &result)
	e.addHotGroup(t, hotGroup, &result)
	return result, true
}

// upTo returns the pairs of the other groups, and of oversized groups of up to limit pairs. Pairs that have met under
// denser oversized groups only count where they meet again.
func (e *Estimator) upTo(limit float64, t *thinned, others met, oversizedGroups []oversizedGroup) met {
	pairs := slices.Clone(others)
	g := e.grouper(&pairs)
	isDense := func(c *oversizedGroup) bool { return c.unmet > limit }
	hasDense := false
	for i := range oversizedGroups {
		if c := &oversizedGroups[i]; isDense(c) {
			hasDense = true
			g.DenseKeys.Add(g.KeyID(&c.records[0]))
		}
	}
	for i := range oversizedGroups {
		switch c := &oversizedGroups[i]; {
		case isDense(c):
		case hasDense:
			g.OversizedGroup(slices.Clone(c.records))
		default:
			pairs = append(pairs, c.pairs...)
		}
	}
	if hasDense && !e.Exact {
		g.MaxComparisons = int64(e.OversizedPairs * t.share * t.share)
		g.Again(slices.Clone(t.records))
	}
	pairs.distinct()
	return pairs
}

// unmet returns how many pairs of a group have different previous keys, and so have not met under these.
func (e *Estimator) unmet(group []candidates.Record) int {
	classes := map[uint64]int{}
	pairs := len(group) * (len(group) - 1) / 2
	for i := range group {
		r := &group[i]
		before := uint64(r.Previous[0])
		switch {
		case r.First:
			continue // no other document has this key
		case e.Exact:
			before = before<<32 | uint64(r.Previous[1])
		}
		pairs -= classes[before]
		classes[before]++
	}
	return pairs
}

// settle decides which oversized groups are compared: all of up to limit pairs. It returns the pairs and documents of
// the other oversized groups.
func (e *Estimator) settle(oversizedGroups []oversizedGroup,
	result *Estimate,
) (dense met, hotGroup []number, limit float64) {
	if len(oversizedGroups) == 0 {
		return nil, nil, 0
	}
	limit = e.limit(oversizedGroups, 1)
	for i := range oversizedGroups {
		c := &oversizedGroups[i]
		if c.group.Dense = c.unmet > limit; c.group.Dense {
			dense = append(dense, c.pairs...)
			hotGroup = append(hotGroup, documentsOf(c.records)...)
		}
		result.note(c.group)
	}
	slices.Sort(hotGroup)
	return dense, slices.Compact(hotGroup), limit
}

func (e *Estimator) describe(t *thinned, pairs met, result *Estimate) {
	degrees := degreesOf(t, pairs)
	perPair := 1 / (t.share * t.share)
	result.Candidates = float64(len(pairs)) * perPair
	result.Error = math.Sqrt(varianceOf(degrees, t.share))
	one, some := weights(degrees, t.share)
	for i, degree := range degrees {
		weight := some
		switch degree {
		case 0:
			continue
		case 1:
			weight = one
		}
		result.Hidden += weight - 1/t.share
		result.DocumentElements += weight * float64(len(t.documents[i].Set))
	}
}

func degreesOf(t *thinned, pairs met) []float64 {
	degrees := make([]float64, len(t.documents))
	for _, pair := range pairs {
		a, b := numbersOf(pair)
		degrees[a]++
		degrees[b]++
	}
	return degrees
}

// varianceOf returns the variance of a number of pairs estimated from a share of the documents. Degrees has the number
// of pairs of each document. The pairs of one document come and go together.
func varianceOf(degrees []float64, share float64) float64 {
	sum := 0.
	for _, degree := range degrees {
		sum += degree * degree
	}
	return sum * (1 - share) / (share * share * share * share)
}

// weights returns how many documents of the corpus stand behind one that is in a single pair of the sample, and behind
// one that is in several. A document whose partners are all missing from the sample is not seen. The ratio of documents
// in two pairs to documents in one shows how likely that is.
func weights(degrees []float64, share float64) (one, some float64) {
	var ones, twos float64
	for _, degree := range degrees {
		switch degree {
		case 1:
			ones++
		case 2:
			twos++
		}
	}
	partners := 1 + 2*twos/max(ones, 1)/share*(1-share)
	return 1 / share / (1 - math.Pow(1-share, partners)), 1 / share
}

func (e *Estimator) compareAll(t *thinned, pairs met, result *Estimate) {
	elements := 0
	for _, pair := range pairs {
		a, b := numbersOf(pair)
		elements += len(t.documents[a].Set) + len(t.documents[b].Set)
	}
	step := elements/mostElements + 1
	result.Weight = float64(step) / (t.share * t.share)
	// The pairs of one document are neighbours. So with any step the sample covers many documents.
	for i := 0; i < len(pairs); i += step {
		a, b := numbersOf(pairs[i])
		result.Similar = append(result.Similar, e.Compare(&t.documents[a], &t.documents[b]))
	}
	alike := 0.
	for _, similarity := range result.Similar {
		if similarity >= e.Threshold {
			alike++
		}
	}
	result.Alike = result.Candidates * alike / float64(max(len(result.Similar), 1))
}

func documentsOf(group []candidates.Record) []number {
	documents := make([]number, len(group))
	for i := range group {
		documents[i] = numberOf(&group[i])
	}
	return documents
}

func firstOf(group []candidates.Record) docref.Ref {
	first := group[0].Ref
	for i := range group {
		first = min(first, group[i].Ref)
	}
	return first
}

// note names a group if it is among those with the most candidates. The documents of a hot group often meet under
// several keys. The groups of such keys mostly have the same first document, and only the largest is named.
func (r *Estimate) note(group Group) {
	at := slices.IndexFunc(r.Groups, func(known Group) bool { return known.Example == group.Example })
	switch {
	case at < 0:
		r.Groups = append(r.Groups, group)
	case group.Candidates > r.Groups[at].Candidates:
		r.Groups[at] = group
	default:
		return
	}
	slices.SortFunc(r.Groups, func(a, b Group) int {
		return cmp.Or(-cmp.Compare(a.Candidates, b.Candidates), -cmp.Compare(a.Documents, b.Documents),
			cmp.Compare(a.Example, b.Example))
	})
	r.Groups = r.Groups[:min(len(r.Groups), largestGroups)]
}

// addHotGroup adds the work of the documents that are compared with pivots. The more documents, the more pivots. How
// fast the comparisons grow is seen by comparing two halves of the sample alone.
func (e *Estimator) addHotGroup(t *thinned, hotGroup []number, result *Estimate) {
	if len(hotGroup) == 0 {
		return
	}
	all := e.compareWithPivots(t, hotGroup)
	ofHalves := 0.
	for half := range uint64(2) {
		ofHalves += e.compareWithPivots(t, slices.DeleteFunc(slices.Clone(hotGroup), func(n number) bool {
			return t.documents[n].Hash&1 != half
		})).pairs
	}
	growth := min(max(math.Log2(all.pairs/max(ofHalves/2, 1)), 1), 2)
	result.HotGroupDocuments = float64(len(hotGroup)) / t.share
	most := result.HotGroupDocuments * float64(e.Pivots(int(result.HotGroupDocuments)).Bound())
	pairs := func(growth float64) float64 { return min(all.pairs*math.Pow(t.share, -growth), most) }
	result.HotGroupCandidates = pairs(growth)
	result.Candidates += result.HotGroupCandidates
	result.Low += pairs(max(growth-growthError, 1))
	result.High += pairs(min(growth+growthError, 2))
	result.DocumentElements += all.sets / t.share
}

// growthError is by how much the growth of comparisons with pivots may differ from what a sample shows.
const growthError = 0.3

// compared is what comparing documents with pivots takes: pairs, and elements of the sets of all documents.
type compared struct{ pairs, sets float64 }

// compareWithPivots compares documents of a hot group with pivots, and counts what a job would.
func (e *Estimator) compareWithPivots(t *thinned, hotGroup []number) (c compared) {
	index := e.Pivots(int(float64(len(hotGroup)) / t.share))
	for _, document := range hotGroup {
		d := &t.documents[document]
		size := float64(len(d.Set))
		c.sets += size
		with, _ := index.Candidates(d.Set)
		isAlike := false
		for _, pivot := range with {
			other := &Document{Set: index.Set(pivot)}
			if others := float64(len(other.Set)); min(size, others) >= e.Threshold*max(size, others) {
				c.pairs++
				isAlike = isAlike || e.Compare(d, other) >= e.Threshold
			}
		}
		if !isAlike {
			index.Add(d.Set)
		}
	}
	return c
}

const (
	// tail is how many standard errors an interval reaches to both sides. Of a normal distribution 1.64 would do. The
	// error is an estimate itself, and too small where the sample has few of the documents that are in most of the
	// pairs.
	tail = 2
	// unseenPairs is how many pairs of a sample a group is worth that the sample may not show: in one of twenty samples
	// a group of 4.74 documents by the share of the sample has at most one document in it, and so no pair.
	unseenPairs = 4.74 * 4.74 / 2
)

// Interval returns the ends of an interval around an estimated number of pairs, given its standard error and the share
// of the documents that are in the sample. The true number is within it for nine of ten samples or more. The error of a
// number of pairs grows with the number, so the interval is as wide in proportion to both sides. A group of many pairs
// may have no two documents in the sample, so the upper end is never near 0.
func Interval(pairs, deviation, share float64) (low, high float64) {
	if share == 1 {
		return pairs, pairs
	}
	spread := math.Exp(tail * deviation / max(pairs, 1))
	return pairs / spread, pairs*spread + unseenPairs/(share*share)
}

// mostOff is the factor by which a plan may misjudge the sizes of oversized groups.
const mostOff = 1.5

// within sets the interval of candidates that are no candidates of hot groups, given the pairs of the other groups. Its
// lower end is for the least limit of oversized groups that there may be, its upper end for the largest one.
func (e *Estimator) within(t *thinned, others met, oversizedGroups []oversizedGroup, result *Estimate) {
	least, largest := e.limits(oversizedGroups, t.share)
	few := e.upTo(least, t, others, oversizedGroups)
	many := few
	if largest > least {
		many = e.upTo(largest, t, others, oversizedGroups)
	}
	result.Low, _ = intervalOf(t, few)
	_, result.High = intervalOf(t, many)
}

func intervalOf(t *thinned, pairs met) (low, high float64) {
	return Interval(float64(len(pairs))/(t.share*t.share), math.Sqrt(varianceOf(degreesOf(t, pairs), t.share)), t.share)
}

// limits returns the least and the largest number of pairs that the limit of oversized groups may be if all oversized
// groups are larger or smaller than estimated, or one alone.
func (e *Estimator) limits(oversizedGroups []oversizedGroup, share float64) (least, largest float64) {
	switch {
	case len(oversizedGroups) == 0:
		return 0, 0
	case share == 1:
		return e.limit(oversizedGroups, 1), e.limit(oversizedGroups, 1)
	}
	return min(e.limit(oversizedGroups, mostOff)/mostOff, e.limit(oversizedGroups, 1)) / mostOff,
		max(e.limit(oversizedGroups, 1/mostOff)*mostOff, e.limit(oversizedGroups, 1)) * mostOff
}

// limit returns how many pairs an oversized group may have if all of them are to be compared, and if all oversized
// groups are larger by a factor than estimated.
func (e *Estimator) limit(oversizedGroups []oversizedGroup, factor float64) float64 {
	sizes := make([]float64, len(oversizedGroups))
	for i := range oversizedGroups {
		sizes[i] = oversizedGroups[i].unmet * factor
	}
	return e.LargestCompared(sizes)
}
