//go:build arm64 && !purego

package asmkernels

// tiersHere returns the tiers of the CPU. Each that Go itself runs on has NEON: the runtime needs it too.
func tiersHere() []Tier { return []Tier{PlainGo, NEON} }
