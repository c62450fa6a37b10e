package standing

import (
	"cmp"
	"slices"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/runfile"
)

// Next is what a run hands on to the next one: components that it has made, and others that stood.
type Next struct {
	List *List
	// HasStood says that some components stood.
	HasStood bool

	clusters []part
	groups   int // clusters of the last run

	components []part
	made       []int // components that were made before those of each output shard
}

// part is clusters or components that follow one another in the results, of the last run or of this one.
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
	made, clusters, isDamaged := 0, 0, false
	for _, shard := range noted {
		before := len(n.List.Components)
		n.made = append(n.made, made)
		err := Notes(shard, func(c Component, documents []Document) {
			n.clusters = add(n.clusters, part{from: clusters, to: clusters + int(c.Clusters)})
			n.components = add(n.components, part{from: made, to: made + 1})
			clusters, made = clusters+int(c.Clusters), made+1
			n.List.Add(c, documents)
		}, func(from, to int) {
			if from > to || to >= len(starts) {
				isDamaged = true
				return
			}
			n.HasStood = true
			n.clusters = add(n.clusters, part{true, starts[from], starts[to]})
			n.components = add(n.components, part{true, from, to})
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
func add(parts []part, p part) []part {
	if end := len(parts) - 1; end >= 0 && parts[end].isLast == p.isLast && parts[end].to == p.from {
		parts[end].to = p.to
		return parts
	}
	return append(parts, p)
}

// Interleave returns what belongs to the clusters of this run, in their order, given what belongs to the clusters of the last run and to
// those that this run has made.
func Interleave[T any](n *Next, last, made []T) (all []T, err error) {
	for _, p := range n.clusters {
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
	for _, p := range n.clusters {
		if p.isLast {
			others = append(others, last[next:p.from]...)
			next = p.to
		}
	}
	return append(others, last[next:]...), nil
}

// CopySites writes what each component adds to what is known of sites, in the order of the list. Last are the pieces of the last run,
// and made those of the output shards of this one.
func (n *Next) CopySites(last, made []runfile.Piece, reader *runfile.Reader, to *runfile.Writer) error {
	slices.SortStableFunc(made, func(a, b runfile.Piece) int { return cmp.Compare(a.Shard, b.Shard) })
	ofLast, ofMade := siteParts{reader: reader, pieces: last}, siteParts{reader: reader, pieces: made, made: n.made}
	first := 0
	for _, p := range n.components {
		of := &ofMade
		if p.isLast {
			of = &ofLast
		}
		if err := of.each(p.from, p.to, func(part records.SitePart) error {
			part.Component += first - p.from
			return part.Write(to, 0)
		}); err != nil {
			return err
		}
		first += p.to - p.from
	}
	return nil
}

// siteParts reads the parts of components, ascending.
type siteParts struct {
	reader *runfile.Reader
	pieces []runfile.Piece // still to come
	made   []int           // components before those of each shard; nil if there are no shards
	shard  int             // of the packed parts
	packed []byte
	buffer []byte
}

// each visits the parts of the components from one number on, without those from another number on.
func (s *siteParts) each(from, to int, visit func(records.SitePart) error) error {
	for {
		for len(s.packed) == 0 {
			if len(s.pieces) == 0 {
				return nil
			}
			if err := s.read(); err != nil {
				return err
			}
		}
		part, rest := records.NextSitePart(s.packed)
		if s.made != nil {
			part.Component += s.made[s.shard]
		}
		if part.Component >= to {
			return nil
		}
		if s.packed = rest; part.Component < from {
			continue
		}
		if err := visit(part); err != nil {
			return err
		}
	}
}

// read reads the next piece.
func (s *siteParts) read() (err error) {
	piece := s.pieces[0]
	s.pieces = s.pieces[1:]
	if piece.Kind != records.SiteParts {
		return nil
	}
	if s.shard = piece.Shard; s.made != nil && s.shard >= len(s.made) {
		return ErrDamaged
	}
	s.buffer, err = s.reader.Read(s.buffer[:0], piece)
	s.packed = s.buffer
	return err
}
