// Package standing lets clusters stay that nothing has touched since the last run of a scheduled job.
//
// A run notes what its results say of each component of the similarity graph: its documents, how long its rows are, and what it adds to
// the counts. In the next run a component stands if all of its documents are there as they were and none of them can be in a
// new pair. Its rows are then copied from the last results, and no later stage sees its documents.
//
//   - A [List] is what a run has noted. It is a file of the state.
//   - [List.StandsEarly] says which components stand if whoever has seen all of their documents finds none touched.
//   - [List.Choose] says which components stand, and what they add to the findings.
//   - A [Stretch] says where components stand between those that are made anew.
//   - A [Next] is what the next run gets: what was made, and what stood. In a job about sites, that includes what each component adds to
//     these ([Next.CopySites]).
package standing

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/settle/state"
)

// Outputs are the outputs whose rows can be copied.
var Outputs = [...]string{output.Clusters, output.Pairs, output.Removed}

// Most is the largest number of documents of a component that can stand: one word says which of them are alike. What is looked for in large
// clusters only, such as bridges, is looked for in each run.
const Most = 32

// ComponentBytes is about how much memory a list takes for each component of two documents.
const ComponentBytes = 170

// List is what a run has noted of its components, in the order of their rows.
type List struct {
	Components []Component
	// Shards has the number of components of each output shard.
	Shards []int

	documents []Document // of all components
	packed    []byte     // the components as they were read, nil if they are not those any more
	lookup    lookup     // what is made of all this when somebody asks
}

// Component is a connected component of the similarity graph.
type Component struct {
	Found
	// Rows are its rows in each of [Outputs].
	Rows [len(Outputs)]Rows

	first, end uint32 // where its documents are in the list of all
	packed     uint32 // where it ends in the packed components
}

// Document is a document of a component.
type Document struct {
	Ref docref.Ref
	// Near has a bit for each near-duplicate in the component. The first document has the lowest bit.
	Near      uint32
	IsRemoved bool
}

// Documents returns the documents of a component, in document order. A component without any cannot stand; its rows are in the results.
func (l *List) Documents(component int) []Document {
	c := &l.Components[component]
	return l.documents[c.first:c.end]
}

// Add adds a component with its documents.
func (l *List) Add(c Component, documents []Document) {
	c.first = graphs.Next[uint32](len(l.documents))
	l.documents = append(l.documents, documents...)
	c.end = graphs.Next[uint32](len(l.documents))
	l.Components = append(l.Components, c)
}

// Found is what a component adds to the findings.
type Found struct {
	// Clusters counts its clusters of several documents, and Clustered the documents in them. Pairs counts its pairs, and Identical those
	// of identical documents.
	Clusters, Clustered, Pairs, Identical uint32
	// NamedByRef counts its documents that rows call by their ref, since others share their id.
	NamedByRef uint32
	// Near and NearShort are about its removed documents that are not identical to the one that stays for them, and about the short
	// ones among these.
	Near, NearShort Near
}

