package transforms

import (
	"cmp"
	"slices"

	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/keep"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/records"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/unionfind"
	"mirrorbeam/internal/work"
)

// outputShard holds the clusters of an output shard. A document is known by its
// number: its place in members.
type outputShard struct {
	inputs  *documents.Inputs
	input   docref.Ref // where the reference ends
	members []records.Member
	edges   []records.Edge
	spans   []records.Span   // of the edges, in their order
	first   unionfind.Forest // the first document identical to each
	choices []keep.Choice
	size    []uint32 // documents in the cluster, by the number of its first one
	names   [][]byte // what other rows call a document, as a JSON string
}

// cohesion is how like those that stay the documents of a cluster are that go.
type cohesion struct {
	least, sum float64
	gone       int
}

// cohesions returns the cohesion of each cluster, by the number of its first
// document.
func (s *outputShard) cohesions() []cohesion {
	all := make([]cohesion, len(s.members))
	for i, c := range s.choices {
		if c.Kept == uint32(i) {
			continue
		}
		of := &all[s.members[i].First]
		if of.gone == 0 || c.Similarity < of.least {
			of.least = c.Similarity
		}
		of.sum += c.Similarity
		of.gone++
	}
	return all
}

func newOutputShard(inputs *documents.Inputs, members []records.Member, edges []records.Edge) (*outputShard, error) {
	input, err := inputs.FirstInput()
	if err != nil {
		return nil, err
	}
	s := &outputShard{inputs: inputs, input: input, members: members, edges: edges}
	s.first = unionfind.New(len(members))
	for _, e := range edges {
		if e.Identical() {
			s.first.Union(e.A, e.B)
		}
	}
	s.first.Flatten()
	s.countSizes()
	s.names = make([][]byte, len(members))
	var arena []byte
	for i := range members {
		start := len(arena)
		if members[i].Repeated {
			arena = s.appendRef(arena, i)
		} else {
			arena = s.appendID(arena, i)
		}
		s.names[i] = arena[start:len(arena):len(arena)]
	}
	return s, nil
}

// reference reports whether a document is of the reference corpus.
func (s *outputShard) reference(i uint32) bool { return s.members[i].Ref < s.input }

func (s *outputShard) countSizes() {
	s.size = make([]uint32, len(s.members))
	for i := range s.members {
		s.size[s.members[i].First]++
	}
}

// appendRef appends path:position as a JSON string, appendID the user's id or,
// without one, the ref.
func (s *outputShard) appendRef(b []byte, i int) []byte {
	return output.AppendString(b, s.inputs.RefText(nil, s.members[i].Ref))
}

func (s *outputShard) appendID(b []byte, i int) []byte {
	if len(s.members[i].Id) == 0 {
		return s.appendRef(b, i)
	}
	return output.AppendString(b, s.members[i].Id)
}

// decide chooses the documents that stay. Those of the reference come before all
// others and stay. Then come the leaders of heaps: what is like one has been compared with
// few others, so it would have nobody to go for if its leader went.
func (s *outputShard) decide(preference keep.Preference) {
	order := make([]uint32, len(s.members))
	for i := range order {
		order[i] = uint32(i)
	}
	if leads := s.leaders(preference); preference == keep.Longest || leads != nil {
		slices.SortStableFunc(order, func(a, b uint32) int {
			if !s.reference(a) && !s.reference(b) && leads != nil && leads[s.first[a]] != leads[s.first[b]] {
				if leads[s.first[a]] {
					return -1
				}
				return 1
			}
			return s.prefer(preference, a, b)
		})
	}
	s.choices = keep.Choose(order, s.first, s.rivals)
	for i := range s.choices {
		if i := uint32(i); s.reference(i) {
			s.choices[i] = keep.Choice{Kept: i, Similarity: 1}
		}
	}
}

// prefer orders documents as those to keep are preferred.
func (s *outputShard) prefer(preference keep.Preference, a, b uint32) int {
	switch {
	case s.reference(a) != s.reference(b):
		if s.reference(a) {
			return -1
		}
		return 1
	case preference == keep.Longest && !s.reference(a) && s.members[a].Length != s.members[b].Length:
		return cmp.Compare(s.members[b].Length, s.members[a].Length)
	}
	return cmp.Compare(a, b)
}

// heapEdges passes the edges of heaps: the classes of the leader and of the document that
// is like it, by their first documents. The leader is the one that is preferred.
func (s *outputShard) heapEdges(preference keep.Preference, visit func(leader, other uint32)) {
	for _, e := range s.edges {
		if !e.Heap() {
			continue
		}
		leader, other := s.first[e.A], s.first[e.B]
		if s.prefer(preference, other, leader) < 0 {
			leader, other = other, leader
		}
		visit(leader, other)
	}
}

// leaders tells of each class, by its first document, whether it leads others of a heap.
// It returns nil where none does.
func (s *outputShard) leaders(preference keep.Preference) (leads []bool) {
	s.heapEdges(preference, func(leader, _ uint32) {
		if leads == nil {
			leads = make([]bool, len(s.members))
		}
		leads[leader] = true
	})
	return leads
}

