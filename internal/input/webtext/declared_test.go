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

func TestTitleWords(t *testing.T) {
	for page, want := range map[string]string{
		"<html><head><TITLE lang=en>\n Clang 13.0.1 &#8212; options &amp; \tflags</title><body>": "Clang — options & flags",
		"<title>Clang 14 — options &amp; flags":                                                  "Clang — options & flags",
		"<title>Release ٣٫٥ of v2</title>":                                                       "Release ٫ of v",
		"<title>14.0</title>":                                                                    "",
		"<title></title>":                                                                        "",
		"<!-- <title>no</title> --><script>'<title>no</title>'</script><title>yes</title>":       "yes",
		"<body><svg><title>picture</title></svg>":                                                "",
		"<p>no title": "",
	} {
		if got := string(TitleWords([]byte(page))); got != want {
			t.Errorf("%s: %q, want %q", page, got, want)
		}
	}
}

// TestAppendInside: a line for each title or heading, whatever is in it or forgets to end it.
func TestAppendInside(t *testing.T) {
	const page = `<html><head><title>A &amp; b 7</title><body><h1>One <b>two</b></h1><p>text
		<h2>Three<h3>four</h3><script>"<h1>no</h1>"</script><h4>five<p>text</p><svg><title>no</title></svg>`
	for _, test := range []struct {
		names []string
		want  string
	}{{TitleElements, "A & b 7\n"}, {HeadingElements, "One two\nThree\nfour\nfive\n"}} {
		if got := string(AppendInside(nil, []byte(page), test.names)); got != test.want {
			t.Errorf("%v: %q, want %q", test.names, got, test.want)
		}
	}
}
