package mirrors

import (
	"fmt"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/internal/input/site"
	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/records"
)

// halves returns the halves of two sites with a number of distinct pages each, and a number in common.
func halves(a, b string, pagesA, pagesB, common int64) (*records.Half, *records.Half) {
	half := func(name string, pages int64) *records.Half {
		h := &records.Half{Link: records.Link{
			Pages:      common,
			Text:       common,
			Rarity:     common,
			Weight:     common,
			SamePath:   common,
			Similarity: common * records.Unit,
			Spread:     2 * common,
		}}
		h.Of = records.Site{
			SiteCount: records.SiteCount{Pages: pages, Text: pages, First: records.NoDate, Name: name},
			Rarity:    pages,
			Weight:    pages,
		}
		return h
	}
	one, other := half(a, pagesA), half(b, pagesB)
	one.Site, one.Other, other.Site, other.Other = 1, 2, 2, 1
	one.Of.Site, other.Of.Site = 1, 2
	return one, other
}

// noLists returns lists of a user who has given none.
func noLists(t *testing.T) *lists {
	t.Helper()
	l, err := newLists("", "", "")
	if err != nil {
		t.Fatal(err)
	}
	return &l
}

func TestKinds(t *testing.T) {
	for _, c := range []struct {
		a, b                   string
		pagesA, pagesB, common int64
		spread                 int64
		want                   Kind
	}{
		{"a.org", "b.org", 20, 20, 19, 2, Exact},
		{"a.org", "b.org", 20, 40, 20, 2, Partial},
		{"docs.org/v1.2", "docs.org/v2", 20, 40, 20, 2, Version},
		{"v1.docs.org", "v2.docs.org", 20, 20, 20, 2, Version},
		{"site1.org", "site2.org", 20, 20, 20, 2, Exact}, // of two owners
		{"clang-14", "clang-15", 20, 20, 20, 2, Version},
		{"10.0.0.1", "10.0.0.2", 20, 20, 20, 2, Exact},
		{"10.0.0.1/v1", "10.0.0.1/v2", 20, 20, 20, 2, Version},
		{"a.org", "b.org", 3, 3, 3, 40, Parked},
		{"a.org", "b.org", 30, 30, 30, 40, Exact},
	} {
		one, other := halves(c.a, c.b, c.pagesA, c.pagesB, c.common)
		one.Spread, other.Spread = c.spread*c.common, c.spread*c.common
		if p := newPair(other, one); p.kind() != c.want {
			t.Errorf("%s and %s: %s, want %s", c.a, c.b, p.kind(), c.want)
		}
	}
}

// TestCraftedNames: a name does not have the rank of another one with its XXH3.
func TestCraftedNames(t *testing.T) {
	const name, crafted = "6x4fra57lotnc.example", "tqvqk4dvb3rxh.example"
	if xxh3.HashString(name) != xxh3.HashString(crafted) {
		t.Fatal("the names do not collide")
	}
	l, err := newLists(name, "", "")
	if err != nil || l.rank(name) != 1 || l.rank(crafted) != 0 {
		t.Errorf("the ranks are %d and %d (%v)", l.rank(name), l.rank(crafted), err)
	}
}

