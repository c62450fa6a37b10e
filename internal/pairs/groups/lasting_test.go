package groups

import (
	"encoding/binary"
	"maps"
	"testing"

	"mirrorbeam.dev/internal/pairs/candidates"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// TestLasting: the next run is told the keys of oversized groups and of equal documents, also if these are merged
// early, and no others.
func TestLasting(t *testing.T) {
	for _, large := range []large{{}, {bytes: 1, nodes: 50, records: 3}} {
		c := newCorpus(7, 6000, 40)
		for i := range c.documents {
			if of := []int{50, 60, 3}[i%3]; i > of && i%7 > 2 {
				c.documents[i] = c.documents[of]
				c.documents[i].Ref = docref.Ref(i)
			}
		}
		bounds := UsualBounds()
		bounds.Group = 100
		k := c.keyed(0.5, bounds)
		k.large, k.TellsLasting = large, true
		_, all := c.first(t, worktest.Runs(t), k)
		want, counts := map[uint32]bool{}, map[digest.Digest]int{}
		for _, o := range all {
			for _, oversizedGroup := range o.OversizedGroups {
				want[uint32(oversizedGroup.ID)] = true
			}
		}
		if len(want) < 2 {
			t.Errorf("%d oversized groups tell little", len(want))
		}
		for _, d := range c.documents {
			if counts[d.Digest]++; counts[d.Digest] == 2 {
				want[candidates.PreviousOf(candidates.AppendHashed(nil, d, c.keys[d.Digest])[0].Key)] = true
			}
		}
		got := map[uint32]bool{}
		for packed := worktest.Read(
			t, records.LastingKeys, work.RunsOf(all)...,
		)[0]; len(packed) > 0; packed = packed[records.LastingKeySize:] {
			got[binary.LittleEndian.Uint32(packed)] = true
		}
		if !maps.Equal(got, want) {
			t.Errorf("%+v: %d keys, want %d", large, len(got), len(want))
		}
	}
}
