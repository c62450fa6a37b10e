package warc

import (
	"fmt"
	"strings"
	"testing"
)

// login is a page as a phisher sends it.
const login = "<!doctype html><html><body><p>Please sign in</p><input type=password></body></html>"

// TestAsShown shows which responses are pages as a browser shows them, and that they are not otherwise.
func TestAsShown(t *testing.T) {
	const isHTML = "Content-Type: text/html\r\n"
	response := func(status int, header, body string) string {
		return fmt.Sprintf("HTTP/1.1 %d X\r\n%s\r\n%s", status, header, body)
	}
	part := func(kind, body string) string { return "--b\r\nContent-Type: " + kind + "\r\n\r\n" + body + "\r\n" }
	rows := []struct {
		name, block      string
		shown, mediaType string // nothing if the record is passed over
	}{
		{"no content", response(204, isHTML, login), "", ""},
		{"not modified", response(304, isHTML, login), "", ""},
		{"a redirect that is followed", response(302, isHTML+"Location: /\r\n", login), "", ""},
		{"a redirect to nowhere", response(302, isHTML, login), login, "text/html"},
		{"several choices", response(300, isHTML+"Location: /\r\n", login), login, "text/html"},
		{"an error without a body", response(404, isHTML, " \r\n"), "", ""},
		{"the notice of a server", response(404, isHTML, "<html><h1>404 Not Found</h1><hr>nginx</html>"), "", ""},
		{
			"the article of an error", response(404, isHTML, strings.Repeat("<p>some words", 250)),
			strings.Repeat("<p>some words", 250), "text/html",
		},
		{"an error in a frame", response(403, isHTML, "<iframe srcdoc=x>"), "<iframe srcdoc=x>", "text/html"},
		{"a picture", response(200, "Content-Type: image/png\r\n", login), "", ""},
		{"a picture of an error", response(404, "Content-Type: image/png\r\n", login), "", ""},
		{"any type", response(200, "Content-Type: */*\r\n", login), login, "text/html"},
		{"an unknown type", response(200, "Content-Type: unknown/unknown\r\n", login), login, "text/html"},
		{"a type that is none", response(200, "Content-Type: html\r\n", login), login, "text/html"},
		{"no type", response(200, "", login), login, "text/html"},
		{"the last of two types", response(200, "Content-Type: image/png\r\n"+isHTML, login), login, "text/html"},
		{
			"the last of a list that says something",
			response(200, "Content-Type: text/html, */*\r\nContent-Type: x\r\n", login), login, "text/html",
		},
		{
			"a picture of letters", response(200, "Content-Type: image/svg+xml\r\n", "<svg><text>a</text></svg>"),
			"<svg><text>a</text></svg>", "image/svg+xml",
		},
		{
			"a vocabulary of XML", response(200, "Content-Type: application/x+xml\r\n", login), login,
			"application/x+xml",
		},
		{"the last part", response(200, "Content-Type: multipart/x-mixed-replace; boundary=b\r\n",
			part("text/html", "wait")+part("text/html", login)+part("image/png", "x")+"--b--"), login, "text/html"},
		{"parts without a page", response(200, "Content-Type: multipart/mixed\r\n", "x"), "", ""},
		{"two lines of encodings", response(200, isHTML+"Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n",
			packed(t, "gzip", packed(t, "gzip", login))), login, "text/html"},
		{"one encoding of two lines", response(200, isHTML+"Content-Encoding: gzip\r\nContent-Encoding: br\r\n",
			packed(t, "br", login)), login, "text/html"},
		{"an encoded transfer", response(200, isHTML+"Transfer-Encoding: gzip, chunked\r\n",
			chunk(packed(t, "gzip", login))), login, "text/html"},
		{
			"an encoding of old", response(200, isHTML+"Content-Encoding: x-gzip\r\n", packed(t, "gzip", login)), login,
			"text/html",
		},
	}
	for _, status := range []int{
		201, 202, 203, 206, 207, 226, 400, 401, 402, 403, 404, 405, 410, 418, 429, 451, 500, 502, 503, 520, 999,
	} {
		rows = append(rows, struct{ name, block, shown, mediaType string }{
			fmt.Sprint("status ", status), response(status, isHTML, login), login, "text/html",
		})
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			shown := Parser{Limit: 1 << 20, AsShown: true}
			r, _ := shown.Parse([]byte(warcOf("response", "", row.block)))
			if got := string(r.Payload); got != row.shown && (row.shown != "" || r.Use == Document) ||
				row.shown != "" && (r.Use != Document || r.MediaType != row.mediaType) {
				t.Errorf("%v of type %q: %q, want %q of type %q", r.Use, r.MediaType, got, row.shown, row.mediaType)
			}
			usual := Parser{Limit: 1 << 20}
			if r, _ := usual.Parse([]byte(warcOf("response", "", row.block))); r.Use == Document && r.Status != 200 {
				t.Errorf("a corpus of texts has a page of status %d", r.Status)
			}
		})
	}
}
