package webtext

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
)

// TestAsShown shows what a page counts as a browser shows it, and that other jobs read what they always read.
func TestAsShown(t *testing.T) {
	const words = "please sign in to read on"
	framed := "<!doctype html><p>" + words + "</p><input type=password>"
	escaped := strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(framed)
	for _, row := range []struct {
		name, page string
		want       string // the words of the page
		usual      string // its words in a corpus of texts
	}{
		{"srcdoc", `<iframe srcdoc="` + escaped + `"></iframe>`, words, ""},
		{"srcdoc in srcdoc", `<iframe srcdoc='<iframe srcdoc="` + escaped + `"></iframe>'></iframe>`, words, ""},
		{"srcdoc before src", `<IFRAME SRC="data:text/html,other" SRCDOC="` + escaped + `"></IFRAME>`, words, ""},
		{"hidden srcdoc", `<iframe hidden srcdoc="` + escaped + `"></iframe>` + words, words, words},
		{"data address", `<iframe src="data:text/html,` + url.PathEscape(framed) + `"></iframe>`, words, ""},
		{
			"base64",
			`<iframe src="data:text/html;base64,` + base64.StdEncoding.EncodeToString([]byte(framed)) + `">`, words,
			"",
		},
		{"broken address", "<iframe src=\"da\nta:text/html," + url.PathEscape(framed) + `">`, words, ""},
		{"address in references", `<iframe src="&#100;ata:text/html,` + url.PathEscape(framed) + `">`, words, ""},
		{"charset of an address", `<iframe src="data:text/html;charset=utf-16le;base64,` +
			base64.StdEncoding.EncodeToString([]byte(inUTF16(framed))) + `">`, words, ""},
		{"address of plain text", `<object data="data:,a%3Cb"></object>`, "a<b", ""},
		{"frame of another site", `<iframe src="https://a.example/">fallback</iframe>`, "", ""},
		{"picture of letters", `<img src="data:image/svg+xml,<svg><text>` + words + `</text></svg>">`, words, ""},
		{"picture", `<img src="data:image/png;base64,aGVsbG8=">`, "", ""},
		{
			"SVG", `<svg><title>icon</title><desc>an icon</desc><text>please sign</text><text>in</text></svg>`,
			"please sign in", "",
		},
		{
			"SVG with scripts", `<svg><script>a()</script><style>b{}</style><path d="M0"/><text>sign</text></svg> in`,
			"sign in", "in",
		},
		{
			"HTML in SVG",
			`<svg><foreignObject><p>please</p><div>sign in</div></foreignObject></svg>`, "please sign in",
			"please sign in",
		},
		{"SVG without room", `<svg width=0 height="0"><text>icon</text></svg>seen`, "seen", "seen"},
		{"HTML behind SVG", `<svg style="display:none"><text>icon<p>sign in</p>`, "sign in", "sign in"},
		{"MathML", `<math><mtext>please sign in</mtext><annotation>tex</annotation></math>`, "please sign in", ""},
		{
			"shadow root", `<div><template shadowrootmode="open"><p>` + words + `</p></template></div>seen`,
			words + " seen", "seen",
		},
		{"template", `seen<template><p>` + words + `</p></template>`, "seen", "seen"},
		{"values", `<input value="please sign in" placeholder=x><input type=submit value="to read on">`, words, ""},
		{
			"placeholders", `<input placeholder="please sign in"><textarea placeholder="to read on"></textarea>`, words,
			"",
		},
		{"hidden values", `<input type=hidden value=a><input type=password value=b><input hidden value=c>seen` +
			`<input type=checkbox value=d><input style="display:none" value=e>`, "seen", "seen"},
		{"labels of options", `<select><option label="please sign in" value=x></select>`, "please sign in", ""},
		{
			"texts of a style sheet",
			`<style>p:before{content:"please si" 'gn \69n'} a::after{content:"\f101"}</style>to`,
			"to please sign in", "to",
		},
		{
			"hidden elements in words",
			`plea<br hidden>se si<div hidden>x</div>gn <b>in</b><p style="display:none">x</p>side`,
			"please sign inside", "please sign inside",
		},
		{"seen elements between words", `please<br>sign<div>in</div>`, "please sign in", "please sign in"},
		{"an open element that is hidden", `<div>please<span hidden>x</div>sign`, "please sign", "please sign"},
		{"controls in words", "pl\x00ea\x01s\x7fe sign", "please sign", "please sign"},
	} {
		t.Run(row.name, func(t *testing.T) {
			shown, usual := Extractor{AsShown: true}, Extractor{}
			page := Page{Content: []byte(row.page)}
			if got := strings.Join(strings.Fields(string(shown.Append(nil, page))), " "); got != row.want {
				t.Errorf("shown: %q, want %q", got, row.want)
			}
			if strings.Contains(row.page, "srcdoc") && !HasPasswordInput(shown.Source) {
				t.Error("the field for a password in the frame is not seen")
			}
			if got := strings.Join(strings.Fields(string(usual.Append(nil, page))), " "); got != row.usual {
				t.Errorf("a corpus of texts: %q, want %q", got, row.usual)
			}
		})
	}
}

// TestAsShownTypes shows which media types may hold HTML.
func TestAsShownTypes(t *testing.T) {
	const xhtml = `<x:html xmlns:x="http://www.w3.org/1999/xhtml"><body><p>sign</p><script>a()</script></body></x:html>`
	for _, row := range []struct{ kind, page, want string }{
		{"image/svg+xml", "<svg><style>a{}</style><text>sign</text></svg>", "sign\n"},
		{"application/x+xml", xhtml, "sign\n"},
		{"application/xml", "<a>sign</a>", "sign\n"},
	} {
		e := Extractor{AsShown: true}
		if got := string(e.Append(nil, Page{Content: []byte(row.page), MediaType: row.kind})); got != row.want {
			t.Errorf("%s: %q, want %q", row.kind, got, row.want)
		}
	}
}

// TestFramesEnd reads frames within frames to an end.
func TestFramesEnd(t *testing.T) {
	page := "<p>deep"
	for range 10 {
		page = `<iframe srcdoc="` + strings.NewReplacer("&", "&amp;", `"`, "&quot;").Replace(page) + `">`
	}
	e := Extractor{AsShown: true}
	if got := string(e.Append(nil, Page{Content: []byte(page)})); strings.Contains(got, "deep") {
		t.Errorf("%q", got)
	}
}

// inUTF16 returns a text of ASCII in UTF-16.
func inUTF16(text string) string {
	b := make([]byte, 0, 2*len(text))
	for i := range len(text) {
		b = append(b, text[i], 0)
	}
	return string(b)
}
