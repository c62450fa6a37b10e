package clusters

import (
	"cmp"
	"slices"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/measure/documents"
)

// ClusterRows passes the rows of clusters in order. The shard must be decided.
func (s *Shard) ClusterRows(row func(output.Cluster) error) error {
	// Documents stand by component; a component's stars may interleave.
	order := s.numbers()
	slices.SortStableFunc(order, func(a, b records.Number) int { return cmp.Compare(s.members[a].First, s.members[b].First) })
	cohesions, clusters := s.cohesions(), namer{Shard: s}
	for _, i := range order {
		first := s.members[i].First
		if s.size[first] < 2 {
			continue
		}
		err := row(output.Cluster{
			ID: s.id(i), Ref: s.ref(i), Cluster: clusters.name(first),
			Kept: !s.goes(i), Similarity: s.choices[i].Similarity, Size: int64(s.size[first]),
			Least: cohesions[first].least, Mean: output.RoundMean(cohesions[first].sum / float64(cohesions[first].gone)), Reference: s.reference(i),
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

// cohesions returns the cohesion of each cluster, by its first document.
func (s *Shard) cohesions() []cohesion {
	all := make([]cohesion, len(s.members))
	for i := range s.end() {
		if !s.goes(i) {
			continue
		}
		c := s.choices[i]
		of := &all[s.members[i].First]
		if of.gone == 0 || c.Similarity < of.least {
			of.least = c.Similarity
		}
		of.sum += c.Similarity
		of.gone++
	}
	return all
}

// PairRows passes the rows of pairs in order, if sets were compared. A row is valid until the next.
func (s *Shard) PairRows(row func(output.Pair) error) error {
	var spans []output.Span
	rest, first := s.spans, namer{Shard: s}
	for _, e := range s.pairs {
		pair := output.NewPair(first.name(e.A), s.name(e.B), output.Overlap{
			Shared: e.Shared, Union: e.Union(), SizeA: s.members[e.A].Size, SizeB: s.members[e.B].Size,
			Identical: e.Identical(), Estimate: e.Estimate(),
		})
		spans, pair.MoreSpans, rest = takeSpans(spans, rest, e)
		pair.Spans = spans
		if err := row(pair); err != nil {
			return err
		}
	}
	return nil
}

// PartialPairRows passes the rows of pairs in order, if common shingles do not count.
func (s *Shard) PartialPairRows(row func(output.PartialPair) error) error {
	at := 0
	return s.PairRows(func(pair output.Pair) error {
		e := s.pairs[at]
		at++
		whole := e.Whole()
		if e.Identical() {
			whole = 1
		}
		return row(output.NewPartialPair(pair, whole))
	})
}

// RarePairRows passes the rows of pairs in order, if they tell how rare their passages are.
func (s *Shard) RarePairRows(row func(output.RarePair) error) error {
	at, rest := 0, s.spans
	return s.PairRows(func(pair output.Pair) error {
		e, rarity := s.pairs[at], 0.
		at++
		for len(rest) > 0 && rest[0].A == e.A && rest[0].B == e.B {
			rarity, rest = float64(rest[0].Rarity)/records.RarityUnit, rest[1:]
		}
		return row(output.RarePair{Pair: pair, Rarity: rarity})
	})
}

// HammingPairRows passes the rows of pairs in order, if SimHash fingerprints were compared.
func (s *Shard) HammingPairRows(row func(output.HammingPair) error) error {
	first := namer{Shard: s}
	for _, e := range s.pairs {
		distance, _ := e.Hamming()
		if err := row(output.NewHammingPair(first.name(e.A), s.name(e.B), int(distance), int(e.Union()))); err != nil {
			return err
		}
	}
	return nil
}

// takeSpans takes the spans of an edge from the front of the spans of a shard.
func takeSpans(
	rows []output.Span, spans []records.Span[records.Number], e records.Edge[records.Number],
) (of []output.Span, more int64, rest []records.Span[records.Number]) {
	rows = rows[:0]
	for len(spans) > 0 && spans[0].A == e.A && spans[0].B == e.B {
		s := spans[0]
		rows = append(rows, output.Span{
			ABegin: int64(s.StartA), AEnd: int64(s.EndA), BBegin: int64(s.StartB), BEnd: int64(s.EndB), Words: int64(s.Words),
		})
		more, spans = int64(s.More), spans[1:]
	}
	return rows, more, spans
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
		if s.goes(i) {
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
		err := row(output.Removal{
			ID: s.id(i), Ref: s.ref(i), Cluster: clusters.name(s.members[i].First),
			KeptID: kept.name(c.Kept), Similarity: c.Similarity, Reference: s.reference(c.Kept),
		})
		if err != nil {
			return err
		}
	}
	return nil
}
