package asmkernels

import "os"

// A Tier is a set of instructions that kernels are written for. Tiers are in
// ascending order: a CPU that has one has those below.
type Tier int

// The tiers.
const (
	// PlainGo is what every CPU has.
	PlainGo Tier = iota
	// AVX2 also requires BMI1, BMI2, LZCNT and POPCNT.
	AVX2
	// AVX512 requires F, BW, CD, DQ, VL, VBMI and VBMI2 of AVX-512.
	AVX512
)

// String returns the name of the tier, as in MIRRORBEAM_CPU.
func (t Tier) String() string { return [...]string{"go", "avx2", "avx512"}[t] }

// tier is the tier in use. Kernels choose by comparing it and call each other
// directly: a call through a function pointer would move what its arguments
// point to to the heap.
var tier = requestedTier(os.Getenv("MIRRORBEAM_CPU"))

// requestedTier returns the tier of the given name, or the best one if there is
// no such tier here.
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
func Tiers() []Tier {
	return []Tier{PlainGo, AVX2, AVX512}[:bestTier()+1]
}

// SelectTier changes the tier in use, to one of Tiers, and returns the tier
// before. Tests and benchmarks compare the tiers with it. No other function of
// the package may run meanwhile.
func SelectTier(t Tier) (before Tier) {
	before, tier = tier, min(t, bestTier())
	return before
}
