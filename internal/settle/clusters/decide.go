package clusters

import (
	"cmp"
	"slices"

	"mirrorbeam/internal/carry/preference"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/settle/keep"
)

// Decide chooses the documents that are kept. Documents of the reference come before all others and are kept. Then come
// the leaders of heaps. A document that is like a leader has been compared with few others: if the leader were removed,
// no kept document could stand for it. A rule may have other documents removed. A cluster may be large, so Decide asks stopped now and
// then, if it is not nil, and ends with its error.
func (s *Shard) Decide(rule keep.Rule, stopped func() error) error {
	if rule.Drop == keep.Reference {
		s.chooseForReference()
	} else if err := s.choose(stopped); err != nil {
		return err
	}
	for i := range s.end() {
		if s.reference(i) {
			s.choices[i] = keep.Choice{Kept: i, Similarity: 1}
		}
	}
	if rule.Split == keep.Star {
		s.splitStars()
	}
	if rule.Drop == keep.Clusters {
		s.dropClusters()
	}
	return nil
}

// choose chooses documents that stay for others.
func (s *Shard) choose(stopped func() error) error {
	order, leads := s.numbers(), s.leaders()
	if err := graphs.SortFunc(order, func(a, b records.Number) int {
		if cluster := cmp.Compare(s.members[a].First, s.members[b].First); cluster != 0 {
			return cluster
		}
		if !s.reference(a) && !s.reference(b) && leads != nil && leads[s.first[a]] != leads[s.first[b]] {
			if leads[s.first[a]] {
				return -1
			}
			return 1
		}
		return s.prefer(a, b)
	}, stopped); err != nil {
		return err
	}
	asking := asking{stopped: stopped}
	s.choices = keep.Choose(keep.Documents{Order: order, First: s.first, Sides: s.sides}, len(s.edges), func(i int) (keep.Edge, bool) {
		e, counts := s.rival(i)
		return e, counts && asking.goesOn()
	})
	return asking.err
}

// chooseForReference removes each document that is like one of the reference, for the most similar of these. All others stay.
func (s *Shard) chooseForReference() {
	best := make([]keep.Choice, len(s.members)) // of each class of identical documents, at its first one
	for i := range s.end() {
		best[i] = keep.Choice{Kept: i, Similarity: 1}
	}
	for i := range s.edges {
		e, counts := s.rival(i)
		known, other := e.A, e.B
		if !s.reference(known) {
			known, other = other, known
		}
		if counts && s.reference(known) && (best[other].Kept == other || e.Similarity > best[other].Similarity) {
			best[other] = keep.Choice{Kept: known, Similarity: e.Similarity}
		}
	}
	s.choices = make([]keep.Choice, len(s.members))
	for i := range s.end() {
		first := s.first[i]
		if s.choices[i] = best[first]; best[first].Kept == first && !s.reference(first) {
			s.choices[i].Kept = i
		}
	}
}

// dropClusters removes all documents of clusters but those of the reference. Each is assigned to the document that it is most like: of its
// cluster, if that has one that a pair joins it to. Of equally similar ones the preferred one counts.
func (s *Shard) dropClusters() {
	s.isDropped = true
	like := make([]keep.Choice, len(s.members))
	for i := range s.end() {
		like[i].Kept = i
	}
	isOwn := func(i, other records.Number) bool { return s.members[i].First == s.members[other].First }
	offer := func(to, other records.Number, similarity float64) {
		before := like[to]
		is := before.Kept == to
		switch {
		case is:
		case isOwn(to, other) != isOwn(to, before.Kept):
			is = isOwn(to, other)
		case similarity != before.Similarity:
			is = similarity > before.Similarity
		default:
			is = s.prefer(other, before.Kept) < 0
		}
		if is {
			like[to] = keep.Choice{Kept: other, Similarity: similarity}
		}
	}
	for _, e := range s.pairs {
		similarity := e.Similarity()
		if e.Identical() { // documents without a shingle have no share in common
			similarity = 1
		}
		offer(e.A, e.B, similarity)
		offer(e.B, e.A, similarity)
	}
	for i := range s.end() {
		if s.size[s.members[i].First] > 1 && !s.reference(i) {
			s.choices[i] = like[i]
		}
	}
}

