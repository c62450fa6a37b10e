package graphs

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPacker: any two documents of a component meet at one place, whichever is first. No place gets more than its
// capacity, or up to four times that for a quarter of a very large component, unless a single document is larger.
func TestPacker(t *testing.T) {
	const heaviest = 97
	random := rand.New(rand.NewPCG(3, 4))
	for trial := range 100 {
		capacity := int64(200 + random.IntN(3000))
		packer := NewPacker(capacity)
		load, bound := map[Place]int64{}, map[Place]int64{}
		for range 1 + random.IntN(40) {
			weights := make([]int64, 2+random.IntN(1+random.IntN(200)))
			total := int64(0)
			for i := range weights {
				weights[i] = 1 + random.Int64N(heaviest)
				total += weights[i]
			}
			packed, err := packer.Pack(total)
			if err != nil {
				t.Fatal(err)
			}
			if got := UnpackLocation(packed.Pack()); got != packed {
				t.Fatalf("%+v is unpacked as %+v", packed, got)
			}
			locations, before := make([]Location, len(weights)), int64(0)
			for i, weight := range weights {
				at := packed
				if at.Blocks > 1 {
					at.Block = packer.Block(before, total)
				}
				if before += weight; at.Block >= at.Blocks {
					t.Fatalf("block %d of %d", at.Block, at.Blocks)
				}
				for block := range at.Blocks {
					place := at.MeetingPlace(Location{First: at.First, Block: block}, 1)
					load[place] += weight
					bound[place] = max(bound[place], capacity, min(4*capacity, total/4))
				}
				locations[i] = at
			}
			for range 20 {
				a, b := locations[random.IntN(len(locations))], locations[random.IntN(len(locations))]
				if place := a.MeetingPlace(b, 1); place != b.MeetingPlace(a, 1) || load[place] == 0 {
					t.Fatalf("%+v and %+v do not meet at %d", a, b, place)
				}
			}
		}
		for place, weight := range load {
			if weight > bound[place]+2*heaviest {
				t.Errorf("trial %d: place %d holds %d of %d", trial, place, weight, bound[place])
			}
		}
	}
}

// TestTooManyPlaces: places that would get the numbers of others are an error.
func TestTooManyPlaces(t *testing.T) {
	packer := NewPacker(1)
	var all []Location
	for range 10 {
		at, err := packer.Pack(1 << 40)
		if err != nil {
			break
		}
		all = append(all, at)
	}
	if len(all) != 8 || !slices.IsSortedFunc(all, func(a, b Location) int {
		return int(int64(a.First) - int64(b.First))
	}) {
		t.Errorf("%+v", all)
	}
}