// unchecked returns how many classes of the input stay, and were not compared with all
// others of their heap that stay, beside what heaps have counted, of which some go: those
// that are like a leader which has gone for a document of another heap.
func (s *outputShard) unchecked(preference keep.Preference) (n int64) {
	stays := func(first uint32) bool { return s.first[s.choices[first].Kept] == first }
	for i := range s.members {
		if s.members[i].Unchecked && !stays(s.first[i]) {
			n--
		}
	}
	left := map[uint32]bool{}
	s.heapEdges(preference, func(leader, other uint32) {
		if !stays(leader) && stays(other) && !s.reference(other) {
			left[other] = true
		}
	})
	return n + int64(len(left))
}

// rivals passes the edges of which one document may go for the other, from the first
// of those that are identical to each. Two classes that the reference begins both
// stay: what they have of the input goes for their own documents.
func (s *outputShard) rivals(yield func(keep.Edge) bool) {
	for _, e := range s.edges {
		a, b := s.first[e.A], s.first[e.B]
		if a == b || s.reference(a) && s.reference(b) {
			continue
		}
		if !yield(keep.Edge{A: a, B: b, Similarity: e.Similarity()}) {
			return
		}
	}
}

// splitStars makes each kept document and those that go for it a cluster, known
// by the first of them.
func (s *outputShard) splitStars() {
	const none = ^uint32(0)
	star := slices.Repeat([]uint32{none}, len(s.members))
	for i, c := range s.choices {
		if star[c.Kept] == none {
			star[c.Kept] = uint32(i)
		}
		s.members[i].First = star[c.Kept]
	}
	s.countSizes()
}

// countPairs counts the rows of pairs.
func (s *outputShard) countPairs(counts *work.Counts) {
	counts.Pairs += int64(len(s.edges))
	for _, e := range s.edges {
		if e.Identical() {
			counts.Identical++
		}
	}
}

// count counts what became of the documents.
func (s *outputShard) count(counts *work.Counts) {
	isLikeReference := s.likeReference()
	for i := range s.members {
		if s.size[i] > 1 {
			counts.Clusters++
			counts.Clustered += int64(s.size[i])
		}
		if s.choices[i].Kept != uint32(i) {
			counts.Removed++
			if isLikeReference[s.first[i]] {
				counts.RemovedForReference++
			}
		}
	}
}

// likeReference tells of each class of identical documents, by the first of it,
// whether one of the reference is in it or joined to it.
func (s *outputShard) likeReference() []bool {
	is := make([]bool, len(s.members))
	for i := range s.members {
		is[i] = s.reference(uint32(i))
	}
	for edge := range s.rivals {
		is[edge.A] = is[edge.A] || s.reference(edge.B)
		is[edge.B] = is[edge.B] || s.reference(edge.A)
	}
	return is
}

// clusterRows, pairRows and removedRows pass the rows of an output in order.

func (s *outputShard) clusterRows(row func([]byte) error) error {
	// Documents stand by component; a component's stars may interleave.
	order := make([]uint32, len(s.members))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(s.members[a].First, s.members[b].First) })
	cohesions := s.cohesions()
	var b []byte
	for _, i := range order {
		first := s.members[i].First
		if s.size[first] < 2 {
			continue
		}
		b = output.AppendMember(b[:0], output.Member{
			ID: s.appendID(nil, int(i)), Ref: s.appendRef(nil, int(i)), Cluster: s.names[first],
			Kept: s.choices[i].Kept == i, Similarity: s.choices[i].Similarity, Size: int(s.size[first]),
			Least: cohesions[first].least, Mean: cohesions[first].sum / float64(cohesions[first].gone), Reference: s.reference(i),
		})
		if err := row(b); err != nil {
			return err
		}
	}
	return nil
}

func (s *outputShard) pairRows(row func([]byte) error) error {
	var b []byte
	var spans []output.Span
	more, rest := 0, s.spans
	for _, e := range s.edges {
		if distance, is := e.Hamming(); is {
			b = output.AppendHammingPair(b[:0], s.names[e.A], s.names[e.B], int(distance))
			if err := row(b); err != nil {
				return err
			}
			continue
		}
		spans, more, rest = takeSpans(spans, rest, e)
		b = output.AppendPair(b[:0], output.Pair{
			A: s.names[e.A], B: s.names[e.B], Shared: e.Shared, Union: e.Union(),
			SizeA: int(s.members[e.A].Size), SizeB: int(s.members[e.B].Size),
			Identical: e.Identical(), Estimate: e.Estimate(), Spans: spans, MoreSpans: more,
		})
		if err := row(b); err != nil {
			return err
		}
	}
	return nil
}

func (s *outputShard) removedRows(row func([]byte) error) error {
	var b []byte
	for i, c := range s.choices {
		if c.Kept == uint32(i) {
			continue
		}
		b = output.AppendRemoved(b[:0], output.Member{
			ID: s.appendID(nil, i), Ref: s.appendRef(nil, i), Cluster: s.names[s.members[i].First],
			KeptID: s.names[c.Kept], Similarity: c.Similarity, Reference: s.reference(c.Kept),
		})
		if err := row(b); err != nil {
			return err
		}
	}
	return nil
}

// writeRemovedRefs writes the documents that go by split.
func (s *outputShard) writeRemovedRefs(run *runfile.Writer) error {
	starts, err := s.inputs.SplitStarts()
	if err != nil {
		return err
	}
	for i, c := range s.choices {
		if c.Kept == uint32(i) {
			continue
		}
		ref := s.members[i].Ref
		b, err := run.Record(records.Removed, documents.SplitOf(starts, ref), records.RefSize)
		if err != nil {
			return err
		}
		records.PutRef(b, ref)
	}
	return nil
}
