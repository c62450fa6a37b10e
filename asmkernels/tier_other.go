//go:build !amd64 || purego

package asmkernels

// bestTier returns the highest tier that the CPU has.
func bestTier() Tier { return PlainGo }
