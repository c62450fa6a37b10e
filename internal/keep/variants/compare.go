package variants

import "slices"

// mostEdits is the number of words that may be exchanged in a pair. Pairs with more are not compared.
const mostEdits = 400

// hunk is a place where two texts differ: a range of words of each. One of them may be empty.
type hunk struct{ from, to [2]int32 }

// differ compares texts. It keeps the memory that it needs.
type differ struct {
	furthest, steps []int32
}

// compare appends where two texts differ, in the fewest words, by the algorithm of Myers; nothing if that is too much.
func (d *differ) compare(hunks []hunk, a, b []word) []hunk {
	start := int32(0)
	for start < int32(min(len(a), len(b))) && a[start] == b[start] {
		start++
	}
	a, b = a[start:], b[start:]
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	n, m := int32(len(a)), int32(len(b))
	d.furthest = slices.Grow(d.furthest[:0], 2*mostEdits+3)[:2*mostEdits+3]
	clear(d.furthest)
	at := d.furthest // the furthest word of a, by diagonal
	d.steps = d.steps[:0]
	for edits := int32(0); edits <= mostEdits; edits++ {
		// steps are what furthest was before each number of edits, for the diagonals that these reach
		d.steps = append(d.steps, at[mostEdits-edits:mostEdits+edits+3]...)
		for diagonal := -edits; diagonal <= edits; diagonal += 2 {
			i := diagonal + mostEdits + 1
			x := at[i-1] + 1
			if diagonal == -edits || diagonal != edits && at[i-1] < at[i+1] {
				x = at[i+1]
			}
			for x < n && x-diagonal < m && a[x] == b[x-diagonal] {
				x++
			}
			if at[i] = x; x >= n && x-diagonal >= m {
				return d.trace(hunks, start, n, m, edits)
			}
		}
	}
	return hunks
}

// trace follows the edits back from the ends of the texts, which begin at start.
func (d *differ) trace(hunks []hunk, start, x, y, edits int32) []hunk {
	first := len(hunks)
	for ; edits > 0; edits-- {
		diagonal := x - y
		before := d.steps[edits*(edits+2):]
		i := diagonal + edits + 1
		previous := diagonal - 1
		if diagonal == -edits || diagonal != edits && before[i-1] < before[i+1] {
			previous = diagonal + 1
		}
		fromX := before[previous+edits+1]
		from, to := [2]int32{fromX, fromX - previous}, [2]int32{fromX, fromX - previous + 1}
		if previous < diagonal {
			to = [2]int32{fromX + 1, fromX - previous}
		}
		x, y = from[0], from[1]
		from, to = [2]int32{from[0] + start, from[1] + start}, [2]int32{to[0] + start, to[1] + start}
		if n := len(hunks); n > first && hunks[n-1].from == to {
			hunks[n-1].from = from
		} else {
			hunks = append(hunks, hunk{from, to})
		}
	}
	slices.Reverse(hunks[first:])
	return hunks
}
