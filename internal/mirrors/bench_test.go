package mirrors

import (
	"fmt"
	"testing"
)

// BenchmarkOnePage compares sites that all have one page, in groups of 900 at a limit of 1,000: 404,550 mirrors a
// group.
func BenchmarkOnePage(b *testing.B) {
	for _, groups := range []int{1, 4} {
		if testing.Short() && groups > 1 {
			continue
		}
		b.Run(fmt.Sprint(900*groups), func(b *testing.B) {
			w := newCrawl()
			for i := range 900 * groups {
				w.add(fmt.Sprintf("site%d.test", i), "p", fmt.Sprint("text ", i%groups), false)
			}
			lists, err := newLists("", "", "")
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			pairs := int64(0)
			for b.Loop() {
				pairs += w.do(b, 1,
					Judging{Limits: Limits{Score: 0.5, Pages: 1, Sites: 1000}, lists: &lists}).found.Mirrors.Pairs
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(pairs), "ns/pair")
		})
	}
}
