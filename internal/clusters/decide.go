package clusters

import (
	"cmp"
	"slices"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/paged"
)

type decision struct {
	rule keep.Rule
	// choices has one for each document. It is nil without a decision. Where clusters go as a whole, a choice leads to
	// the document that a removed one is most like.
	choices *paged.List[records.Number, keep.Choice]
}

func (s *Shard) isDecided() bool { return s.choices != nil }

// choice returns what becomes of a document. Documents of the reference stay, and without a decision all do.
func (s *Shard) choice(i records.Number) keep.Choice {
	if s.choices == nil || s.reference(i) {
		return keep.Choice{Kept: i, Similarity: 1}
	}
	return s.choices.At(i)
}

func (s *Shard) goes(i records.Number) bool { return s.choice(i).Kept != i }

// Decide chooses the documents that are kept: first the reference, then the pivots of hot groups. A document
// that is like a pivot has been compared with few others: if the pivot were removed, no kept document could stand for
// it. A rule may remove other documents. Decide asks stopped, unless it is nil, now and then, and ends with its error.
func (s *Shard) Decide(rule keep.Rule, stopped func() error) error {
	s.decision = decision{rule: rule}
	if rule.Drop == keep.Reference {
		s.chooseForReference()
	} else if err := s.choose(stopped); err != nil {
		return err
	}
	if rule.Split == keep.Star {
		s.splitStars()
	}
	if rule.Drop == keep.Clusters {
		s.dropClusters()
	}
	return nil
}

// choose chooses documents that are kept, in the order of preference.
func (s *Shard) choose(stopped func() error) error {
	leads := s.pivots()
	byPreference := func(a, b records.Number) int {
		if cluster := cmp.Compare(s.members.First(a), s.members.First(b)); cluster != 0 {
			return cluster
		}
		if !s.reference(a) && !s.reference(b) && leads != nil &&
			leads.At(s.classes.of.At(a)) != leads.At(s.classes.of.At(b)) {
			if leads.At(s.classes.of.At(a)) {
				return -1
			}
			return 1
		}
		return s.prefer(a, b)
	}
	store := s.store.Beside() // for what goes with the choice
	defer store.Close()
	order, err := sorted(store, s.end(), byPreference, stopped)
	if err != nil {
		return err
	}
	asking := asking{stopped: stopped}
	d := keep.Documents{
		Store:    store,
		Order:    order,
		Classes:  s.classes.of,
		Distinct: s.classes.len(),
		Sides:    s.members.Sides(),
	}
	s.choices = listIn[keep.Choice](s.store, s.end())
	keep.Choose(d, s.choices, s.edges.Len(), func(i int) (keep.Edge, bool) {
		e, counts := s.rival(i)
		return e, counts && asking.goesOn()
	})
	return asking.err
}

// chooseForReference removes each document that is similar to the reference, for the most similar document there.
func (s *Shard) chooseForReference() {
	store := s.store.Beside()
	defer store.Close()
	const nobody = ^records.Number(0)
	best := listIn[keep.Choice](store, s.classes.len())
	for class := range s.classes.len() {
		best.Set(class, keep.Choice{Kept: nobody})
		if first := s.classes.firsts.At(class); s.reference(first) {
			best.Set(class, keep.Choice{Kept: first, Similarity: 1})
		}
	}
	for i := range s.edges.Len() {
		e, counts := s.rival(i)
		known, other, isSpared := e.A, e.B, e.SparesB
		if !s.reference(s.classes.firsts.At(known)) {
			known, other, isSpared = other, known, e.SparesA
		}
		first, before := s.classes.firsts.At(known), best.At(other)
		if counts && !isSpared && s.reference(first) && (before.Kept == nobody || e.Similarity > before.Similarity) {
			best.Set(other, keep.Choice{Kept: first, Similarity: e.Similarity})
		}
	}
	s.choices = listIn[keep.Choice](s.store, s.end())
	for i := range s.end() {
		choice := best.At(s.classes.of.At(i))
		if choice.Kept == nobody {
			choice = keep.Choice{Kept: i, Similarity: 1}
		}
		s.choices.Set(i, choice)
	}
}

// dropClusters removes all documents of the input that are in clusters. Each is assigned to the document that it is
// most like: of its cluster, if that has one that a pair joins it to. Of equally similar ones the preferred one counts.
func (s *Shard) dropClusters() {
	like := listIn[keep.Choice](s.store, s.end())
	for i := range s.end() {
		like.Set(i, keep.Choice{Kept: i})
	}
	isOwn := func(i, other records.Number) bool { return s.members.First(i) == s.members.First(other) }
	offer := func(to, other records.Number, similarity float64) {
		before := like.At(to)
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
			like.Set(to, keep.Choice{Kept: other, Similarity: similarity})
		}
	}
	for e := range s.withDuplicates(s.pairs) {
		if e.Variant() {
			continue
		}
		similarity := e.Similarity()
		if e.Identical() { // documents without a shingle have no share in common
			similarity = 1
		}
		offer(e.A, e.B, similarity)
		offer(e.B, e.A, similarity)
	}
	s.apartPairs(func(a, b records.Number, similarity float64) {
		offer(a, b, similarity)
		offer(b, a, similarity)
	})
	for i := range s.end() {
		if s.size.At(s.members.First(i)) == 1 {
			like.Set(i, s.choice(i))
		}
	}
	s.choices = like
}

