package lshbands

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/sketch"
)

// IndexOptions say what an [Index] finds. Threshold is required.
type IndexOptions struct {
	// Threshold is the least Jaccard similarity of what a query finds, above 0 and at most 1.
	Threshold float64
	// Recall is the probability that a document is found whose similarity is Threshold, above 0; more similar ones are
	// found more surely. 0 stands for 0.99. With 1, which needs Exact, every document is found: by its first elements
	// ([PrefixLength]) instead of MinHash bands. That takes more memory and time, most of all where many documents
	// share elements.
	Recall float64
	// Exact keeps whole sets: similarities are exact, and nothing below the threshold is found. Otherwise the index
	// keeps signatures and estimates the similarity, so of the documents at the threshold it takes half to be below.
	Exact bool
	// Components is the number of components of the signatures of an index that is not exact; 0 stands for 128. A
	// similarity J is estimated with a standard error of sqrt(J(1-J)/Components).
	Components int
	// Window is how many documents the index contains at most: when it is full, the one that was added first goes.
	// 0: there is no limit.
	Window int
}

// Index finds the documents that are similar to another one, while documents come and go. A document is the set of its
// shingles, as [sketch.Document] has it, or any set of numbers, such as ids of its features.
//
// Any number of goroutines may use it. Queries run side by side; they wait for a change of one document, and a change
// waits for them. To remove a document takes the longer, the more documents equal it.
type Index[ID cmp.Ordered] struct {
	*members[ID]
	options IndexOptions
	scheme  Scheme // without bands the first elements of a set are its keys
	minhash *sketch.MinHash

	sets       [][]uint64 // by slot, if exact
	signatures []uint32   // by slot, if not
	scratch    sync.Pool  // of *indexScratch
}

type indexScratch struct {
	signature []uint32
	keys      []uint64
	slots     []uint32
}

const (
	usualRecall     = 0.99
	usualComponents = 128
)

// NewIndex returns an empty index. The error says which option is impossible.
func NewIndex[ID cmp.Ordered](o IndexOptions) (*Index[ID], error) {
	o.Recall, o.Components = cmp.Or(o.Recall, usualRecall), cmp.Or(o.Components, usualComponents)
	switch {
	case !(o.Threshold > 0 && o.Threshold <= 1): // also refuses NaN
		return nil, fmt.Errorf("index: threshold %g: must be above 0 and at most 1", o.Threshold)
	case !(o.Recall > 0 && o.Recall <= 1):
		return nil, fmt.Errorf("index: recall %g: must be above 0 and at most 1", o.Recall)
	case o.Recall == 1 && !o.Exact:
		return nil, errors.New("index: recall 1 needs an exact index: set Exact, or lower the recall")
	}
	m, err := newMembers[ID](o.Window)
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	x := &Index[ID]{members: m, options: o}
	if o.Recall < 1 {
		if x.scheme, err = Plan(o.Threshold, o.Recall, Scheme{}); err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
	}
	components := x.scheme.Components()
	if !o.Exact {
		components = max(components, o.Components)
	}
	if x.minhash, err = sketch.NewMinHash(components); err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	x.options.Components = components
	x.scratch.New = func() any { return new(indexScratch) }
	return x, nil
}

// prepare computes the keys of a set, and its signature if the keys or the index need it. A set without elements has no
// keys: nothing is similar to it.
func (x *Index[ID]) prepare(s *indexScratch, set []uint64) error {
	for i := 1; i < len(set); i++ {
		if set[i] <= set[i-1] {
			return fmt.Errorf("element %d of the set, %d, is not above the one before: sort it and leave each once", i,
				set[i])
		}
	}
	s.signature, s.keys = s.signature[:0], s.keys[:0]
	if x.options.Components > 0 {
		s.signature = x.minhash.Signature(s.signature, set)
	}
	switch {
	case len(set) == 0:
	case x.scheme.Bands == 0:
		s.keys = append(s.keys, set[:PrefixLength(x.options.Threshold, len(set))]...)
	default:
		s.keys = x.scheme.AppendKeys(s.keys, s.signature)
	}
	return nil
}

