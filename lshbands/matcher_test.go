package lshbands

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// pair is one that a Matcher found.
type pair struct{ i, j, distance int }

// allPairs compares all fingerprints with each other.
func allPairs(p *Permuted, fingerprints []uint64) (pairs []pair) {
	row := func(i int) []uint64 { return fingerprints[i*p.words : (i+1)*p.words] }
	differing := make([]uint64, p.words)
	for i := range len(fingerprints) / p.words {
		for j := range i {
			for k := range differing {
				differing[k] = row(i)[k] ^ row(j)[k]
			}
			if distance := ones(differing); distance <= p.distance {
				pairs = append(pairs, pair{j, i, distance})
			}
		}
	}
	return sorted(pairs)
}

// matchedPairs finds the pairs by all tables.
func matchedPairs(p *Permuted, fingerprints []uint64) (pairs []pair) {
	m := p.NewMatcher()
	for table := range p.Tables() {
		groups := map[uint64][]int{}
		for i := range len(fingerprints) / p.words {
			prefix := p.Prefix(table, fingerprints[i*p.words:(i+1)*p.words])
			groups[prefix] = append(groups[prefix], i)
		}
		for _, members := range groups {
			var group []uint64
			for _, i := range members {
				group = append(group, fingerprints[i*p.words:(i+1)*p.words]...)
			}
			m.Pairs(table, group, func(i, j, distance int) {
				pairs = append(pairs, pair{members[i], members[j], distance})
			})
		}
	}
	return sorted(pairs)
}

func sorted(pairs []pair) []pair {
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.i, b.i), cmp.Compare(a.j, b.j), cmp.Compare(a.distance, b.distance))
	})
	return pairs
}

// oversizedGroups are fingerprints that make groups of all kinds.
var oversizedGroups = map[string]func(p *Permuted, random *rand.Rand, count int) [][]uint64{
	"random": func(p *Permuted, random *rand.Rand, count int) (oversizedGroup [][]uint64) {
		for range count {
			oversizedGroup = append(oversizedGroup, randomFingerprint(p, random))
		}
		return oversizedGroup
	},
	"clusters": func(p *Permuted, random *rand.Rand, count int) (oversizedGroup [][]uint64) {
		for len(oversizedGroup) < count {
			center := randomFingerprint(p, random)
			for range 1 + random.IntN(9) {
				oversizedGroup = append(oversizedGroup, near(p, random, center, p.distance))
			}
		}
		return oversizedGroup
	},
	"one cluster": func(p *Permuted, random *rand.Rand, count int) (oversizedGroup [][]uint64) {
		center := randomFingerprint(p, random)
		for range count {
			oversizedGroup = append(oversizedGroup, near(p, random, center, 2*p.distance+2))
		}
		return oversizedGroup
	},
	"few values": func(p *Permuted, random *rand.Rand, count int) (oversizedGroup [][]uint64) {
		center := randomFingerprint(p, random)
		values := [][]uint64{center}
		for range 20 {
			values = append(values, near(p, random, center, p.distance))
		}
		for range count {
			oversizedGroup = append(oversizedGroup, values[random.IntN(len(values))])
		}
		return oversizedGroup
	},
	// As fingerprints of real texts: some bits tell much, most tell little.
	"unbalanced bits": func(p *Permuted, random *rand.Rand, count int) (oversizedGroup [][]uint64) {
		center := randomFingerprint(p, random)
		for range count {
			var flips []int
			for bit := range p.bits {
				if random.Float64() < 0.5/float64(1+bit%8*bit%8) {
					flips = append(flips, bit)
				}
			}
			oversizedGroup = append(oversizedGroup, flipped(center, flips))
		}
		return oversizedGroup
	},
}

// near returns a fingerprint with at most the given number of bits changed.
func near(p *Permuted, random *rand.Rand, center []uint64, most int) []uint64 {
	var flips []int
	for range random.IntN(most + 1) {
		flips = append(flips, random.IntN(p.bits))
	}
	return flipped(center, flips)
}

