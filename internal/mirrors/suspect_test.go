package mirrors

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/mirrors/guard"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// siteOf returns a site of some pages; some may ask for a password.
func siteOf(name string, pages, logins, first int64) *records.Site {
	return &records.Site{SiteCount: records.SiteCount{
		Site:   uint64(len(name)),
		Pages:  pages,
		Logins: logins,
		First:  first,
		Name:   name,
	}}
}

// copyOf returns what a site has of a protected page.
func copyOf(page int, share float64, c records.PageCopy) records.CopiedGuard {
	c.Page, c.Share, c.Strength = fmt.Sprintf("http://copy.test/%d", page), share, share/0.35
	c.Guarded, c.Markup = [4]int64{300, 60, 60, 400}, -1
	return records.CopiedGuard{
		Guard:   fmt.Sprintf("https://bank.example/%d", page),
		Pages:   1,
		IsCopy:  true,
		Domains: 1,
		Copies:  []records.PageCopy{c},
	}
}

func TestSuspects(t *testing.T) {
	form := records.PageCopy{Asks: true, AsksThere: true, Named: true}
	brandless := records.PageCopy{Asks: true, AsksThere: true}
	article := records.PageCopy{Named: true}
	common := func(c records.CopiedGuard) records.CopiedGuard {
		c.Domains = commonDomains
		return c
	}
	short := copyOf(1, 1, brandless)
	short.Copies[0].Guarded = [4]int64{60, 9, 10, 60}
	for _, c := range []struct {
		name, mirror     string
		pages, logins    int64 // of the mirror
		copied           []records.CopiedGuard
		severity, reason string // none if there is no row
		class            Class
	}{
		{
			"half of each page", "copy.test", 2, 0,
			[]records.CopiedGuard{copyOf(1, 0.45, records.PageCopy{}), copyOf(2, 0.45, records.PageCopy{})},
			"low", "seen_later", Quotes,
		},
		{
			"a login page", "copy.test", 9, 1,
			[]records.CopiedGuard{copyOf(1, 0.5, form)},
			"high", "login_form named page seen_later", Page,
		},
		{
			"a login page without the name", "copy.test", 9, 1,
			[]records.CopiedGuard{copyOf(1, 0.5, brandless)},
			"medium", "login_form page seen_later", Page,
		},
		{
			"a form in the template of a site", "news.test", 99, 99,
			[]records.CopiedGuard{copyOf(1, 0.5, form)},
			"low", "login_form named seen_later", Quotes,
		},
		{
			"a quotation", "news.test", 9, 0,
			[]records.CopiedGuard{copyOf(1, 1, article)},
			"low", "named seen_later", Quotes,
		},
		{
			"a page on a host that looks alike", "bank-login.test", 9, 0,
			[]records.CopiedGuard{copyOf(1, 0.5, article)},
			"high", "look_alike named page seen_later", Page,
		},
		{
			"the first page, whole", "copy.test", 9, 0,
			[]records.CopiedGuard{copyOf(1, 0.9, records.PageCopy{Start: true})},
			"medium", "page seen_later", Page,
		},
		{
			"a piece of it", "copy.test", 9, 0,
			[]records.CopiedGuard{copyOf(1, 0.6, records.PageCopy{Start: true})},
			"low", "seen_later", Quotes,
		},
		{
			"a login page whose form a script makes", "copy.test", 9, 0,
			[]records.CopiedGuard{copyOf(1, 0.9, records.PageCopy{AsksThere: true})},
			"medium", "page seen_later", Page,
		},
		{
			"two pages and nothing else", "copy.test", 2, 0,
			[]records.CopiedGuard{copyOf(1, 0.5, article), copyOf(2, 0.5, article)},
			"medium", "mirror named seen_later", Mirror,
		},
		{
			"a page and nothing else", "copy.test", 1, 0,
			[]records.CopiedGuard{copyOf(1, 0.9, article)},
			"medium", "mirror named seen_later", Mirror,
		},
		{
			"two pages among others", "copy.test", 9, 0,
			[]records.CopiedGuard{copyOf(1, 0.5, article), copyOf(2, 0.5, article)},
			"low", "named seen_later", Quotes,
		},
		{
			"a program that many use", "copy.test", 2, 2,
			[]records.CopiedGuard{common(copyOf(1, 1, brandless)), common(copyOf(2, 1, brandless))},
			"low", "login_form common_page seen_later", Common,
		},
		{
			"a kit in the name of the site that many use", "copy.test", 2, 2,
			[]records.CopiedGuard{common(copyOf(1, 1, form))},
			"high", "login_form named page seen_later", Page,
		},
		{
			"a form that is put into a copied page", "copy.test", 9, 1,
			[]records.CopiedGuard{copyOf(1, 0.9, records.PageCopy{Login: true})},
			"medium", "login_form page seen_later", Page,
		},
		{"a few words", "copy.test", 2, 1, []records.CopiedGuard{short}, "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			of := &records.Copier{
				Original: siteOf("bank.example", 20, 1, 1),
				Of:       siteOf(c.mirror, c.pages, c.logins, 2),
				Copied:   c.copied,
			}
			s, is := suspect(of, Limits{Score: 0.5, Pages: 3, Sites: 100})
			if is != (c.class != "") {
				t.Fatalf("listed: %v", is)
			}
			if !is {
				return
			}
			row := s.row()
			if got := strings.Join(row.Reasons, " "); got != c.reason || row.Severity != c.severity ||
				row.Class != string(c.class) || row.Site != c.mirror || row.Protected != "bank.example" {
				t.Errorf("%+v", row)
			}
		})
	}
}

