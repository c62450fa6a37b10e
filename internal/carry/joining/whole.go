package joining

import (
	"math"
	"slices"

	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/graphs"
)

// wholeBytes is the memory that a document takes where all are in memory: 16 bytes for its ref, its weight and the
// union-find, and as much again or less for its label and for its share of a component.
const wholeBytes = 48

// mostDocuments is the largest number of documents that ranks can tell apart.
const mostDocuments = math.MaxUint32

type found struct {
	fits  bool
	refs  []docref.Ref // all documents, if they fit
	nodes int64        // number of nodes of all parts
	sample
}

// survey goes through the graph once. It finds out whether all documents fit.
func (g *Graph) survey() (found, error) {
	var all collector
	f := found{fits: true, sample: sample{step: 1}}
	most := int(min(g.Bytes/wholeBytes, mostDocuments))
	err := g.Parts(func(_ int, part graphs.Part) error {
		f.nodes += int64(len(part.Refs))
		f.add(part.Refs)
		if f.fits {
			all.add(part.Refs...)
			if f.fits = len(all.refs) <= most; !f.fits {
				all = collector{}
			}
		}
		return nil
	})
	if f.fits {
		f.refs = all.finish()
		f.fits = len(f.refs) <= most
	}
	return f, err
}

func labelWhole[L any](g *Graph, refs []docref.Ref, labeller Labeller[L]) error {
	forest := graphs.NewForest[rank](len(refs))
	var weights []uint32
	if !g.IsUniform {
		weights = make([]uint32, len(refs))
	}
	var finder finder
	err := g.Parts(func(_ int, part graphs.Part) error {
		ranks := finder.ranks(refs, part.Refs)
		for node, parent := range part.Parents {
			forest.Union(ranks[node], ranks[parent])
		}
		if weights != nil {
			for node, weight := range part.Weights {
				weights[ranks[node]] = weight
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	all, err := g.componentsOf(forest, refs, weights)
	if err != nil {
		return err
	}
	for i := range all {
		labeller.Count(all[i].Component)
	}
	for i := range all {
		if err := g.stopped(i); err != nil {
			return err
		}
		if all[i].Value, err = labeller.Place(all[i].Component); err != nil {
			return err
		}
	}
	labels, err := labelAll(g, refs, weights, forest, all, labeller)
	if err != nil {
		return err
	}
	return g.Parts(func(number int, part graphs.Part) error {
		for node, rank := range finder.ranks(refs, part.Refs) {
			if err := labeller.Node(number, graphs.Node(node), labels[rank]); err != nil {
				return err
			}
		}
		return nil
	})
}

// componentsOf returns the components of a forest in the order of first documents. It puts the index of each document's
// component in the place of its parent.
func (g *Graph) componentsOf(forest graphs.Forest[rank], refs []docref.Ref, weights []uint32) ([]placed, error) {
	forest.Flatten()
	count := 0
	for i, root := range forest {
		if root == rank(i) {
			count++
		}
	}
	all := make([]placed, 0, count)
	for i, root := range forest {
		if err := g.stopped(i); err != nil {
			return nil, err
		}
		// The root of a tree comes first, so its entry is an index already.
		if root == rank(i) {
			forest[i] = rank(len(all))
			all = append(all, placed{Component: Component{First: refs[i]}})
		} else {
			forest[i] = forest[root]
		}
		c := &all[forest[i]]
		c.Last = refs[i]
		c.Weight += weightOf(weights, i)
	}
	return slices.Clip(all), nil
}