func TestLists(t *testing.T) {
	l, err := newLists("rank,domain\n1,Google.com\n# later\n7,www.example.co.uk,more\n9,google.com\nplain.org\n",
		"http://www.bank.example/\nexample.org/docs\n", "bank.example mirror.example\nhelper.example\n")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int64{
		"google.com":         1,
		"maps.google.com/a":  1,
		"news.example.co.uk": 7,
		"other.co.uk":        0,
		"plain.org":          5,
		"notgoogle.com":      0,
	} {
		if got := l.rank(name); got != want {
			t.Errorf("the rank of %s is %d, want %d", name, got, want)
		}
	}
	for name, want := range map[string]bool{
		"bank.example":     true,
		"a.bank.example":   true,
		"notbank.example":  false,
		"example.org/docs": true,
		"example.org":      false,
	} {
		if got := l.isProtected(name); got != want {
			t.Errorf("%s is protected: %v", name, got)
		}
	}
	for _, c := range []struct {
		original, mirror string
		want             bool
	}{
		{"bank.example", "mirror.example", true},
		{"www.bank.example", "a.mirror.example", true},
		{"other.example", "mirror.example", false},
		{"other.example", "helper.example", true},
		{"mirror.example", "bank.example", false},
	} {
		if got := l.allows(c.original, c.mirror); got != c.want {
			t.Errorf("%s may mirror %s: %v", c.mirror, c.original, got)
		}
	}
	allowed := func(list string) error { return CheckAllowed(list, "bank.example\nwww2.shop.example\n") }
	for _, c := range []struct {
		check func(string) error
		list  string
		want  string
	}{
		{CheckRanks, "", "it contains no site"},
		{CheckRanks, "1,a.org\nb,c.org\n", `line 2: "b" is no rank`},
		{CheckRanks, "1,-a.org\n2,xn--a.org\n", "it contains no site"},
		{protectedHosts, "-a.org\n", `line 1: "-a.org" is no site`},
		{CheckRanks, "1,two words\n", `line 1: "two words" is no site`},
		{protectedHosts, "# none\n", "it contains no site"},
		{protectedHosts, "a.org\n\nmailto:x@a.org", `line 3: "mailto:x@a.org" is no site`},
		{
			allowed, "a.org b.org c.org\n",
			`line 1: "a.org b.org c.org": must be a site and its mirror, or a mirror alone`,
		},
		{allowed, "", ""},
		{allowed, "a.bank.example b.org\nshop.example c.org\nhelper.example\n", ""},
		{
			allowed, "bank.example b.org\nb.org bank.example\n",
			"b.org bank.example: b.org is not protected, so the line allows nothing: write the protected site first, and its mirror behind it",
		},
		{func(list string) error { return CheckAllowed(list, "") }, "b.org bank.example\n", ""},
	} {
		if err := c.check(c.list); c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%q: %v, want %s", c.list, err, c.want)
		}
	}
}

