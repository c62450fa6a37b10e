package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

const fingerprintHashes = 128

// kernels measures what the article on single-hash MinHash does. Its texts have 16 to 540 KB.
func (c *benchCommand) kernels() (tables []benchTable, err error) {
	var fingerprints [][]uint32
	for _, words := range []int{40_000, 400} {
		texts, characters, _ := drawTexts(max(c.Documents*400/words, 2), words)
		fingerprints = make([][]uint32, len(texts))
		steps, err := textSteps(texts, fingerprints)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%d texts of %d kB", len(texts), characters/len(texts)/1000)
		tables = append(tables, benchTable{name, "characters", float64(characters), steps})
	}
	pairs := len(fingerprints) * (len(fingerprints) - 1) / 2
	name := fmt.Sprintf("%d pairs from %v", pairs, c.Threshold)
	return append(tables, benchTable{name, "pairs", float64(pairs), c.pairSteps(fingerprints)}), nil
}

// textSteps make fingerprints of texts. They fill fingerprints.
func textSteps(texts [][]byte, fingerprints [][]uint32) ([]benchStep, error) {
	hasher, err := sketch.NewSingleHash(sketch.SingleHashOptions{Words: 3, Size: fingerprintHashes})
	if err != nil {
		return nil, err
	}
	fingerprinter, err := sketch.NewFingerprinter(sketch.Options{Measure: sketch.Measure{Shingle: 3}})
	if err != nil {
		return nil, err
	}
	minhash, err := sketch.NewMinHash(fingerprintHashes)
	if err != nil {
		return nil, err
	}
	units := make([][]uint16, len(texts))
	for i, text := range texts {
		units[i] = sketch.CodeUnits(text)
	}
	var steps []benchStep
	printed := []string{"52.7", "96.3", "179.2", "278.1"}
	for i, program := range sketch.SingleHashPrograms(fingerprintHashes) {
		work := each(units, func(_ int, text []uint16) { program.Fingerprint(text) })
		steps = append(steps, benchStep{name: "article: " + program.Name, printed: printed[i], work: work})
	}
	var signature []uint32
	return append(steps,
		benchStep{name: "runjob: the same fingerprint", work: each(texts, func(i int, text []byte) {
			fingerprints[i], _ = hasher.Fingerprint(fingerprints[i][:0], text)
		})},
		benchStep{name: "runjob: exact set of shingles", work: each(texts, func(_ int, text []byte) {
			fingerprinter.Texts([][]byte{text})
		})},
		benchStep{name: "runjob: exact set and MinHash", work: each(texts, func(_ int, text []byte) {
			signature = minhash.Signature(signature, fingerprinter.Texts([][]byte{text}).Set)
		})},
	), nil
}

// pairSteps compare all pairs of fingerprints, which an earlier table has made.
func (c *benchCommand) pairSteps(fingerprints [][]uint32) []benchStep {
	all := func(of func(x, y []uint32)) func() {
		return each(fingerprints, func(i int, x []uint32) {
			for _, y := range fingerprints[:i] {
				of(x, y)
			}
		})
	}
	return []benchStep{
		{"article: classical", "0.84", all(func(x, y []uint32) { asmkernels.JaccardClassical(x, y) }), nil},
		{
			"article: fast abort", "1.92",
			all(func(x, y []uint32) { asmkernels.JaccardFast(x, y, c.Threshold) }), nil,
		},
		{
			"article: pcmpestrm, fast abort", "3.16",
			all(func(x, y []uint32) { asmkernels.JaccardTurbo(x, y, c.Threshold) }), nil,
		},
		{"runjob: pair by pair", "", all(func(x, y []uint32) {
			asmkernels.Intersect(x, y, asmkernels.Required(c.Threshold, len(x), len(y)))
		}), nil},
		{"runjob: all pairs, bitmaps first", "", func() {
			held := asmkernels.NewFingerprints[uint32](fingerprintHashes, asmkernels.AsSets)
			for _, fingerprint := range fingerprints {
				held.Add(fingerprint)
			}
			held.Pairs(c.Threshold, func(_, _, _, _ int) {})
		}, nil},
	}
}

