package asmkernels

import "os"

// A Tier is a set of instructions that kernels are written for. The tiers of a
// CPU are in ascending order: kernels of one use those below.
type Tier int

const (
	// PlainGo is what every CPU has.
	PlainGo Tier = iota
	// SSE42 also requires POPCNT.
	SSE42
	// AVX2 also requires BMI1, BMI2 and LZCNT.
	AVX2
	// AVX512 requires F, BW, CD, DQ, VL, VBMI, VBMI2 and VPOPCNTDQ of AVX-512.
	AVX512
	// VP2Intersect also requires VP2INTERSECT of AVX-512 and a CPU of AMD: those
	// of Intel that have the instruction take as long as without it.
	VP2Intersect
	// NEON is the vectors of 128 bits of arm64, and follows plain Go there.
	NEON
)

// String returns the name of the tier, as in MIRRORBEAM_CPU.
func (t Tier) String() string {
	return [...]string{"go", "sse4.2", "avx2", "avx512", "vp2intersect", "neon"}[t]
}

// tier is the tier in use. Kernels choose by comparing it and call each other directly: a call through a function
// pointer would move what its arguments point to to the heap.
var tier = requestedTier(os.Getenv("MIRRORBEAM_CPU"))

// requestedTier returns the tier of the given name, or the best one if there is no such tier here.
func requestedTier(name string) Tier {
	for _, t := range Tiers() {
		if t.String() == name {
			return t
		}
	}
	return bestTier()
}

// SelectedTier returns the tier in use.
func SelectedTier() Tier { return tier }

// Tiers returns the tiers that the CPU has, in ascending order.
func Tiers() []Tier { return tiersHere() }

func bestTier() Tier {
	tiers := Tiers()
	return tiers[len(tiers)-1]
}

// SelectTier changes the tier in use, to one of Tiers, and returns the tier before. Tests and benchmarks compare the
// tiers with it. No other function of the package may run meanwhile.
func SelectTier(t Tier) (before Tier) {
	before, tier = tier, requestedTier(t.String())
	return before
}
