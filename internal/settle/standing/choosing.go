package standing

import (
	"encoding/binary"
	"iter"
	"math"
	"slices"
	"sync"

	"mirrorbeam/internal/carry/findings"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/read/sources"
)

// Rules say which components may stand.
type Rules struct {
	// List is the path of the components of the last run, "" if none may stand.
	List work.Path
	// Large and LargePercent say which clusters warnings name: a cluster of at least Large documents that has more than this share of all.
	Large        int64
	LargePercent float64
}

// LargeOf returns how many documents make a cluster that warnings may name, in a corpus of that many documents.
func (r *Rules) LargeOf(documents int64) int {
	return max(int(r.Large), int(r.LargePercent*float64(documents)/100))
}

// Known is a document that was in a pair in the last run, and is there as it was.
type Known struct {
	docref.Ref
	// IsTouched says that its rows may be other ones, or that its component has to be known.
	IsTouched bool
}

// Choose returns the numbers of the components that stand, ascending. All documents that were in pairs come in document order, without those
// of components that were found to stand early. Clusters of that many documents may be large, and warnings name them: so they are made anew. So
// are the components whose removed documents are least similar to those that stay, which the findings name. IsTooEarly says that some
// of these were found to stand: then all rows have to be made anew.
func (l *List) Choose(known iter.Seq[Known], early []uint32, large int) (chosen []uint32, isTooEarly bool) {
	stands := l.untouched(known)
	for _, i := range early {
		stands[i] = true
	}
	for i := range stands {
		stands[i] = stands[i] && len(l.Documents(i)) < large
	}
	l.dropLeast(stands)
	for i, is := range stands {
		if is {
			chosen = append(chosen, uint32(i))
		}
	}
	return chosen, slices.ContainsFunc(early, func(i uint32) bool { return !stands[i] })
}

// Refs returns the documents of chosen components, ascending.
func (l *List) Refs(chosen []uint32) []docref.Ref {
	is, refs := make([]bool, len(l.Components)), make([]docref.Ref, 0, len(l.documents))
	for _, i := range chosen {
		is[i] = true
	}
	for _, p := range l.Places() {
		if is[p.Component] {
			refs = append(refs, p.Ref)
		}
	}
	return refs
}

// untouched reports of each component whether all of its documents are known, and none is touched.
func (l *List) untouched(known iter.Seq[Known]) []bool {
	stands, places := make([]bool, len(l.Components)), l.Places()
	for i := range stands {
		stands[i] = len(l.Documents(i)) > 0
	}
	for d := range known {
		for len(places) > 0 && places[0].Ref < d.Ref {
			stands[places[0].Component] = false
			places = places[1:]
		}
		if len(places) > 0 && places[0].Ref == d.Ref {
			stands[places[0].Component] = stands[places[0].Component] && !d.IsTouched
			places = places[1:]
		}
	}
	for _, p := range places {
		stands[p.Component] = false
	}
	return stands
}

// Place is a document that is in a component that may stand.
type Place struct {
	docref.Ref
	Component uint32
}

// lookup finds components by their documents.
type lookup struct {
	once   sync.Once
	places []Place
	spared [len(nears)]float32 // components that are no more similar are spared
}

// Places returns the documents of all components that may stand, in document order. They must not be changed, and the list must not change any more.
func (l *List) Places() []Place {
	l.lookup.once.Do(l.makeLookup)
	return l.lookup.places
}

// StandsEarly reports whether a component stands if none of its documents is touched, whatever becomes of others. Large is as in
// [List.Choose]. It spares the components that the findings may name: many more than they do name, since some may be touched.
func (l *List) StandsEarly(component, large int) bool {
	l.lookup.once.Do(l.makeLookup)
	for k, of := range nears {
		if near := of(&l.Components[component]); near.Count > 0 && near.Least <= l.lookup.spared[k] {
			return false
		}
	}
	return len(l.Documents(component)) < large
}

// sparedPart says how many components are spared for the findings: one of this number, and at least twice as many as are named.
const sparedPart = 64

// makeLookup makes the lookup.
func (l *List) makeLookup() {
	places := make([]Place, 0, len(l.documents))
	isOne := func(component int) bool { return len(l.Documents(component)) > 0 }
	for i := range l.Components {
		for _, d := range l.Documents(i) {
			places = append(places, Place{d.Ref, uint32(i)})
		}
	}
	l.lookup.places = graphs.RadixSort(places, make([]Place, len(places)), func(p *Place) uint64 { return uint64(p.Ref) })
	for k, of := range nears {
		l.lookup.spared[k] = l.least(of, max(2*findings.MostWorst, len(l.Components)/sparedPart), isOne)
	}
}

// nears are what findings name the least similar pairs of.
var nears = [...]func(*Component) Near{func(c *Component) Near { return c.Near }, func(c *Component) Near { return c.NearShort }}

// dropLeast takes those components away whose least similarity is among the ones that findings name.
func (l *List) dropLeast(stands []bool) {
	var bounds [len(nears)]float32
	for k, of := range nears {
		bounds[k] = l.least(of, findings.MostWorst, func(i int) bool { return stands[i] })
	}
	for i := range stands {
		for k, of := range nears {
			near := of(&l.Components[i])
			stands[i] = stands[i] && (near.Count == 0 || near.Least > bounds[k])
		}
	}
}

// least returns the nth of the least similarities of some components, or a large number if there are fewer.
func (l *List) least(of func(*Component) Near, n int, isOne func(component int) bool) float32 {
	var least []float32 // ascending
	for i := range l.Components {
		near := of(&l.Components[i])
		if near.Count == 0 || len(least) == n && near.Least >= least[n-1] || !isOne(i) {
			continue
		}
		at, _ := slices.BinarySearch(least, near.Least)
		least = slices.Insert(least, at, near.Least)
		least = least[:min(len(least), n)]
	}
	if len(least) < n {
		return math.MaxFloat32
	}
	return least[n-1]
}

// Count adds what chosen components are of the findings. SourceOf returns the source of a document.
func (l *List) Count(chosen []uint32, f *findings.Findings, sourceOf func(docref.Ref) sources.Number) {
	counts := &f.Counts
	for _, i := range chosen {
		c, documents := &l.Components[i], l.Documents(int(i))
		all, removed := int64(len(documents)), removed(documents)
		counts.Pairs, counts.Identical = counts.Pairs+int64(c.Pairs), counts.Identical+int64(c.Identical)
		counts.Clusters, counts.Clustered = counts.Clusters+int64(c.Clusters), counts.Clustered+int64(c.Clustered)
		counts.Kept, counts.Removed = counts.Kept+all-removed, counts.Removed+removed
		f.Sent += all
		f.Near.Count += int64(c.Near.Count)
		f.NearShort.Count += int64(c.NearShort.Count)
		for _, d := range documents {
			of := sourceOf(d.Ref)
			var in sources.Set
			for k, other := range documents {
				if d.Near>>k&1 == 1 {
					in.Put(sourceOf(other.Ref))
				}
			}
			f.Sources.Share(of, in)
			if d.IsRemoved {
				f.Sources.Removed.Add(of, 1)
			}
		}
	}
}

// AppendChosen packs numbers of components, ascending.
func AppendChosen(b []byte, chosen []uint32) []byte {
	for _, i := range chosen {
		b = binary.LittleEndian.AppendUint32(b, i)
	}
	return b
}

// Chosen reads what AppendChosen has packed.
func Chosen(packed []byte) (chosen []uint32) {
	for ; len(packed) >= 4; packed = packed[4:] {
		chosen = append(chosen, binary.LittleEndian.Uint32(packed))
	}
	return chosen
}