// simhash measures what the article on FastSimHash does.
func (c *benchCommand) simhash() (tables []benchTable, err error) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, size := range []int{100, 10_000} {
		sets := make([][]uint64, max(c.Documents*100/size, 2))
		for i := range sets {
			for range size {
				sets[i] = append(sets[i], random.Uint64())
			}
		}
		steps := []benchStep{
			{name: "naive, 64 bits", printed: "1 times", work: each(sets, func(_ int, set []uint64) {
				sketch.SimHashByBits(set)
			})},
			{name: "byte counters, 64 bits", printed: "up to 10 times", work: each(sets, func(_ int, set []uint64) {
				sketch.SimHashByBytes(set)
			})},
		}
		for _, bits := range []int{64, 256, 1024} {
			simhash, err := sketch.NewSimHash(sketch.SimHashOptions{Bits: bits})
			if err != nil {
				return nil, err
			}
			var fingerprint []uint64
			steps = append(steps, benchStep{
				name: fmt.Sprintf("runjob, %d bits", bits),
				work: each(sets, func(_ int, set []uint64) {
					simhash.Reset()
					simhash.AddSet(set)
					fingerprint = simhash.Fingerprint(fingerprint)
				}),
			})
		}
		name := fmt.Sprintf("%d sets of %d hashes", len(sets), size)
		tables = append(tables, benchTable{name, "hashes", float64(len(sets) * size), steps})
	}
	return tables, nil
}

const benchSearches = 20_000

// tables measures what the article on the Hamming distance problem describes, in 500 fingerprints for each document.
func (c *benchCommand) tables() (tables []benchTable, err error) {
	random := rand.New(rand.NewPCG(5, 6))
	fingerprints := make([]uint64, 500*c.Documents)
	for i := range fingerprints {
		fingerprints[i] = random.Uint64()
	}
	for _, by := range []struct {
		distance int
		blocks   []int
		printed  string // candidates of a table for 2^34 fingerprints, 2^23 of the last
	}{{3, []int{6}, "2 to 8"}, {3, []int{4}, "262144"}, {3, []int{4, 4}, "64"}, {6, []int{8}, "128"}} {
		p, err := lshbands.NewPermuted(64, by.distance, by.blocks...)
		if err != nil {
			return nil, err
		}
		sorted := make([]uint64, len(fingerprints))
		for i := range sorted {
			p.Permute(0, sorted[i:i+1], fingerprints[i:i+1])
		}
		slices.Sort(sorted)
		packed, err := lshbands.NewTable(slices.Values(sorted))
		if err != nil {
			return nil, err
		}
		shift, found := 64-p.PrefixBits(0), 0
		search := func(ranged func(prefix uint64) (first, end int)) func() {
			return func() {
				found = 0
				for i := range benchSearches {
					first, end := ranged(sorted[i*7919%len(sorted)] >> shift)
					found += end - first
				}
			}
		}
		of := func(place func(sorted []uint64, key uint64) int) func() {
			return search(func(prefix uint64) (first, end int) {
				if first = place(sorted, prefix<<shift); (prefix+1)<<shift == 0 {
					return first, len(sorted)
				}
				return first, place(sorted, (prefix+1)<<shift)
			})
		}
		tell := func() string { return fmt.Sprintf("%.1f candidates", float64(found)/benchSearches) }
		name := fmt.Sprintf("a table of %d, within %d bits", p.Tables(), by.distance)
		tables = append(tables, benchTable{name, "searches", benchSearches, []benchStep{
			{"binary search", by.printed, of(binarySearch), tell},
			{"interpolation", "", of(interpolate), tell},
			{"runjob: compressed table", "", search(func(prefix uint64) (first, end int) {
				return packed.Range(prefix, p.PrefixBits(0))
			}), tell},
		}})
	}
	return tables, nil
}

func binarySearch(sorted []uint64, key uint64) int {
	at, _ := slices.BinarySearch(sorted, key)
	return at
}

