package findings

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// TestWorst: the clusters that are named do not depend on the order in which tasks come.
func TestWorst(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	var all []Bridge
	for i := range 40 {
		all = append(all, Bridge{Cluster: fmt.Sprintf("c%d", i), Part: int64(25 + i/3)})
	}
	var want Worst[Bridge]
	for _, b := range all {
		want.Add(b)
	}
	if want.Count != 40 || len(want.Named) != mostWorst || want.Named[0].Cluster != "c39" ||
		want.Named[1].Cluster != "c36" {
		t.Errorf("the worst are %+v", want)
	}
	for range 20 {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var tasks [3]Worst[Bridge]
		for _, b := range all {
			tasks[random.IntN(3)].Add(b)
		}
		var got Worst[Bridge]
		for _, one := range tasks {
			Merge(&got, one)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("the worst are %+v, want %+v", got, want)
		}
	}
}

// TestSample: the sample is the same whatever the order of pairs and tasks, and has the first pairs of each kept
// document.
func TestSample(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	var all []SampledPair
	for i := range 3000 {
		kept := uint64(random.IntN(200))
		all = append(all, SampledPair{Removed: uint64(i), Kept: kept, KeptHash: kept / 2, RemovedHash: random.Uint64()})
	}
	var want Sample
	sorted, each := slices.SortedFunc(slices.Values(all), SampledPair.compare), map[uint64]int{}
	for _, pair := range sorted {
		if each[pair.Kept]++; each[pair.Kept] <= mostSampledEach && len(want) < mostSampled {
			want = append(want, pair)
		}
	}
	for range 20 {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var tasks [3]Sample
		for _, pair := range all {
			// All pairs of a kept document are of one task.
			tasks[pair.Kept%3].Add(pair)
		}
		var got Sample
		for _, one := range tasks {
			Merge(&got, one)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("the sample has %d pairs, want %d", len(got), len(want))
		}
	}
}
