package joining

import (
	"cmp"
	"fmt"
	"slices"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records/docref"
)

func labelRanges[L any](r *ranges, labeller Labeller[L]) error {
	if err := r.deal(); err != nil {
		return err
	}
	for number := len(r.starts) - 1; number >= 0; number-- {
		if err := r.contract(number); err != nil {
			return err
		}
	}
	for _, step := range []func(number int) error{
		r.resolve,
		func(number int) error {
			_, all, err := r.sum(number)
			for _, c := range all {
				labeller.Count(c.Component)
			}
			return err
		},
		func(number int) error { return r.place(number, labeller.Place) },
		func(number int) error { return labelRange(r, number, labeller) },
	} {
		for number := range r.starts {
			if err := step(number); err != nil {
				return err
			}
		}
	}
	return nil
}

// contract joins the documents of a range to groups. It replaces all edges to earlier ranges but one for each group by
// edges between documents of these.
func (r *ranges) contract(number int) error {
	refs, weights, err := r.documents(number)
	if err != nil {
		return err
	}
	forest := graphs.NewForest[rank](len(refs))
	if err := r.joinWithin(number, refs, forest); err != nil {
		return err
	}
	return r.files.write(func() error {
		parents, err := r.findParents(number, refs, forest)
		if err != nil {
			return err
		}
		for i, ref := range refs {
			root := forest.Find(rank(i))
			if err := r.files.put(grouped, number, uint64(ref), uint64(weights[i])<<32|uint64(root)); err != nil {
				return err
			}
			if root == rank(i) && parents[i] != ref {
				if err := r.files.put(requests, r.of(parents[i]), uint64(parents[i]),
					uint64(root)<<32|uint64(number)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (r *ranges) joinWithin(number int, refs []docref.Ref, forest graphs.Forest[rank]) error {
	return r.files.each(edges, number, func(words []uint64) error {
		within := r.refs[:0]
		for edge := range slices.Chunk(words, 2) {
			if low := docref.Ref(edge[1]); low >= r.starts[number] {
				within = append(within, docref.Ref(edge[0]), low)
			}
		}
		r.refs = within
		for pair := range slices.Chunk(r.finder.ranks(refs, within), 2) {
			forest.Union(pair[0], pair[1])
		}
		return nil
	})
}

// findParents returns the parent of each group, by root. A group without a parent has its first document there. It
// writes the edges that replace those to other documents.
func (r *ranges) findParents(number int, refs []docref.Ref, forest graphs.Forest[rank]) ([]docref.Ref, error) {
	parents := slices.Clone(refs)
	err := r.files.each(edges, number, func(words []uint64) error {
		for i, at := range r.ranksOf(refs, words, 2) {
			low, root := docref.Ref(words[2*i+1]), forest.Find(at)
			if low >= r.starts[number] || low == parents[root] {
				continue
			}
			if parents[root] != refs[root] {
				if err := r.putEdge(parents[root], low); err != nil {
					return err
				}
			}
			parents[root] = min(parents[root], low)
		}
		return nil
	})
	return parents, err
}

// resolve finds the first documents of the components of a range, which the groups that asked it are told. It sends the
// range's share of each component to the range of the first document.
func (r *ranges) resolve(number int) error {
	g, err := r.group(number)
	if err != nil {
		return err
	}
	tops, err := r.tops(number, g)
	if err != nil {
		return err
	}
	return r.files.write(func() error {
		err := r.files.each(requests, number, func(words []uint64) error {
			for i, at := range r.ranksOf(g.refs, words, 2) {
				root, asks := words[2*i+1]>>32, int(uint32(words[2*i+1]))
				if err := r.files.put(answers, asks, root, uint64(tops[g.roots[at]])); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		return r.putShares(number, g, tops)
	})
}

// putShares writes the range's share of each component, in the order of the first documents of components.
func (r *ranges) putShares(number int, g group, tops []docref.Ref) error {
	weights, last := make([]int64, len(g.refs)), make([]docref.Ref, len(g.refs))
	var roots []rank
	for i, root := range g.roots {
		if root == rank(i) {
			roots = append(roots, root)
		}
		weights[root] += int64(g.weights[i])
		last[root] = g.refs[i]
	}
	slices.SortFunc(roots, func(a, b rank) int { return cmp.Compare(tops[a], tops[b]) })
	for len(roots) > 0 {
		share := Component{First: tops[roots[0]]}
		for len(roots) > 0 && tops[roots[0]] == share.First {
			share.Weight += weights[roots[0]]
			share.Last = max(share.Last, last[roots[0]])
			roots = roots[1:]
		}
		if err := r.files.put(shares, r.of(share.First), uint64(share.First), uint64(share.Weight), uint64(share.Last),
			uint64(number)); err != nil {
			return err
		}
	}
	return nil
}

// sum returns the components whose first document is in a range.
func (r *ranges) sum(number int) (firsts []docref.Ref, all []placed, err error) {
	// Each range has put its shares in order, and the first document of a component is in its own range's share.
	err = r.files.each(shares, number, func(words []uint64) error {
		for share := range slices.Chunk(words, 4) {
			if int(share[3]) == number {
				firsts = append(firsts, docref.Ref(share[0]))
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	all = make([]placed, len(firsts))
	err = r.files.each(shares, number, func(words []uint64) error {
		for i, at := range r.ranksOf(firsts, words, 4) {
			c := &all[at]
			c.First = firsts[at]
			c.Weight += int64(words[4*i+1])
			c.Last = max(c.Last, docref.Ref(words[4*i+2]))
		}
		return nil
	})
	return firsts, all, err
}

// place places the components whose first document is in a range. It tells each range that has a share in one.
func (r *ranges) place(number int, place func(Component) (uint64, error)) error {
	firsts, all, err := r.sum(number)
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].Value, err = place(all[i].Component); err != nil {
			return err
		}
	}
	return r.files.write(func() error {
		return r.files.each(shares, number, func(words []uint64) error {
			for i, at := range r.ranksOf(firsts, words, 4) {
				c, share := &all[at], words[4*i:]
				err := r.files.put(placings, int(share[3]), uint64(c.First), uint64(c.Last), uint64(c.Weight), c.Value,
					uint64(c.before))
				if err != nil {
					return err
				}
				c.before += int64(share[1])
			}
			return nil
		})
	})
}

func labelRange[L any](r *ranges, number int, labeller Labeller[L]) error {
	g, err := r.group(number)
	if err != nil {
		return err
	}
	all, err := r.placed(number, g)
	if err != nil {
		return err
	}
	labels, err := labelAll(r.Graph, g.refs, g.weights, g.roots, all, labeller)
	if err != nil || r.OnlyDocuments {
		return err
	}
	return r.files.each(nodes, number, func(words []uint64) error {
		for i, at := range r.ranksOf(g.refs, words, 3) {
			if err := labeller.Node(int(words[3*i+2]), graphs.Node(words[3*i+1]), labels[at]); err != nil {
				return err
			}
		}
		return nil
	})
}

// placed returns the components that have a share in a range. It replaces the roots of groups by their indexes.
func (r *ranges) placed(number int, g group) (all []placed, err error) {
	tops, err := r.tops(number, g)
	if err != nil {
		return nil, err
	}
	err = r.files.each(placings, number, func(words []uint64) error {
		for w := range slices.Chunk(words, 5) {
			all = append(all, placed{
				Component: Component{First: docref.Ref(w[0]), Last: docref.Ref(w[1]), Weight: int64(w[2]), Value: w[3]},
				before:    int64(w[4]),
			})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, root := range g.roots {
		// The root of a group is its first document, so its entry is an index already.
		if root != rank(i) {
			g.roots[i] = g.roots[root]
			continue
		}
		at, found := slices.BinarySearchFunc(all, tops[i], func(c placed, top docref.Ref) int {
			return cmp.Compare(c.First, top)
		})
		if !found {
			return nil, fmt.Errorf("no range has placed the component of document %d", tops[i])
		}
		g.roots[i] = rank(at)
	}
	return all, nil
}
