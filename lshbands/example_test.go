package lshbands_test

import (
	"fmt"
	"slices"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// Plan picks the bands and rows that find a pair at the threshold with a probability, and the scheme cuts a signature
// into keys.
func ExamplePlan() {
	scheme, err := lshbands.Plan(0.8, 0.99, lshbands.Scheme{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d bands of %d rows\n", scheme.Bands, scheme.Rows)
	for _, similarity := range []float64{0.4, 0.6, 0.8, 0.9} {
		fmt.Printf("a pair of %.1f shares a key with probability %.4f\n", similarity, scheme.Probability(similarity))
	}
	a := make([]uint32, scheme.Components())
	b := slices.Clone(a)
	b[0]++ // one component of the first band differs
	keysA, keysB := scheme.AppendKeys(nil, a), scheme.AppendKeys(nil, b)
	fmt.Println("first keys alike:", keysA[0] == keysB[0], "- second keys alike:", keysA[1] == keysB[1])
	// Output:
	// 7 bands of 3 rows
	// a pair of 0.4 shares a key with probability 0.3706
	// a pair of 0.6 shares a key with probability 0.8179
	// a pair of 0.8 shares a key with probability 0.9934
	// a pair of 0.9 shares a key with probability 0.9999
	// first keys alike: false - second keys alike: true
}

// Two documents that reach the threshold share one of their rarest shingles, whichever these are.
func ExamplePrefixKeys() {
	keys, err := lshbands.NewPrefixKeys(0.6)
	if err != nil {
		fmt.Println(err)
		return
	}
	set := []uint64{10, 20, 30, 40, 50}
	frequencies := []byte{9, 2, 7, 3, 5} // how often each shingle occurs in the corpus
	for _, key := range keys.Of(set, frequencies) {
		fmt.Println(key.Hash)
	}
	fmt.Println("of", lshbands.PrefixLength(0.6, len(set)), "that could be needed")
	// Output:
	// 20
	// 40
	// 50
	// of 3 that could be needed
}

// Fingerprints within three bits agree in one of four blocks, so they meet in one of four tables.
func ExamplePermuted() {
	tables, err := lshbands.NewPermuted(64, 3, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	a := []uint64{0x0123456789abcdef}
	b := []uint64{a[0] ^ 1<<3 ^ 1<<20 ^ 1<<60} // three bits differ
	fmt.Printf("%d tables; a and b meet in table %d, under %#x\n",
		tables.Tables(), tables.FirstCommon(a, b), tables.Prefix(tables.FirstCommon(a, b), a))
	// Output:
	// 4 tables; a and b meet in table 2, under 0x4567
}

// A Table finds the keys that begin with a prefix, and their positions in the sorted list.
func ExampleTable() {
	keys := []uint64{0xaa01 << 48, 0xaa02 << 48, 0xbb03 << 48}
	table, err := lshbands.NewTable(slices.Values(keys))
	if err != nil {
		fmt.Println(err)
		return
	}
	first, end := table.Range(0xaa, 8)
	for _, key := range table.AppendKeys(nil, first, end) {
		fmt.Printf("%x\n", key>>48)
	}
	// Output:
	// aa01
	// aa02
}

// A Counter tells shingles that several documents have from shingles that only one has.
func ExampleCounter() {
	var counter lshbands.Counter
	counter.Reset(6)
	counter.Add(asmkernels.AppendCounted(nil, []uint64{0x123456, 0x789abc, 0xdef012}))
	counter.Add(asmkernels.AppendCounted(nil, []uint64{0x789abc, 0xdef012, 0xfedcba}))
	asked := []uint64{0x123456, 0x789abc, 0xfedcba}
	for i, frequency := range counter.AppendFrequencies(nil, asmkernels.AppendCounted(nil, asked)) {
		fmt.Printf("%x in several documents: %v\n", asked[i], frequency > 0)
	}
	// Output:
	// 123456 in several documents: false
	// 789abc in several documents: true
	// fedcba in several documents: false
}

// An Index says which documents are similar to another one, while documents come and go.
func ExampleIndex() {
	hasher, err := sketch.NewHasher(sketch.Measure{Shingle: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	index, err := lshbands.NewIndex[string](lshbands.IndexOptions{Threshold: 0.5, Recall: 1, Exact: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for id, text := range map[string]string{
		"copy":  "The quick brown fox jumps over the lazy cat.",
		"other": "Something else is told in this text.",
	} {
		if err := index.Add(id, hasher.Document([]byte(text)).Set); err != nil {
			fmt.Println(err)
			return
		}
	}
	found, err := index.Query(nil, hasher.Document([]byte("the quick brown fox jumps over the lazy dog")).Set)
	fmt.Println(found, err)
	// Output: [{copy 0.7777777777777778}] <nil>
}

// A HammingIndex finds fingerprints within a distance. With a window it forgets the first one when it is full.
func ExampleHammingIndex() {
	index, err := lshbands.NewHammingIndex[string](lshbands.HammingOptions{Bits: 64, Distance: 3, Window: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, page := range []struct {
		id          string
		fingerprint uint64
	}{{"first", 0xff00}, {"second", 0xff01}, {"third", 0x1234}} {
		if err := index.Add(page.id, []uint64{page.fingerprint}); err != nil {
			fmt.Println(err)
			return
		}
	}
	found, err := index.Query(nil, []uint64{0xff03})
	fmt.Println(found, err)
	// Output: [{second 1}] <nil>
}
