package clusters

import (
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/schema/findings"
)

const (
	// leastTemplate is the least number of documents of a cluster that may be called a template.
	leastTemplate = 100
	// leastPart is the least number of documents in a part of a cluster that one pair joins to the rest.
	leastPart = 25
)

// addLargest notes the largest cluster, the first of those if there are several.
func (s *Shard) addLargest(o *findings.Findings) {
	largest, documents := records.Number(0), uint32(0)
	for first := range s.end() {
		if size := s.size.At(first); size > documents {
			largest, documents = first, size
		}
	}
	if documents == 0 {
		return
	}
	c := findings.LargeCluster{Name: s.name(largest), Documents: int64(documents), A: s.name(largest)}
	for i := range s.end() {
		if s.members.First(i) == largest && s.classes.of.At(i) != s.classes.of.At(largest) {
			c.B = s.name(i)
			break
		}
	}
	o.Largest.Add(c)
}

func (s *Shard) isNear(i records.Number, choice keep.Choice) bool {
	return choice.Kept != i && s.classes.of.At(i) != s.classes.of.At(choice.Kept)
}

// hasOtherTitle reports whether a page is removed and has another title than the one that stays for it.
func (s *Shard) hasOtherTitle(i records.Number, choice keep.Choice) bool {
	if choice.Kept == i {
		return false
	}
	title, other := s.members.Capture(i).Title, s.members.Capture(choice.Kept).Title
	return title != "" && other != "" && title != other
}

// addNear counts removed documents that are not identical to the one that stays for them, and removed pages that stay
// under another title.
func (s *Shard) addNear(o *findings.Findings) {
	var near []*findings.Worst[findings.NearPair]
	for i := range s.end() {
		choice := s.choice(i)
		near = near[:0]
		if s.isNear(i, choice) {
			if near = append(near, &o.Near); s.members.Size(i) < findings.ShortText {
				near = append(near, &o.NearShort)
			}
		}
		if s.hasOtherTitle(i, choice) {
			near = append(near, &o.OtherTitle)
		}
		for _, worst := range near {
			pair := findings.NearPair{
				Similarity: choice.Similarity,
				Title:      s.members.Capture(i).Title,
				KeptTitle:  s.members.Capture(choice.Kept).Title,
			}
			if !worst.Takes(pair) {
				worst.Count++
				continue
			}
			pair.Removed, pair.Kept = s.name(i), s.name(choice.Kept)
			worst.Add(pair)
		}
	}
}

// doubt finds clusters that may hold documents which are no near-duplicates, and pairs that hold a cluster together.
// The shard must be decided. Least is the least similarity of an edge, from 0 to 1.
func (s *Shard) doubt(o *findings.Findings, least float64) {
	s.addLargest(o)
	if s.IsDropped() {
		return // nothing stays for another document
	}
	s.addNear(o)
	for cluster := range s.eachCluster {
		if cluster.size < leastTemplate {
			continue
		}
		c := s.cohesion(cluster)
		if mean := c.sum / float64(c.gone); c.gone > 0 && mean < (least+1)/2 {
			o.Templates.Add(findings.Template{
				Cluster:   s.name(s.members.First(cluster.document(0))),
				Documents: int64(cluster.size),
				Mean:      mean,
				Least:     c.least,
			})
		}
	}
	if s.rule.Split != keep.Component {
		return
	}
	for _, found := range s.bridges(leastPart) {
		e := s.edges.At(found.edge)
		o.Bridges.Add(findings.Bridge{
			Cluster:   s.name(found.first),
			Documents: int64(s.size.At(found.first)),
			Part:      int64(found.part),
			A:         s.name(e.A),
			B:         s.name(e.B),
		})
	}
}
