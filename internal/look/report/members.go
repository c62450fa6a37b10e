package report

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/look/finished"
)

const (
	// mostMembers is the number of documents of a cluster that a page shows.
	mostMembers = 32
	// mostClusters is the number of clusters in the table. The first mostLargest have a map, as have the mostLoosest ones
	// with the lowest mean.
	mostClusters, mostLargest, mostLoosest = 100, 8, 4
	// leastLoose is the size from which a cluster may be called loose.
	leastLoose = 4
)

// memberPass is what one pass over the rows of clusters finds out.
type memberPass struct {
	sampler sampler
	// cluster has the cluster of each document, as hashes; nil unless it is asked for and all documents are chosen.
	cluster map[uint64]uint64
	// removed counts the similarities of removed documents to those that stay for them.
	removed *tally
	// documents are the first ones of the cluster that is being read.
	documents []Member

	sizes            []SizeClass
	largest, loosest *best[*Cluster]
}

// newMemberPass begins a pass. Crossing says that the clusters of documents are to be known.
func newMemberPass(s sampler, removed *tally, crossing bool) *memberPass {
	m := &memberPass{sampler: s, removed: removed, largest: newBest[*Cluster](mostClusters), loosest: newBest[*Cluster](mostLoosest)}
	if crossing && s.isAll() {
		m.cluster = map[uint64]uint64{}
	}
	return m
}

func (m *memberPass) read(ctx context.Context, f *finished.Folder) error {
	for of, err := range f.Clusters(ctx, m.member) {
		if err != nil {
			return err
		}
		c := &Cluster{Cluster: of, Documents: m.documents}
		m.documents = nil
		m.count(c)
		m.largest.add(-float64(c.Size), c)
		if c.Size >= leastLoose {
			m.loosest.add(c.Mean, c)
		}
	}
	return nil
}

func (m *memberPass) member(row *output.Member) {
	if m.cluster != nil {
		key, _ := m.sampler.choose(row.ID)
		m.cluster[key] = xxh3.HashString(row.Cluster)
	}
	if !row.Kept {
		m.removed.add(row.Similarity)
	}
	if len(m.documents) < mostMembers {
		m.documents = append(m.documents, Member{row.ID, row.Kept, row.Similarity, row.Reference})
	}
}

// count counts a cluster by its size: 2, 3, 4, then 5 to 8, 9 to 16 and so on.
func (m *memberPass) count(c *Cluster) {
	class := 0
	if c.Size > 4 {
		class = bits.Len(uint(c.Size - 1)) // 3 for 5 to 8
	} else {
		class = c.Size - 2
	}
	for len(m.sizes) <= class {
		next := SizeClass{From: len(m.sizes) + 2, To: len(m.sizes) + 2}
		if n := len(m.sizes); n > 2 {
			next.From, next.To = 1<<(n-1)+1, 1<<n
		}
		m.sizes = append(m.sizes, next)
	}
	m.sizes[class].Clusters++
	m.sizes[class].Documents += int64(c.Size)
}

// clusters returns the clusters of the table, the largest first: loose ones that are small are among them. Those without a
// map keep no documents.
func (m *memberPass) clusters() []Cluster {
	var all []Cluster
	for i, c := range m.largest.items {
		if i >= mostLargest && !slices.Contains(m.loosest.items, c) {
			c.Documents = nil
		}
		all = append(all, *c)
	}
	for _, c := range m.loosest.items {
		if !slices.Contains(m.largest.items, c) {
			all = append(all, *c)
		}
	}
	slices.SortStableFunc(all, func(a, b Cluster) int { return cmp.Compare(b.Size, a.Size) })
	return all
}