// TestPageEvidence: the markup and the language of a page and of its copy are compared where both are known.
func TestPageEvidence(t *testing.T) {
	sketch := func(page string) []byte { return webtext.AppendMarkup(nil, []byte(page)) }
	form := sketch("<html><body><form><input type=text><input type=password></form>")
	list := sketch("<html><body><ul><li><li><li><li></ul>")
	for _, c := range []struct {
		one, other []byte
		in, from   string // languages
		want       string
	}{
		{form, form, "en", "en", "1000000 of 1, 1 of 1"},
		{form, list, "en", "de", "0 of 1, 0 of 1"},
		{form, nil, "gsw", "", "0 of 0, 0 of 0"},
		{nil, nil, "", "", "0 of 0, 0 of 0"},
	} {
		pages := []records.ShardPage{
			{Number: 0, Size: 7, Page: records.Page{Site: 1, Markup: c.one}}, {
				Number: 1,
				Size:   7,
				Page:   records.Page{Site: 2, Markup: c.other},
			},
		}
		copy(pages[0].Language[:], c.in)
		copy(pages[1].Language[:], c.from)
		classes := []records.PageClass{
			{ID: 0, Sites: 2, Holdings: []records.Holding{{Site: 1, Pages: pages[:1]}, {Site: 2, Pages: pages[1:]}}},
		}
		site := &records.Site{SiteCount: records.SiteCount{Site: 1}}
		comparison := newComparison(Limits{Pages: 1}, map[uint64]*records.Site{1: site}, classes)
		var found *records.SitePair
		if err := comparison.site(t.Context(), site, func(pair *records.SitePair) error {
			found = pair
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for _, link := range []records.Link{found.First.Link, found.Second} {
			if got := fmt.Sprintf("%d of %d, %d of %d", link.Markup, link.MarkupPages, link.SameLanguage,
				link.LanguagePages); got != c.want {
				t.Errorf("markup and language %s, want %s", got, c.want)
			}
		}
	}
}

// groupsOf returns the groups of some mirrors.
func groupsOf(pairs []pair, of *known) *groups {
	g := newGroups(of)
	for i := range pairs {
		g.add(&pairs[i])
	}
	g.find()
	return g
}

// TestGroups: groups are components; parked sites make groups of their own; the primary is protected, or has the best
// rank, or is the first, or has the most pages, or the first name.
func TestGroups(t *testing.T) {
	site := func(name string, pages, first int64) *records.Half {
		h := &records.Half{Link: records.Link{Site: uint64(name[0]), Pages: 9, Spread: 18}}
		h.Of = records.Site{SiteCount: records.SiteCount{Site: h.Site, Pages: pages, First: first, Name: name}}
		return h
	}
	a := site("a.org", 9, 5)
	b := site("b.org", 9, 5)
	c := site("c.org", 10, 5)
	d := site("d.org", 9, 4)
	e := site("e.org", 9, records.NoDate)
	join := func(one, other *records.Half) pair { return pair{sides: [2]*records.Half{one, other}} }
	chain := []pair{join(a, b), join(b, c), join(c, d), join(d, e)}
	for _, w := range []struct{ rank, protected, want string }{
		{"", "", "d.org"}, {"3,e.org", "", "e.org"}, {"3,e.org\n2,b.org", "", "b.org"}, {"3,e.org", "a.org", "a.org"},
	} {
		lists, err := newLists(w.rank, w.protected, "")
		if err != nil {
			t.Fatal(err)
		}
		groups := groupsOf(chain, lists.known())
		in := groups.ofPair(&chain[0])
		if groups.count != 1 || in.primary.Name != w.want || in.sites != 5 || in.cohesion() != 400_000 {
			t.Errorf("%+v: %d groups, %s of %d, cohesion %d", w, groups.count, in.primary.Name, in.sites, in.cohesion())
		}
	}
	names := []string{}
	for _, pairs := range [][]pair{{join(a, b)}, {join(b, c)}} {
		names = append(names, groupsOf(pairs, noLists(t).known()).ofPair(&pairs[0]).primary.Name)
	}
	if !slices.Equal(names, []string{"a.org", "c.org"}) {
		t.Errorf("primaries %q", names)
	}
	f, g := site("f.org", 2, 0), site("g.org", 2, 0)
	f.Spread, g.Spread = 900, 900
	x := site("f.org", 2, 0)
	mixed := []pair{join(f, g), join(a, x)}
	groups := groupsOf(mixed, noLists(t).known())
	if groups.count != 2 || groups.ofPair(&mixed[0]) == groups.ofPair(&mixed[1]) ||
		groups.ofSite(0) != groups.ofPair(&mixed[1]) {
		t.Errorf("parked sites: %d groups", groups.count)
	}
}

// TestOriginals: pages that name another site as their original choose the primary, where no list does.
func TestOriginals(t *testing.T) {
	half := func(number uint64, name string, first, originals int64) *records.Half {
		h := &records.Half{Link: records.Link{
			Site:      number,
			Other:     3 - number,
			Pages:     9,
			Spread:    18,
			Originals: originals,
		}}
		h.Of = records.Site{SiteCount: records.SiteCount{Site: number, Pages: 9, First: first, Name: name}}
		return h
	}
	for _, c := range []struct {
		votes [2]int64
		rank  string
		want  string
	}{
		{[2]int64{0, 0}, "", "a.org"},
		{[2]int64{2, 0}, "", "b.org"},
		{[2]int64{2, 3}, "", "a.org"},
		{[2]int64{2, 0}, "1,a.org", "a.org"},
	} {
		lists, err := newLists(c.rank, "", "")
		if err != nil {
			t.Fatal(err)
		}
		pairs := []pair{{sides: [2]*records.Half{half(1, "a.org", 5, c.votes[0]), half(2, "b.org", 6, c.votes[1])}}}
		if got := groupsOf(pairs, lists.known()).ofPair(&pairs[0]).primary.Name; got != c.want {
			t.Errorf("%+v: the primary is %s", c, got)
		}
	}
}

// FuzzPlainNames: a name that is taken unchanged is its own canonical form.
func FuzzPlainNames(f *testing.F) {
	for _, name := range []string{
		"example.org", "www.example.org", "a..b", "xn--a", "0x7f.1", "-a.b-c", "1.2.3.4a",
		"a.0xa", ".abcde", "0a.0b.0xc", "false", "-a.org", "a-.org", "1.2.3.4.e",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if !isPlain(name) {
			return
		}
		if address, ok := site.Parse(name); !ok || address != (site.Address{Host: name}) {
			t.Errorf("%q is %q %v", name, address, ok)
		}
	})
}