// apartPairs visits the pairs within stars of documents that are in another star than the first document that is
// identical to them. The edges of that one are theirs, too. Of such documents of a class and a star, the first one has
// these pairs, and pairs with the others.
func (s *Shard) apartPairs(visit func(a, b records.Number, similarity float64)) {
	if s.members.Sides() != nil {
		return // each document has pairs of its own
	}
	type part struct{ class, star records.Number }
	firsts, stars := map[part]records.Number{}, map[records.Number][]records.Number{} // stars of each class
	for i := range s.end() {
		of := part{s.classes.of.At(i), s.members.First(i)}
		if of.star == s.members.First(s.classes.first(i)) {
			continue
		}
		if first, is := firsts[of]; is {
			visit(first, i, 1)
			continue
		}
		firsts[of], stars[of.class] = i, append(stars[of.class], of.star)
	}
	if len(firsts) == 0 {
		return
	}
	in := func(class, star records.Number) (first records.Number, is bool) {
		if first = s.classes.firsts.At(class); s.members.First(first) == star {
			return first, true
		}
		first, is = firsts[part{class, star}]
		return first, is
	}
	for i := range s.edges.Len() {
		e := s.edges.At(i)
		a, b := s.classes.of.At(e.A), s.classes.of.At(e.B)
		for _, star := range slices.Concat(stars[a], stars[b]) {
			one, isOne := in(a, star)
			other, isOther := in(b, star)
			if isOne && isOther && a != b && !e.Variant() {
				visit(one, other, e.Similarity())
			}
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

// sorted returns the numbers from 0 to n-1 in an order. It asks stopped, if not nil, now and then; an error ends it.
func sorted(store *paged.Store, n records.Number, order func(a, b records.Number) int,
	stopped func() error,
) (*numbers, error) {
	return paged.Sort(newForest(store, int(n)).numbers, func(run []records.Number) error {
		return graphs.SortFunc(run, order, stopped)
	}, order)
}

// prefer orders documents by preference, the preferred one first.
func (s *Shard) prefer(a, b records.Number) int {
	return s.members.Ranked(a).Compare(s.members.Ranked(b))
}

// hotGroupEdges visits each edge of a hot group as two classes of identical documents: the class of the pivot and the
// class of the document that is like it. The pivot is the preferred one of their first documents.
func (s *Shard) hotGroupEdges(visit func(pivot, other records.Number)) {
	for i := range s.edges.Len() {
		e := s.edges.At(i)
		if !e.HotGroup() {
			continue
		}
		pivot, other := s.classes.of.At(e.A), s.classes.of.At(e.B)
		if s.prefer(s.classes.firsts.At(other), s.classes.firsts.At(pivot)) < 0 {
			pivot, other = other, pivot
		}
		visit(pivot, other)
	}
}

// pivots returns, for each class, whether it leads others of a hot group. It returns nil if no class does.
func (s *Shard) pivots() (leads *paged.List[records.Number, bool]) {
	s.hotGroupEdges(func(pivot, _ records.Number) {
		if leads == nil {
			leads = listIn[bool](s.store, s.classes.len())
		}
		leads.Set(pivot, true)
	})
	return leads
}

// unchecked returns the number of unchecked classes minus the number that hot groups have counted. A class whose pairs
// are not listed is unchecked if it is kept, and hot groups count none of these. Of all others, a class is unchecked if
// it is of the input, is kept, and was not compared with all other kept classes of its hot group. Hot groups have
// counted pivots, and some of these are removed. They have not counted classes whose pivot was removed in favour of a
// document of another hot group.
func (s *Shard) unchecked() (n int64) {
	stays := listIn[bool](s.store, s.classes.len()) // a document of the class is kept
	for i := range s.end() {
		if !s.goes(i) {
			stays.Set(s.classes.of.At(i), true)
		}
	}
	for i := range s.end() {
		class := s.classes.of.At(i)
		if s.members.Unchecked(i) && !stays.At(class) {
			n--
		}
		if s.members.PartlyListed(i) && stays.At(class) && s.classes.firsts.At(class) == i && !s.reference(i) {
			n++
		}
	}
	left := map[records.Number]bool{}
	s.hotGroupEdges(func(pivot, other records.Number) {
		if !stays.At(pivot) && stays.At(other) && !s.reference(s.classes.firsts.At(other)) {
			left[other] = true
		}
	})
	return n + int64(len(left))
}

// rival returns edge i as an edge between two classes of identical documents. It counts if it lets one document be
// removed for the other. If the reference begins both classes, both are kept: their documents of the input are removed
// for documents of their own class.
func (s *Shard) rival(i int) (e keep.Edge, counts bool) {
	of := s.edges.At(i)
	a, b := s.classes.of.At(of.A), s.classes.of.At(of.B)
	counts = a != b && !of.Variant() && (!s.reference(s.classes.firsts.At(a)) || !s.reference(s.classes.firsts.At(b)))
	e = keep.Edge{A: a, B: b, Similarity: of.Similarity()}
	if least := s.rule.Contained; least > 0 && counts {
		sizes := [2]uint32{s.members.Size(of.A), s.members.Size(of.B)}
		e.SparesA = float64(of.Shared) < least*float64(sizes[0])
		e.SparesB = float64(of.Shared) < least*float64(sizes[1])
	}
	return e, counts
}

// splitStars makes each kept document and those removed for it a cluster, known by the first of them.
func (s *Shard) splitStars() {
	star := listIn[records.Number](s.store, s.end()) // plus 1: first document of the star of each kept one
	for i := range s.end() {
		kept := s.choice(i).Kept
		if star.At(kept) == 0 {
			star.Set(kept, i+1)
		}
		s.members.SetFirst(i, star.At(kept)-1)
	}
	s.countSizes()
}