// Add adds the set of an id, in ascending order, instead of an earlier one of this id. In a full window the document
// that was added first goes. The index keeps a copy. The error is that the set is not in strictly ascending order, or
// that the index has no room for more keys, which are some 2^32.
func (x *Index[ID]) Add(id ID, set []uint64) error {
	s := x.scratch.Get().(*indexScratch)
	defer x.scratch.Put(s)
	if err := x.prepare(s, set); err != nil {
		return fmt.Errorf("add %v to the index: %w", id, err)
	}
	var kept []uint64
	if x.options.Exact {
		kept = slices.Clone(set)
	}
	x.mutex.Lock()
	defer x.mutex.Unlock()
	slot, err := x.add(id, s.keys, x.keysOf)
	if err != nil {
		return err
	}
	if x.options.Exact {
		x.sets = append(x.sets, make([][]uint64, len(x.ids)-len(x.sets))...)
		x.sets[slot] = kept
		return nil
	}
	n := x.options.Components
	x.signatures = append(x.signatures, make([]uint32, len(x.ids)*n-len(x.signatures))...)
	copy(x.signature(slot), s.signature)
	return nil
}

func (x *Index[ID]) signature(slot uint32) []uint32 {
	n := x.options.Components
	return x.signatures[int(slot)*n:][:n]
}

// keysOf computes the keys of a document again, which goes.
func (x *Index[ID]) keysOf(slot uint32) []uint64 {
	if !x.options.Exact {
		if signature := x.signature(slot); slices.Min(signature) < math.MaxUint32 {
			return x.scheme.AppendKeys(nil, signature)
		}
		return nil // an empty set
	}
	var s indexScratch
	_ = x.prepare(&s, x.sets[slot]) // it was in order when it was added
	x.sets[slot] = nil
	return s.keys
}

// Remove removes a document, and reports whether it was there.
func (x *Index[ID]) Remove(id ID) bool {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	return x.remove(id, x.keysOf)
}

// Similar is a document that a query has found.
type Similar[ID cmp.Ordered] struct {
	ID ID
	// Similarity is the Jaccard similarity, exact or estimated, from the threshold to 1.
	Similarity float64
}

// Query appends the documents that are similar to a set, in ascending order, to found: the most similar ones first, and
// equally similar ones by their ids. The error is that the set is not in strictly ascending order.
func (x *Index[ID]) Query(found []Similar[ID], set []uint64) ([]Similar[ID], error) {
	s := x.scratch.Get().(*indexScratch)
	defer x.scratch.Put(s)
	if err := x.prepare(s, set); err != nil {
		return found, fmt.Errorf("query the index: %w", err)
	}
	x.mutex.RLock()
	defer x.mutex.RUnlock()
	s.slots = s.slots[:0]
	for _, key := range s.keys {
		s.slots = x.chains.appendSlots(s.slots, key)
	}
	known := len(found)
	for _, slot := range different(s.slots) {
		if similarity := x.similarity(slot, set, s.signature); similarity >= x.options.Threshold {
			found = append(found, Similar[ID]{x.ids[slot], similarity})
		}
	}
	slices.SortFunc(found[known:], func(a, b Similar[ID]) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.ID, b.ID))
	})
	return found, nil
}

// similarity returns the similarity of a document to a set. In an exact index it may return any number below the
// threshold for a smaller one.
func (x *Index[ID]) similarity(slot uint32, set []uint64, signature []uint32) float64 {
	if !x.options.Exact {
		return sketch.SignatureAgreement(x.signature(slot), signature)
	}
	other := x.sets[slot]
	both := len(set) + len(other)
	// Take a little less than the share: rounding must not lose a document.
	need := int(math.Ceil(x.options.Threshold / (1 + x.options.Threshold) * float64(both) * (1 - 1e-9)))
	if min(len(set), len(other)) < need {
		return 0
	}
	common := asmkernels.Intersect(set, other, need)
	return float64(common) / float64(both-common)
}