// asking asks whether a choice is still wanted. From the first no on no edge counts, so that the choice ends soon.
type asking struct {
	stopped func() error // may be nil
	calls   int
	err     error
}

func (a *asking) goesOn() bool {
	const few = 1 << 16
	if a.calls++; a.calls%few == 0 && a.err == nil && a.stopped != nil {
		a.err = a.stopped()
	}
	return a.err == nil
}

// numbers returns the numbers of all documents.
func (s *Shard) numbers() []records.Number {
	numbers := make([]records.Number, len(s.members))
	for i := range s.end() {
		numbers[i] = i
	}
	return numbers
}

// goes reports whether the decision removes a document.
func (s *Shard) goes(i records.Number) bool { return s.choices[i].Kept != i }

// prefer orders documents by preference, the preferred one first.
func (s *Shard) prefer(a, b records.Number) int {
	return s.ranked(a).Compare(s.ranked(b))
}

// ranked returns a document with its standing.
func (s *Shard) ranked(i records.Number) preference.Ranked {
	return preference.Ranked{Ref: s.members[i].Ref, Standing: s.members[i].Standing}
}

// heapEdges visits each edge of a heap as two classes of identical documents, known by their first documents: the class
// of the leader and the class of the document that is like it. The leader is the preferred one.
func (s *Shard) heapEdges(visit func(leader, other records.Number)) {
	for _, e := range s.edges {
		if !e.Heap() {
			continue
		}
		leader, other := s.first[e.A], s.first[e.B]
		if s.prefer(other, leader) < 0 {
			leader, other = other, leader
		}
		visit(leader, other)
	}
}

// leaders returns, for each class by its first document, whether it leads others of a heap. It returns nil if no class
// does.
func (s *Shard) leaders() (leads []bool) {
	s.heapEdges(func(leader, _ records.Number) {
		if leads == nil {
			leads = make([]bool, len(s.members))
		}
		leads[leader] = true
	})
	return leads
}

// unchecked returns the number of unchecked classes minus the number that heaps have counted. A class whose pairs are not
// listed is unchecked if it is kept, and heaps count none of these. Of all others, a class is unchecked if
// it is of the input, is kept, and was not compared with all other kept classes of its heap. Heaps have counted
// leaders, and some of these are removed. They have not counted classes whose leader was removed in favour of a document of
// another heap.
func (s *Shard) unchecked() (n int64) {
	stays := make([]bool, len(s.members)) // a document of the class is kept
	for i := range s.end() {
		stays[s.first[i]] = stays[s.first[i]] || !s.goes(i)
	}
	for i := range s.members {
		if s.members[i].Unchecked && !stays[s.first[i]] {
			n--
		}
		if s.members[i].PartlyListed && stays[s.first[i]] && s.first[i] == records.Number(i) && !s.reference(records.Number(i)) {
			n++
		}
	}
	left := map[records.Number]bool{}
	s.heapEdges(func(leader, other records.Number) {
		if !stays[leader] && stays[other] && !s.reference(other) {
			left[other] = true
		}
	})
	return n + int64(len(left))
}

// rival returns edge i as an edge between the first documents of two classes of identical ones. It counts if it lets one
// document be removed for the other. If the reference begins both classes, both are kept: their documents of the input are
// removed for documents of their own class.
func (s *Shard) rival(i int) (e keep.Edge, counts bool) {
	a, b := s.first[s.edges[i].A], s.first[s.edges[i].B]
	counts = a != b && (!s.reference(a) || !s.reference(b))
	return keep.Edge{A: a, B: b, Similarity: s.edges[i].Similarity()}, counts
}

// splitStars makes each kept document and those removed for it a cluster, known by the first of them.
func (s *Shard) splitStars() {
	const none = ^records.Number(0)
	star := slices.Repeat([]records.Number{none}, len(s.members))
	for i := range s.end() {
		kept := s.choices[i].Kept
		if star[kept] == none {
			star[kept] = i
		}
		s.members[i].First = star[kept]
	}
	s.countSizes()
}
