package report

import "slices"

// best keeps the items with the smallest keys. Of equal keys the earlier item comes first.
type best[T any] struct {
	most  int
	keys  []float64
	items []T
}

// newBest returns a list of at most the given number of items.
func newBest[T any](most int) *best[T] { return &best[T]{most: most} }

// admits reports whether add would keep an item of that key. So the caller need not make one in vain.
func (b *best[T]) admits(key float64) bool {
	return len(b.keys) < b.most || b.most > 0 && key < b.keys[len(b.keys)-1]
}

// add keeps the item if its key is small enough.
func (b *best[T]) add(key float64, item T) {
	if !b.admits(key) {
		return
	}
	at := len(b.keys)
	for at > 0 && key < b.keys[at-1] {
		at--
	}
	b.keys, b.items = slices.Insert(b.keys, at, key), slices.Insert(b.items, at, item)
	if len(b.keys) > b.most {
		b.keys, b.items = b.keys[:b.most], b.items[:b.most]
	}
}
