package report

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/look/finished"
)

// Agreement says how far two runs have found the same. Documents are told apart by their names.
type Agreement struct {
	// Sampled is the share of documents and of clusters that were looked at.
	Sampled float64 `json:"sampled"`
	// Clustered, Removed and Clusters count documents in clusters, removed documents, and clusters of the same documents.
	Clustered Overlap `json:"clustered"`
	Removed   Overlap `json:"removed"`
	Clusters  Overlap `json:"clusters"`
	// RemovedOnlyInA and RemovedOnlyInB are examples.
	RemovedOnlyInA []Member `json:"removed_only_in_a"`
	RemovedOnlyInB []Member `json:"removed_only_in_b"`
}

// Overlap counts what both runs have, and what one of them has.
type Overlap struct {
	Both  int64 `json:"both"`
	OnlyA int64 `json:"only_a"`
	OnlyB int64 `json:"only_b"`
}

// mostDisputed is the number of documents that are named for each run.
const mostDisputed = 100

// found is what a run has made of some documents.
type found struct {
	kept map[uint64]bool // of the documents in clusters
	sets map[uint64]bool // of the clusters, hashes of their documents
}

// agree compares the clusters.
func (c *Comparison) agree(ctx context.Context, a, b *finished.Folder) error {
	s := newSampler(max(c.A.Counts.Clustered, c.B.Counts.Clustered))
	first, err := foundIn(ctx, a, s)
	if err != nil {
		return err
	}
	second, err := foundIn(ctx, b, s)
	if err != nil {
		return err
	}
	g := &Agreement{Sampled: s.share}
	g.Clusters = overlap(first.sets, second.sets, func(bool) bool { return true })
	g.Clustered = overlap(first.kept, second.kept, func(bool) bool { return true })
	g.Removed = overlap(first.kept, second.kept, func(kept bool) bool { return !kept })
	if g.RemovedOnlyInA, err = disputed(ctx, a, s, second); err == nil {
		g.RemovedOnlyInB, err = disputed(ctx, b, s, first)
	}
	if !s.isAll() {
		c.Notes = append(c.Notes, fmt.Sprintf("Documents and clusters are compared on a sample: one in %.0f.", 1/s.share))
	}
	c.Agreement = g
	return err
}

func foundIn(ctx context.Context, f *finished.Folder, s sampler) (found, error) {
	all := found{map[uint64]bool{}, map[uint64]bool{}}
	sum := uint64(0) // of the documents of a cluster, so that their order does not matter
	see := func(row *output.Member) {
		key, chosen := s.choose(row.ID)
		if chosen {
			all.kept[key] = row.Kept
		}
		sum += key
	}
	for _, err := range f.Clusters(ctx, see) {
		if err != nil {
			return all, err
		}
		all.addCluster(s, sum)
		sum = 0
	}
	return all, nil
}

// addCluster adds a cluster by the sum of its documents. Clusters are drawn by lot as documents are.
func (f *found) addCluster(s sampler, sum uint64) {
	if xxh3.Hash(binary.LittleEndian.AppendUint64(nil, sum)) <= s.limit {
		f.sets[sum] = true
	}
}

// overlap counts the keys of two maps whose values are wanted.
func overlap(a, b map[uint64]bool, wanted func(bool) bool) (o Overlap) {
	for key, value := range a {
		other, inB := b[key]
		switch {
		case !wanted(value):
		case inB && wanted(other):
			o.Both++
		default:
			o.OnlyA++
		}
	}
	for key, value := range b {
		if other, inA := a[key]; wanted(value) && !(inA && wanted(other)) {
			o.OnlyB++
		}
	}
	return o
}

// disputed returns documents that one run removes and the other one does not.
func disputed(ctx context.Context, f *finished.Folder, s sampler, other found) ([]Member, error) {
	list := []Member{}
	for row, err := range f.Members(ctx) {
		if err != nil || len(list) == mostDisputed {
			return list, err
		}
		key, chosen := s.choose(row.ID)
		kept, clustered := other.kept[key]
		if chosen && !row.Kept && (kept || !clustered) {
			list = append(list, Member{ID: row.ID, Similarity: row.Similarity})
		}
	}
	return list, nil
}
