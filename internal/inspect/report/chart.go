package report

import (
	"fmt"
	"math"
	"strings"
)

// A chart is drawn in a box of 1000 by 200 that the page stretches to its width. Texts are not part of it.
const (
	chartWidth  = 1000.
	chartHeight = 200.
)

// Chart is what a page draws of a histogram: paths and marks.
type Chart struct {
	Bars, LogBars string
	// Top is the largest count.
	Top int64
	// Marks are vertical lines.
	Marks []Mark
	// Ticks are the labels below: one for each bar if Even, otherwise evenly spaced from the left end to lastBar.
	Ticks []string
	Even  bool
	// First is the left end of the axis.
	First float64
}

// Mark is a vertical line at X, with a class of the style sheet.
type Mark struct {
	X     float64
	Class string
}

// The axis of similarities ends at axisEnd. The bar of those that are 1 is beyond it, from lastBar on.
const axisEnd, lastBar = 954., 966.

func chartOf(h *Histogram, unit Unit) *Chart {
	bins := h.Bins
	c := &Chart{First: bins[0].From, Even: unit == Bits}
	for _, bin := range bins {
		c.Top = max(c.Top, bin.Count)
	}
	slot := chartWidth / float64(len(bins))
	if unit == Similarity {
		slot = axisEnd / float64(max(len(bins)-1, 1))
	}
	var linear, logarithmic strings.Builder
	for i, bin := range bins {
		if bin.Count == 0 {
			continue
		}
		x, width := (float64(i)+0.07)*slot, slot*0.86
		if unit == Similarity && i == len(bins)-1 {
			x, width = lastBar, chartWidth-lastBar
		}
		bar(&linear, x, width, float64(bin.Count)/float64(c.Top))
		bar(&logarithmic, x, width, math.Log1p(float64(bin.Count))/math.Log1p(float64(c.Top)))
	}
	c.Bars, c.LogBars = linear.String(), logarithmic.String()
	c.addTicks(bins)
	if h.Valley != nil {
		c.Marks = append(c.Marks, Mark{(*h.Valley - c.First) / (1 - c.First) * axisEnd, "suggested"})
	}
	return c
}

func bar(path *strings.Builder, x, width, height float64) {
	h := max(height*chartHeight, 1.5)
	fmt.Fprintf(path, "M%.1f %.1fh%.1fv%.1fh-%.1fz", x, chartHeight-h, width, h, width)
}

// addTicks labels the axis. Of very many bits only some have a label.
func (c *Chart) addTicks(bins []Bin) {
	if !c.Even {
		const ticks = 5
		for i := range ticks + 1 {
			c.Ticks = append(c.Ticks, short(c.First+(1-c.First)*float64(i)/ticks))
		}
		return
	}
	const most = 20
	every := (len(bins) + most - 1) / most
	for i, bin := range bins {
		label := ""
		if i%every == 0 {
			label = short(bin.From)
		}
		c.Ticks = append(c.Ticks, label)
	}
}

// steps is the number of steps into which similarities are counted before anything is drawn.
const steps = 1000

type tally struct {
	unit   Unit
	counts []int64
}

// newTally returns a tally of similarities, or of distances up to the given one.
func newTally(unit Unit, distance int) *tally {
	if unit == Bits {
		return &tally{unit, make([]int64, distance+1)}
	}
	return &tally{unit, make([]int64, steps+1)}
}

// add counts a score. One that is out of range counts at the nearer end.
func (t *tally) add(score float64) {
	at := score
	if t.unit == Similarity {
		at = math.Floor(score*steps + 1e-6) // .29 * 1000 is below 290
	}
	t.counts[int(min(max(at, 0), float64(len(t.counts)-1)))]++
}

func (t *tally) between(from, to float64) (n int64) {
	for at, count := range t.counts {
		if x := float64(at) / steps; x >= from-1e-9 && x < to-1e-9 {
			n += count
		}
	}
	return n
}

// bins returns the counts from a similarity on, in bins wide enough to be seen; for distances, a bin for each bit.
func (t *tally) bins(from float64) []Bin {
	var bins []Bin
	if t.unit == Bits {
		for bit, count := range t.counts {
			bins = append(bins, Bin{float64(bit), float64(bit + 1), count})
		}
		return bins
	}
	width := 10
	if from < 0.6 {
		width = 20
	}
	first := int(from*steps+1e-6) / width * width
	for at := first; at < steps; at += width {
		bin := Bin{From: float64(at) / steps, To: float64(at+width) / steps}
		for _, count := range t.counts[at : at+width] {
			bin.Count += count
		}
		bins = append(bins, bin)
	}
	return append(bins, Bin{1, 1, t.counts[steps]})
}

const (
	// leastPeak is the number of documents in the fullest bin of a group that a valley separates from another.
	leastPeak = 20
	// deepest is the share of the smaller group's fullest bin that the bottom of a valley may have.
	deepest = 0.7
)

// valley returns the similarity that separates two groups of documents best: the bottom of the deepest valley of the
// histogram, smoothed over three bins. The identical documents, in the last bin, are no group: near every one of them
// the histogram would have a valley. It is nil if there is no valley.
func valley(bins []Bin) *float64 {
	n := len(bins) - 1
	if n < 3 {
		return nil
	}
	smooth := make([]float64, n)
	for i := range smooth {
		smooth[i] = float64(bins[max(i-1, 0)].Count+2*bins[i].Count+bins[min(i+1, n-1)].Count) / 4
	}
	right := make([]float64, n+1) // the fullest bin from here on
	for i := n - 1; i >= 0; i-- {
		right[i] = max(right[i+1], smooth[i])
	}
	depth, left := 0., 0.
	var from, to int
	for i, height := range smooth {
		lower := min(left, right[i+1])
		left = max(left, height)
		if lower < leastPeak || height > deepest*lower {
			continue
		}
		switch d := lower - height; {
		case d > depth:
			depth, from, to = d, i, i
		case d == depth && to == i-1:
			to = i
		}
	}
	if depth == 0 {
		return nil
	}
	at := bins[lowest(bins[:n], from-1, to+1)].From
	return &at
}

// lowest returns the place of the smallest count from one bin to another. Of equal ones it returns that in the middle.
func lowest(bins []Bin, from, to int) int {
	var places []int
	for i := max(from, 0); i <= min(to, len(bins)-1); i++ {
		if len(places) > 0 && bins[i].Count < bins[places[0]].Count {
			places = places[:0]
		}
		if len(places) == 0 || bins[i].Count == bins[places[0]].Count {
			places = append(places, i)
		}
	}
	return places[len(places)/2]
}

// closeWidth is how near to a threshold a pair is close to it.
const closeWidth = 0.02

// sensitivity counts the pairs near a threshold. Suggested may be nil.
func sensitivity(pairs *tally, threshold float64, suggested *float64) *Sensitivity {
	c := &Sensitivity{
		At:    threshold,
		Width: closeWidth,
		Of:    pairs.between(0, 1),
		Above: pairs.between(threshold, min(threshold+closeWidth, 1)),
	}
	if suggested != nil {
		c.At = *suggested
	}
	c.Pairs = pairs.between(c.At-closeWidth, min(c.At+closeWidth, 1))
	return c
}

// isSensitive reports whether far more pairs are just above the threshold than anywhere else.
func (c *Sensitivity) isSensitive(threshold float64) bool {
	const leastPairs, times = 100, 2.5
	if c.Of < leastPairs || threshold >= 1 {
		return false
	}
	even := closeWidth / (1 - threshold)
	return float64(c.Above) > times*even*float64(c.Of)
}