// TestCampaigns: suspects that copy one page are a campaign, those that are left of one registered domain are another,
// common copies are a third. Of hosts that look alike, one of its own domain stands for itself, and so do the first and
// the best of a campaign of a domain.
func TestCampaigns(t *testing.T) {
	form := records.PageCopy{Asks: true, AsksThere: true, Named: true}
	var all []suspicion
	add := func(name string, domains int64, c records.CopiedGuard) {
		c.Domains = domains
		s, is := suspect(&records.Copier{
			Original: siteOf("bank.example", 20, 9, 1),
			Of:       siteOf(name, 2, 1, 2),
			Copied:   []records.CopiedGuard{c},
		}, Limits{Score: 0.5})
		if !is {
			t.Fatal(name)
		}
		all = append(all, s)
	}
	add("bank-login.test", 30, copyOf(1, 1, form))
	for i := range 12 {
		add(fmt.Sprintf("copy%d.test", i), 30, copyOf(1, 1, form))
		add(fmt.Sprintf("program%d.test", i), 30, copyOf(1, 1, records.PageCopy{Asks: true, AsksThere: true}))
		add(fmt.Sprintf("s%d.evil.test", i), 1, copyOf(10+i, 1, form))
		add(fmt.Sprintf("bank-%02d.wild.test", i), 30, copyOf(1, 0.5+float64(i%8)/16, form))
	}
	slices.SortFunc(all, func(a, b suspicion) int { return a.compare(&b) })
	var got []string
	for _, c := range campaigns(all) {
		row := c.row()
		got = append(got, fmt.Sprint(row.Site, " ", row.Class, " ", row.Severity, " ", row.Sites))
	}
	want := []string{
		"evil.test page high 12", "https://bank.example/1 common low 12", "https://bank.example/1 page high 12",
		"wild.test page high 12",
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	got = nil
	for _, s := range all {
		if s.campaign == 0 {
			got = append(got, s.Of.Name)
		}
	}
	if want := []string{"bank-00.wild.test", "bank-07.wild.test", "bank-login.test"}; !slices.Equal(got, want) {
		t.Errorf("%q stand for themselves, want %q", got, want)
	}
}

// TestCopiers: the copies of several tasks add up, what nearly is a copy counts for what is common, pages of a site
// count together, and of a registered domain with very many sites the ones with the most are judged.
func TestCopiers(t *testing.T) {
	part := func(site, domain uint64, bits ...uint64) *records.CopiedGuard {
		one := copyOf(1, 0.25, records.PageCopy{Features: make([]uint64, len(guard.Features{}))})
		one.Original, one.Site, one.Domain, one.IsCopy, one.Pages = 1, site, domain, false, 0
		one.Copies[0].Guarded = [4]int64{90, 0, 60, 300}
		copy(one.Copies[0].Features, bits)
		one.Copies[0].Page = fmt.Sprint(site, bits)
		return &one
	}
	whole := func(site, domain uint64) *records.CopiedGuard {
		one := part(site, domain)
		one.IsCopy, one.Pages = true, 1
		return one
	}
	runs := worktest.Runs(t)
	var paths []string
	for i := range 2 {
		paths = append(paths, worktest.Write(t, runs, func(run *runfile.Writer) error {
			all := []*records.CopiedGuard{part(5, 5, []uint64{1<<40 - 1, (1<<36 - 1) << 28}[i])}
			if i == 0 {
				near := part(11, 11)
				near.IsNear = true
				all = append(all, part(6, 6, 1<<60-1), whole(7, 7), part(9, 9, 1<<40-1, 0), near)
				for site := range uint64(mostOfDomain + 20) {
					all = append(all, whole(100+site, 8))
				}
			}
			for _, one := range all {
				if err := records.Write(run, records.Copies, 0, one); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	delivery := work.Delivery{Needed: []runfile.Kind{records.Copies}}
	var got []string
	tasks := worktest.Tasks(t, runs, delivery, paths...)
	worktest.Do(t, runs, tasks, func(ctx context.Context, _ work.Task, w *work.TaskContext) error {
		got = nil
		return eachCopier(ctx, w, map[uint64]*records.Site{1: siteOf("bank.example", 1, 1, 1)},
			func(one *records.Copier) error {
				got = append(got, fmt.Sprintf("%d: %d of %d, %d beyond", one.Site, one.Copied[0].Pages,
					one.Copied[0].Domains, one.Beyond))
				return nil
			})
	})
	want := []string{"5: 2 of 4, 0 beyond", "7: 1 of 4, 0 beyond", "100: 1 of 4, 20 beyond", "101: 1 of 4, 0 beyond"}
	if len(got) != 2+mostOfDomain || !slices.Equal(got[:len(want)], want) {
		t.Errorf("%d sites: %q", len(got), got[:min(len(got), len(want))])
	}
}
