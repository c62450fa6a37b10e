package guard

import (
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/webtext"
)

const loginPage = `<!doctype html><html><head><link rel=stylesheet href="/css/our.css?v=3">
<script src=/js/our-core.js></script><script src=/js/our-login.js></script></head><body class=page>
<header class="top bar"><a class=logo href=/><img src=/img/our-logo.svg></a></header><main class=wrap>
<div class="card sign"><h1>Sign in</h1><p class=hint>Please enter your customer number</p><form class=f action=/auth>
<div class=row><label>Number</label><input class=i name=user></div>
<div class=row><label>Password</label><input class=i name=pw type=password></div><button class="b go">Sign in</button>
</form></div></main><footer class=end><a class=x href=/i>Imprint</a></footer></body></html>`

func TestMarkup(t *testing.T) {
	marksOf := func(page string) webtext.Marks {
		var c webtext.Contents
		(&webtext.Extractor{Mode: webtext.Main}).Contents(&c, webtext.Page{Content: []byte(page)})
		read := webtext.ContentsOf(c.Append(nil))
		if len(read.Marks) != len(c.Marks) || string(read.Text) != string(c.Text) {
			t.Fatalf("%d marks and %q are read from %d and %q", len(read.Marks), read.Text, len(c.Marks), c.Text)
		}
		return read.Marks
	}
	original := NewMarkup(marksOf(loginPage))
	german := strings.NewReplacer("Sign in", "Anmelden", "Please enter your customer number",
		"Bitte geben Sie Ihre Kundennummer ein", "Number", "Nummer", "Imprint", "Impressum").Replace(loginPage)
	const otherTags = `<body><table><tr><td><ul><li>a<li>b</ul><tr><td>`
	for _, c := range []struct {
		name, page   string
		tags, assets bool
	}{
		{"in German", german, true, true},
		{"among others", strings.Replace(german, "<main", strings.Repeat(otherTags, 50)+"<main", 1), true, true},
		{"classes renamed", strings.ReplaceAll(german, "class=", "class=x"), true, true},
		{"other names of files", strings.ReplaceAll(german, "our", "my"), true, false},
		{"other tags", otherTags + `<script src=https://evil.test/our-core.js></script>
			<script src=our-login.js></script><img src=x/our-logo.svg>
			<input name=user><input type=password name=pw><link href=our.css>`, false, true},
		{"other fields", strings.NewReplacer("=user", "=a", "=pw", "=b").Replace(german), false, false},
		{"no password", strings.NewReplacer("type=password", "type=checkbox").Replace(german), false, false},
		{"another page", `<body><form class=f><input name=user><input name=pw type=password></form>`, false, false},
		{"no page", "Sign in", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tags, assets := original.Match(marksOf(c.page))
			if tags > 0 != c.tags || assets > 0 != c.assets {
				t.Errorf("tags %.2f, assets %.2f", tags, assets)
			}
		})
	}
}
