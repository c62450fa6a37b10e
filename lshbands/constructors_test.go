package lshbands

import (
	"math"
	"strings"
	"testing"
)

// TestConstructorsRefuse: a constructor says what is wrong with its arguments, and makes nothing of them.
func TestConstructorsRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		make func() (any, error)
		says string
	}{
		"threshold 0":   {func() (any, error) { return NewPrefixKeys(0) }, "threshold 0"},
		"threshold 1.5": {func() (any, error) { return NewPrefixKeys(1.5) }, "threshold 1.5"},
		"no threshold":  {func() (any, error) { return NewPrefixKeys(math.NaN()) }, "threshold NaN"},
		"tables":        {func() (any, error) { return PlanTables(65, 3) }, "65 bits"},
	} {
		if _, err := c.make(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.says)
		}
	}
}
