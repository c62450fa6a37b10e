package asmkernels

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// onEveryTier runs a test or benchmark once for every tier of the CPU.
func onEveryTier[T interface {
	Run(name string, f func(T)) bool
	Cleanup(f func())
}](t T, f func(T),
) {
	for _, tier := range Tiers() {
		t.Run(tier.String(), func(t T) {
			before := SelectTier(tier)
			t.Cleanup(func() { SelectTier(before) })
			f(t)
		})
	}
}

// TestTier makes sure that a run that asks for a tier tests that tier. CI asks
// for each that it names.
func TestTier(t *testing.T) {
	t.Log("tiers of this CPU:", strings.Trim(fmt.Sprint(Tiers()), "[]"))
	want := bestTier().String()
	if name := os.Getenv("MIRRORBEAM_CPU"); name != "" {
		want = name
	}
	if got := SelectedTier().String(); got != want {
		t.Errorf("tier %s is selected, want %s", got, want)
	}
}

func TestRequestedTier(t *testing.T) {
	for _, tier := range Tiers() {
		if got := requestedTier(tier.String()); got != tier {
			t.Errorf("requestedTier(%q) = %v", tier, got)
		}
	}
	for _, name := range []string{"", "AVX2", "sse"} {
		if got := requestedTier(name); got != bestTier() {
			t.Errorf("requestedTier(%q) = %v, want %v", name, got, bestTier())
		}
	}
}
