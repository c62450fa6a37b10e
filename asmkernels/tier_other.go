//go:build (!amd64 && !arm64) || purego

package asmkernels

func tiersHere() []Tier { return []Tier{PlainGo} }
