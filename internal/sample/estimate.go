package sample

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/docref"
)

const (
	// leastSeen is how many other documents of a group must be in the sample of
	// documents for a pair of the group to be looked for there, in place of under
	// its key.
	leastSeen = 8

	// partRecords bounds the memory of an estimate, mostRecords and mostMeetings
	// its time.
	partRecords  = 1 << 18
	mostRecords  = 1 << 21
	mostMeetings = 1 << 26

	// largestGroups is how many groups are named.
	largestGroups = 3
)

// Estimator estimates how many candidate pairs keys would give a job, which is
// what [candidates.Grouper] makes of all records.
type Estimator struct {
	// Threshold, MaxComparisons and FirstInput are those of the Grouper.
	Threshold      float64
	MaxComparisons int
	FirstInput     docref.Ref
	// AppendKeys appends the keys of a document, in their order.
	AppendKeys func(keys []uint64, d *Document) []uint64
}

// Estimate is what an Estimator finds.
type Estimate struct {
	// Candidates is the number of candidate pairs, each as often as it would be
	// compared.
	Candidates float64
	// Error is the standard error of Candidates, 0 where nothing was left to
	// chance.
	Error float64
	// Groups are the largest groups, the largest first, of different documents.
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

// AppendRecords appends the records of a document with these keys.
func AppendRecords(records []candidates.Record, ref docref.Ref, digest uint64, size int, keys []uint64) []candidates.Record {
	record := candidates.Record{Ref: ref, Digest: digest, Size: uint32(size)}
	for i, key := range keys {
		record.Key = candidates.KeyOf(key, min(i, candidates.MaxPrevious))
		records = append(records, record)
		copy(record.Previous[1:], record.Previous[:])
		record.Previous[0] = candidates.PreviousOf(key)
	}
	return records
}

// thinned is a sample of documents, thinned out to what an estimate can take in.
type thinned struct {
	documents  []Document
	shift      uint32 // of those that are in
	share      float64
	parts      int // of the key space, that are gone through one after the other
	appendKeys func(keys []uint64, d *Document) []uint64
	keys       []uint64
	records    []candidates.Record
	scratch    []candidates.Record
}

// thin takes as large a part of a sample as has at most mostRecords keys.
func (e *Estimator) thin(documents *Documents) thinned {
	list, _ := documents.List()
	t := thinned{documents: list, shift: documents.shift.Load(), appendKeys: e.AppendKeys}
	for ; ; t.shift++ {
		total := 0
		for i := range list {
			if isBelow(list[i].Digest, t.shift) {
				t.keys = e.AppendKeys(t.keys[:0], &list[i])
				total += len(t.keys)
			}
		}
		if total <= mostRecords {
			t.share, t.parts = shareOf(t.shift), total/partRecords+1
			return t
		}
	}
}

// halve drops half of the documents.
func (t *thinned) halve() {
	t.shift++
	t.share /= 2
}

// groups gives the groups of two or more, which may be changed. The Mark of a
// record is the number of the document plus 1.
func (t *thinned) groups(yield func([]candidates.Record) bool) {
	for part := range t.parts {
		t.records = t.records[:0]
		for i := range t.documents {
			d := &t.documents[i]
			if !isBelow(d.Digest, t.shift) {
				continue
			}
			t.keys = t.appendKeys(t.keys[:0], d)
			start := len(t.records)
			t.records = AppendRecords(t.records, d.Ref, d.Digest, len(d.Set), t.keys)
			wanted := start
			for j := start; j < len(t.records); j++ {
				if high, _ := bits.Mul64(t.records[j].Key, uint64(t.parts)); int(high) == part {
					t.records[wanted] = t.records[j]
					t.records[wanted].Mark = uint32(i) + 1
					wanted++
				}
			}
			t.records = t.records[:wanted]
		}
		t.scratch = slices.Grow(t.scratch[:0], len(t.records))[:len(t.records)]
		sorted := candidates.Sort(t.records, t.scratch)
		for group := range groups(sorted) {
			if !yield(group) {
				return
			}
		}
	}
}

// groups gives the groups of two or more.
func groups(records []candidates.Record) func(yield func([]candidates.Record) bool) {
	return func(yield func([]candidates.Record) bool) {
		for start := 0; start < len(records); {
			end := start + 1
			for end < len(records) && records[end].Key == records[start].Key {
				end++
			}
			if end-start > 1 && !yield(records[start:end]) {
				return
			}
			start = end
		}
	}
}

// Estimate estimates the candidates from both samples.
//
// A pair is looked for in the sample of documents if at least leastSeen others of
// its group are there, and under its key if not. As that does not depend on
// whether the pair itself is there, every pair is counted once on average.
func (e *Estimator) Estimate(documents *Documents, keys *Keys) Estimate {
	if records, share := keys.Records(); share == 1 {
		return e.count(records)
	}
	t := e.thin(documents)
	for {
		if estimate, ok := e.estimate(&t, keys); ok {
			return estimate
		}
		t.halve()
	}
}

// count counts the candidates under all keys.
func (e *Estimator) count(records []candidates.Record) Estimate {
	var result Estimate
	found := 0
	g := candidates.Grouper{
		Threshold: e.Threshold, FirstInput: e.FirstInput, MaxComparisons: e.MaxComparisons,
		Candidate: func(_, _ *candidates.Record) { found++ },
		DenseKeys: map[uint32]bool{},
	}
	g.Dense = func(group []candidates.Record, _ int64) { g.DenseKeys[candidates.PreviousOf(group[0].Key)] = true }
	for group := range groups(records) {
		before := found
		g.Groups(group)
		result.note(Group{float64(len(group)), float64(found - before), firstOf(group)})
	}
	if len(g.DenseKeys) > 0 {
		g.Again(records)
	}
	result.Candidates, result.Dense = float64(found), float64(len(g.DenseKeys))
	return result
}

// estimate is Estimate with the documents that are left. It returns false where
// these are too many.
func (e *Estimator) estimate(t *thinned, keys *Keys) (Estimate, bool) {
	var result Estimate
	perPair := 1 / (t.share * t.share)
	found, meetings := 0, 0
	degrees := make([]float64, len(t.documents)+1) // by Mark: pairs in large groups
	g := candidates.Grouper{
		Threshold:  e.Threshold,
		FirstInput: e.FirstInput,
		// A sample of documents has the square of their share of the pairs.
		MaxComparisons: int(math.Ceil(float64(e.MaxComparisons) / perPair)),
		Candidate: func(a, b *candidates.Record) {
			found++
			degrees[a.Mark]++
			degrees[b.Mark]++
		},
		DenseKeys: map[uint32]bool{},
	}
	g.Dense = func(group []candidates.Record, _ int64) { g.DenseKeys[candidates.PreviousOf(group[0].Key)] = true }
	isLarge := func(group []candidates.Record) bool { return t.share == 1 || len(group) >= leastSeen+2 }
	for group := range t.groups {
		if meetings += len(group) * (len(group) - 1) / 2; meetings > mostMeetings {
			return result, false
		}
		if isLarge(group) {
			before := found
			g.Groups(group)
			result.note(Group{float64(len(group)) / t.share, float64(found-before) * perPair, firstOf(group)})
		}
	}
	if len(g.DenseKeys) > 0 {
		for group := range t.groups {
			if isLarge(group) {
				g.Again(group)
			}
		}
	}
	result.Candidates = float64(found) * perPair
	result.Dense = float64(len(g.DenseKeys))
	variance := 0.
	for _, degree := range degrees {
		variance += degree * degree * (1 - t.share) * perPair * perPair
	}
	if t.share < 1 {
		variance += e.addSmall(t, keys, &g, &result)
	}
	result.Error = math.Sqrt(variance)
	return result, true
}

// addSmall adds the pairs that are looked for under their keys, and returns the
// variance of their number.
func (e *Estimator) addSmall(t *thinned, keys *Keys, g *candidates.Grouper, result *Estimate) (variance float64) {
	seen, found := 0, 0
	one := func(r *candidates.Record) int {
		if isBelow(r.Digest, t.shift) {
			return 1
		}
		return 0
	}
	g.MaxComparisons = e.MaxComparisons
	g.Candidate = func(a, b *candidates.Record) {
		if seen-one(a)-one(b) < leastSeen {
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
		if len(g.DenseKeys) > 0 {
			g.Again(group)
		}
		n := float64(found) / share
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

// note names a group if it is among the largest. A heap meets under several keys;
// its groups have the same first document, mostly.
func (r *Estimate) note(group Group) {
	for i := range r.Groups {
		if r.Groups[i].Example == group.Example {
			if group.Documents > r.Groups[i].Documents {
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
		return cmp.Or(-cmp.Compare(a.Documents, b.Documents), cmp.Compare(a.Example, b.Example))
	})
}

// EachPair visits different candidate pairs of the sample of documents, each once,
// and returns the share of all that these are. It visits at most some most pairs
// of documents with a common key. All documents have the same number of keys.
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
	var keysA, keysB []uint64
	g := candidates.Grouper{
		Threshold: e.Threshold, FirstInput: e.FirstInput, MaxComparisons: math.MaxInt,
		Candidate: func(a, b *candidates.Record) {
			x, y := &t.documents[a.Mark-1], &t.documents[b.Mark-1]
			keysA, keysB = e.AppendKeys(keysA[:0], x), e.AppendKeys(keysB[:0], y)
			for i := range keysA {
				if keysA[i] == keysB[i] {
					// Where it meets first.
					if candidates.PreviousOf(keysA[i]) == candidates.PreviousOf(a.Key) {
						visit(x, y)
					}
					return
				}
			}
		},
	}
	for group := range t.groups {
		g.Groups(group)
	}
	return t.share * t.share
}
