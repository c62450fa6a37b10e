package site

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"http://example.org", "https://example.org"},
		{"HTTPS://WWW.Example.ORG:443/", "https://example.org"},
		{"http://example.org:8080/a", "https://example.org:8080/a"},
		{"example.org:80/a/b.html", "https://example.org/a/b.html"},
		{"//www.example.org/a/", "https://example.org/a/"},
		{"www.com/a", "https://www.com/a"},
		{"http://www.www.example.org/", "https://example.org"},
		{"http://user:secret@example.org/a", "https://example.org/a"},
		{"http://paypal.com@evil.example/", "https://evil.example"},
		{"http://example.org./a", "https://example.org/a"},
		{"http://exa%6Dple.org/a", "https://example.org/a"},
		{"http://bücher.example/", "https://xn--bcher-kva.example"},
		{"http://XN--bcher-KVA.example/", "https://xn--bcher-kva.example"},
		{"http://192.168.0.1/", "https://192.168.0.1"},
		{"http://0xC0.168.1/", "https://192.168.0.1"},
		{"http://3232235521/", "https://192.168.0.1"},
		{"http://0300.0250.0.01/x", "https://192.168.0.1/x"},
		{"http://[2001:DB8:0:0::1]:8080/x", "https://[2001:db8::1]:8080/x"},
		{"http://example.org/a/./b/../c//d", "https://example.org/a/c/d"},
		{"http://example.org/../../a", "https://example.org/a"},
		{"http://example.org/a/index.html#top", "https://example.org/a/"},
		{"http://example.org/Default.aspx", "https://example.org"},
		{"http://example.org/a;jsessionid=12/b;v=1", "https://example.org/a/b;v=1"},
		{"http://example.org/a?PHPSESSID=1&b=2&a=1&utm_source=x&b=2", "https://example.org/a?a=1&b=2"},
		{"http://example.org?q=1", "https://example.org/?q=1"},
		{"http://example.org/%7euser/a%2fb c", "https://example.org/~user/a%2Fb%20c"},
		{`http://example.org\a`, "https://example.org/a"},
		{"etcd:content/en/docs/v3.1/a.md", "https://etcd/content/en/docs/v3.1/a.md"},
		{"docs/v1/a.html", "https://docs/v1/a.html"},
		{" http://example.org/a ", "https://example.org/a"},
		{"http://example.org:08080/", "https://example.org:8080"},
		{"192.168.0.1:8080/x", "https://192.168.0.1:8080/x"},
		{"http://123/", "https://0.0.0.123"},
		{"1e100.net/x", "https://1e100.net/x"},
		{"4chan/x", "https://4chan/x"},
		{"http://localhost:8080/", "https://localhost:8080"},
		{"http://_dmarc.my_site.example.org/", "https://_dmarc.my_site.example.org"},
		{"http://-a-.example.org/", "https://-a-.example.org"},
		{"http://1.2.3.4.example.org/", "https://1.2.3.4.example.org"},
		{"http://true/", "https://true"},
		{"true.com", "https://true.com"},
	} {
		got, ok := Parse(c.text)
		if !ok || got.String() != c.want {
			t.Errorf("%q: %q %v, want %q", c.text, got, ok, c.want)
		}
	}
	for _, text := range []string{
		"", "   ", "http://", "file:///etc/passwd", "/a/b", "mailto:a@example.org", "dns:example.org",
		"data:text/html,x",
		"http://exa mple.org/", "http://[::1", "http://[1.2.3.4]/", "http://a:b:c/", "http://%zz/", "two words",
		"http://" + strings.Repeat("a", 300) + ".org/",
		"http://a.org/" + strings.Repeat("a/", 1<<15), "123", "-1", "1.5", "1e5", "0x7f", "0", "123/page",
		"http://a.org:99999/", "http://a.org:65536/", "a.org:0",
		// Hosts that nobody can have.
		"-a.org", "http://a-.org/x", "http://www.-a.co.uk/", "a..b", "http://a..b.org/", "1.2.3.4.5",
		"http://256.1.1.1/", "http://a.0x1f/", "http://1.2.3.4.5/", "xn--a.org", "http://b.xn--\u00e9.org/",
		"http://xn--/",
		"true", " false ", "null", "-",
	} {
		if got, ok := Parse(text); ok {
			t.Errorf("%q is %q", text, got)
		}
	}
}

