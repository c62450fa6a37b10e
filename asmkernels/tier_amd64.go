//go:build amd64 && !purego

package asmkernels

import "github.com/klauspost/cpuid/v2"

// bestTier returns the highest tier that the CPU has and the operating system
// supports.
func bestTier() Tier {
	switch {
	case !cpuid.CPU.Supports(cpuid.AVX, cpuid.AVX2, cpuid.BMI1, cpuid.BMI2, cpuid.LZCNT, cpuid.POPCNT):
		return PlainGo
	case !cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512CD, cpuid.AVX512DQ, cpuid.AVX512VL,
		cpuid.AVX512VBMI, cpuid.AVX512VBMI2):
		return AVX2
	}
	return AVX512
}
