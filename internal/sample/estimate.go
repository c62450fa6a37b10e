package sample

import (
	"cmp"
	"math"
	"slices"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/docref"
)

const (
	// leastSeen is how many documents of a group must be in the sample of
	// documents for the group to be estimated there, in place of by its key.
	leastSeen = 16

	// mostRecords and mostMeetings bound memory and time of one estimate.
	mostRecords  = 1 << 19
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
	documents []Document
	records   []candidates.Record // sorted; Mark is the document's number plus 1
	shift     uint32              // of the documents
	share     float64
}

// thin takes as large a part of a sample as the bounds allow.
func (e *Estimator) thin(documents *Documents, most int) thinned {
	list, _ := documents.List()
	t := thinned{documents: list, shift: documents.shift.Load()}
	var keys []uint64
	for ; ; t.shift++ {
		t.records = t.records[:0]
		for i := range list {
			if !isBelow(list[i].Digest, t.shift) {
				continue
			}
			keys = e.AppendKeys(keys[:0], &list[i])
			start := len(t.records)
			t.records = AppendRecords(t.records, list[i].Ref, list[i].Digest, len(list[i].Set), keys)
			for j := start; j < len(t.records); j++ {
				t.records[j].Mark = uint32(i) + 1
			}
			if len(t.records) > mostRecords {
				break
			}
		}
		if len(t.records) > mostRecords {
			continue
		}
		t.records = candidates.Sort(t.records, make([]candidates.Record, len(t.records)))
		meetings := 0
		for group := range groups(t.records) {
			meetings += len(group) * (len(group) - 1) / 2
		}
		if meetings <= most {
			t.share = shareOf(t.shift)
			return t
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

// Estimate estimates the candidates from both samples. Keys may be nil where the
// sample of documents is the whole corpus.
func (e *Estimator) Estimate(documents *Documents, keys *Keys) Estimate {
	t := e.thin(documents, mostMeetings)
	var result Estimate
	degrees := make([]float64, len(t.documents)+1) // by Mark: pairs in large groups
	found := 0
	g := candidates.Grouper{
		Threshold:  e.Threshold,
		FirstInput: e.FirstInput,
		// A sample of n documents has the square of their share of the pairs.
		MaxComparisons: int(math.Ceil(float64(e.MaxComparisons) * t.share * t.share)),
		Candidate: func(a, b *candidates.Record) {
			found++
			degrees[a.Mark]++
			degrees[b.Mark]++
		},
		DenseKeys: map[uint32]bool{},
	}
	g.Dense = func(group []candidates.Record, _ int64) { g.DenseKeys[candidates.PreviousOf(group[0].Key)] = true }
	isLarge := func(group []candidates.Record) bool {
		seen := 0
		for i := range group {
			if isBelow(group[i].Digest, t.shift) {
				seen++
			}
		}
		return t.share == 1 || seen >= leastSeen
	}
	// Large groups.
	perPair := 1 / (t.share * t.share)
	for group := range groups(t.records) {
		if !isLarge(group) {
			continue
		}
		before := found
		g.Groups(group)
		result.note(Group{float64(len(group)) / t.share, float64(found-before) * perPair, firstOf(group)})
	}
	result.Dense = float64(len(g.DenseKeys))
	if len(g.DenseKeys) > 0 {
		for group := range groups(t.records) {
			if isLarge(group) {
				g.Again(group)
			}
		}
	}
	result.Candidates = float64(found) * perPair
	variance := 0.
	for _, degree := range degrees[1:] {
		variance += degree * degree
	}
	variance *= (1 - t.share) * perPair * perPair
	// Small groups.
	if t.share < 1 && keys != nil {
		g.MaxComparisons = e.MaxComparisons
		records, share := keys.Records()
		for group := range groups(records) {
			if isLarge(group) {
				continue
			}
			found = 0
			g.Groups(group)
			if len(g.DenseKeys) > 0 {
				g.Again(group)
			}
			n := float64(found) / share
			result.Candidates += n
			variance += n * n * (1 - share)
		}
	}
	result.Error = math.Sqrt(variance)
	return result
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
// and returns the share of all that these are. It visits at most most pairs or
// so.
func (e *Estimator) EachPair(documents *Documents, most int, visit func(a, b *Document)) (share float64) {
	t := e.thin(documents, most)
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
	for group := range groups(t.records) {
		g.Groups(group)
	}
	return t.share * t.share
}
