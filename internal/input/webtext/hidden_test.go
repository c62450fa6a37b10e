package webtext

import (
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/confusables"
)

// TestHidden: what a browser does not show does not count, and what it shows counts, however elements are nested.
func TestHidden(t *testing.T) {
	const page = "<title>T</title><p>seen words of the page that stand here for all who read, of which there are more than a few</p>"
	for _, hidden := range []string{
		`<div hidden>unseen</div>`, `<DIV HIDDEN="">unseen</DIV>`, `<span hidden=until-found>unseen</span>`,
		`<div style="display:none">unseen</div>`,
		`<div style="color:red; DISPLAY : none !important">unseen</div>`,
		`<div style="display:none!important;display:block">unseen</div>`,
		`<div style="visibility:hidden"><p>unseen</p></div>`, `<p style="font-size:0">unseen</p>`,
		`<p style='font-size:0.0px'><b>unseen</b></p>`,
		`<p style="font-size:0"><b style="font-size:2em">unseen</b></p>`, `<p aria-hidden="true">unseen</p>`,
		`<p style="opacity:0">unseen</p>`,
		`<p style="position:absolute;left:-9999px">unseen</p>`, `<p style="text-indent:-999em">unseen</p>`,
		`<p style="height:0;overflow:hidden">unseen</p>`,
		`<p style="dis/**/play:none;display/**/:none">unseen</p>`, `<p style="display:n\6fne">unseen</p>`,
		`<p style="d&#105;splay:none">unseen</p>`,
		`<div hidden><div>unseen</div>unseen</div>`, `<div hidden><br><img src=x><input>unseen</div>`,
		`<p hidden>unseen`, `<div hidden><p>unseen</div>`,
		`<ul><li hidden>unseen<li>seen</ul>`, `<table><tr hidden><td>unseen<tr><td>seen</table>`,
		`<div style="display:none"><b style="display:block">unseen</b></div>`,
		`<div hidden></span></td></b>unseen</div>`, `<span hidden><div></span>unseen</div></span>`,
		`<p><b hidden>unseen</p><p>unseen</b>seen</p>`,
		`<b><div hidden></b>unseen</div>`,
		`<div hidden>` + strings.Repeat("<div>", 700) + strings.Repeat("</div>", 700) + `unseen</div>`,
		`<p style="font-size:.1px">unseen</p>`, `<p style="font-size:1px">unseen</p>`,
		`<p style="font:0/0 a">unseen</p>`, `<p style="font-size:12px;font:bold 700 0 / 1 serif">unseen</p>`,
		`<p style="color:transparent">unseen</p>`, `<p style="color:RGBA(0, 0, 0, 0)">unseen</p>`,
		`<p style="color:rgb(9 9 9 / 0%)">unseen</p>`, `<p style="color:#fff0">unseen</p>`,
		`<p style="color:#12345600">unseen</p>`, `<p style="color:red;-webkit-text-fill-color:transparent">unseen</p>`,
		`<p style="position:absolute;clip:rect(0 0 0 0)">unseen</p>`,
		`<b style="position:fixed;clip:rect(1px,1px,1px,1px)">unseen</b>`,
		`<p style="clip-path:inset(50%)">unseen</p>`, `<p style="clip-path:inset(0 0 100% 0 round 2px)">unseen</p>`,
		`<p style="clip-path:inset(10% 60% 10%)">unseen</p>`, `<p style="clip-path:circle(0 at 50% 50%)">unseen</p>`,
		`<p style="clip-path:polygon(0 0, 0 0, 0 0)">unseen</p>`,
		`<p style="transform:scale(0)">unseen</p>`, `<p style="width:1px;height:1px;overflow:hidden">unseen</p>`,
		`<b style="float:left;height:0;overflow:hidden">unseen</b>`,
		`<b style="display:inline-block;text-indent:-9999px">unseen</b>`, `<td><div hidden></td>unseen</div>`,
		`<video>unseen</video>`, `<datalist><option>unseen</datalist>`, `<div hidden/>unseen</div>`,
		`<p title="a>b" hidden>unseen</p>`,
	} {
		for _, mode := range []Mode{All, Main} {
			if got := textOf(hidden+page, mode); strings.Contains(got, "unseen") ||
				!strings.Contains(got, "seen words") {
				t.Errorf("%s, %s: %q", mode, hidden, got)
			}
		}
	}
	for _, shown := range []string{
		`<div hidden style="display:block">shown</div>`, `<div aria-hidden="false">shown</div>`,
		`<div title="hidden" data-hidden class=hidden>shown</div>`,
		`<div style="visibility:hidden"><p style="visibility:visible">shown</p></div>`,
		`<div style="font-size:0"><p style="font-size:14px">shown</p></div>`,
		`<table><tr><td><div hidden></td></tr></table>shown`, `<div><p hidden><div>shown</div></div>`,
		`<p hidden>x<p>shown`, `<p hidden>x<h1>shown</h1>`, `<ul><li hidden>x<li>shown</ul>`, `<br hidden>shown`,
		`<input hidden>shown`, `<div hidden></div>shown`,
		`<section><div hidden></section>shown`, `<div hidden><div></div></div>shown`, `<b hidden></b>shown`,
		`<table><tr><td><b hidden>x</td></tr></table>shown`,
		`<div style="display:none;display:block">shown</div>`,
		`<div style="display:block!important;display:none">shown</div>`,
		`<div style="left:10px;opacity:.8">shown</div>`,
		`<p style="color:transparent"><b style="color:red">shown</b></p>`, `<p style="color:#f00">shown</p>`,
		`<p style="color:#abc0de">shown</p>`, `<p style="color:rgba(0,0,0,.5)">shown</p>`,
		`<p style="color:transparent"><a href=x>shown</a></p>`,
		`<p style="font-size:0;color:transparent"><font color=red size=3>shown</font></p>`,
		`<p style="color:transparent;text-shadow:0 0 #000">shown</p>`,
		`<p style="color:transparent;-webkit-background-clip:text">shown</p>`,
		`<p style="color:transparent;-webkit-text-fill-color:red">shown</p>`,
		`<p style="font:0/0 a"><b style="font:12px/1 a">shown</b></p>`, `<p style="font:0/0 a;font-size:9pt">shown</p>`,
		`<p style="clip:rect(0 0 0 0)">shown</p>`, `<p style="position:absolute;clip:rect(0,auto,auto,0)">shown</p>`,
		`<p style="clip-path:inset(10%)">shown</p>`,
		`<p style="clip-path:polygon(0 0, 100% 0, 0 100%)">shown</p>`, `<p style="clip-path:circle(50%)">shown</p>`,
		`<p style="left:-9999px">shown</p>`,
		`<span style="height:0;overflow:hidden">shown</span>`, `<span style="transform:scale(0)">shown</span>`,
		`<div style="display:inline;text-indent:-9999px">shown</div>`,
		`<table><tr><td style="height:0;overflow:hidden">shown</td></tr></table>`,
		`<p style="transform:scale(2) translate(1px, 0)">shown</p>`,
	} {
		if got := textOf(shown+page, All); !strings.Contains(got, "shown") {
			t.Errorf("%s: %q", shown, got)
		}
	}
	for _, hidden := range []string{
		`<style>.x{display:none}</style><p class="a x">unseen</p>`,
		`<style>#x { color: red; Display:none !important }</style><p id=x>unseen</p>`,
		`<style>p{color:red}/* } */ .y , .x{visibility:hidden}</style><p class=x>unseen</p>`,
		`<p class=x>unseen</p><style media=screen>.x{display:none}</style>`,
		`<style>.x{display:block}.x{display:none}</style><p class=x>unseen</p>`,
		`<style>#x{display:none}.y{display:block}</style><p id=x class=y>unseen</p>`,
		`<style>@charset "x";@media print{.y{display:block}}.x{display:none}</style><p class=x>unseen</p>`,
		`<style>.x{display:none}</style><p class=x style="color:red">unseen</p>`,
	} {
		for _, mode := range []Mode{All, Main} {
			if got := textOf(hidden+page, mode); strings.Contains(got, "unseen") ||
				!strings.Contains(got, "seen words") {
				t.Errorf("%s, %s: %q", mode, hidden, got)
			}
		}
	}
	// What another rule, or the element itself, may show counts.
	for _, shown := range []string{
		`<style>.x{display:none}.x{display:block}</style><p class=x>shown</p>`,
		`<style>.x{display:none}@media screen{.x{display:block}}</style><p class=x>shown</p>`,
		`<style>.x{display:none}.y .x{display:block}</style><p class=x>shown</p>`,
		`<style>.x{display:none}p.x{display:block}</style><p class=x>shown</p>`,
		`<style>@media print{.x{display:none}}</style><p class=x>shown</p>`,
		`<style media=print>.x{display:none}</style><p class=x>shown</p>`,
		`<style>.x{display:none}</style><p class="X xx" id=x>shown</p>`,
		`<style>.x{display:none}</style><p class=x style="display:block">shown</p>`,
		`<style>.x{display:none}.y{display:block}</style><p class="y x">shown</p>`,
		`<style>.x{display:none}#y{display:block}</style><p class=x id=y>shown</p>`,
		`<style>.x{display:none!important;}.y{display:block!important}</style><p class="x y">shown</p>`,
		`<style>p .x, .x > b, .x:hover{display:none}</style><p class=x>shown</p>`,
		`<script>.x{display:none}</script><p class=x>shown</p>`,
		`<style>.x{visibility:hidden}#y{visibility:visible}</style><div class=x><p id=y>shown</p></div>`,
	} {
		if got := textOf(shown+page, All); !strings.Contains(got, "shown") {
			t.Errorf("%s: %q", shown, got)
		}
	}
	// Three hundred words that nobody sees change nothing, where a login page asks for a password.
	login := page + "<form><input type=password></form>"
	junk := strings.Repeat("junk of other words ", 75)
	for _, around := range [][2]string{
		{"<div hidden>", "</div>"},
		{`<div style="display:none">`, "</div>"},
		{`<p style="visibility:hidden">`, "</p>"},
		{`<span style="font-size:0">`, "</span>"},
	} {
		for _, mode := range []Mode{All, Main} {
			if got, want := textOf(login+around[0]+junk+around[1], mode), textOf(login, mode); got != want {
				t.Errorf("%s, %s: %q", mode, around[0], got)
			}
		}
	}
	// A script shows a page that is hidden as a whole, and everybody sees one that is only not read aloud.
	for _, page := range []string{
		`<title>T</title><body style="display:none"><p>shown</p>`,
		`<p aria-hidden=true>` + strings.Repeat("shown ", 200) + `</p><p>a few words</p>`,
	} {
		for _, mode := range []Mode{All, Main} {
			if got := textOf(page, mode); !strings.Contains(got, "shown") {
				t.Errorf("%s, %s: %q", mode, page, got)
			}
		}
	}
}

