package mirrors

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/records"
)

// TestManyPairs: rows of more pairs than are held at a time are in the order of their names, each once, and pairs that
// are no mirrors are not written at all.
func TestManyPairs(t *testing.T) {
	const sites = 400
	w := newCrawl()
	for i := range sites {
		w.add(fmt.Sprintf("site%03d.test", i), "p", "one text", false)
	}
	got := w.do(t, 3, Judging{Limits: Limits{Score: 0.5, Pages: 1, Sites: 1000}, lists: noLists(t)})
	last, rows := "", 0
	for line := range strings.Lines(got.mirrors) {
		names, _, _ := strings.Cut(line, `,"kind"`)
		if rows++; names <= last {
			t.Fatalf("%s after %s", names, last)
		}
		last = names
	}
	if want := sites * (sites - 1) / 2; rows != want || got.found.Mirrors.Groups != 1 {
		t.Errorf("%d rows of %d, %d groups", rows, want, got.found.Mirrors.Groups)
	}
	comparison := newComparison(Limits{Score: 0.5, Pages: 2, Sites: 1000},
		map[uint64]*records.Site{1: {SiteCount: records.SiteCount{
			Site:  1,
			Pages: 1,
		}}},
		[]records.PageClass{{
			Rarity: 1,
			Holdings: []records.Holding{{Site: 1, Pages: make([]records.ShardPage, 1)}, {
				Site:  2,
				Pages: make([]records.ShardPage, 1),
			}},
		}})
	if err := comparison.site(t.Context(), comparison.sites[1], func(*records.SitePair) error {
		return errors.New("a pair")
	}); err != nil {
		t.Errorf("%v that is no mirror", err)
	}
}
