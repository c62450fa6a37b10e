package sample

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/docref"
)

const (
	// leastSeen is how many other documents of a group must be in the sample of
	// documents for a pair of the group to be looked for there, in place of under
	// its key.
	leastSeen = 8

	// mostMeetings bounds the time of an estimate, mostPairs its memory.
	mostMeetings = 1 << 26
	mostPairs    = 1 << 21

	// largestGroups is how many groups are named.
	largestGroups = 3
)

// Estimator estimates how many candidate pairs keys would give a job, which is
// what [candidates.Grouper] makes of all records.
type Estimator struct {
	// Threshold, MaxComparisons, Exact and FirstInput are those of the Grouper.
	Threshold      float64
	MaxComparisons int64
	Exact          bool
	FirstInput     docref.Ref
	// AppendRecords appends the records of a document's keys, in their order.
	AppendRecords func(records []candidates.Record, d *Document) []candidates.Record
}

// grouper returns a Grouper that has nobody to tell of pairs yet. It notes the keys
// of dense groups.
func (e *Estimator) grouper() *candidates.Grouper {
	g := &candidates.Grouper{
		Threshold: e.Threshold, MaxComparisons: e.MaxComparisons, Exact: e.Exact, FirstInput: e.FirstInput,
	}
	// In place of all pairs, each document is compared with some leaders.
	g.Crowded = func(group []candidates.Record, _ int64) {
		g.DenseKeys.Add(g.KeyID(&group[0]))
		g.Star(group)
	}
	return g
}

// Estimate is what an Estimator finds.
type Estimate struct {
	// Keys is the mean number of keys of a document.
	Keys float64
	// Candidates is the number of different candidate pairs.
	Candidates float64
	// Error is the standard error of Candidates, 0 where nothing was left to
	// chance.
	Error float64
	// Groups are those with the most candidates, most first, of different documents.
	Groups []Group
	// Dense is how many groups are too large for all their pairs.
	Dense float64
}

// Group is a group of documents under one key.
type Group struct {
	// Documents in it that are not identical, and the pairs of them that are
	// candidates here first.
	Documents, Candidates float64
	// Example is its first document in the sample.
	Example docref.Ref
}

// AppendRecords appends the records of a document with these keys, which are
// hashes.
func AppendRecords(records []candidates.Record, ref docref.Ref, digest uint64, size int, keys []uint64) []candidates.Record {
	record := candidates.Record{Ref: ref, Digest: digest, Size: uint32(size)}
	for i, key := range keys {
		record.Key, record.Position, record.First = candidates.KeyOf(key, min(i, candidates.MaxPrevious)), uint32(i), i == 0
		records = append(records, record)
		copy(record.Previous[1:], record.Previous[:])
		record.Previous[0] = candidates.PreviousOf(key)
	}
	return records
}

// Estimate estimates the candidates from both samples. Keys are nil where they
// were not known when the sample was taken; the documents then have to do. If not,
// two documents have a key in common only if it is the same one in the order of
// both.
//
// A pair is looked for in the sample of documents if at least leastSeen others of
// the group in which it meets first are there, and under its key if not. As that
// does not depend on whether the pair itself is there, every pair is counted once
// on average.
func (e *Estimator) Estimate(documents *Documents, keys *Keys) Estimate {
	t := e.thin(documents)
	if keys != nil {
		if records, share := keys.Records(); share == 1 {
			if estimate, ok := e.count(slices.Values([][]candidates.Record{records}), 1); ok {
				estimate.Keys = t.keys
				return estimate
			}
		}
	}
	for {
		var estimate Estimate
		var ok bool
		if keys == nil {
			estimate, ok = e.count(t.groups, t.share)
		} else {
			estimate, ok = e.estimate(&t, keys)
		}
		if ok {
			estimate.Keys = t.keys
			return estimate
		}
		t.halve()
	}
}

