package main

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestEaseCollector(t *testing.T) {
	percent := func() int {
		p := debug.SetGCPercent(usualPercent)
		debug.SetGCPercent(p)
		return p
	}
	t.Run("and back", func(t *testing.T) {
		defer debug.SetGCPercent(debug.SetGCPercent(usualPercent))
		restore := easeCollector()
		if p := percent(); p != jobPercent {
			t.Errorf("%d %% during the job, want %d", p, jobPercent)
		}
		restore()
		if p := percent(); p != usualPercent {
			t.Errorf("%d %% after the job", p)
		}
	})
	t.Run("GOGC", func(t *testing.T) {
		defer debug.SetGCPercent(debug.SetGCPercent(70))
		defer easeCollector()()
		if p := percent(); p != 70 {
			t.Errorf("%d %%, the user wants 70", p)
		}
	})
	t.Run("GOMEMLIMIT", func(t *testing.T) {
		defer debug.SetGCPercent(debug.SetGCPercent(usualPercent))
		debug.SetMemoryLimit(1 << 40)
		defer debug.SetMemoryLimit(math.MaxInt64)
		defer easeCollector()()
		if p := percent(); p != usualPercent {
			t.Errorf("%d %% below a limit of the user", p)
		}
	})
}
