package sketch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMinHashVariance checks that the components are as good as independent:
// the estimate has the variance of independent random permutations, for small
// sets too, where cheaper schemes fail.
func TestMinHashVariance(t *testing.T) {
	const components, trials = 64, 10_000
	random := rand.New(rand.NewPCG(1, 2))
	minhash := must(NewMinHash(components))
	for _, size := range []int{5, 20, 200, 2000} {
		common := (3*size + 4) / 5
		truth := float64(common) / float64(2*size-common)
		a, b := make([]uint64, size), make([]uint64, size)
		var signatureA, signatureB []uint32
		sum, squares := 0.0, 0.0
		for range trials {
			for i := range size {
				a[i] = random.Uint64() >> (64 - elementBits)
				b[i] = random.Uint64() >> (64 - elementBits)
			}
			copy(b, a[:common])
			signatureA = minhash.Signature(signatureA, a)
			signatureB = minhash.Signature(signatureB, b)
			equal := 0
			for i, x := range signatureA {
				if x == signatureB[i] {
					equal++
				}
			}
			deviation := float64(equal)/components - truth
			sum += deviation
			squares += deviation * deviation
		}
		variance := truth * (1 - truth) / components
		bias := sum / trials
		if allowed := 4 * math.Sqrt(variance/trials); math.Abs(bias) > allowed {
			t.Errorf("%d elements: bias %.5f, want at most %.5f", size, bias, allowed)
		}
		if ratio := squares / trials / variance; math.Abs(ratio-1) > 0.05 {
			t.Errorf("%d elements: variance is %.3f of that of random permutations", size, ratio)
		}
	}
}

func TestMinHashGolden(t *testing.T) {
	m := must(NewMinHash(3))
	if got, want := fmt.Sprintf("%x", m.multipliers), "[ebda8539 cf3a9f1f 369a281b]"; got != want {
		t.Errorf("multipliers are %s, want %s", got, want)
	}
	if got, want := fmt.Sprintf("%x", m.SignatureOfHashes(nil, []uint64{0xffff, 0x123456789abc, 0xba9876543210})),
		"[8c398b8 4fc802c 369a281b]"; got != want {
		t.Errorf("signature is %s, want %s", got, want)
	}
	if more := must(NewMinHash(100)); !slices.Equal(more.multipliers[:3], m.multipliers) {
		t.Error("the first multipliers depend on the number of components")
	}
}

// TestMinHashSmallIDs: ids from a counter, which differ in their lowest bits only, are estimated as hashes are.
func TestMinHashSmallIDs(t *testing.T) {
	m := must(NewMinHash(1024))
	ids := func(first, end uint64) (set []uint64) {
		for id := first; id < end; id++ {
			set = append(set, id)
		}
		return set
	}
	for _, test := range []struct {
		a, b []uint64
	}{{ids(0, 200), ids(100, 300)}, {ids(0, 3), ids(1, 4)}, {ids(7, 8), ids(8, 9)}, {ids(5, 500), ids(5, 500)}} {
		exact := Jaccard(test.a, test.b)
		// four standard errors
		most := 4 * math.Sqrt(exact*(1-exact)/1024)
		estimate := SignatureAgreement(m.Signature(nil, test.a), m.Signature(nil, test.b))
		if math.Abs(estimate-exact) > most {
			t.Errorf("%d and %d ids: similarity %g, want %g", len(test.a), len(test.b), estimate, exact)
		}
	}
}

func TestJaccard(t *testing.T) {
	for _, test := range []struct {
		a, b []uint64
		want float64
	}{
		{nil, nil, 0},
		{[]uint64{1}, nil, 0},
		{[]uint64{1, 5, 1 << 63}, []uint64{2, 5, 1 << 63}, 0.5},
		{[]uint64{0, 1}, []uint64{0, 1}, 1},
	} {
		if got := Jaccard(test.a, test.b); got != test.want {
			t.Errorf("Jaccard(%d, %d) = %g, want %g", test.a, test.b, got, test.want)
		}
	}
}

func TestMinHashSignature(t *testing.T) {
	m := must(NewMinHash(10))
	set := []uint64{3 << 20, 5 << 30}
	want := m.Signature(nil, set)
	if len(want) != 10 {
		t.Fatalf("signature has %d components, want 10", len(want))
	}
	buffer := make([]uint32, 20)
	got := m.Signature(buffer, set)
	if !slices.Equal(got, want) || &got[0] != &buffer[0] {
		t.Error("Signature does not use the memory it is given")
	}
	if n := testing.AllocsPerRun(10, func() { m.Signature(buffer, set) }); n != 0 {
		t.Errorf("Signature into a buffer allocates %v times", n)
	}
	for _, x := range m.Signature(nil, nil) {
		if x != math.MaxUint32 {
			t.Errorf("component of the empty set = %d", x)
		}
	}
	if got := must(NewMinHash(0)).Signature(nil, set); len(got) != 0 {
		t.Errorf("signature without components has %d", len(got))
	}
}

func BenchmarkMinHash(b *testing.B) {
	random := rand.New(rand.NewPCG(7, 8))
	set := make([]uint64, 200)
	for i := range set {
		set[i] = random.Uint64() >> (64 - elementBits)
	}
	m := must(NewMinHash(21))
	var signature []uint32
	for b.Loop() {
		signature = m.Signature(signature, set)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(set)), "ns/shingle")
}