// TestIsOpaque tells addresses that name no page from texts that are no addresses.
func TestIsOpaque(t *testing.T) {
	for text, want := range map[string]bool{
		"mailto:a@b":          true,
		" DNS:a.org":          true,
		"file:///x":           true,
		"123":                 false,
		"":                    false,
		"http://a.org:99999/": false,
	} {
		if IsOpaque(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestRules(t *testing.T) {
	for _, c := range []struct {
		rule             Rule
		text, site, path string
	}{
		{Host, "http://www.news.example.co.uk/a/b.html", "news.example.co.uk", "a/b.html"},
		{Host, "http://example.org:8080/", "example.org:8080", ""},
		{Domain, "http://www.news.example.co.uk/a/b.html", "example.co.uk", "a/b.html"},
		{Domain, "http://me.github.io/a", "me.github.io", "a"},
		{Domain, "http://github.io/a", "github.io", "a"},
		{Domain, "http://10.0.0.1:81/a", "10.0.0.1", "a"},
		{"prefix:0", "http://example.org/a/b/c", "example.org", "a/b/c"},
		{"prefix:1", "http://example.org/a/b/c", "example.org/a", "b/c"},
		{"prefix:2", "http://example.org/a/b/c", "example.org/a/b", "c"},
		{"prefix:3", "http://example.org/a/b/c", "example.org/a/b", "c"},
		{"prefix:1", "http://example.org/a/", "example.org/a", ""},
		{"prefix:1", "http://example.org/a", "example.org", "a"},
		{"prefix:1", "http://example.org/?a=b/c", "example.org", "?a=b/c"},
		{"prefix:4", "etcd:content/en/docs/v3.1/a.md", "etcd/content/en/docs/v3.1", "a.md"},
	} {
		page, ok := Parse(c.text)
		site, path := c.rule.Of(page)
		if !ok || site != c.site || path != c.path {
			t.Errorf("%s of %q: %q and %q, want %q and %q", c.rule, c.text, site, path, c.site, c.path)
		}
		if err := c.rule.Check(); err != nil {
			t.Errorf("%s: %v", c.rule, err)
		}
	}
	for _, rule := range []Rule{"", "hosts", "prefix", "prefix:", "prefix:-1", "prefix:33", "prefix:a"} {
		if rule.Check() == nil {
			t.Errorf("the rule %q is accepted", rule)
		}
	}
}

func TestParents(t *testing.T) {
	for _, c := range []struct {
		host string
		want []string
	}{
		{"a.b.example.co.uk:81", []string{"a.b.example.co.uk", "b.example.co.uk", "example.co.uk"}},
		{"example.org", []string{"example.org"}},
		{"co.uk", []string{"co.uk"}},
		{"localhost", []string{"localhost"}},
		{"10.0.0.1", []string{"10.0.0.1"}},
		{"[::1]:81", []string{"[::1]"}},
	} {
		if got := slices.Collect(Parents(c.host)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.host, got, c.want)
		}
	}
	if got := HostOf("example.org:81/a/b"); got != "example.org" {
		t.Errorf("host %q", got)
	}
}

// FuzzParse: a canonical address is its own canonical form, and no rule changes its text when its parts are put
// together.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"http://u:p@www.example.org:80/a/../b;sid=1/index.php?b&a=%41#c", "a:b/c", "http://[::1]:0/", "0x7f.1",
		"//x/%2e%2E/", "http://xn--/", "\xff",
		"http://www.0/", "a.b:0080/?;", "http://ｅｘ．org", "'tp\u04c0",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		page, ok := Parse(text)
		if !ok {
			return
		}
		if again, ok := Parse(page.String()); !ok || again != page {
			t.Errorf("%q is %q, and that is %q %v", text, page, again, ok)
		}
		for _, rule := range []Rule{Host, Domain, "prefix:2"} {
			site, path := rule.Of(page)
			if site == "" || strings.HasSuffix(path, "/") && !strings.Contains(path, "?") {
				t.Errorf("%s of %q: %q and %q", rule, page, site, path)
			}
		}
		if !slices.Contains(slices.Collect(Parents(page.Host)), Registered(page.Host)) {
			t.Errorf("the domains above %q have no %q", page.Host, Registered(page.Host))
		}
	})
}

// TestIsHostName: folders with the names of hosts are told from others.
func TestIsHostName(t *testing.T) {
	for folder, want := range map[string]bool{
		"www.bakery.example": true,
		"example.org":        true,
		"Example.CO.UK":      true,
		"co.uk":              false,
		"org":                false,
		"host.test:8080":     true,
		"example.org+8080":   true,
		"127.0.0.1":          true,
		"Project One":        false,
		"v1.2":               false,
		"python3.11":         false,
		"lib":                false,
		"":                   false,
		".org":               false,
		"my site.org":        false,
		"münchen.de":         true,
	} {
		if got := IsHostName(folder); got != want {
			t.Errorf("%q: %v", folder, got)
		}
	}
}
