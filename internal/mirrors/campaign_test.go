package mirrors

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/schema/output"
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

// bank adds a protected site with a login page and others.
func (c *crawl) bank() {
	c.add("bank.example", "login", "log in", true)
	c.pages[len(c.pages)-1].Named = true
	for i := range 9 {
		c.add("bank.example", fmt.Sprint(i), "", false)
	}
}

// watching returns the usual limits, and a list of protected sites.
func watching(t testing.TB, pages int64) Judging {
	t.Helper()
	l, err := newLists("", "bank.example\n", "")
	if err != nil {
		t.Fatal(err)
	}
	return Judging{Limits: Limits{Score: 0.5, Pages: pages, Sites: 100}, lists: &l}
}

// suspectRows returns the rows of suspects by their sites.
func suspectRows(t *testing.T, r results) map[string]output.Suspect {
	t.Helper()
	rows := map[string]output.Suspect{}
	for line := range strings.Lines(r.suspects) {
		var row output.Suspect
		decodeRow(t, line, &row)
		rows[row.Site] = row
	}
	return rows
}

// TestNobodyHidesCopies: however many sites have a page of a protected one, all copies are suspects, and a host that
// looks alike is named by itself.
func TestNobodyHidesCopies(t *testing.T) {
	for _, c := range []struct {
		name  string
		host  func(i int) string
		sites int
		what  string // the site of the campaign
	}{
		{
			"subdomains", func(i int) string { return fmt.Sprintf("s%d.evil.test", i) }, 110,
			"https://bank.example/login",
		},
		{"domains", func(i int) string { return fmt.Sprintf("evil%d.test", i) }, 10_000, "https://bank.example/login"},
	} {
		for _, pages := range []int64{1, 3} {
			w := newCrawl()
			w.bank()
			for i := range c.sites {
				w.add(c.host(i), "login", "log in", true)
			}
			w.add("bank-login.test", "in", "log in", true)
			w.add("bank-login.test", "a", "", false)
			w.add("bank-login.test", "b", "", false)
			got := w.do(t, 3, watching(t, pages))
			rows := suspectRows(t, got)
			campaign, alike := rows[c.what], rows["bank-login.test"]
			if got.found.Mirrors.Suspects != int64(c.sites)+1 || got.found.Mirrors.Campaigns != 1 ||
				len(rows) != c.sites+2 || len(got.next.Suspects) != c.sites+2 {
				t.Errorf("%s: %d suspects, %d campaigns, %d rows, %d alerts", c.name, got.found.Mirrors.Suspects,
					got.found.Mirrors.Campaigns, len(rows), len(got.next.Suspects))
			}
			if campaign.Sites != int64(c.sites) || campaign.Severity != output.HighSeverity ||
				campaign.LoginPages != int64(c.sites) {
				t.Errorf("%s: campaign %+v", c.name, campaign)
			}
			if alike.Campaign != "" || alike.Severity != output.HighSeverity || alike.Common != 1 {
				t.Errorf("%s: look-alike %+v", c.name, alike)
			}
			if one := rows[c.host(7)]; one.Campaign != campaign.ID || one.Share != 1 {
				t.Errorf("%s: member %+v", c.name, one)
			}
			if !strings.Contains(got.suspects, fmt.Sprintf(`"sites":%d,"names":["%s",`, c.sites, c.host(0))) {
				t.Errorf("%s: the campaign names no sites: %.1000s", c.name, got.suspects)
			}
		}
	}
}

// TestCopiesInHotGroups: copies that differ a little, and were compared with one of them only, are suspects if their
// similarity follows from these comparisons.
func TestCopiesInHotGroups(t *testing.T) {
	w := newCrawl()
	const sites = 300
	for i := range sites {
		w.add(fmt.Sprintf("evil%d.test", i), "login", fmt.Sprint("log in ", i), true)
	}
	w.bank()
	for i := 1; i <= sites; i++ { // the last one is the bank's
		score := records.NewScore(45, 50, false)
		if i%3 == 0 {
			score = records.NewScore(4, 50, false) // so far from the pivot that nothing follows
		}
		score.Total |= records.HotGroupMark
		w.edges[0] = append(w.edges[0], records.Edge[records.Number]{A: 0, B: records.Number(i), Score: score})
	}
	w.edges[0][sites-1].Score = w.edges[0][0].Score
	got := w.do(t, 2, watching(t, 1))
	if want := int64(1 + 200); got.found.Mirrors.Suspects != want || got.found.Mirrors.Pairs != 0 {
		t.Errorf("%d suspects, want %d; %d mirrors", got.found.Mirrors.Suspects, want, got.found.Mirrors.Pairs)
	}
	if row := suspectRows(t, got)["evil1.test"]; row.Similarity != 0.8 {
		t.Errorf("a copy %+v", row)
	}
}

// TestCampaignOfDomain: suspects of one registered domain are a campaign, whatever they copy; few suspects are none.
func TestCampaignOfDomain(t *testing.T) {
	w := newCrawl()
	for i := range 30 {
		text := fmt.Sprint("text ", i)
		w.add("bank.example", fmt.Sprint(i), text, false)
		if i < 15 {
			w.add(fmt.Sprintf("s%d.evil.test", i), "", text, false)
		} else if i < 24 {
			w.add(fmt.Sprintf("s%d.small.test", i), "", text, false)
		}
	}
	rows := suspectRows(t, w.do(t, 1, watching(t, 1)))
	if row := rows["evil.test"]; row.Sites != 15 || len(rows) != 25 || rows["s20.small.test"].Campaign != "" ||
		rows["s3.evil.test"].Campaign != row.ID {
		t.Errorf("%d rows, campaign %+v", len(rows), row)
	}
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

// TestWatchedWorlds: each alert has traces of what was copied, and the number of ranges changes neither these nor the
// rows.
func TestWatchedWorlds(t *testing.T) {
	random := rand.New(rand.NewPCG(19, 2))
	alerts := 0
	for range 20 {
		w := newWorld(random, 3+random.IntN(4), 2*(40+random.IntN(60)))
		lists, err := newLists("", "sitea.org\n", "")
		if err != nil {
			t.Fatal(err)
		}
		judging := Judging{Limits: Limits{Score: 0.01, Pages: 1, Sites: 3 + random.IntN(8)}, lists: &lists}
		got := w.do(t, 1, judging)
		if again := w.do(t, 7, judging); !reflect.DeepEqual(got, again) {
			t.Fatalf("with more ranges:\n%+v\nwant\n%+v", again, got)
		}
		for _, alert := range got.next.Suspects {
			alerts++
			if len(alert.Copied) == 0 || len(alert.Copied) > 16 {
				t.Errorf("%s has %d traces", alert.Site, len(alert.Copied))
			}
		}
	}
	if alerts < 20 {
		t.Errorf("only %d alerts", alerts)
	}
}
