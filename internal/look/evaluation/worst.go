package evaluation

import "slices"

// Worst keeps the first of many items in an order, whatever order they come in.
type Worst[T any] struct {
	// Items are those kept, in order.
	Items []T

	limit   int
	compare func(a, b T) int
}

// NewWorst returns a list that keeps at most limit items.
func NewWorst[T any](limit int, compare func(a, b T) int) *Worst[T] {
	return &Worst[T]{limit: limit, compare: compare}
}

// Offer takes in an item if it is among the first.
func (w *Worst[T]) Offer(item T) {
	full := len(w.Items) == w.limit
	if w.limit == 0 || full && w.compare(item, w.Items[len(w.Items)-1]) >= 0 {
		return
	}
	if full {
		w.Items = w.Items[:len(w.Items)-1]
	}
	at, _ := slices.BinarySearchFunc(w.Items, item, w.compare)
	w.Items = slices.Insert(w.Items, at, item)
}
