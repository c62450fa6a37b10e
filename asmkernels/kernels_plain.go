//go:build (!amd64 && !arm64) || purego

package asmkernels

func minHash(signature, multipliers []uint32, set []uint64) {
	minHashGo(signature, multipliers, set)
}