// count counts different candidates among a share of the documents, whose records
// come in pieces that hold whole groups. It returns false where these are too many.
func (e *Estimator) count(pieces iter.Seq[[]candidates.Record], share float64) (Estimate, bool) {
	var result Estimate
	perPair := 1 / (share * share)
	var pairs [][2]docref.Ref
	found, meetings, isTooMany := 0, 0, false
	distinct := func() {
		slices.SortFunc(pairs, func(a, b [2]docref.Ref) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
		pairs = slices.Compact(pairs)
	}
	g := e.grouper()
	g.MaxComparisons = int64(math.Ceil(float64(e.MaxComparisons) / perPair))
	g.Candidate = func(a, b *candidates.Record) {
		found++
		if pairs = append(pairs, [2]docref.Ref{min(a.Ref, b.Ref), max(a.Ref, b.Ref)}); len(pairs) == 2*mostPairs {
			distinct()
			isTooMany = len(pairs) > mostPairs
		}
	}
	for piece := range pieces {
		for group := range groups(piece) {
			before := found
			g.Groups(group)
			result.note(Group{float64(len(group)) / share, float64(found-before) * perPair, firstOf(group)})
			if meetings += len(group) * (len(group) - 1) / 2; meetings > mostMeetings || isTooMany {
				return result, false
			}
		}
	}
	if len(g.DenseKeys.Keys) > 0 {
		for piece := range pieces {
			g.Again(piece)
		}
	}
	distinct()
	degrees := map[docref.Ref]float64{}
	for _, pair := range pairs {
		degrees[pair[0]]++
		degrees[pair[1]]++
	}
	result.Candidates, result.Dense = float64(len(pairs))*perPair, float64(len(g.DenseKeys.Keys))
	result.Error = math.Sqrt(varianceOf(maps.Values(degrees), share))
	return result, true
}

// varianceOf returns the variance of the number of pairs that is extrapolated from
// those in a share of the documents, each of which is in so many: pairs of one
// document come and go together.
func varianceOf(degrees iter.Seq[float64], share float64) float64 {
	sum := 0.
	for degree := range degrees {
		sum += degree * degree
	}
	return sum * (1 - share) / (share * share * share * share)
}

// estimate estimates the candidates of large groups by the documents that are left,
// and those of small ones by their keys. It returns false where there are too many
// documents.
func (e *Estimator) estimate(t *thinned, keys *Keys) (Estimate, bool) {
	var result Estimate
	perPair := 1 / (t.share * t.share)
	found, meetings := 0, 0
	isLarge := false
	var late meetingAgain
	degrees := make([]float64, len(t.documents)) // pairs in large groups
	g := e.grouper()
	// A sample of documents has the square of their share of the pairs.
	g.MaxComparisons = int64(math.Ceil(float64(e.MaxComparisons) / perPair))
	g.Candidate = func(a, b *candidates.Record) {
		// A record knows MaxPrevious of the keys before.
		isFirst := a.Position <= candidates.MaxPrevious || t.isFirst(a, b)
		switch {
		case !isLarge:
			late.note(a, isFirst)
		case isFirst:
			found++
			degrees[a.Mark-1]++
			degrees[b.Mark-1]++
		}
	}
	for group := range t.groups {
		if meetings += len(group) * (len(group) - 1) / 2; meetings > mostMeetings {
			return result, false
		}
		before := found
		isLarge = t.share == 1 || len(group) >= leastSeen+2
		g.Groups(group)
		if isLarge {
			result.note(Group{float64(len(group)) / t.share, float64(found-before) * perPair, firstOf(group)})
		}
	}
	if len(g.DenseKeys.Keys) > 0 {
		isLarge = true
		g.Candidate = func(a, b *candidates.Record) { found++ }
		for group := range t.groups {
			if t.share == 1 || len(group) >= leastSeen+2 {
				g.Again(group)
			}
		}
	}
	result.Candidates = float64(found) * perPair
	result.Dense = float64(len(g.DenseKeys.Keys))
	variance := varianceOf(slices.Values(degrees), t.share)
	if t.share < 1 {
		variance += e.addSmall(t, keys, g, late.share(), &result)
	}
	result.Error = math.Sqrt(variance)
	return result, true
}

// meetingAgain counts the pairs that meet under a key which knows not all before
// it, and how many of them meet for the first time.
type meetingAgain struct{ all, first float64 }

func (m *meetingAgain) note(r *candidates.Record, isFirst bool) {
	if r.Position > candidates.MaxPrevious {
		m.all++
		if isFirst {
			m.first++
		}
	}
}

// share returns the share of those that meet for the first time.
func (m *meetingAgain) share() float64 {
	if m.all == 0 {
		return 1
	}
	return m.first / m.all
}

// addSmall adds the pairs that are looked for under their keys, and returns the
// variance of their number. Late is the share of those under a late key that have
// not met before.
func (e *Estimator) addSmall(t *thinned, keys *Keys, g *candidates.Grouper, late float64, result *Estimate) (variance float64) {
	seen, found := 0, 0.
	one := func(r *candidates.Record) int {
		if isBelow(r.Digest, t.shift) {
			return 1
		}
		return 0
	}
	g.MaxComparisons = e.MaxComparisons
	g.Candidate = func(a, b *candidates.Record) {
		switch {
		case seen-one(a)-one(b) >= leastSeen:
		case a.Position > candidates.MaxPrevious:
			found += late
		default:
			found++
		}
	}
	records, share := keys.Records()
	for group := range groups(records) {
		seen, found = 0, 0
		for i := range group {
			seen += one(&group[i])
		}
		if seen >= leastSeen+2 {
			continue
		}
		g.Groups(group)
		if len(g.DenseKeys.Keys) > 0 {
			g.Again(group)
		}
		n := found / share
		result.Candidates += n
		variance += n * n * (1 - share)
	}
	return variance
}

// firstOf returns the first document of a group.
func firstOf(group []candidates.Record) docref.Ref {
	first := group[0].Ref
	for i := range group {
		first = min(first, group[i].Ref)
	}
	return first
}

// note names a group if it is among those with the most candidates. A heap meets under several keys;
// its groups have the same first document, mostly.
func (r *Estimate) note(group Group) {
	for i := range r.Groups {
		if r.Groups[i].Example == group.Example {
			if group.Candidates > r.Groups[i].Candidates {
				r.Groups[i] = group
				r.sortGroups()
			}
			return
		}
	}
	r.Groups = append(r.Groups, group)
	r.sortGroups()
	r.Groups = r.Groups[:min(len(r.Groups), largestGroups)]
}

func (r *Estimate) sortGroups() {
	slices.SortFunc(r.Groups, func(a, b Group) int {
		return cmp.Or(-cmp.Compare(a.Candidates, b.Candidates), -cmp.Compare(a.Documents, b.Documents), cmp.Compare(a.Example, b.Example))
	})
}

// EachPair visits different candidate pairs of the sample of documents, each once,
// and returns the share of all that these are. It visits at most some most pairs
// of documents with a common key, which is the same one in the order of both.
func (e *Estimator) EachPair(documents *Documents, most int, visit func(a, b *Document)) (share float64) {
	t := e.thin(documents)
	for {
		meetings := 0
		for group := range t.groups {
			meetings += len(group) * (len(group) - 1) / 2
		}
		if meetings <= most {
			break
		}
		t.halve()
	}
	g := e.grouper()
	g.MaxComparisons = math.MaxInt64
	g.Candidate = func(a, b *candidates.Record) {
		if t.isFirst(a, b) {
			visit(&t.documents[a.Mark-1], &t.documents[b.Mark-1])
		}
	}
	for group := range t.groups {
		g.Groups(group)
	}
	return t.share * t.share
}
