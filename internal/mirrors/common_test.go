package mirrors

import (
	"fmt"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/schema/output"
)

// TestCommonLogins: a login page that many have is no urgent suspect, unless its host looks alike, or it has the name
// of the protected site. All are listed.
func TestCommonLogins(t *testing.T) {
	const domains = commonDomains + 2
	for _, c := range []struct {
		name                string
		isNamed             bool // the original says the name of its site
		equal, near         int  // registered domains with equal pages, and with pages of similarity .8
		urgentEqual, urgent bool // of these
	}{
		{"a program without a name", false, domains, 0, false, false},
		{"a kit", true, domains, 0, true, false},
		{"a few copies", false, commonDomains - 2, 0, true, false},
		{"a few copies beside those of a program", true, 2, domains, true, false},
		{"a few near copies", true, 0, commonDomains - 2, false, true},
		{"a few near copies beside a kit", true, domains, 3, true, false},
	} {
		w := newCrawl()
		w.bank()
		w.pages[0].Named = c.isNamed
		for i := range c.equal {
			w.add(fmt.Sprintf("equal%d.test", i), "in", "log in", true)
			for page := range 9 {
				w.add(fmt.Sprintf("equal%d.test", i), fmt.Sprint(page), "", false)
			}
		}
		for i := range c.near {
			w.add(fmt.Sprintf("near%d.test", i), "in", "log in here", true)
		}
		w.add("bank-login.test", "in", "log in", true)
		if c.near > 0 {
			w.edges[0] = append(w.edges[0], records.Edge[records.Number]{
				A:     w.firsts["log in"],
				B:     w.firsts["log in here"],
				Score: records.NewScore(40, 50, false),
			})
		}
		got := w.do(t, 2, watching(t, 1))
		if got.found.Mirrors.Suspects != int64(c.equal+c.near+1) {
			t.Errorf("%s: %d suspects", c.name, got.found.Mirrors.Suspects)
		}
		rows := suspectRows(t, got)
		for _, one := range []struct {
			site         string
			is, isUrgent bool
		}{
			{"equal0.test", c.equal > 0, c.urgentEqual},
			{"near0.test", c.near > 0, c.urgent},
			{"bank-login.test", true, true},
		} {
			row, has := rows[one.site]
			if has != one.is || has && (row.Severity == output.HighSeverity) != one.isUrgent {
				t.Errorf("%s: %s: %+v", c.name, one.site, row)
			}
			for line := range strings.Lines(got.suspects) {
				if isOf := strings.Contains(line, `"site":"`+one.site); isOf && row.Lookalike < leastLookalike &&
					strings.Contains(line, commonReason) == one.isUrgent {
					t.Errorf("%s: %s", c.name, line)
				}
			}
		}
	}
}
