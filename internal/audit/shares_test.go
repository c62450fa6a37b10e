package audit

import (
	"math"
	"testing"
)

// TestShares: a share shrinks with the corpus down to its lower bound, and grows with the sample.
func TestShares(t *testing.T) {
	if s := NewShares(0, 1<<30); s != (Shares{}) {
		t.Errorf("no audit has the shares %+v", s)
	}
	for _, test := range []struct {
		sample          int
		bytes           int64
		sampled, probed float64
	}{
		{UsualSample, 0, 1, 1},
		{UsualSample, 8<<20 - 1, 1, 1},
		{UsualSample, 16<<20 - 1, 1. / 4, 1},
		{10, 16<<20 - 1, 1. / 4, 1},
		{UsualSample, 128<<20 - 1, 1. / 12, 1. / 2},
		{UsualSample, 1<<40 - 1, 32. / (1 << 20), 0.1},
		{2 * UsualSample, 1<<40 - 1, 64. / (1 << 20), 0.2},
		{20 * UsualSample, 1<<40 - 1, 640. / (1 << 20), 1},
	} {
		s := NewShares(test.sample, test.bytes)
		if math.Abs(s.Sampled-test.sampled) > 1e-12 || math.Abs(s.Probed-test.probed) > 1e-12 {
			t.Errorf("sample of %d, %d bytes: shares %g and %g, want %g and %g", test.sample, test.bytes, s.Sampled,
				s.Probed, test.sampled, test.probed)
		}
	}
}

// TestElements: a sample holds all shingles of a small corpus, and a bounded number of a large one.
func TestElements(t *testing.T) {
	for _, test := range []struct {
		sample int
		all    int64
		memory int64
		want   int
	}{
		{1, 1000, 0, 1000},
		{UsualSample, 1 << 19, 0, 1 << 19},
		{UsualSample, 1<<19 + 1, 0, 1 << 18},
		{UsualSample, 1 << 24, 0, 1 << 20},
		{UsualSample, 1 << 40, 0, 1 << 21},
		{3 * UsualSample, 1 << 40, 0, 3 << 21},
		{UsualSample, 1 << 40, 100 << 20, 1 << 21},
		{UsualSample, 1 << 40, 44 << 20, 1 << 20},
		{3 * UsualSample, 1 << 40, 44 << 20, 1 << 20},
		{UsualSample, 1000, 44 << 20, 1000},
	} {
		if got := NewShares(test.sample, 1<<30).Elements(test.all, test.memory); got != test.want {
			t.Errorf("sample of %d, %d shingles, %d bytes: %d, want %d", test.sample, test.all, test.memory, got,
				test.want)
		}
	}
	if a, b := NewShares(UsualSample, 1).Budget(),
		NewShares(3*UsualSample, 1).Budget(); 3*a.Pairs != b.Pairs || 3*a.Elements != b.Elements {
		t.Errorf("budgets %+v and %+v", a, b)
	}
}

// TestKept: a state keeps more documents for a sample than a job draws it from, unless these are a large part of a
// small corpus.
func TestKept(t *testing.T) {
	for _, test := range []struct {
		bytes, known int64
		documents    float64
		want         float64
	}{
		{1 << 30, 1 << 20, 1 << 20, 2. * UsualSample / (1 << 20)},
		{1 << 30, 0, 1 << 20, 2. * UsualSample / (1 << 20)},
		{1 << 30, 0, 0, 1. / 32},
		{1 << 31, 0, 0, 1. / 64},             // what a sample is drawn from
		{1 << 31, 1 << 19, 1 << 19, 1. / 64}, // the same
		{1 << 27, 1 << 18, 1 << 18, 0},
	} {
		shares := NewShares(UsualSample, test.bytes).Of(test.known)
		got := shares.Kept(test.documents)
		if math.Abs(got-test.want) > 1e-6 || test.known > 0 && got > 0 && got < shares.Sampled {
			t.Errorf("%d bytes, %g documents: %g is kept, want %g; the sample is drawn from %g", test.bytes,
				test.documents, got, test.want, shares.Sampled)
		}
	}
}
