package clusters

import (
	"cmp"
	"fmt"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/paged"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/schema/output"
)

type cluster struct {
	order       *numbers // the documents of the shard by cluster; nil if that is their own order
	start, size records.Number
}

// document returns document i in the order of rows.
func (c cluster) document(i records.Number) records.Number {
	if c.order == nil {
		return c.start + i
	}
	return c.order.At(c.start + i)
}

func (c cluster) documents(yield func(records.Number) bool) {
	for i := records.Number(0); i < c.size && yield(c.document(i)); i++ {
	}
}

// eachCluster yields the clusters of the shard that have several documents, in the order of rows.
func (s *Shard) eachCluster(yield func(cluster) bool) {
	store := s.store.Beside()
	defer store.Close()
	c := cluster{order: s.byCluster(store)}
	for ; c.start < s.end(); c.start += c.size {
		if c.size = records.Number(s.size.At(s.members.First(c.document(0)))); c.size > 1 && !yield(c) {
			return
		}
	}
}

// byCluster returns the documents by cluster, nil if that is their order: stars of a component may interleave.
func (s *Shard) byCluster(store *paged.Store) *numbers {
	isSorted := true
	for i := records.Number(1); i < s.end() && isSorted; i++ {
		isSorted = s.members.First(i-1) <= s.members.First(i)
	}
	if isSorted {
		return nil
	}
	order, _ := sorted(store, s.end(), func(a, b records.Number) int { // nobody stops it
		return cmp.Or(cmp.Compare(s.members.First(a), s.members.First(b)), cmp.Compare(a, b))
	}, nil)
	return order
}