// TestMatcherFindsAllPairsOnce compares with brute force.
func TestMatcherFindsAllPairsOnce(t *testing.T) {
	forAllSchemes(t, func(t *testing.T, p *Permuted, random *rand.Rand) {
		if p.bits == 1024 && testing.Short() {
			t.Skip("long fingerprints take time")
		}
		for name, oversizedGroup := range oversizedGroups {
			fingerprints := slices.Concat(oversizedGroup(p, random, 400)...)
			got, want := matchedPairs(p, fingerprints), allPairs(p, fingerprints)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d pairs were found, want %d", name, len(got), len(want))
			}
		}
	})
}

// TestMatcherDividesLargeGroups has groups so large that they are divided, in the first table and in a later
// one.
func TestMatcherDividesLargeGroups(t *testing.T) {
	const size, limit = 800, 50
	for _, p := range []*Permuted{
		newScheme(t, 64, 3, 6), newScheme(t, 64, 6, 8), newScheme(t, 128, 3, 4), newScheme(t, 64, 0, 1),
		newScheme(t, 32, 4, 5),
	} {
		for name, oversizedGroup := range oversizedGroups {
			for _, table := range []int{0, p.Tables() / 2} {
				random := rand.New(rand.NewPCG(3, uint64(table)))
				all := oversizedGroup(p, random, size)
				mask := p.mask(table)
				for i := range all {
					for k := range mask {
						all[i][k] = all[i][k]&^mask[k] | all[0][k]&mask[k]
					}
				}
				group := slices.Concat(all...)
				var got []pair
				m := p.NewMatcher()
				m.divideAbove = limit
				m.Pairs(table, group, func(i, j, distance int) { got = append(got, pair{i, j, distance}) })
				want := slices.DeleteFunc(allPairs(p, group), func(q pair) bool {
					return p.FirstCommon(all[q.i], all[q.j]) != table
				})
				if !slices.Equal(sorted(got), want) {
					t.Errorf("%d bits, distance %d, table %d, %s: %d pairs were found, want %d", p.bits, p.distance,
						table, name, len(got), len(want))
				}
			}
		}
	}
}

// TestMatcherLeavesStrangersOut has a group of fingerprints that share no prefix.
func TestMatcherLeavesStrangersOut(t *testing.T) {
	p := newScheme(t, 128, 3, 4)
	for table := range p.Tables() {
		random := rand.New(rand.NewPCG(4, 4))
		group := slices.Concat(oversizedGroups["clusters"](p, random, 2*divideAbove)...)
		row := func(i int) []uint64 { return group[2*i : 2*i+2] }
		visited := 0
		p.NewMatcher().Pairs(table, group, func(i, j, _ int) {
			visited++
			if first := p.FirstCommon(row(i), row(j)); first != table {
				t.Fatalf("%x and %x meet first in table %d, not %d", row(i), row(j), first, table)
			}
		})
		if visited == 0 {
			t.Errorf("table %d: no pair was found", table)
		}
	}
}

func BenchmarkMatcher(b *testing.B) {
	p := newScheme(b, 64, 3, 4)
	mask := p.mask(0)[0]
	for _, name := range []string{"random", "clusters", "unbalanced bits", "one cluster"} {
		for _, size := range []int{2, 16, 256, 1024, 4096, 65536} {
			if name == "one cluster" && size > 4096 {
				continue // nearly all are pairs
			}
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				all := oversizedGroups[name](p, rand.New(rand.NewPCG(5, 5)), size)
				group := slices.Concat(all...)[:size]
				for i := range group {
					group[i] = group[i]&^mask | group[0]&mask
				}
				m := p.NewMatcher()
				found := 0
				for b.Loop() {
					m.Pairs(0, group, func(_, _, _ int) { found++ })
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/fingerprint")
				b.ReportMetric(float64(found)/float64(b.N), "pairs")
			})
		}
	}
}
