//go:build (!amd64 && !arm64) || purego

package asmkernels

// tiersHere returns the tiers of the CPU.
func tiersHere() []Tier { return []Tier{PlainGo} }