// ClusterRows passes the rows of clusters in order. The shard must be decided.
func (s *Shard) ClusterRows(row func(output.Member) error) error {
	for cluster := range s.eachCluster {
		name, of := s.name(s.members.First(cluster.document(0))), s.cohesion(cluster)
		mean := of.mean()
		for i := range cluster.documents {
			at, choice := s.members.Capture(i), s.choice(i)
			err := row(output.Member{
				ID:         s.id(i),
				Ref:        s.ref(i),
				URL:        at.URL,
				Date:       at.Date,
				Cluster:    name,
				Kept:       choice.Kept == i,
				Similarity: choice.Similarity,
				Size:       int64(cluster.size),
				Least:      of.least,
				Mean:       mean,
				Reference:  s.reference(i),
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

func (s *Shard) cohesion(cluster cluster) cohesion {
	of := cohesion{least: 1}
	for i := range cluster.documents {
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
	for e := range s.withDuplicates(s.pairs) {
		var pair output.Pair
		if a, b := first.name(e.A), s.name(e.B); kind == output.HammingPair {
			distance, _ := e.Hamming()
			pair = output.NewHammingPair(a, b, int(distance), int(e.Union()))
		} else {
			pair = output.NewPair(a, b, output.Overlap{
				Shared:    e.Shared,
				Union:     e.Union(),
				SizeA:     s.members.Size(e.A),
				SizeB:     s.members.Size(e.B),
				Identical: e.Identical(),
				Estimate:  e.Estimate(),
			})
			pair.Kind = kind
			spans, rest = takeSpans(spans, rest, e, &pair)
		}
		if kind == output.PartialPair {
			if pair.JaccardWhole = e.Whole(); e.Identical() {
				pair.JaccardWhole = 1
			}
		}
		pair.Variant = e.Variant()
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
			ABegin: int64(s.StartA),
			AEnd:   int64(s.EndA),
			BBegin: int64(s.StartB),
			BEnd:   int64(s.EndB),
			Words:  int64(s.Words),
		})
		if pair.MoreSpans = int64(s.More); pair.Kind == output.RarePair {
			pair.Rarity = float64(s.Rarity) / records.RarityUnit
		}
		spans = spans[1:]
	}
	pair.Spans = rows
	return rows, spans
}

// WriteAnnotations writes what is known of documents of the input in clusters. The shard must be decided.
func (s *Shard) WriteAnnotations(run *runfile.Writer) error {
	clusters, kept, extents := namer{Shard: s}, namer{Shard: s}, s.extents()
	for i := range s.end() {
		first := s.members.First(i)
		if s.size.At(first) < 2 || s.reference(i) {
			continue
		}
		ref := s.members.Ref(i)
		a := records.Annotation{Ref: ref, Cluster: clusters.name(first), Size: s.size.At(first), Kept: !s.goes(i)}
		a.Extent = extents[first]
		if s.goes(i) && !s.IsDropped() {
			a.KeptID = kept.name(s.choice(i).Kept)
		}
		if err := records.Write(
			run, records.AnnotatedDocuments, documents.SplitOf(s.layout.Starts, ref), &a,
		); err != nil {
			return err
		}
	}
	return nil
}

func (s *Shard) extents() map[records.Number]records.Extent {
	extents := map[records.Number]records.Extent{}
	for cluster := range s.eachCluster {
		var of records.Extent
		var in sources.Set
		last := -1 // the file of the document before, as the documents are in document order
		for i := range cluster.documents {
			if s.reference(i) {
				continue
			}
			file := s.members.Ref(i).File()
			if file != last || s.layout.Inputs.Files[file].Members != nil {
				of.Files++
			}
			last = file
			in.Put(s.members.Source(i))
		}
		for range in.All {
			of.Sources++
		}
		extents[s.members.First(cluster.document(0))] = of
	}
	return extents
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
			ID:         s.id(i),
			Ref:        s.ref(i),
			URL:        at.URL,
			Date:       at.Date,
			Cluster:    clusters.name(s.members.First(i)),
			Similarity: c.Similarity,
			Reference:  s.reference(c.Kept),
		}
		if s.IsDropped() {
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

// WriteCachedPairs writes the similar pairs of the shard. Of equal documents it writes one pair or more.
func (s *Shard) WriteCachedPairs(run *runfile.Writer) error {
	var last digest.Digest // of equal documents
	for e := range s.withDuplicates(s.edges) {
		if e.Identical() {
			if s.members.Digest(e.A) == last {
				continue
			}
			last = s.members.Digest(e.A)
		}
		a, b := s.members.Digest(e.A), s.members.Digest(e.B)
		if a == (digest.Digest{}) || b == (digest.Digest{}) {
			return fmt.Errorf("cache the pair of %s and %s: a document has no digest", s.ref(e.A), s.ref(e.B))
		}
		record, err := run.Record(records.CachedPairs, 0, state.CachedPairSize)
		if err != nil {
			return err
		}
		e.Total &^= records.VariantMark // the next run judges it from scratch
		state.CachedPairOf(a, b, e.Score).Append(record[:0])
	}
	return nil
}

// WriteKept writes the pairs of the shard that are no equal documents, with the passages that they have in common.
func (s *Shard) WriteKept(run *runfile.Writer) error {
	spans, pair := s.spans, records.KeptPair{}
	for i := range s.edges.Len() {
		e := s.edges.At(i)
		if e.Identical() {
			continue
		}
		pair = records.KeptPair{A: s.members.Ref(e.A), B: s.members.Ref(e.B), Score: e.Score, Spans: pair.Spans[:0]}
		for ; len(spans) > 0 && spans[0].A == e.A && spans[0].B == e.B; spans = spans[1:] {
			pair.Spans, pair.More = append(pair.Spans, spans[0].Span), spans[0].More
		}
		if err := records.Write(run, records.KeptPairs, 0, &pair); err != nil {
			return err
		}
	}
	return nil
}

// WriteMemberships writes the clusters and their documents in the order of rows. The shard must be decided.
func (s *Shard) WriteMemberships(run *runfile.Writer) error {
	for cluster := range s.eachCluster {
		name := s.name(s.members.First(cluster.document(0)))
		record, err := run.Record(records.Memberships, 0, state.GroupSize("", name, int(cluster.size)))
		if err != nil {
			return err
		}
		packed := state.AppendGroupHead(record[:0], "", name, int(cluster.size))
		for i := range cluster.documents {
			hash := xxh3.HashString128(s.name(i))
			packed = state.Member{hash.Hi, hash.Lo}.Append(packed)
		}
	}
	return nil
}
