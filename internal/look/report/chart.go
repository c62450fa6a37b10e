package report

import (
	"fmt"
	"math"
	"strings"

	"mirrorbeam/internal/look/finished"
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

// The axis of similarities ends at axisEnd. The bar of those that are 1 stands beyond it, from lastBar on.
const axisEnd, lastBar = 954., 966.

func chartOf(bins []Bin, unit Unit) Chart {
	c := Chart{First: bins[0].From, Even: unit == Bits}
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
	return c
}

// bar appends the path of a bar whose height is a share of the chart.
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

// mark adds a vertical line at a similarity.
func (c *Chart) mark(at float64, class string) {
	c.Marks = append(c.Marks, Mark{(at - c.First) / (1 - c.First) * axisEnd, class})
}

// curvePath draws the curve of a method.
func curvePath(points []Point) string {
	var path strings.Builder
	for i, p := range points {
		letter := byte('L')
		if i == 0 {
			letter = 'M'
		}
		fmt.Fprintf(&path, "%c%.1f %.1f", letter, p.Similarity*chartWidth, (1-p.Probability)*chartHeight)
	}
	return path.String()
}

// levels is the number of shades.
const levels = 8

// Cell is one shade of a map: the squares that have it.
type Cell struct {
	Level int
	Path  string
}

// mapOf draws the pairs of a cluster below the diagonal: each at the row of its second document and the column of its first.
// Dots has the pairs that are estimates.
func mapOf(c *Cluster, run *Run) (cells []Cell, dots string) {
	paths := make([]strings.Builder, levels)
	var estimates strings.Builder
	for _, e := range c.Edges {
		if e.Estimate {
			fmt.Fprintf(&estimates, "M%d.5 %d.5h.01", e.A, e.B)
			continue
		}
		fmt.Fprintf(&paths[levelOf(e.Score, run)], "M%d %dh1v1h-1z", e.A, e.B)
	}
	for level := range paths {
		if paths[level].Len() > 0 {
			cells = append(cells, Cell{level, paths[level].String()})
		}
	}
	return cells, estimates.String()
}

// levelOf returns the shade of a score: the darker, the more alike.
func levelOf(score float64, run *Run) int {
	share := 1.
	switch {
	case run.Unit == Bits && run.Distance > 0:
		share = 1 - score/float64(run.Distance)
	case run.Unit == Similarity && run.Threshold < 1:
		share = (score - run.Threshold) / (1 - run.Threshold)
	}
	return int(min(max(share, 0)*levels, levels-1))
}

// gridOf draws the counts of [Containment].
func gridOf(c *Containment) (cells []Cell) {
	var most int64
	for _, row := range c.Pairs {
		for _, n := range row {
			most = max(most, n)
		}
	}
	paths := make([]strings.Builder, levels)
	for a, row := range c.Pairs {
		for b, n := range row {
			if n > 0 {
				level := int(math.Log1p(float64(n)) / math.Log1p(float64(most)) * (levels - 1))
				fmt.Fprintf(&paths[level], "M%d %dh1v1h-1z", a, gridSteps-1-b)
			}
		}
	}
	for level := range paths {
		if paths[level].Len() > 0 {
			cells = append(cells, Cell{level, paths[level].String()})
		}
	}
	return cells
}

// curvePoints is the number of steps of a curve.
const curvePoints = 100

// curve returns the probability that a pair is compared, by its similarity. Where every pair from the threshold on is
// compared for certain, the curve is a step. It is nil where nothing is known beforehand.
func curve(p finished.Plan, threshold float64) []Point {
	switch {
	case p.Bands > 0 && p.Rows > 0:
		points := make([]Point, curvePoints+1)
		for i := range points {
			x := float64(i) / curvePoints
			points[i] = Point{x, p.Scheme.Probability(x)}
		}
		return points
	case p.ExpectedRecall == 1 && p.Distance == 0:
		return []Point{{threshold, 0}, {threshold, 1}, {1, 1}}
	}
	return nil
}
