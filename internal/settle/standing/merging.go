package standing

import (
	"cmp"
	"encoding/binary"
	"slices"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/settle/state"
)

// Next is what a run hands on to the next one: components that it has made, and others that stood.
type Next struct {
	// Shards has the number of components of each output shard.
	Shards []int
	// HasStood says that some components stood.
	HasStood bool

	packed   []byte // the components
	clusters []part
	groups   int // clusters of the last run

	components []part
	made       []int // components that were made in the output shards before each one
}

// part is clusters or components that follow one another in the results, of the last run or of this one.
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
	made, clusters, isDamaged := 0, 0, false
	for _, shard := range noted {
		components := 0
		n.made = append(n.made, made)
		err := Notes(shard, func(c *Component, packed []byte) {
			n.clusters = add(n.clusters, part{from: clusters, to: clusters + int(c.Clusters)})
			n.components = add(n.components, part{from: made, to: made + 1})
			clusters, made = clusters+int(c.Clusters), made+1
			n.packed = append(n.packed, packed...)
			components++
		}, func(from, to int) {
			if from > to || to >= len(starts) {
				isDamaged = true
				return
			}
			n.HasStood = true
			n.clusters = add(n.clusters, part{true, starts[from], starts[to]})
			n.components = add(n.components, part{true, from, to})
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
func add(parts []part, p part) []part {
	if end := len(parts) - 1; end >= 0 && parts[end].isLast == p.isLast && parts[end].to == p.from {
		parts[end].to = p.to
		return parts
	}
	return append(parts, p)
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
	for _, p := range n.clusters {
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
	for _, p := range n.clusters {
		if p.isLast {
			others = append(others, [2]int{next, p.from})
			next = p.to
		}
	}
	return append(others, [2]int{next, last}), nil
}

// CopySites writes what each component adds to what is known of sites, in the order of the list. Last are the pieces of the last run,
// and made the pieces of the output shards of this one.
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
	made   []int           // components in the shards before each one; nil if there are no shards
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
