package asmkernels_test

import (
	"fmt"

	"mirrorbeam.dev/asmkernels"
)

// Required says how many elements two sets must share, and Intersect gives up as soon as they cannot.
func ExampleIntersect() {
	a := []uint64{1, 2, 3, 4, 5, 6, 7, 8}
	b := []uint64{2, 3, 4, 5, 6, 7, 8, 9}
	need := asmkernels.Required(0.7, len(a), len(b))
	common := asmkernels.Intersect(a, b, need)
	fmt.Printf("%d of %d that are needed: similarity %.2f\n", common, need,
		float64(common)/float64(len(a)+len(b)-common))
	// Output:
	// 7 of 7 that are needed: similarity 0.78
}

// Fingerprints compares all with all. Bitmaps rule out most pairs before a single element is looked at.
func ExampleFingerprints() {
	table := asmkernels.NewFingerprints[uint32](128, asmkernels.UnionSample)
	table.Add([]uint32{1, 2, 3, 4})
	table.Add([]uint32{5, 6, 7, 8})
	table.Add([]uint32{1, 2, 3, 9})
	table.Pairs(0.5, func(i, j, common, union int) {
		fmt.Printf("%d and %d: %d of %d\n", i, j, common, union)
	})
	// Output:
	// 0 and 2: 3 of 5
}

// Hamming compares one fingerprint with a table of them.
func ExampleHamming() {
	distances := make([]uint16, 3)
	asmkernels.Hamming(distances, []uint64{0b1111}, []uint64{0b1111, 0b0111, 0})
	fmt.Println(distances)
	// Output:
	// [0 1 4]
}

// MinHash takes one odd multiplier for each component of a signature.
func ExampleMinHash() {
	signature := make([]uint32, 3)
	asmkernels.MinHash(signature, []uint32{1, 3, 5}, []uint64{7 << 16, 2 << 16, 9 << 16})
	fmt.Println(signature)
	// Output:
	// [2 6 10]
}

// SetSorter sorts a list of 48-bit hashes and leaves out repetitions.
func ExampleSetSorter() {
	var sorter asmkernels.SetSorter
	fmt.Println(sorter.Sort([]uint64{5, 3, 5, 1}))
	// Output:
	// [1 3 5]
}
