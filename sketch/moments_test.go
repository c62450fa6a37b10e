package sketch

import (
	"math"
	"testing"
)

// moments gathers the mean and the variance of a figure over many trials.
type moments struct{ count, sum, squares float64 }

func (m *moments) add(x float64) {
	m.count++
	m.sum += x
	m.squares += x * x
}

func (m *moments) mean() float64 { return m.sum / m.count }

func (m *moments) variance() float64 {
	return max(m.squares/m.count-m.mean()*m.mean(), 0) * m.count / (m.count - 1)
}

func (m *moments) standardError() float64 { return math.Sqrt(m.variance() / m.count) }

// deviations is the number of standard errors that a mean may be off: were the
// seeds not fixed, a right estimator would fail once in 16,000 checks.
const deviations = 4

// unbiased checks that the mean is the truth.
func (m *moments) unbiased(t *testing.T, name string, truth float64) {
	t.Helper()
	if allowed := deviations*m.standardError() + 1e-12; math.Abs(m.mean()-truth) > allowed {
		t.Errorf("%s: mean %.5f over %.0f trials, want %.5f within %.5f", name, m.mean(), m.count, truth, allowed)
	}
}
