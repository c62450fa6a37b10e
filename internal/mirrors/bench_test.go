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

// BenchmarkCampaign finds the copies of one page of a protected site.
func BenchmarkCampaign(b *testing.B) {
	for _, sites := range []int{10_000, 100_000} {
		if testing.Short() && sites > 10_000 {
			continue
		}
		b.Run(fmt.Sprint(sites), func(b *testing.B) {
			w := newCrawl()
			w.bank()
			for i := range sites {
				w.add(fmt.Sprintf("evil%d.test", i), "login", "log in", true)
			}
			judging := watching(b, 1)
			b.ReportAllocs()
			for b.Loop() {
				if found := w.do(b, 1, judging).found.Mirrors; found.Suspects != int64(sites) || found.Campaigns != 1 {
					b.Fatalf("%d suspects, %d campaigns", found.Suspects, found.Campaigns)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(sites), "ns/copy")
		})
	}
}
