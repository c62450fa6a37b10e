package audit

import (
	"math"
	"testing"
)

// hotGroupWorld is a corpus with hot groups of much alike documents. Each document has an edge to the pivot of its
// group, its first document, and to no other. The rest of the corpus is pairs, all of them listed.
func hotGroupWorld(hotGroups, size, pairs int) world {
	var w world
	for hotGroup := range hotGroups {
		for i := range size {
			w.documents = append(w.documents, worldDocument{cluster: hotGroup, class: len(w.documents), follows: i > 0})
		}
	}
	for i := range 2 * pairs {
		w.documents = append(w.documents, worldDocument{cluster: hotGroups + i/2, class: len(w.documents)})
	}
	return w
}

// TestIntervalsOfHotGroups: of a hot group hardly a pair is listed, and nearly all that are belong to its pivot. Most
// samples lack it. The intervals hold the true shares nevertheless.
func TestIntervalsOfHotGroups(t *testing.T) {
	for _, c := range []struct {
		name                   string
		hotGroups, size, pairs int
		sampled, probed        float64
	}{
		{"one heap", 1, 800, 0, 0.1, 1},
		{"one heap, a share of the partners", 1, 800, 0, 0.1, 0.2},
		{"heaps and pairs", 3, 300, 200, 0.1, 1},
		{"heaps and pairs, a share of the partners", 3, 300, 200, 0.1, 0.3},
		{"many heaps", 60, 25, 50, 0.1, 0.3},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := hotGroupWorld(c.hotGroups, c.size, c.pairs)
			listed, _ := w.recall()
			const trials = 60
			mean, covered := 0., 0
			for trial := range trials {
				r := w.audit(c.sampled, c.probed, uint64(trial))
				mean += r.Listed / trials
				if r.ListedLow <= listed && listed <= r.ListedHigh {
					covered++
				}
				if r.Recall != 1 || r.High != 1 || r.Low >= 1 {
					t.Fatalf("%+v: all pairs are together", r)
				}
			}
			t.Logf("%.5f of the pairs are listed, mean estimate %.5f, %d of %d intervals hold it", listed, mean,
				covered, trials)
			if covered < trials*90/100 {
				t.Errorf("%d of %d intervals hold the truth, %g", covered, trials, listed)
			}
			if math.Abs(mean-listed) > 0.004 {
				t.Errorf("mean estimate %g of %g", mean, listed)
			}
		})
	}
}
