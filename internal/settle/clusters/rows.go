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

// eachCluster yields the documents of each cluster of the shard in the order of rows. They are valid until the next.
func (s *Shard) eachCluster(yield func(documents []records.Number) bool) {
	// Documents stand by component; a component's stars may interleave.
	order := numbers(s.members.Len())
	byCluster := func(a, b records.Number) int { return cmp.Compare(s.members.First(a), s.members.First(b)) }
	if !slices.IsSortedFunc(order, byCluster) {
		slices.SortStableFunc(order, byCluster)
	}
	for len(order) > 0 {
		n := s.size[s.members.First(order[0])]
		if n > 1 && !yield(order[:n]) {
			return
		}
		order = order[n:]
	}
}

// ClusterRows passes the rows of clusters in order. The shard must be decided.
func (s *Shard) ClusterRows(row func(output.Member) error) error {
	for cluster := range s.eachCluster {
		name, of := s.name(s.members.First(cluster[0])), s.cohesion(cluster)
		mean := of.mean()
		for _, i := range cluster {
			at, choice := s.members.Capture(i), s.choice(i)
			err := row(output.Member{
				ID: s.id(i), Ref: s.ref(i), URL: at.URL, Date: at.Date, Cluster: name,
				Kept: choice.Kept == i, Similarity: choice.Similarity, Size: int64(len(cluster)),
				Least: of.least, Mean: mean, Reference: s.reference(i),
			})
			if err != nil {
				return err
			}
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

// cohesion returns the cohesion of a cluster.
func (s *Shard) cohesion(cluster []records.Number) cohesion {
	of := cohesion{least: 1}
	for _, i := range cluster {
		if choice := s.choice(i); choice.Kept != i {
			of.least = min(of.least, choice.Similarity)
			of.sum += choice.Similarity
			of.gone++
		}
	}
	return of
}

// PairRows passes the rows of pairs of a kind in order. A row is valid until the next.
func (s *Shard) PairRows(kind string, row func(output.Pair) error) error {
	var spans []output.Span
	rest, first := s.spans, namer{Shard: s}
	for e := range s.withTwins(s.pairs) {
		var pair output.Pair
		if a, b := first.name(e.A), s.name(e.B); kind == output.HammingPair {
			distance, _ := e.Hamming()
			pair = output.NewHammingPair(a, b, int(distance), int(e.Union()))
		} else {
			pair = output.NewPair(a, b, output.Overlap{
				Shared: e.Shared, Union: e.Union(), SizeA: s.members.Size(e.A), SizeB: s.members.Size(e.B),
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
		a, b := s.members.Capture(e.A), s.members.Capture(e.B)
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
		first := s.members.First(i)
		if s.size[first] < 2 || s.reference(i) {
			continue
		}
		ref := s.members.Ref(i)
		a := records.Annotation{Ref: ref, Cluster: clusters.name(first), Size: s.size[first], Kept: !s.goes(i)}
		if s.goes(i) && !s.isDropped {
			a.KeptID = kept.name(s.choice(i).Kept)
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
		c := s.choice(i)
		at, other := s.members.Capture(i), s.members.Capture(c.Kept)
		removal := output.Removal{
			ID: s.id(i), Ref: s.ref(i), URL: at.URL, Date: at.Date, Cluster: clusters.name(s.members.First(i)),
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
	for e := range s.withTwins(s.edges) {
		if e.Identical() {
			if s.members.Digest(e.A) == last {
				continue
			}
			last = s.members.Digest(e.A)
		}
		record, err := run.Record(records.Verdicts, 0, state.VerdictSize)
		if err != nil {
			return err
		}
		state.VerdictOf(s.members.Digest(e.A), s.members.Digest(e.B), e.Score).Append(record[:0])
	}
	return nil
}

// WriteMemberships writes the clusters of the shard and their documents, in the order of the rows. The shard must be
// decided.
func (s *Shard) WriteMemberships(run *runfile.Writer) error {
	for cluster := range s.eachCluster {
		name := s.name(s.members.First(cluster[0]))
		record, err := run.Record(records.Memberships, 0, state.GroupSize(name, len(cluster)))
		if err != nil {
			return err
		}
		packed := state.AppendGroupHead(record[:0], name, len(cluster))
		for _, i := range cluster {
			hash := xxh3.HashString128(s.name(i))
			packed = state.Member{hash.Hi, hash.Lo}.Append(packed)
		}
	}
	return nil
}
