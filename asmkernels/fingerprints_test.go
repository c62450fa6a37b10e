package asmkernels

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A match is a similar pair and its similarity as a quotient.
type match struct{ i, j, common, union int }

// naiveMatches compares all pairs by the definitions of the estimators.
func naiveMatches[E uint32 | uint64](fingerprints [][]E, size int, estimator Estimator, threshold float64) []match {
	var matches []match
	for j, b := range fingerprints {
		b = b[:min(len(b), size)]
		for i, a := range fingerprints[:j] {
			a = a[:min(len(a), size)]
			union := slices.Concat(a, b)
			slices.Sort(union)
			union = slices.Compact(union)
			if estimator == UnionSample && (len(a) == size || len(b) == size) {
				union = union[:size]
			}
			common := 0
			for _, x := range union {
				if slices.Contains(a, x) && slices.Contains(b, x) {
					common++
				}
			}
			if float64(common)/float64(len(union)) >= threshold {
				matches = append(matches, match{i, j, common, len(union)})
			}
		}
	}
	return sortMatches(matches)
}

func sortMatches(matches []match) []match {
	slices.SortFunc(matches, func(a, b match) int {
		return (a.i-b.i)*1_000_000 + a.j - b.j
	})
	return matches
}

// checkFingerprints compares Pairs and Search of every tier with naiveMatches,
// for 32-bit elements and for 48-bit ones.
func checkFingerprints(t *testing.T, fingerprints [][]uint32, size int, threshold float64) {
	t.Helper()
	wide := make([][]uint64, len(fingerprints))
	for i, fingerprint := range fingerprints {
		for _, x := range fingerprint {
			wide[i] = append(wide[i], uint64(x)<<16|uint64(x)&0xffff)
		}
	}
	checkTable(t, fingerprints, size, threshold)
	checkTable(t, wide, size, threshold)
}

func checkTable[E uint32 | uint64](t *testing.T, fingerprints [][]E, size int, threshold float64) {
	t.Helper()
	for _, estimator := range []Estimator{UnionSample, AsSets} {
		want := naiveMatches(fingerprints, size, estimator, threshold)
		table := NewFingerprints[E](size, estimator)
		for _, fingerprint := range fingerprints {
			table.Add(fingerprint)
		}
		if table.Len() != len(fingerprints) {
			t.Fatalf("Len() = %d, want %d", table.Len(), len(fingerprints))
		}
		for _, tier := range Tiers() {
			before := SelectTier(tier)
			var pairs, found []match
			table.Pairs(threshold, func(i, j, common, union int) { pairs = append(pairs, match{i, j, common, union}) })
			for j, query := range fingerprints {
				last := -1
				table.Search(query, threshold, func(i, common, union int) {
					if i <= last {
						t.Errorf("%v: fingerprint %d is found after %d", tier, i, last)
					}
					last = i
					if i < j {
						found = append(found, match{i, j, common, union})
					}
				})
			}
			SelectTier(before)
			for _, got := range [][]match{pairs, found} {
				if !slices.Equal(sortMatches(got), want) {
					t.Fatalf("%v, estimator %d: %d fingerprints of %d at %v: got %v, want %v",
						tier, estimator, len(fingerprints), size, threshold, got, want)
				}
			}
		}
	}
}

// randomFingerprints returns fingerprints of random length, among them similar
// ones.
func randomFingerprints(random *rand.Rand, count, size int) [][]uint32 {
	fingerprints := make([][]uint32, count)
	for i := range fingerprints {
		length := size
		if random.IntN(2) == 0 {
			length = random.IntN(size + 2)
		}
		set := randomSet(random, length, 1<<32)
		if i > 0 && random.IntN(3) > 0 {
			// What takes the place of others lies anywhere.
			model := fingerprints[random.IntN(i)]
			replaced := random.IntN(len(model) + 1)
			set = randomSet(random, random.IntN(replaced+1), 1<<32)
			for _, k := range random.Perm(len(model))[replaced:] {
				set = append(set, uint64(model[k]))
			}
		}
		fingerprints[i] = lower(set)
	}
	return fingerprints
}