// TestOverride: text that an element turns round is between the characters that do the same.
func TestOverride(t *testing.T) {
	for page, want := range map[string]string{
		"<p>your <bdo dir=rtl>drow<b>ssap</b></bdo> please</p>": "your \u202edrowssap\u202c please\n",
		"<p><BDO dir='RTL'>a</BDO></bdo></p>":                   "\u202ea\u202c\n",
		"<p><bdo dir=ltr>a</bdo> <bdo>b</bdo></p>":              "a b\n",
		"<div hidden><bdo dir=rtl>x</bdo></div><p>a</p>":        "a\n",
	} {
		if got := textOf(page, All); got != want {
			t.Errorf("%s: %q, want %q", page, got, want)
		}
	}
	if got := string(confusables.Append(nil,
		[]byte(textOf("<p>your <bdo dir=rtl>drowssap</bdo> please</p>", All)))); got !=
		string(confusables.Append(nil, []byte("your password please\n"))) {
		t.Errorf("the skeleton is %q", got)
	}
}

func textOf(page string, mode Mode) string {
	extractor := Extractor{Mode: mode}
	return string(extractor.Append(nil, Page{Content: []byte(page)}))
}

// FuzzOpen: whatever tags come, an element is open as often as it has begun without ending.
func FuzzOpen(f *testing.F) {
	f.Add("<p><b hidden><table><td><p></b></table></p><li><li hidden></ul>x<hr/></p><option><div></td></tr>")
	f.Add("<svg><text>a<foreignObject><p><math><mtext>b</svg></foreignObject><svg/><p>c<template shadowrootmode=open>d")
	f.Fuzz(func(t *testing.T, page string) {
		e := Extractor{AsShown: true}
		e.Append(nil, Page{Content: []byte(page)})
		paragraphs, tables, foreign := 0, 0, 0
		for _, open := range e.html.elements.open {
			switch open.tag {
			case paragraph:
				paragraphs++
			case table:
				tables++
			case svg, mathML:
				foreign++
			}
		}
		if got := e.html.elements; got.paragraphs != paragraphs || got.tables != tables || got.foreign != foreign {
			t.Errorf("%d paragraphs, %d tables and %d of SVG are open, and %d, %d and %d are counted",
				paragraphs, tables, foreign, got.paragraphs, got.tables, got.foreign)
		}
	})
}
