package webtext

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestText(t *testing.T) {
	const long = "This sentence is long enough to be taken for content, wherever it stands in a page."
	for name, test := range map[string]struct{ page, all, main string }{
		"nothing":     {"", "", ""},
		"text":        {"just text", "just text\n", "just text\n"},
		"white space": {" <b> a \t\r\n b</b>  c ", "a b c\n", "a b c\n"},
		"inline tags": {
			"<p>un<b>believ</b>able, <i>he</i> said", "unbelievable, he said\n",
			"unbelievable, he said\n",
		},
		"blocks": {
			"<p>a<p>b<br>c<div>d<table><tr><td>e<td>f</table>g", "a\nb\nc\nd\ne\nf\ng\n",
			"a\nb\nc\nd\ne\nf\ng\n",
		},
		"tags in any case": {"<P>a</P><BR/>b<Hr>c", "a\nb\nc\n", "a\nb\nc\n"},
		"entities": {
			"<p>&lt;a&gt; &amp; &eacute;&nbsp;&#x20ac; &unknown;", "<a> & é\u00a0€ &unknown;\n",
			"<a> & é\u00a0€ &unknown;\n",
		},
		"title": {
			"<html><head><title>T &amp; t</title></head><body><p>a</body>", "T & t\na\n",
			"T & t\na\n",
		},
		"not shown":         {"a<script>b<p></script>c<style>d</style><noscript>e</noscript><template>f<p>g</template>h<!-- i -->j<svg><title>k</title><svg/></svg>l", "achjl\n", "achjl\n"},
		"nested":            {"a<svg><svg>b</svg>c</svg>d", "ad\n", "ad\n"},
		"skip without end":  {"<p>a</p><script>b<p>c", "a\n", "a\n"},
		"end without begin": {"</script></p></a>a</nav>b", "a\nb\n", "a\nb\n"},
		"broken":            {"<p>a < b <> c</ d><p <b>e<", "a < b <> c\ne<\n", "a < b <> c\ne<\n"},
		"menus": {
			"<header>a</header><nav><ul><li>b</ul></nav><p>" + long +
				"<form>c<select><option>d</select></form><aside>e</aside><footer>f</footer>",
			"a\nb\n" + long + "\nc\nd\ne\nf\n", long + "\n",
		},
		"menus by role": {"<div role=banner>a<div>b</div></div><div class=x ROLE='Navigation'>c</div><div role=main><p>" + long + "</div><ul role=\"search x\"><li>d</ul><p role=navigation>e<div role='note'>f</div><div role=contentinfo>g</div>", "a\nb\nc\n" + long + "\nd\ne\nf\ng\n", long + "\ne\nf\n"},
		"menus by name": {
			"<div class='wide sidebar'>a<div>b</div></div><p>" + long +
				"<div id=page-footer>c</div><ul class=nav><li>d</ul><div class=has-sidebar data-class='nav' title=\" class=nav\">e</div><p class=nav>f",
			"a\nb\n" + long + "\nc\nd\ne\nf\n", long + "\ne\nf\n",
		},
		"captions": {
			"<figure>a<figcaption>b</figcaption></figure><p>" + long, "a\nb\n" + long + "\n",
			"a\n" + long + "\n",
		},
		"links": {
			"<p>" + long + " See <a href=x>there</a>.<ul><li><a>One</a><li><a>Two</a></ul>",
			long + " See there.\nOne\nTwo\n", long + " See there.\n",
		},
		"beside links": {
			"<p>" + long + "<p>More:<p><a>One</a> | <a>Two</a>", long + "\nMore:\nOne | Two\n",
			long + "\n",
		},
		"short alone": {"<h1>Head</h1><p>" + long, "Head\n" + long + "\n", "Head\n" + long + "\n"},
		"only a form": {"<title>T</title><form><p>" + long + "</form>", "T\n" + long + "\n", "T\n" + long + "\n"},
	} {
		for mode, want := range map[Mode]string{All: test.all, Main: test.main} {
			e := Extractor{Mode: mode}
			got := string(e.Append([]byte("before "), Page{Content: []byte(test.page), MediaType: "text/html"}))
			if difference := cmp.Diff("before "+want, got); difference != "" {
				t.Errorf("%s, mode %s:\n%s", name, mode, difference)
			}
		}
	}
}

// TestFormats: plain text passes as it is, and XML gives its text.
func TestFormats(t *testing.T) {
	const (
		feed  = `<?xml version="1.0"?><rss><title/><item><title>A</title><script>b</script><p>c<![CDATA[ d <e> ]]></p></item></rss>`
		xhtml = `<?xml version="1.0"?><html xmlns="x"><p>a<b>b</b></p></html>`
	)
	for _, test := range []struct{ mediaType, page, want string }{
		{"text/plain", "a  <b>\n c", "a  <b>\n c"},
		{"text/markdown", "# a\n", "# a\n"},
		{"application/rss+xml", feed, "A\nb\nc d <e>\n"},
		{"text/xml", feed, "A\nb\nc d <e>\n"},
		{"text/xml", xhtml, "ab\n"},
		{"application/xhtml+xml", xhtml, "ab\n"},
		{"", xhtml, "ab\n"},
	} {
		var e Extractor
		if got := string(e.Append(nil, Page{Content: []byte(test.page), MediaType: test.mediaType})); got != test.want {
			t.Errorf("%s: %q, want %q", test.mediaType, got, test.want)
		}
	}
}

// FuzzAppend: any page gives a text, the same one each time, and valid text stays valid.
func FuzzAppend(f *testing.F) {
	for _, seed := range []string{
		"<title>T</title><p>a &amp; <a href='x'>b</a><nav>c</nav>", "<script>a</script", "<![CDATA[", "<svg><svg/>",
		"\xff\xfea\x00",
		"<meta charset=big5>\xa4\xa4\xa4\xe5", "caf\xe9 au lait", "<?xml encoding='koi8-r'?>\xc1\xc2",
		"<table><td>a<td>b", "\x1b$B\x1b(B",
	} {
		for _, isMain := range []bool{false, true} {
			f.Add([]byte(seed), isMain, "text/html", "")
		}
		f.Add([]byte(seed), false, "text/xml", "euc-jp")
	}
	f.Fuzz(func(t *testing.T, content []byte, isMain bool, mediaType, label string) {
		page := Page{Content: bytes.Clone(content), MediaType: mediaType, Charset: []byte(label)}
		e := Extractor{Mode: All}
		if isMain {
			e.Mode = Main
		}
		first := e.Append([]byte("before"), page)
		if again := e.Append([]byte("before"), page); !bytes.Equal(first, again) {
			t.Errorf("%q, then %q", first, again)
		}
		switch {
		case !bytes.HasPrefix(first, []byte("before")):
			t.Errorf("%q: what was there is gone", first)
		case !bytes.Equal(content, page.Content):
			t.Error("the page was changed")
		case utf8.Valid(content) && !shifts(content) && !bytes.HasPrefix(content, []byte("\xef\xbb\xbf")) &&
			!utf8.Valid(first):
			t.Errorf("%q is not valid", first)
		}
	})
}