func TestFingerprints(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	thresholds := []float64{
		math.Inf(-1), 0, math.SmallestNonzeroFloat64, 1.0 / 3, 0.5, 0.8, math.Nextafter(0.8, 1), 1,
		math.Nextafter(1, 2), math.Inf(1), math.NaN(),
	}
	for _, size := range []int{1, 2, 3, 16, 33, 128, 200} {
		for _, threshold := range thresholds {
			checkFingerprints(t, randomFingerprints(random, random.IntN(24), size), size, threshold)
		}
	}
	checkFingerprints(t, randomFingerprints(random, 2*tile+13, 8), 8, 0.6)
	checkFingerprints(t, [][]uint32{nil, {0}, {math.MaxUint32}, {0, math.MaxUint32}, {0}, nil}, 2, 0.5)
}

func TestFingerprintsAllocateNothing(t *testing.T) {
	onEveryTier(t, func(t *testing.T) {
		table := NewFingerprints[uint32](16, UnionSample)
		fingerprints := randomFingerprints(rand.New(rand.NewPCG(25, 26)), 300, 16)
		for _, fingerprint := range fingerprints {
			table.Add(fingerprint)
		}
		visited := 0
		if allocations := testing.AllocsPerRun(10, func() {
			table.Pairs(0.5, func(_, _, _, _ int) { visited++ })
			table.Search(fingerprints[0], 0.5, func(_, _, _ int) { visited++ })
		}); allocations != 0 || visited == 0 {
			t.Errorf("%v allocations for %d pairs, want none", allocations, visited)
		}
	})
}

func FuzzFingerprints(f *testing.F) {
	f.Add([]byte{1, 0, 0, 2, 0, 0, 255, 255, 1, 0, 0, 2, 0, 0}, 2, 0.5)
	f.Add(make([]byte, 90), 5, 1.0)
	f.Fuzz(func(t *testing.T, data []byte, size int, threshold float64) {
		size = size&0x3f + 1
		var fingerprints [][]uint32
		for len(data) > 0 {
			length := min(int(data[0])%(size+2), (len(data)-1)/2)
			var set []uint64
			for k := range length {
				set = append(set, uint64(binary.LittleEndian.Uint16(data[1+2*k:]))*0x10001)
			}
			fingerprints = append(fingerprints, lower(set))
			data = data[1+2*length:]
		}
		checkFingerprints(t, fingerprints[:min(len(fingerprints), 40)], size, threshold)
	})
}

// BenchmarkFingerprints compares all pairs of 2,000 fingerprints of 128 hashes
// of real documents as the article does.
func BenchmarkFingerprints(b *testing.B) {
	const size, documents = 128, 2000
	ids, sets := readSets(b, "reuters21578/reuters.jsonl.zst")
	var fingerprints [][]uint32
	table := NewFingerprints[uint32](size, AsSets)
	for _, id := range ids {
		fingerprint := make([]uint32, 0, len(sets[id]))
		for _, x := range sets[id] {
			fingerprint = append(fingerprint, uint32(x>>16))
		}
		fingerprint = slices.Compact(fingerprint)
		if len(fingerprint) < size || len(fingerprints) == documents {
			continue
		}
		fingerprints = append(fingerprints, fingerprint[:size])
		table.Add(fingerprint)
	}
	measure := func(b *testing.B, name string, work func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				work()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*documents*(documents-1)/2), "ns/pair")
		})
	}
	measure(b, "classical", func() {
		for i, x := range fingerprints {
			for _, y := range fingerprints[:i] {
				JaccardClassical(x, y)
			}
		}
	})
	for _, threshold := range []float64{0.5, 0.8} {
		need := Required(threshold, size, size)
		b.Run(fmt.Sprint(threshold), func(b *testing.B) {
			measure(b, "fast", func() {
				for i, x := range fingerprints {
					for _, y := range fingerprints[:i] {
						JaccardFast(x, y, threshold)
					}
				}
			})
			measure(b, "turbo", func() {
				for i, x := range fingerprints {
					for _, y := range fingerprints[:i] {
						JaccardTurbo(x, y, threshold)
					}
				}
			})
			onEveryTier(b, func(b *testing.B) {
				measure(b, "blocks", func() {
					for i, x := range fingerprints {
						for _, y := range fingerprints[:i] {
							Intersect(x, y, need)
						}
					}
				})
				measure(b, "bitmaps", func() { table.Pairs(threshold, func(_, _, _, _ int) {}) })
			})
		})
	}
}