// Near counts removed documents. Least is the least similarity to the one that stays, or a little less: 0 to 1.
type Near struct {
	Count uint32
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

// RowsOf returns how many rows a component that can stand has in one of [Outputs], given by its number there.
func (l *List) RowsOf(component, of int) int64 {
	switch c := &l.Components[component]; Outputs[of] {
	case output.Clusters:
		return int64(c.Clustered)
	case output.Pairs:
		return int64(c.Pairs)
	}
	return removed(l.Documents(component))
}

// removed returns how many documents are removed.
func removed(documents []Document) (n int64) {
	for _, d := range documents {
		if d.IsRemoved {
			n++
		}
	}
	return n
}

// appendTo packs a component with its documents.
func (c *Component) appendTo(b []byte, documents []Document) []byte {
	b = binary.AppendUvarint(b, uint64(len(documents)))
	before := docref.Ref(0)
	for _, d := range documents {
		b = binary.AppendUvarint(b, uint64(d.Ref-before))
		near := uint64(d.Near) << 1
		if d.IsRemoved {
			near |= 1
		}
		b, before = binary.AppendUvarint(b, near), d.Ref
	}
	for _, n := range [...]uint32{c.Clusters, c.Clustered, c.Pairs, c.Identical, c.NamedByRef} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, n := range [...]Near{c.Near, c.NearShort} {
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

// reader reads packed components.
type reader struct {
	b        []byte
	isBroken bool
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

// next reads the first component. Its documents are added to others.
func (r *reader) next(documents []Document) (c Component, all []Document, err error) {
	n := r.number()
	if n > Most {
		return c, documents, ErrDamaged
	}
	before := docref.Ref(0)
	for range n {
		d := Document{Ref: before + docref.Ref(r.number())}
		near := r.number()
		d.Near, d.IsRemoved = uint32(near>>1), near&1 == 1
		documents, before = append(documents, d), d.Ref
	}
	for _, to := range [...]*uint32{&c.Clusters, &c.Clustered, &c.Pairs, &c.Identical, &c.NamedByRef} {
		*to = uint32(r.number())
	}
	for _, to := range [...]*Near{&c.Near, &c.NearShort} {
		if to.Count = uint32(r.number()); to.Count > 0 {
			to.Least = math.Float32frombits(r.word())
			r.isBroken = r.isBroken || !(to.Least >= 0 && to.Least <= 1) // a NaN is neither
		}
	}
	for of := range c.Rows {
		if c.Rows[of].Bytes = int64(r.number()); c.Rows[of].Bytes > 0 {
			c.Rows[of].Sum = r.word()
		}
	}
	if r.isBroken || c.Rows[0].Bytes < 0 || c.Rows[1].Bytes < 0 || c.Rows[2].Bytes < 0 {
		return c, documents, ErrDamaged
	}
	return c, documents, nil
}

// Append packs the list.
func (l *List) Append(b []byte) []byte {
	return l.appendSome(appendShards(b, l.Shards), 0, len(l.Components))
}

// appendSome packs the components from one number on, without another one.
func (l *List) appendSome(b []byte, from, to int) []byte {
	if l.packed != nil && from < to {
		start := uint32(0)
		if from > 0 {
			start = l.Components[from-1].packed
		}
		return append(b, l.packed[start:l.Components[to-1].packed]...)
	}
	for i := from; i < to; i++ {
		b = l.Components[i].appendTo(b, l.Documents(i))
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
	l.Components, l.documents, l.packed = make([]Component, all), make([]Document, 0, 2*all), r.b
	for i := range l.Components {
		first := len(l.documents)
		c, documents, err := r.next(l.documents)
		if err != nil {
			return nil, err
		}
		l.documents = documents
		c.first, c.end, c.packed = graphs.Next[uint32](first), graphs.Next[uint32](len(documents)), graphs.Next[uint32](len(l.packed)-len(r.b))
		l.Components[i] = c
	}
	if len(r.b) > 0 || r.isBroken {
		return nil, fmt.Errorf("%w: %d bytes are left", ErrDamaged, len(r.b))
	}
	return l, nil
}

// Renumber gives files new numbers, in the same order: files has them by their old ones, ascending, -1 for a file that is not there as it was. A
// component with a document of such a file cannot stand.
func (l *List) Renumber(files []int) {
	for old, number := range files {
		if number != old && number >= 0 {
			l.packed = nil // refs are other ones
		}
	}
	for i := range l.Components {
		documents := l.Documents(i)
		for k := range documents {
			ref, number := documents[k].Ref, -1
			if ref.File() < len(files) {
				number = files[ref.File()]
			}
			if number < 0 {
				l.Components[i].end = l.Components[i].first
				break
			}
			documents[k].Ref, _ = docref.New(number, ref.Position()) // both numbers are of refs
		}
	}
}

// Write writes a list to a file that survives a loss of power.
func (l *List) Write(path string) error { return state.WriteComponents(path, l.Append) }

// lists are the lists of the jobs at work in this process.
var lists work.Shared[List]

// Read returns the list in a file. Tasks of this process share it while one of them holds it, and nobody may change it.
func Read(path string) (*List, error) { return lists.Get(path, Load) }

// Give has [Read] return a list for a path, while somebody holds the list. The tasks of this process then need no file.
func (l *List) Give(path string) { lists.Put(path, l) }

// Load reads the list in a file, for the caller alone.
func Load(path string) (*List, error) {
	packed, err := state.ReadComponents(path)
	if err != nil {
		return nil, err
	}
	l, err := Unpack(packed)
	if err != nil {
		return nil, &storage.DamagedError{Op: "read the components of", Path: path, Err: err}
	}
	return l, nil
}
