package mirrors

import (
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/site"
)

func protectedHosts(list string) error { return CheckProtected(list, site.Host) }

// TestLinesThatProtectNothing shows which lines are refused, where sites are as a rule says.
func TestLinesThatProtectNothing(t *testing.T) {
	for _, row := range []struct {
		list string
		rule site.Rule
		want string
	}{
		{"example.org\nhttps://www.example.com/\nshop.example.net\n", site.Host, ""},
		{"example.org\n*.b.org\n", site.Host, `line 2: "*.b.org"`},
		{"1,a.org\n", site.Host, `line 1: "1,a.org"`},
		{"a,org\n", site.Host, `line 1: "a,org"`},
		{"https://www.a.org/login\n", site.Host, "a site is a whole host, so write a.org"},
		{"https://www.a.org/login\n", site.Domain, "a site is a whole domain, so write a.org"},
		{"www2.a.org\n", site.Domain, "a site is a registered domain, so write a.org"},
		{"a.org\nb.co.uk\n", site.Domain, ""},
		{"a.org/docs\n", "prefix:1", ""},
	} {
		err := CheckProtected(row.list, row.rule)
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%q for sites by %s: %v, want %q", row.list, row.rule, err, row.want)
		}
	}
}
