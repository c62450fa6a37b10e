package webtext

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestContents: what a page may show is read, wherever it is, and nothing else.
func TestContents(t *testing.T) {
	frame := "data:text/html;base64," + base64.StdEncoding.EncodeToString([]byte("<p>log on here</p>"))
	for _, c := range []struct{ name, page, text, values string }{
		{"scripts and styles", "a<script src=x></script> b<style></style > c", "a b c", ""},
		{"an open script", "a<script>b", "a", ""},
		{"a variable of a sheet", `<style>:root{--a:"log on"} p::after{content:var(--a)}</style>`, "", "log on"},
		{"a picture of a sheet", `<style>p{background:url("` + frame + `")}</style>`, "log on here", ""},
		{"a font of a sheet", `<style>@font-face{src:url("data:font/woff2;base64,AAAA")}</style>`, "", ""},
		{"an address in a script", `<script>f.src="` + frame + `"</script>`, "log on here", ""},
		{"a handler", `<body onload="x.innerHTML='<b>log on</b>'">`, "log on", ""},
		{"data attributes", `<p data-a="log on" data-translation-text="log off" data-b="x">`, "", "log on log off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all Contents
			new(Extractor).Contents(&all, Page{Content: []byte("<html>" + c.page)})
			text, values := strings.Join(strings.Fields(string(all.Text)), " "), strings.Fields(string(all.Values))
			if text != c.text || strings.Join(values, " ") != c.values {
				t.Errorf("text %q, values %q; want %q and %q", text, values, c.text, c.values)
			}
		})
	}
}
