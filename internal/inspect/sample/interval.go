package sample

import "math"

const (
	// tail is how many standard errors an interval reaches to both sides. Of a normal distribution 1.64 would do. The
	// error is an estimate itself, and too small where the sample has few of the documents that are in most of the
	// pairs.
	tail = 2
	// unseenPairs is how many pairs of a sample a group is worth that the sample may not show: in one of twenty samples
	// a group of 4.74 documents by the share of the sample has at most one document in it, and so no pair.
	unseenPairs = 4.74 * 4.74 / 2
)

// Interval returns the ends of an interval around an estimated number of pairs, given its standard error and the share
// of the documents that are in the sample. The true number is within it for nine of ten samples or more. The error of a
// number of pairs grows with the number, so the interval is as wide in proportion to both sides. A group of many pairs
// may have no two documents in the sample, so the upper end is never near 0.
func Interval(pairs, deviation, share float64) (low, high float64) {
	if share == 1 {
		return pairs, pairs
	}
	spread := math.Exp(tail * deviation / max(pairs, 1))
	return pairs / spread, pairs*spread + unseenPairs/(share*share)
}

// mostOff is the factor by which a plan may be off in the sizes of oversized groups, so that some are on the other side
// of the limit.
const mostOff = 1.5

// within sets the interval of candidates that are no candidates of hot groups, given the pairs of the other groups. Its
// lower end is for the least limit of oversized groups that there may be, its upper end for the largest one.
func (e *Estimator) within(t *thinned, others met, oversizedGroups []oversizedGroup, result *Estimate) {
	least, largest := e.limits(oversizedGroups, t.share)
	few := e.upTo(least, t, others, oversizedGroups)
	many := few
	if largest > least {
		many = e.upTo(largest, t, others, oversizedGroups)
	}
	result.Low, _ = intervalOf(t, few)
	_, result.High = intervalOf(t, many)
}

func intervalOf(t *thinned, pairs met) (low, high float64) {
	return Interval(float64(len(pairs))/(t.share*t.share), math.Sqrt(varianceOf(degreesOf(t, pairs), t.share)), t.share)
}

// limits returns the least and the largest number of pairs that the limit of oversized groups may be if all oversized
// groups are larger or smaller than estimated, or one alone.
func (e *Estimator) limits(oversizedGroups []oversizedGroup, share float64) (least, largest float64) {
	switch {
	case len(oversizedGroups) == 0:
		return 0, 0
	case share == 1:
		return e.limit(oversizedGroups, 1), e.limit(oversizedGroups, 1)
	}
	return min(e.limit(oversizedGroups, mostOff)/mostOff, e.limit(oversizedGroups, 1)) / mostOff,
		max(e.limit(oversizedGroups, 1/mostOff)*mostOff, e.limit(oversizedGroups, 1)) * mostOff
}

// limit returns how many pairs an oversized group may have if all of them are to be compared, and if all oversized
// groups are larger by a factor than estimated.
func (e *Estimator) limit(oversizedGroups []oversizedGroup, factor float64) float64 {
	sizes := make([]float64, len(oversizedGroups))
	for i := range oversizedGroups {
		sizes[i] = oversizedGroups[i].unmet * factor
	}
	return e.LargestCompared(sizes)
}
