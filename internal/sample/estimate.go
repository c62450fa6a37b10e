package sample

import (
	"cmp"
	"math"
	"slices"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/leaders"
	"mirrorbeam/internal/unionfind"
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

// Estimator estimates how many candidate pairs keys would give a job, which is
// what [candidates.Grouper] makes of all records.
type Estimator struct {
	// MostRecords bounds the records of keys that are looked at, and so the time and the
	// memory.
	MostRecords int
	// Threshold, Exact and FirstInput are those of the Grouper.
	Threshold  float64
	Exact      bool
	FirstInput docref.Ref
	// AppendRecords appends the records of a document's keys, in their order.
	AppendRecords func(records []candidates.Record, d *Document) []candidates.Record
	// LargestCompared returns up to how many pairs a group is compared, given those of
	// all groups that have more than CrowdedPairs with different keys before. The documents of larger
	// groups are compared with leaders. Nil: all pairs of all groups are compared.
	LargestCompared func(pairs []float64) float64
	CrowdedPairs    float64
	// Leaders returns an index of leaders for that many documents. It is there where
	// LargestCompared is.
	Leaders func(documents int) *leaders.Index
	// PlaceElements is how many elements of sets come to one place. The documents of a
	// larger component of candidates come to several. 0: no limit.
	PlaceElements float64
	// Compare returns the similarity of two documents, for Similar and Alike.
	Compare func(a, b *Document) float64
}

// Estimate is what an Estimator finds. All numbers are of the corpus.
type Estimate struct {
	// Keys is the mean number of keys of a document.
	Keys float64
	// Candidates is the number of different candidate pairs, with those of heaps.
	Candidates float64
	// Error is the standard error of Candidates, 0 where nothing was left to chance.
	Error float64
	// Elements are those of both sets, over all candidates.
	Elements float64
	// Alike is how many candidates reach the threshold, heaps aside.
	Alike float64
	// Documents are those with a candidate. DocumentElements are the elements of their
	// sets together, and of those in heaps, once for each place that they come to.
	Documents, DocumentElements float64
	// Hidden are those of Documents whose partners are not in the sample.
	Hidden float64
	// HeapDocuments are those of groups too large for all their pairs, HeapCandidates
	// the pairs of documents and leaders that are compared there.
	HeapDocuments, HeapCandidates float64
	// Similar are the similarities of pairs that share a key, of dense groups too. Each
	// stands for Weight pairs.
	Similar []float64
	Weight  float64
	// Groups are those with the most candidates, most first, of different documents.
	Groups []Group
	// Share is that of the documents which were looked at.
	Share float64
}

// Group is a group of documents under one key.
type Group struct {
	// Documents in it that are not identical, and the pairs of them that are
	// candidates here first.
	Documents, Candidates float64
	// Example is its first document in the sample.
	Example docref.Ref
	// Dense says that it is too large for all its pairs.
	Dense bool
}

// Estimate estimates the candidates from a sample, of which these are all documents.
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

// number is the number of a document in a thinned sample, from 0. The mark of a record of the document is number plus 1.
type number uint32

// numberOf returns the number of a record's document.
func numberOf(r *candidates.Record) number { return number(r.Mark - 1) }

// met are the pairs that have met: two numbers in one word.
type met []uint64

func (m *met) add(a, b *candidates.Record) {
	x, y := numberOf(a), numberOf(b)
	*m = append(*m, uint64(min(x, y))<<32|uint64(max(x, y)))
}

// numbersOf returns the numbers of a pair.
func numbersOf(pair uint64) (a, b number) { return number(pair >> 32), number(pair) }

// distinct sorts the pairs and drops repeats.
func (m *met) distinct() {
	slices.Sort(*m)
	*m = slices.Compact(*m)
}

// crowd is a group of very many pairs.
type crowd struct {
	group     Group
	unmet     float64 // pairs with different keys before, in the corpus
	pairs     met     // in the sample
	documents []number
}

// count counts what is in a sample. It returns false where that is too much.
func (e *Estimator) count(t *thinned) (Estimate, bool) {
	result := Estimate{Keys: t.keys, Share: t.share}
	var pairs met
	var crowds []crowd
	perPair := 1 / (t.share * t.share)
	g := candidates.Grouper{Threshold: e.Threshold, MaxComparisons: math.MaxInt64, Exact: e.Exact, FirstInput: e.FirstInput}
	g.Candidate = pairs.add
	g.Identical = func(_, _ *candidates.Record) {}
	meetings := 0
	for group := range groups(t.records) {
		before := len(pairs)
		unmet := float64(e.unmet(group)) * perPair
		g.Groups(group)
		found := Group{Documents: float64(len(group)) / t.share, Candidates: float64(len(pairs)-before) * perPair, Example: firstOf(group)}
		if e.LargestCompared != nil && unmet > e.CrowdedPairs {
			crowds = append(crowds, crowd{found, unmet, slices.Clone(pairs[before:]), documentsOf(group)})
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
	dense, heap := e.settle(crowds, &pairs, &result)
	pairs.distinct()
	e.describe(t, pairs, &result)
	all := append(dense, pairs...)
	all.distinct()
	e.compareAll(t, all, &result)
	e.addHeap(t, heap, &result)
	return result, true
}

// unmet returns how many pairs of a group have another key before.
func (e *Estimator) unmet(group []candidates.Record) int {
	classes := map[uint64]int{}
	pairs := len(group) * (len(group) - 1) / 2
	for i := range group {
		r := &group[i]
		before := uint64(r.Previous[0])
		switch {
		case r.First:
			continue // nobody else's
		case e.Exact:
			before = before<<32 | uint64(r.Previous[1])
		}
		pairs -= classes[before]
		classes[before]++
	}
	return pairs
}

// settle decides which crowds are compared, and adds their pairs. It returns the pairs
// and documents of the others.
func (e *Estimator) settle(crowds []crowd, pairs *met, result *Estimate) (dense met, heap []number) {
	if len(crowds) == 0 {
		return nil, nil
	}
	sizes := make([]float64, len(crowds))
	for i := range crowds {
		sizes[i] = crowds[i].unmet
	}
	largest := e.LargestCompared(sizes)
	for i := range crowds {
		c := &crowds[i]
		if c.group.Dense = sizes[i] > largest; c.group.Dense {
			dense = append(dense, c.pairs...)
			heap = append(heap, c.documents...)
		} else {
			*pairs = append(*pairs, c.pairs...)
		}
		result.note(c.group)
	}
	slices.Sort(heap)
	return dense, slices.Compact(heap)
}

// describe counts different pairs, and the documents in them.
func (e *Estimator) describe(t *thinned, pairs met, result *Estimate) {
	degrees := make([]float64, len(t.documents))
	elements := 0.
	components := unionfind.New[number](len(t.documents))
	for _, pair := range pairs {
		a, b := numbersOf(pair)
		components.Union(a, b)
		degrees[a]++
		degrees[b]++
		elements += float64(len(t.documents[a].Set) + len(t.documents[b].Set))
	}
	perPair := 1 / (t.share * t.share)
	result.Candidates, result.Elements = float64(len(pairs))*perPair, elements*perPair
	result.Error = math.Sqrt(varianceOf(degrees, t.share))
	one, some := weights(degrees, t.share)
	loads := make([]float64, len(t.documents)) // of components, at their roots
	for i := range t.documents {
		loads[components.Find(number(i))] += float64(len(t.documents[i].Set)) / t.share
	}
	for i, degree := range degrees {
		weight := some
		switch degree {
		case 0:
			continue
		case 1:
			weight = one
		}
		result.Documents += weight
		result.Hidden += weight - 1/t.share
		result.DocumentElements += weight * float64(len(t.documents[i].Set)) * e.places(loads[components.Find(number(i))], degree/t.share)
	}
}

// places returns to how many places a document comes that is in so many pairs, in a
// component of so many elements.
func (e *Estimator) places(load, pairs float64) float64 {
	if e.PlaceElements == 0 || load <= e.PlaceElements {
		return 1
	}
	// As components.Graph cuts them.
	blocks := math.Ceil(load / max(e.PlaceElements/2, min(2*e.PlaceElements, load/8)))
	return (blocks + 1) * (1 - math.Pow(blocks/(blocks+1), pairs))
}

// varianceOf returns the variance of the number of pairs that is extrapolated from
// those in a share of the documents, each of which is in so many: pairs of one
// document come and go together.
func varianceOf(degrees []float64, share float64) float64 {
	sum := 0.
	for _, degree := range degrees {
		sum += degree * degree
	}
	return sum * (1 - share) / (share * share * share * share)
}

// weights returns for how many documents one stands that is in one pair of a sample,
// and one that is in several. How likely a document's partners are to be missing is
// told by how many documents are in two pairs for each that is in one.
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

// compareAll compares some of the pairs and notes their similarities.
func (e *Estimator) compareAll(t *thinned, pairs met, result *Estimate) {
	elements := 0
	for _, pair := range pairs {
		a, b := numbersOf(pair)
		elements += len(t.documents[a].Set) + len(t.documents[b].Set)
	}
	step := elements/mostElements + 1
	result.Weight = float64(step) / (t.share * t.share)
	// Pairs of one document stand side by side: any step meets many documents.
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

// addHeap compares the documents of dense groups with leaders, as a job does.
func (e *Estimator) addHeap(t *thinned, heap []number, result *Estimate) {
	if len(heap) == 0 {
		return
	}
	index := e.Leaders(int(float64(len(heap)) / t.share))
	compared, elements, sets := 0, 0, 0
	for _, document := range heap {
		d := &t.documents[document]
		sets += len(d.Set)
		with, _ := index.Candidates(d.Set)
		isAlike := false
		for _, leader := range with {
			other := &Document{Set: index.Set(leader)}
			compared++
			elements += len(d.Set) + len(other.Set)
			isAlike = isAlike || e.Compare(d, other) >= e.Threshold
		}
		if !isAlike {
			index.Add(d.Set)
		}
	}
	result.HeapDocuments = float64(len(heap)) / t.share
	result.HeapCandidates = float64(compared) / t.share
	result.Candidates += result.HeapCandidates
	result.Elements += float64(elements) / t.share
	result.DocumentElements += float64(sets) / t.share
}

// documentsOf returns the documents of a group.
func documentsOf(group []candidates.Record) []number {
	documents := make([]number, len(group))
	for i := range group {
		documents[i] = numberOf(&group[i])
	}
	return documents
}

// firstOf returns the first document of a group.
func firstOf(group []candidates.Record) docref.Ref {
	first := group[0].Ref
	for i := range group {
		first = min(first, group[i].Ref)
	}
	return first
}

// note names a group if it is among those with the most candidates. A heap meets under
// several keys; its groups have the same first document, mostly.
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
