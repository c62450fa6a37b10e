//go:build amd64 && !purego

package asmkernels

import "github.com/klauspost/cpuid/v2"

func tiersHere() []Tier {
	return []Tier{PlainGo, SSE42, AVX2, AVX512, VP2Intersect}[:highest()+1]
}

// highest returns the highest tier that the CPU has and the operating system supports.
func highest() Tier {
	cpu := cpuid.CPU
	switch {
	case !cpu.Supports(cpuid.SSE, cpuid.SSE2, cpuid.SSE42, cpuid.POPCNT):
		return PlainGo
	case !cpu.Supports(cpuid.AVX, cpuid.AVX2, cpuid.BMI1, cpuid.BMI2, cpuid.LZCNT):
		return SSE42
	case !cpu.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512CD, cpuid.AVX512DQ, cpuid.AVX512VL,
		cpuid.AVX512VBMI, cpuid.AVX512VBMI2, cpuid.AVX512VPOPCNTDQ):
		return AVX2
	case !cpu.Supports(cpuid.AVX512VP2INTERSECT) || !cpu.IsVendor(cpuid.AMD):
		return AVX512
	}
	return VP2Intersect
}
