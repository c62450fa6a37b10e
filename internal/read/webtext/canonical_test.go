package webtext

import "testing"

func TestCanonical(t *testing.T) {
	for page, want := range map[string]string{
		`<head><link rel="canonical" href="https://a.org/x/y?z=1&amp;b=2"></head>`: "https://a.org/x/y?z=1&b=2",
		`<LINK HREF=//a.org/x REL='nofollow Canonical'/>`:                          "//a.org/x",
		`<link rel=canonical href="/x">`:                                           "",
		`<link rel=stylesheet href="https://a.org/canonical">`:                     "",
		`<body><link rel=canonical href="https://a.org/">`:                         "",
		`<!-- <link rel=canonical href="https://a.org/"> -->`:                      "",
		`canonical`: "",
	} {
		if got := string(Canonical([]byte(page))); got != want {
			t.Errorf("%s: %q, want %q", page, got, want)
		}
	}
}
