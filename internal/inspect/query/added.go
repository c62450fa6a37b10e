package query

import (
	"cmp"
	"math"
	"slices"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/inspect/index"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// added holds documents that a query has answered, so that later ones are compared with them: all of them, or the ones
// of a sliding window. Documents of equal sets share one. It is not for concurrent use.
type added struct {
	threshold float64
	tables    *lshbands.Permuted // nil if sets are compared
	window    int                // the number of documents to hold; 0: all

	documents []addedDocument // in the order of their arrival, from oldest on
	oldest    int
	gone      int // documents that have been taken out of the list

	sets     []addedSet
	byDigest map[sketch.Digest]uint32 // the set that a document has
	free     []uint32                 // sets that nothing refers to

	postings postings
	shared   []uint32 // by set: the keys that it shares with the document asked about
	touched  []uint32 // sets that share any

	found            []heldMatch
	keys, set, other []uint64
}

type addedDocument struct {
	names  []byte // its id and its ref, as JSON
	idSize uint32
	set    uint32
	next   int // the next document of the same set, none if there is no other
}

const none = -1

// addedSet is a set of shingles or, of documents without shingles, the digest of their bytes.
type addedSet struct {
	digest        sketch.Digest
	isEmpty       bool
	packed        []byte   // nil if fingerprints are compared
	fingerprint   []uint64 // nil if sets are
	first, newest int      // documents that have it; none if they are gone
}

func newAdded(threshold float64, tables *lshbands.Permuted, window int) *added {
	return &added{threshold: threshold, tables: tables, window: window, byDigest: map[sketch.Digest]uint32{}}
}

// keysOf returns the keys of a document that has shingles; valid until the next call.
func (h *added) keysOf(a *question) []uint64 {
	if h.tables == nil {
		h.set = sketchblock.AppendSet(h.set[:0], a.packed)
		return h.set[:index.KeyCount(h.threshold, len(h.set))]
	}
	h.keys = h.keys[:0]
	for table := range h.tables.Tables() {
		h.keys = append(h.keys, h.tables.Prefix(table, a.fingerprint)<<8+uint64(table))
	}
	return h.keys
}

// search appends the matches of a document among those that are held, the most similar first, then in the order of
// their arrival. If top is above 0, it may leave out all but this number of the first.
func (h *added) search(matches []output.Match, a *question, top int) []output.Match {
	h.found = h.found[:0]
	if len(a.packed) == 0 {
		if set, has := h.byDigest[a.digest]; has {
			match := output.NewIdenticalMatch()
			if h.tables != nil {
				match = output.NewHammingMatch(0, 0)
			}
			h.take(set, match, top)
		}
	} else {
		h.collect(a)
		for _, set := range h.touched {
			if match, is := h.compare(a, set); is {
				h.take(set, match, top)
			}
			h.shared[set] = 0
		}
	}
	slices.SortFunc(h.found, func(x, y heldMatch) int {
		return cmp.Or(compareMatches(&x.Match, &y.Match), cmp.Compare(x.document, y.document))
	})
	for i := range h.found {
		d, match := &h.documents[h.found[i].document-h.gone], h.found[i].Match
		match.ID = a.id
		match.Ref = a.ref
		match.Match = d.names[:d.idSize]
		match.MatchRef = d.names[d.idSize:]
		match.Added = true
		matches = append(matches, match)
	}
	return matches
}

type heldMatch struct {
	document int
	output.Match
}

func (h *added) take(set uint32, match output.Match, top int) {
	count := 0
	for number := h.sets[set].first; number != none && (top == 0 || count < top); count++ {
		h.found = append(h.found, heldMatch{number, match})
		number = h.documents[number-h.gone].next
	}
}

func (h *added) collect(a *question) {
	h.touched = h.touched[:0]
	keys, least, most := h.keysOf(a), uint32(0), uint32(math.MaxUint32)
	if h.tables == nil {
		size := float64(len(h.set))
		least = uint32(math.Ceil(h.threshold * size * (1 - 1e-9)))
		most = uint32(min(math.Floor(size/h.threshold*(1+1e-9)), math.MaxUint32))
	}
	for _, key := range keys {
		h.postings.each(key, least, most, func(set uint32) {
			if h.sets[set].first == none {
				return
			}
			if h.shared[set] == 0 {
				h.touched = append(h.touched, set)
			}
			h.shared[set]++
		})
	}
}

// compare compares a document with a set that shares keys with it. In h.set lies the set of the document.
func (h *added) compare(a *question, number uint32) (match output.Match, is bool) {
	of := &h.sets[number]
	if h.tables != nil {
		distance := sketch.Hamming(of.fingerprint, a.fingerprint)
		return output.NewHammingMatch(distance, h.tables.Bits()), distance <= h.tables.Distance()
	}
	size, other := len(h.set), len(of.packed)/sketchblock.HashSize
	need := asmkernels.Required(h.threshold, size, other)
	if int(h.shared[number]) < leastShared(h.threshold, h.threshold, need, size, other) {
		return match, false
	}
	if of.digest == a.digest {
		return output.NewIdenticalMatch(), size >= need
	}
	h.other = sketchblock.AppendSet(h.other[:0], of.packed)
	shared := asmkernels.Intersect(h.set, h.other, need)
	return output.NewMatch(shared, size, other), shared >= need
}

// add holds a document; beyond the window the oldest one goes. It is an error if there are too many.
func (h *added) add(a *question) error {
	if h.window > 0 && len(h.documents)-h.oldest == h.window {
		h.drop()
	}
	number := h.gone + len(h.documents)
	set, known := h.byDigest[a.digest]
	if known {
		h.documents[h.sets[set].newest-h.gone].next = number
		h.sets[set].newest = number
	} else {
		var err error
		if set, err = h.addSet(a, number); err != nil {
			return err
		}
	}
	names := append(append(make([]byte, 0, len(a.id)+len(a.ref)), a.id...), a.ref...)
	h.documents = append(h.documents, addedDocument{names: names, idSize: uint32(len(a.id)), set: set, next: none})
	return nil
}

func (h *added) addSet(a *question, document int) (uint32, error) {
	of := addedSet{digest: a.digest, isEmpty: len(a.packed) == 0, first: document, newest: document}
	var keys []uint64
	if !of.isEmpty {
		keys = h.keysOf(a)
	}
	if err := h.makeRoom(len(keys)); err != nil {
		return 0, err
	}
	if len(h.free) == 0 {
		h.free = append(h.free, uint32(len(h.sets)))
		h.sets, h.shared = append(h.sets, addedSet{}), append(h.shared, 0)
	}
	last := len(h.free) - 1
	set := h.free[last]
	h.free = h.free[:last]
	if h.tables == nil {
		of.packed = a.packed
	} else {
		of.fingerprint = a.fingerprint
	}
	h.sets[set], h.byDigest[of.digest] = of, set
	for _, key := range keys {
		h.postings.add(key, set, uint32(len(of.packed)/sketchblock.HashSize))
	}
	return set, nil
}

func (h *added) makeRoom(keys int) error {
	if len(h.postings.all)+keys <= cap(h.postings.all) {
		return nil
	}
	err := h.postings.rebuild(func(set uint32) bool { return h.sets[set].first != none }, keys)
	if err != nil {
		return err
	}
	h.free = h.free[:0]
	for set := range h.sets {
		if h.sets[set].first == none {
			h.free = append(h.free, uint32(set))
		}
	}
	return nil
}

func (h *added) drop() {
	oldest := &h.documents[h.oldest]
	number := oldest.set
	of := &h.sets[number]
	if of.first = oldest.next; of.first == none {
		delete(h.byDigest, of.digest)
		of.packed, of.fingerprint = nil, nil
		if of.isEmpty {
			h.free = append(h.free, number) // it has no postings
		}
	}
	*oldest = addedDocument{}
	if h.oldest++; 2*h.oldest > len(h.documents) {
		h.gone += h.oldest
		h.documents = slices.Delete(h.documents, 0, h.oldest)
		h.oldest = 0
	}
}
