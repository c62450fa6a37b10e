package clusters

import (
	"mirrorbeam/internal/carry/findings"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/paged"
	"mirrorbeam/internal/settle/standing"
)

// FindComponents finds the components of a shard, for [Shard.Follow] and [Shard.Notes]. It is called before the shard is decided, which
// may take components apart.
func (s *Shard) FindComponents() {
	n := 0
	for i := range s.end() {
		if s.members.First(i) == i {
			n++
		}
	}
	s.components.starts = paged.New[int, records.Number](s.store, n+1)
	n = 0
	for i := range s.end() {
		if s.members.First(i) == i {
			s.components.starts.Set(n, i)
			n++
		}
	}
	s.components.starts.Set(n, s.end())
}

// components are the components of a shard, and who follows their rows.
type components struct {
	starts  *paged.List[int, records.Number] // number of the first document of each, and the end of the last one
	follow  func(component int) error        // nil if nobody follows
	reached int
}

// len returns the number of components.
func (c *components) len() int { return c.starts.Len() - 1 }

// Components returns the number of components.
func (s *Shard) Components() int { return s.components.len() }

// Start returns the number of the first document of a component, or the number of all documents behind the last one.
func (s *Shard) Start(component int) records.Number { return s.components.starts.At(component) }

// Follow has the given function called before any row of a component, with its number, and after all rows with the number of
// components. It may be called several times for one of them.
func (s *Shard) Follow(reached func(component int) error) {
	s.components.follow, s.components.reached = reached, 0
}

// reach tells who follows the rows that a document is next.
func (s *Shard) reach(i records.Number) error {
	c := &s.components
	if c.follow == nil {
		return nil
	}
	for c.reached < c.len() && c.starts.At(c.reached+1) <= i {
		c.reached++
	}
	return c.follow(c.reached)
}

// Notes makes what the next run is to know of each component, and passes it on without rows. If its documents are nil, it cannot stand. The shard
// must be decided.
func (s *Shard) Notes(note func(component int, of *standing.Component, documents []standing.Document)) {
	edge := 0
	for i := range s.components.len() {
		c := component{Shard: s, first: s.components.starts.At(i), end: s.components.starts.At(i + 1), edge: edge}
		for ; edge < s.edges.Len() && s.edges.At(edge).A < c.end; edge++ {
		}
		c.edgeEnd = edge
		var documents []standing.Document
		if c.canStand() {
			documents = c.documents()
		}
		note(i, &standing.Component{Found: c.found()}, documents)
	}
}

// canStand reports whether nobody needs to look at the component again while its documents stay as they are.
func (c *component) canStand() bool {
	if c.end-c.first > standing.Most || c.hasGroup() {
		return false
	}
	for i := c.first; i < c.end; i++ {
		if c.members.Unchecked(i) || c.hasOtherTitle(i, c.choice(i)) {
			return false
		}
	}
	return true
}

// documents returns the documents of a small component.
func (c *component) documents() []standing.Document {
	var own, near [standing.Most]uint32 // of each class: its documents, and all documents that an edge joins it to
	for i := c.first; i < c.end; i++ {
		own[c.class(i)] |= 1 << (i - c.first)
	}
	for i := c.edge; i < c.edgeEnd; i++ {
		e := c.edges.At(i)
		a, b := c.class(e.A), c.class(e.B)
		near[a], near[b] = near[a]|own[b], near[b]|own[a]
	}
	all := make([]standing.Document, 0, c.end-c.first)
	for i := c.first; i < c.end; i++ {
		class := c.class(i)
		all = append(all, standing.Document{Ref: c.members.Ref(i), Near: (own[class] | near[class]) &^ (1 << (i - c.first)), IsRemoved: c.goes(i)})
	}
	return all
}

// found counts what findings tell of the component.
func (c *component) found() (f standing.Found) {
	f.Pairs = uint32(c.edgeEnd - c.edge)
	for i := c.edge; i < c.edgeEnd; i++ {
		if c.Shard.edges.At(i).Identical() {
			f.Identical++
		}
	}
	for i := c.first; i < c.end; i++ {
		if c.members.Repeated(i) {
			f.NamedByRef++
		}
		if size := c.size.At(i); size > 1 {
			f.Clusters++
			f.Clustered += size
		}
		if c.twins.next != nil && c.classes.first(i) == i {
			for twin := c.twins.next.At(i); twin != 0; twin = c.twins.next.At(twin) {
				f.Pairs++
				f.Identical++
			}
		}
		if choice := c.choice(i); !c.IsDropped() && c.isNear(i, choice) {
			f.Near.Add(choice.Similarity)
			if c.members.Size(i) < findings.ShortText {
				f.NearShort.Add(choice.Similarity)
			}
		}
	}
	return f
}