// interpolate returns the place of a key: it looks where the key should be if keys are evenly spread.
func interpolate(sorted []uint64, key uint64) int {
	low, high := 0, len(sorted)
	for low < high {
		first, last := sorted[low], sorted[high-1]
		switch {
		case key <= first:
			return low
		case key > last:
			return high
		}
		at := low + int(float64(key-first)/float64(last-first)*float64(high-1-low))
		if sorted[at] < key {
			low = at + 1
		} else {
			high = at
		}
	}
	return low
}

// tutorial measures what the tutorial on MinHash does: direct comparison and signatures, for a growing number of texts.
func (c *benchCommand) tutorial() (tables []benchTable, err error) {
	const components = 10
	minhash, err := sketch.NewUniversalMinHash(components, 1)
	if err != nil {
		return nil, err
	}
	fingerprinter, err := sketch.NewFingerprinter(sketch.Options{Measure: sketch.Measure{Shingle: 3}})
	if err != nil {
		return nil, err
	}
	for _, n := range []int{c.Documents / 20, c.Documents} {
		texts, _, plants := drawTexts(max(n, 2), 250)
		sets, signatures := make([][]uint32, len(texts)), make([][]uint64, len(texts))
		for i, text := range texts {
			for _, hash := range fingerprinter.Texts([][]byte{text}).Set {
				sets[i] = append(sets[i], uint32(hash>>16))
			}
		}
		found, planted := 0, 0
		pairs := func(isAlike func(i, j int) bool) {
			found, planted = 0, 0
			for i := range sets {
				for j := range i {
					if isAlike(i, j) {
						found++
						if plants[[2]int{j, i}] {
							planted++
						}
					}
				}
			}
		}
		tell := func() string { return fmt.Sprintf("%d pairs, %d of %d plants", found, planted, len(plants)) }
		direct, signed := "", ""
		if len(texts) == 10_000 {
			direct, signed = "1200 s", "165 s"
		}
		name := fmt.Sprintf("%d texts of 250 words from %v", len(texts), c.Threshold)
		tables = append(tables, benchTable{name, "pairs", float64(len(texts) * (len(texts) - 1) / 2), []benchStep{
			{"article: direct sets", direct, func() {
				pairs(func(i, j int) bool { return asmkernels.JaccardClassical(sets[i], sets[j]) >= c.Threshold })
			}, tell},
			{"article: signatures of 10", signed, func() {
				for i, set := range sets {
					signatures[i] = minhash.Signature(signatures[i], set)
				}
				pairs(func(i, j int) bool {
					return sketch.SignatureAgreement(signatures[i], signatures[j]) >= c.Threshold
				})
			}, tell},
			{"runjob: direct sets, early abort", "", func() {
				pairs(func(i, j int) bool {
					need := asmkernels.Required(c.Threshold, len(sets[i]), len(sets[j]))
					return asmkernels.Intersect(sets[i], sets[j], need) >= need
				})
			}, tell},
		}})
	}
	return tables, nil
}

// exlsh measures what the article on ExLSH does: its digest and a SimHash of the same texts.
func (c *benchCommand) exlsh() ([]benchTable, error) {
	texts, characters, _ := drawTexts(c.Documents, 400)
	lsh, err := sketch.NewLSH(sketch.LSHOptions{})
	if err != nil {
		return nil, err
	}
	measure := sketch.Measure{Shingle: sketch.DefaultLSHWidth}
	plain, err := sketch.NewFingerprinter(sketch.Options{Measure: measure})
	if err != nil {
		return nil, err
	}
	full, err := sketch.NewFingerprinter(sketch.Options{Measure: measure, SimHashBits: 64})
	if err != nil {
		return nil, err
	}
	var digest []byte
	return []benchTable{{fmt.Sprintf("%d texts", len(texts)), "characters", float64(characters), []benchStep{
		{"SimHash of 64 bits, naive", "1 times", each(texts, func(_ int, text []byte) {
			sketch.SimHashByBits(plain.Texts([][]byte{text}).Set)
		}), nil},
		{"ExLSH digest, MD5", "7 times", each(texts, func(_ int, text []byte) {
			digest = lsh.Digest(digest, text)
		}), nil},
		{"runjob: SimHash of 64 bits", "", each(texts, func(_ int, text []byte) { full.Texts([][]byte{text}) }), nil},
	}}}, nil
}
