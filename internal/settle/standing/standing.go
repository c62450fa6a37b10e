// Package standing lets clusters stay that nothing has touched since the last run of a scheduled job.
//
// A run notes what its results say of each component of the similarity graph: its documents, how long its rows are, and what it adds to
// the counts. In the next run a component stands if all of its documents are there as they were and none of them can be in a
// new pair. Its rows are then copied from the last results, and no later stage sees its documents.
//
//   - A [List] is what a run has noted. It is a file of the state.
//   - [List.Choose] says which components stand, and what they add to the findings.
//   - A [Stretch] says where components stand between those that are made anew.
package standing

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/ground/docref"
)

// Outputs are the outputs whose rows can be copied.
var Outputs = [...]string{output.Clusters, output.Pairs, output.Removed}

// Most is the largest number of documents of a component that can stand: one word says which of them are alike. What is looked for in large
// clusters only, such as bridges, is looked for in each run.
const Most = 32

// List is what a run has noted of its components, in the order of their rows.
type List struct {
	Components []Component
	// Shards has the number of components of each output shard.
	Shards []int
}

// Component is a connected component of the similarity graph.
type Component struct {
	// Documents are its documents in document order. A component without any cannot stand; its rows are in the results.
	Documents []Document
	Found
	// Rows are its rows in each of [Outputs].
	Rows [len(Outputs)]Rows
}

// Document is a document of a component.
type Document struct {
	Ref docref.Ref
	// Near has a bit for each document of the component of which this one is a near-duplicate: the first document has the lowest bit.
	Near      uint32
	IsRemoved bool
}

// Found is what a component adds to the findings.
type Found struct {
	// Clusters counts its clusters of several documents, and Clustered the documents in them. Pairs counts its pairs, and Identical those
	// of identical documents.
	Clusters, Clustered, Pairs, Identical int64
	// Near and NearShort are about its removed documents that are not identical to the one that stays for them, and about the short
	// ones among these.
	Near, NearShort Near
}

// Near counts removed documents. Least is the least similarity to the one that stays, or a little less.
type Near struct {
	Count int64
	Least float32
}

// Add adds a removed document with its similarity.
func (n *Near) Add(similarity float64) {
	least := float32(similarity)
	if float64(least) > similarity {
		least = math.Nextafter32(least, 0)
	}
	if n.Count == 0 || least < n.Least {
		n.Least = least
	}
	n.Count++
}

// Rows are rows of a component in a file. They follow one another.
type Rows struct {
	// Bytes is their length, and Sum their check sum.
	Bytes int64
	Sum   uint32
}

// Removed returns the number of removed documents of a component that can stand.
func (c *Component) Removed() (n int64) {
	for _, d := range c.Documents {
		if d.IsRemoved {
			n++
		}
	}
	return n
}

// RowsOf returns how many rows a component that can stand has in one of [Outputs], given by its number there.
func (c *Component) RowsOf(of int) int64 {
	switch Outputs[of] {
	case output.Clusters:
		return c.Clustered
	case output.Pairs:
		return c.Pairs
	}
	return c.Removed()
}

// Append packs a component.
func (c *Component) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(c.Documents)))
	before := docref.Ref(0)
	for _, d := range c.Documents {
		b = binary.AppendUvarint(b, uint64(d.Ref-before))
		near := uint64(d.Near) << 1
		if d.IsRemoved {
			near |= 1
		}
		b, before = binary.AppendUvarint(b, near), d.Ref
	}
	for _, n := range []int64{c.Clusters, c.Clustered, c.Pairs, c.Identical} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, n := range []Near{c.Near, c.NearShort} {
		if b = binary.AppendUvarint(b, uint64(n.Count)); n.Count > 0 {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(n.Least))
		}
	}
	for _, r := range c.Rows {
		if b = binary.AppendUvarint(b, uint64(r.Bytes)); r.Bytes > 0 {
			b = binary.LittleEndian.AppendUint32(b, r.Sum)
		}
	}
	return b
}

// ErrDamaged says that packed components are not what was packed.
var ErrDamaged = errors.New("the components of the last run are damaged")

// reader reads packed components. Their documents share pieces of memory.
type reader struct {
	b         []byte
	documents []Document
	isBroken  bool
}

// number reads a number.
func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.b, r.isBroken = nil, true
		return 0
	}
	r.b = r.b[size:]
	return n
}

// word reads a word of 32 bits.
func (r *reader) word() uint32 {
	if len(r.b) < 4 {
		r.b, r.isBroken = nil, true
		return 0
	}
	n := binary.LittleEndian.Uint32(r.b)
	r.b = r.b[4:]
	return n
}

// documentsTogether is how many documents share a piece of memory.
const documentsTogether = 8 << 10

// next reads the first component.
func (r *reader) next() (c Component, err error) {
	n := r.number()
	if n > Most {
		return c, ErrDamaged
	}
	first := len(r.documents)
	if cap(r.documents)-first < int(n) {
		r.documents, first = make([]Document, 0, documentsTogether), 0
	}
	before := docref.Ref(0)
	for range n {
		d := Document{Ref: before + docref.Ref(r.number())}
		near := r.number()
		d.Near, d.IsRemoved = uint32(near>>1), near&1 == 1
		r.documents, before = append(r.documents, d), d.Ref
	}
	c.Documents = r.documents[first:len(r.documents):len(r.documents)]
	for _, to := range []*int64{&c.Clusters, &c.Clustered, &c.Pairs, &c.Identical} {
		*to = int64(r.number())
	}
	for _, to := range []*Near{&c.Near, &c.NearShort} {
		if to.Count = int64(r.number()); to.Count > 0 {
			to.Least = math.Float32frombits(r.word())
		}
	}
	for of := range c.Rows {
		if c.Rows[of].Bytes = int64(r.number()); c.Rows[of].Bytes > 0 {
			c.Rows[of].Sum = r.word()
		}
	}
	if r.isBroken {
		return c, ErrDamaged
	}
	return c, nil
}

// Append packs the list.
func (l *List) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(l.Shards)))
	for _, n := range l.Shards {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for i := range l.Components {
		b = l.Components[i].Append(b)
	}
	return b
}

// Unpack reads a packed list.
func Unpack(b []byte) (*List, error) {
	r, l := reader{b: b}, new(List)
	all := uint64(0)
	for range r.number() {
		n := r.number()
		if r.isBroken || n > uint64(len(b)) {
			return nil, ErrDamaged
		}
		l.Shards = append(l.Shards, int(n))
		all += n
	}
	if all > uint64(len(r.b)) {
		return nil, ErrDamaged
	}
	l.Components = make([]Component, 0, all)
	for range all {
		c, err := r.next()
		if err != nil {
			return nil, err
		}
		l.Components = append(l.Components, c)
	}
	if len(r.b) > 0 || r.isBroken {
		return nil, fmt.Errorf("%w: %d bytes are left", ErrDamaged, len(r.b))
	}
	return l, nil
}

// Renumber gives files new numbers, in the same order: files has them by their old ones, -1 for a file that is not there as it was. A
// component with a document of such a file cannot stand.
func (l *List) Renumber(files []int) {
	for i := range l.Components {
		c := &l.Components[i]
		for k := range c.Documents {
			ref := c.Documents[k].Ref
			number := -1
			if ref.File() < len(files) {
				number = files[ref.File()]
			}
			if number < 0 {
				c.Documents = nil
				break
			}
			c.Documents[k].Ref, _ = docref.New(number, ref.Position()) // both numbers are of refs
		}
	}
}
