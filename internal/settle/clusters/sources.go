package clusters

import (
	"mirrorbeam/internal/read/sources"
)

// CountSources counts, for each source, the documents of the shard that have near-duplicates in which sources and, if
// the shard is decided, those that are removed. No document of the reference counts as like another one of it, since
// these are not compared.
func (s *Shard) CountSources(c *sources.Counts) {
	var references sources.Set
	of := make([]sources.Number, len(s.members))
	classes := make([]class, len(s.members))
	for i := range s.end() {
		if of[i] = s.members[i].Source; s.reference(i) {
			references.Put(of[i])
		}
		classes[s.first[i]].add(of[i])
	}
	if s.sides != nil {
		s.countAcross(of, c)
		return
	}
	for _, e := range s.edges {
		if a, b := s.first[e.A], s.first[e.B]; a != b {
			classes[a].near.PutAll(classes[b].sources)
			classes[b].near.PutAll(classes[a].sources)
		}
	}
	for i := range s.end() {
		in := classes[s.first[i]].nearDuplicates(of[i])
		if references.Has(of[i]) {
			in.RemoveAll(references)
		}
		c.Share(of[i], in)
		if s.choices != nil && s.goes(i) {
			c.Removed.Add(of[i], 1)
		}
	}
}

// class tells where the documents of a class of identical ones come from.
type class struct {
	sources sources.Set // sources of its documents
	several sources.Set // those that have more than one of them
	near    sources.Set // sources of the classes that edges join it to
}

// add adds a document.
func (c *class) add(of sources.Number) {
	if c.sources.Has(of) {
		c.several.Put(of)
	}
	c.sources.Put(of)
}

// nearDuplicates returns the sources that have near-duplicates of a document of the class, which is of a source itself.
func (c *class) nearDuplicates(of sources.Number) sources.Set {
	in := c.sources
	if !c.several.Has(of) {
		in.Remove(of)
	}
	in.PutAll(c.near)
	return in
}
