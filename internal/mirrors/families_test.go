package mirrors

import (
	"fmt"
	"testing"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/internal/records"
)

// crawl makes a world of pages by hand.
type crawl struct {
	world
	firsts map[string]records.Number // the first page of each text
}

func newCrawl() *crawl {
	return &crawl{world: world{edges: make([][]records.Edge[records.Number], 1)}, firsts: map[string]records.Number{}}
}

// add adds a page with a text. Pages of one text are identical; one without a text is like no other.
func (c *crawl) add(name, path, text string, login bool) {
	p := placed{name: name, date: records.NoDate, shard: -1}
	p.Site, p.Path, p.Login, p.Size = xxh3.HashString(name), xxh3.HashString(path), login, 50
	p.Address = []byte("https://" + name + "/" + path)
	if text != "" {
		p.shard, p.Number = 0, records.Number(len(c.pages))
		first, known := c.firsts[text]
		if known {
			c.edges[0] = append(c.edges[0], records.Edge[records.Number]{
				A:     first,
				B:     p.Number,
				Score: records.NewScore(50, 50, false),
			})
		} else {
			c.firsts[text] = p.Number
		}
	}
	c.pages = append(c.pages, p)
}

// TestHonestFamilies: sites with pages of their own that share others are no mirrors, however many they are; whole
// mirrors are, and so are the subdomains of one domain that share as much.
func TestHonestFamilies(t *testing.T) {
	family := func(sites, own, shared int, host string) int64 {
		w := newCrawl()
		for i := range sites {
			name := fmt.Sprintf(host, i)
			for j := range own {
				w.add(name, fmt.Sprint("own", j), "", false)
			}
			for j := range shared {
				w.add(name, fmt.Sprint("legal", j), fmt.Sprint("legal ", j), false)
			}
		}
		return w.do(t, 1,
			Judging{Limits: Limits{Score: 0.5, Pages: 3, Sites: 100}, lists: noLists(t)}).found.Mirrors.Pairs
	}
	for _, sites := range []int{4, 5, 10, 20, 50} {
		for _, shared := range []int{3, 4} {
			if n := family(sites, 3, shared, "family%d.test"); n > 0 {
				t.Errorf("%d sites that share %d pages: %d mirrors", sites, shared, n)
			}
		}
		all := int64(sites) * int64(sites-1) / 2
		if n := family(sites, 0, 4, "mirror%d.test"); n != all {
			t.Errorf("%d mirrors: %d of %d pairs", sites, n, all)
		}
		if n := family(sites, 3, 4, "v%d.family.test"); n != all {
			t.Errorf("%d versions: %d of %d pairs", sites, n, all)
		}
		if n := family(sites, 1, 9, "mirror%d.test"); n != all {
			t.Errorf("%d mirrors with a page of their own: %d of %d pairs", sites, n, all)
		}
	}
}
