package standing

import (
	"encoding/binary"

	"mirrorbeam/internal/settle/state"
)

// Next is what a run hands on to the next one: components that it has made, and others that stood.
type Next struct {
	// Shards has the number of components of each output shard.
	Shards []int
	// HasStood says that some components stood.
	HasStood bool

	packed []byte // the components
	parts  []part
	groups int // clusters of the last run
}

// part is clusters that follow one another in the results, of the last run or of this one.
type part struct {
	isLast   bool
	from, to int
}

// Merge merges what the output shards have noted, in their order, with the components of the last run, nil if none stands.
func Merge(last *List, noted [][]byte) (*Next, error) {
	n, size := new(Next), 0
	starts := []int{0} // of the clusters of each component of the last run
	if last != nil {
		size = len(last.packed)
		for i := range last.Components {
			n.groups += int(last.Components[i].Clusters)
			starts = append(starts, n.groups)
		}
	}
	for _, shard := range noted {
		size += len(shard)
	}
	n.packed = make([]byte, 0, size)
	made, isDamaged := 0, false
	for _, shard := range noted {
		components := 0
		err := Notes(shard, func(c *Component, packed []byte) {
			n.add(part{from: made, to: made + int(c.Clusters)})
			made += int(c.Clusters)
			n.packed = append(n.packed, packed...)
			components++
		}, func(from, to int) {
			if from > to || to >= len(starts) {
				isDamaged = true
				return
			}
			n.HasStood = true
			n.add(part{true, starts[from], starts[to]})
			n.packed = last.appendSome(n.packed, from, to)
			components += to - from
		})
		if err != nil || isDamaged {
			return nil, ErrDamaged
		}
		n.Shards = append(n.Shards, components)
	}
	return n, nil
}

// add adds a part, or makes the last one longer.
func (n *Next) add(p part) {
	if end := len(n.parts) - 1; end >= 0 && n.parts[end].isLast == p.isLast && n.parts[end].to == p.from {
		n.parts[end].to = p.to
		return
	}
	n.parts = append(n.parts, p)
}

// Append packs what the next run reads as a [List].
func (n *Next) Append(b []byte) []byte { return append(appendShards(b, n.Shards), n.packed...) }

// Write writes it to a file that survives a loss of power.
func (n *Next) Write(path string) error { return state.WriteComponents(path, n.Append) }

// appendShards packs the numbers of components of output shards.
func appendShards(b []byte, shards []int) []byte {
	b = binary.AppendUvarint(b, uint64(len(shards)))
	for _, of := range shards {
		b = binary.AppendUvarint(b, uint64(of))
	}
	return b
}

// Interleave visits the clusters of this run, in their order, as ranges of the clusters of the last run and of those that this run has
// made. The numbers of both are given.
func (n *Next) Interleave(last, made int, visit func(isLast bool, from, to int)) error {
	for _, p := range n.parts {
		if p.isLast && p.to > last || !p.isLast && p.to > made {
			return ErrDamaged
		}
		visit(p.isLast, p.from, p.to)
	}
	return nil
}

// Others returns the clusters of the last run that did not stand, as ranges of their numbers. The number of all is given.
func (n *Next) Others(last int) (others [][2]int, err error) {
	if n.HasStood && last != n.groups {
		return nil, ErrDamaged
	}
	next := 0
	for _, p := range n.parts {
		if p.isLast {
			others = append(others, [2]int{next, p.from})
			next = p.to
		}
	}
	return append(others, [2]int{next, last}), nil
}
