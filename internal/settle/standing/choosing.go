package standing

import (
	"encoding/binary"
	"iter"
	"slices"

	"mirrorbeam/internal/carry/findings"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/graphs"
	"mirrorbeam/internal/read/sources"
)

// Known is a document that was in a pair in the last run, and is there as it was.
type Known struct {
	docref.Ref
	// IsTouched says that its rows may be other ones, or that its component has to be known.
	IsTouched bool
}

// Choose returns the numbers of the components that stand, ascending. All documents that were in pairs come in document order. Clusters of
// that many documents may be large, and warnings name them: so they are made anew. So are the components whose removed documents are
// least similar to those that stay, which the findings name.
func (l *List) Choose(known iter.Seq[Known], large int) []uint32 {
	stands := l.untouched(known)
	for i := range stands {
		stands[i] = stands[i] && len(l.Documents(i)) < large
	}
	l.dropLeast(stands, func(c *Component) Near { return c.Near })
	l.dropLeast(stands, func(c *Component) Near { return c.NearShort })
	var chosen []uint32
	for i, is := range stands {
		if is {
			chosen = append(chosen, uint32(i))
		}
	}
	return chosen
}

// Refs returns the documents of chosen components, ascending.
func (l *List) Refs(chosen []uint32) []docref.Ref {
	refs := make([]docref.Ref, 0, len(l.documents))
	for _, i := range chosen {
		for _, d := range l.Documents(int(i)) {
			refs = append(refs, d.Ref)
		}
	}
	return graphs.RadixSort(refs, make([]docref.Ref, len(refs)), func(ref *docref.Ref) uint64 { return uint64(*ref) })
}

// untouched reports of each component whether all of its documents are known, and none is touched.
func (l *List) untouched(known iter.Seq[Known]) []bool {
	type place struct {
		ref       docref.Ref
		component uint32
	}
	places := make([]place, 0, len(l.documents))
	stands := make([]bool, len(l.Components))
	for i := range l.Components {
		for _, d := range l.Documents(i) {
			places = append(places, place{d.Ref, uint32(i)})
		}
		stands[i] = len(l.Documents(i)) > 0
	}
	places = graphs.RadixSort(places, make([]place, len(places)), func(p *place) uint64 { return uint64(p.ref) })
	for d := range known {
		for len(places) > 0 && places[0].ref < d.Ref {
			stands[places[0].component] = false
			places = places[1:]
		}
		if len(places) > 0 && places[0].ref == d.Ref {
			stands[places[0].component] = stands[places[0].component] && !d.IsTouched
			places = places[1:]
		}
	}
	for _, p := range places {
		stands[p.component] = false
	}
	return stands
}

// dropLeast takes those components away whose least similarity is among the ones that findings name.
func (l *List) dropLeast(stands []bool, of func(*Component) Near) {
	var least []float32 // ascending
	for i, is := range stands {
		near := of(&l.Components[i])
		if !is || near.Count == 0 || len(least) == findings.MostWorst && near.Least >= least[len(least)-1] {
			continue
		}
		at, _ := slices.BinarySearch(least, near.Least)
		least = slices.Insert(least, at, near.Least)
		least = least[:min(len(least), findings.MostWorst)]
	}
	for i := range stands {
		near := of(&l.Components[i])
		stands[i] = stands[i] && (near.Count == 0 || len(least) == findings.MostWorst && near.Least > least[len(least)-1])
	}
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
