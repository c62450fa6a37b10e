package standing

// Next is what a run hands on to the next one: components that it has made, and others that stood.
type Next struct {
	List *List
	// HasStood says that some components stood.
	HasStood bool

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
	n := &Next{List: new(List)}
	var starts []int // of the clusters of each component of the last run
	if last != nil {
		n.List.Components = make([]Component, 0, len(last.Components)+len(last.Components)/8)
		n.List.documents = make([]Document, 0, len(last.documents)+len(last.documents)/8)
		starts = make([]int, 0, len(last.Components)+1)
		for i := range last.Components {
			starts = append(starts, n.groups)
			n.groups += int(last.Components[i].Clusters)
		}
		starts = append(starts, n.groups)
	}
	made, isDamaged := 0, false
	for _, shard := range noted {
		before := len(n.List.Components)
		err := Notes(shard, func(c Component, documents []Document) {
			n.add(part{from: made, to: made + int(c.Clusters)})
			made += int(c.Clusters)
			n.List.Add(c, documents)
		}, func(from, to int) {
			if from > to || to >= len(starts) {
				isDamaged = true
				return
			}
			n.HasStood = true
			n.add(part{true, starts[from], starts[to]})
			for i := from; i < to; i++ {
				n.List.Add(last.Components[i], last.Documents(i))
			}
		})
		if err != nil || isDamaged {
			return nil, ErrDamaged
		}
		n.List.Shards = append(n.List.Shards, len(n.List.Components)-before)
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

// Interleave returns what belongs to the clusters of this run, in their order, given what belongs to the clusters of the last run and to
// those that this run has made.
func Interleave[T any](n *Next, last, made []T) (all []T, err error) {
	for _, p := range n.parts {
		of := made
		if p.isLast {
			of = last
		}
		if p.to > len(of) {
			return nil, ErrDamaged
		}
		all = append(all, of[p.from:p.to]...)
	}
	return all, nil
}

// Others returns what belongs to the clusters of the last run that did not stand.
func Others[T any](n *Next, last []T) (others []T, err error) {
	if n.HasStood && len(last) != n.groups {
		return nil, ErrDamaged
	}
	next := 0
	for _, p := range n.parts {
		if p.isLast {
			others = append(others, last[next:p.from]...)
			next = p.to
		}
	}
	return append(others, last[next:]...), nil
}
