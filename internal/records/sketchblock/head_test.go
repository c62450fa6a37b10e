package sketchblock

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
)

// TestMayLack: a document that lacks one shingle more is similar to no document, of whatever size, and one that lacks
// just the number is similar to the document of all others.
func TestMayLack(t *testing.T) {
	for _, threshold := range []float64{.05, .1, .3, 1. / 3, .5, .6, .7, .75, .8, .85, .9, .95, .99, 1} {
		for n := 1; n <= 300; n++ {
			lacks := MayLack(n, threshold)
			if shared := n - lacks; shared < asmkernels.Required(threshold, n, shared) {
				t.Errorf("threshold %g: of %d shingles %d are in a document of no others, which is not similar",
					threshold, n, shared)
			}
			shared := n - lacks - 1
			for size := max(shared, 1); size <= 2*n && shared >= 0; size++ {
				if asmkernels.Required(threshold, n, size) <= shared {
					t.Fatalf("threshold %g: of %d shingles only %d are in a document of %d, which is similar",
						threshold, n, shared, size)
				}
			}
		}
	}
}

// TestHeads: a head has the first hashes of its set, more than the document may lack, and knows its set. Heads that are
// cut are damaged.
func TestHeads(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, threshold := range []float64{.05, .5, .8, 1} {
		builder := NewBuilder(0, 0)
		var all [][]uint64
		for n := range 120 {
			set := make([]uint64, n)
			for i := range set {
				set[i] = random.Uint64N(1 << 48)
			}
			slices.Sort(set)
			all = append(all, set)
			builder.Add(Document{Ref: docref.Ref(n), Digest: digest.Digest{uint64(n)}, Set: set, Size: n})
		}
		block, err := Parse(bytes.Join(builder.Documents(), nil))
		if err != nil {
			t.Fatal(err)
		}
		packed := builder.Heads(threshold, func(ref docref.Ref, lead uint64) bool {
			return ref%3 != 0 && lead == uint64(ref)
		})
		heads, err := block.Heads(nil, packed)
		if err != nil || len(heads) != len(all) {
			t.Fatalf("%d heads, %v", len(heads), err)
		}
		for n, head := range heads {
			if n%3 == 0 {
				if head.Len() > 0 || head.Lacks(make([]uint64, 1<<18), 0, 0) {
					t.Errorf("document %d has a head of %d hashes, want none, which rules nothing out", n, head.Len())
				}
				continue
			}
			if head.Len() > n || head.Len() < min(n, MayLack(n, threshold)+1) {
				t.Errorf("threshold %g: the head of %d hashes has %d", threshold, n, head.Len())
			}
			for i := range head.Len() {
				if bits := head.LeadingBits(i); bits != all[n][i]>>24 {
					t.Errorf("hash %d of %d begins with %x, want the leading bits of %x", i, n, bits, all[n][i])
				}
			}
			checkLacks(t, head)
		}
		for cut := range packed {
			if _, err := block.Heads(nil, packed[:cut]); err == nil {
				t.Fatalf("%d of %d bytes are heads", cut, len(packed))
			}
		}
		if _, err := block.Heads(nil, append(packed, 0)); err == nil {
			t.Error("heads with a byte more are heads")
		}
	}
}

// checkLacks compares what a table lacks of a head with a plain count.
func checkLacks(t *testing.T, head Head) {
	t.Helper()
	const shift = HeadBits - 8
	table, lacks := make([]uint64, 1<<8/64), 0
	for i := range head.Len() {
		if i%3 == 0 {
			at := head.LeadingBits(i) >> shift
			table[at>>6] |= 1 << (at & 63)
		}
	}
	for i := range head.Len() {
		if at := head.LeadingBits(i) >> shift; table[at>>6]>>(at&63)&1 == 0 {
			lacks++
		}
	}
	if head.Lacks(table, shift, lacks) || lacks > 0 && !head.Lacks(table, shift, lacks-1) {
		t.Fatalf("a table that lacks %d of %d hashes lacks another number", lacks, head.Len())
	}
}
