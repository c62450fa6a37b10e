package clusters

import (
	"cmp"
	"slices"

	"github.com/zeebo/xxh3"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/digest"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/settle/state"
)

// ClusterRows passes the rows of clusters in order. The shard must be decided.
func (s *Shard) ClusterRows(row func(output.Member) error) error {
	// Documents stand by component; a component's stars may interleave.
	order := s.numbers()
	slices.SortStableFunc(order, func(a, b records.Number) int { return cmp.Compare(s.members[a].First, s.members[b].First) })
	cohesions, clusters := s.cohesions(), namer{Shard: s}
	for _, i := range order {
		first := s.members[i].First
		if s.size[first] < 2 {
			continue
		}
		at := s.capture(i)
		err := row(output.Member{
			ID: s.id(i), Ref: s.ref(i), URL: at.URL, Date: at.Date, Cluster: clusters.name(first),
			Kept: !s.goes(i), Similarity: s.choices[i].Similarity, Size: int64(s.size[first]),
			Least: cohesions[first].least, Mean: cohesions[first].mean(), Reference: s.reference(i),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// cohesion is how similar the removed documents of a cluster are to those kept.
type cohesion struct {
	least, sum float64
	gone       int
}

// mean returns the mean similarity as rows have it: 1 if none is removed.
func (c *cohesion) mean() float64 {
	if c.gone == 0 {
		return 1
	}
	return output.RoundMean(c.sum / float64(c.gone))
}

// cohesions returns the cohesion of each cluster, by its first document.
func (s *Shard) cohesions() []cohesion {
	all := slices.Repeat([]cohesion{{least: 1}}, len(s.members))
	for i := range s.end() {
		if !s.goes(i) {
			continue
		}
		c := s.choices[i]
		of := &all[s.members[i].First]
		of.least = min(of.least, c.Similarity)
		of.sum += c.Similarity
		of.gone++
	}
	return all
}

// PairRows passes the rows of pairs of a kind in order. A row is valid until the next.
func (s *Shard) PairRows(kind string, row func(output.Pair) error) error {
	var spans []output.Span
	rest, first := s.spans, namer{Shard: s}
	for _, e := range s.pairs {
		var pair output.Pair
		if a, b := first.name(e.A), s.name(e.B); kind == output.HammingPair {
			distance, _ := e.Hamming()
			pair = output.NewHammingPair(a, b, int(distance), int(e.Union()))
		} else {
			pair = output.NewPair(a, b, output.Overlap{
				Shared: e.Shared, Union: e.Union(), SizeA: s.members[e.A].Size, SizeB: s.members[e.B].Size,
				Identical: e.Identical(), Estimate: e.Estimate(),
			})
			pair.Kind = kind
			spans, rest = takeSpans(spans, rest, e, &pair)
		}
		if kind == output.PartialPair {
			if pair.JaccardWhole = e.Whole(); e.Identical() {
				pair.JaccardWhole = 1
			}
		}
		a, b := s.capture(e.A), s.capture(e.B)
		pair.URLA, pair.DateA, pair.URLB, pair.DateB = a.URL, a.Date, b.URL, b.Date
		if err := row(pair); err != nil {
			return err
		}
	}
	return nil
}

// takeSpans takes the spans of an edge from the front of the spans of a shard into its row.
func takeSpans(
	rows []output.Span, spans []records.Span[records.Number], e records.Edge[records.Number], pair *output.Pair,
) (of []output.Span, rest []records.Span[records.Number]) {
	rows = rows[:0]
	for len(spans) > 0 && spans[0].A == e.A && spans[0].B == e.B {
		s := spans[0]
		rows = append(rows, output.Span{
			ABegin: int64(s.StartA), AEnd: int64(s.EndA), BBegin: int64(s.StartB), BEnd: int64(s.EndB), Words: int64(s.Words),
		})
		if pair.MoreSpans = int64(s.More); pair.Kind == output.RarePair {
			pair.Rarity = float64(s.Rarity) / records.RarityUnit
		}
		spans = spans[1:]
	}
	pair.Spans = rows
	return rows, spans
}

// WriteAnnotations writes what is known of the documents of the input in clusters, for each split. The shard must be
// decided.
func (s *Shard) WriteAnnotations(run *runfile.Writer) error {
	clusters, kept := namer{Shard: s}, namer{Shard: s}
	for i := range s.end() {
		first := s.members[i].First
		if s.size[first] < 2 || s.reference(i) {
			continue
		}
		ref := s.members[i].Ref
		a := records.Annotation{Ref: ref, Cluster: clusters.name(first), Size: s.size[first], Kept: !s.goes(i)}
		if s.goes(i) && !s.isDropped {
			a.KeptID = kept.name(s.choices[i].Kept)
		}
		if err := records.WriteAnnotation(run, documents.SplitOf(s.layout.Starts, ref), a); err != nil {
			return err
		}
	}
	return nil
}

// RemovedRows passes the rows of removed documents in order. The shard must be decided.
func (s *Shard) RemovedRows(row func(output.Removal) error) error {
	clusters, kept := namer{Shard: s}, namer{Shard: s}
	for i := range s.end() {
		if !s.goes(i) {
			continue
		}
		c := s.choices[i]
		at, other := s.capture(i), s.capture(c.Kept)
		removal := output.Removal{
			ID: s.id(i), Ref: s.ref(i), URL: at.URL, Date: at.Date, Cluster: clusters.name(s.members[i].First),
			Similarity: c.Similarity, Reference: s.reference(c.Kept),
		}
		if s.isDropped {
			removal.LikeID, removal.LikeURL, removal.LikeDate = kept.name(c.Kept), other.URL, other.Date
		} else {
			removal.KeptID, removal.KeptURL, removal.KeptDate = kept.name(c.Kept), other.URL, other.Date
		}
		if err := row(removal); err != nil {
			return err
		}
	}
	return nil
}

// WriteVerdicts writes the similar pairs of the shard. Of equal documents it writes one pair or more.
func (s *Shard) WriteVerdicts(run *runfile.Writer) error {
	var last digest.Digest // of equal documents
	for _, e := range s.edges {
		if e.Identical() {
			if s.members[e.A].Digest == last {
				continue
			}
			last = s.members[e.A].Digest
		}
		record, err := run.Record(records.Verdicts, 0, state.VerdictSize)
		if err != nil {
			return err
		}
		state.VerdictOf(s.members[e.A].Digest, s.members[e.B].Digest, e.Score).Put(record)
	}
	return nil
}

// WriteMemberships writes the clusters of the shard and their documents, in the order of the rows. The shard must be
// decided.
func (s *Shard) WriteMemberships(run *runfile.Writer) error {
	order := s.numbers()
	slices.SortStableFunc(order, func(a, b records.Number) int { return cmp.Compare(s.members[a].First, s.members[b].First) })
	var packed []byte
	var members []state.Member
	for len(order) > 0 {
		first := s.members[order[0]].First
		n := int(s.size[first])
		if n > 1 {
			members = members[:0]
			for _, i := range order[:n] {
				hash := xxh3.HashString128(s.name(i))
				members = append(members, state.Member{hash.Hi, hash.Lo})
			}
			packed = state.AppendGroup(packed[:0], s.name(first), members)
			record, err := run.Record(records.Memberships, 0, len(packed))
			if err != nil {
				return err
			}
			copy(record, packed)
		}
		order = order[n:]
	}
	return nil
}
