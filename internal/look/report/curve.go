package report

import "mirrorbeam/internal/look/finished"

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
