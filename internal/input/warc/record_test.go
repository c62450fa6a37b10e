package warc

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// told is a record with its bytes as text, to be compared.
type told struct {
	Use                 Use
	Type, ID, URL, Date string
	Status              int
	MediaType, Charset  string
	Languages, Payload  string
	Location            string
}

func tell(r Record) told {
	return told{
		r.Use, r.Type, string(r.ID), string(r.URL), string(r.Date), r.Status, r.MediaType, string(r.Charset),
		string(r.Languages), string(r.Payload), string(r.Location),
	}
}

// warcOf returns a WARC record of a type, with further header lines.
func warcOf(kind, header, block string) string {
	r := record(kind, block)
	return strings.Replace(r, "\r\n",
		"\r\nWARC-Target-URI: http://a.example/\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n"+header, 1)
}

// page returns what Parse shall say of a document in a record of warcOf.
func page(kind, mediaType, charset, payload string) told {
	r := about(Document, kind)
	r.MediaType, r.Charset, r.Payload = mediaType, charset, payload
	if kind == "response" {
		r.Status = 200
	}
	return r
}

// about returns what Parse shall say of a record of warcOf.
func about(use Use, kind string) told {
	return told{
		Use:  use,
		Type: kind,
		ID:   "<urn:x:" + kind + ">",
		URL:  "http://a.example/",
		Date: "2026-01-02T03:04:05Z",
	}
}

// with returns a record with a status and a media type.
func (r told) with(status int, mediaType string) told {
	r.Status, r.MediaType = status, mediaType
	return r
}

// to returns a redirect that leads to a location.
func (r told) to(location string) told {
	r.Location = location
	return r
}

// in returns a record with languages.
func (r told) in(languages string) told {
	r.Languages = languages
	return r
}

func TestParse(t *testing.T) {
	const html, http = "Content-Type: text/html\r\n", "Content-Type: application/http\r\n"
	const ok = "HTTP/1.1 200 OK\r\n"
	arc := told{
		Type:      "response",
		URL:       "http://a.example/a b",
		Date:      "2008-01-01T00:00:00Z",
		Status:    200,
		MediaType: "text/html",
		Payload:   "hi",
	}
	bracket := about(Request, "request")
	bracket.URL += ">"
	name := arc
	name.Use, name.Status, name.MediaType, name.Payload = OtherType, 0, "text/dns", ""
	for title, test := range map[string]struct {
		raw  string
		want told
	}{
		"response": {
			warcOf("response", http,
				ok+"content-type: Text/HTML; x=y; Charset=\"Big5\"\r\n\r\nhi"),
			page("response", "text/html", "Big5", "hi"),
		},
		"response, newlines": {
			warcOf("response", http, "HTTP/1.0 200\nContent-Type:text/plain\n\nhi"),
			page("response", "text/plain", "", "hi"),
		},
		"response, no body": {warcOf("response", http, ok+html), page("response", "text/html", "", "")},
		"type by the archive": {warcOf("response", http+"WARC-Identified-Payload-Type: application/xhtml+xml\r\n",
			ok+"\r\nhi"), page("response", "application/xhtml+xml", "", "hi")},
		"type by the content": {
			warcOf("response", http, ok+"\r\n<!DOCTYPE html>hi"),
			page("response", "text/html", "", "<!DOCTYPE html>hi"),
		},
		"no type, no text": {
			warcOf("response", http, ok+"\r\n\x00\x01\x02\x03"),
			about(OtherType, "response").with(200, ""),
		},
		"no media type": {
			warcOf("response", http, ok+"Content-Type: nonsense\r\n\r\nhi"),
			page("response", "text/plain", "", "hi"),
		},
		"image": {
			warcOf("response", http, ok+"Content-Type: image/png\r\n\r\nhi"),
			about(OtherType, "response").with(200, "image/png"),
		},
		"style sheet": {
			warcOf("response", http, ok+"Content-Type: text/css\r\n\r\nhi"),
			about(OtherType, "response").with(200, "text/css"),
		},
		"not found": {
			warcOf("response", http, "HTTP/1.1 404 Not Found\r\n"+html+"\r\nhi"),
			about(OtherStatus, "response").with(404, "text/html"),
		},
		"not found, elsewhere": {
			warcOf("response", http,
				"HTTP/1.1 404 Not Found\r\nLocation: http://b.example/\r\n\r\n"),
			about(OtherStatus, "response").with(404, ""),
		},
		"redirect": {
			warcOf("response", http,
				"HTTP/1.1 301 Moved\r\nlocation:  http://b.example/x \r\n"+html+"\r\nhi"),
			about(OtherStatus, "response").with(301, "text/html").to("http://b.example/x"),
		},
		"nothing": {warcOf("response", http, ""), about(OtherStatus, "response")},
		"name server": {
			warcOf("response", "Content-Type: text/dns\r\n", "a.example. 1 IN A 1.2.3.4"),
			about(OtherType, "response").with(0, "text/dns"),
		},
		"resource": {warcOf("resource", html, "hi"), page("resource", "text/html", "", "hi")},
		"resource, no text": {
			warcOf("resource", "Content-Type: image/gif\r\n", "hi"),
			about(OtherType, "resource").with(0, "image/gif"),
		},
		"conversion": {
			warcOf("conversion", "Content-Type: text/plain\r\n", "hi"),
			page("conversion", "text/plain", "", "hi"),
		},
		"languages": {
			warcOf("conversion",
				"Content-Type: text/plain\r\nWARC-Identified-Content-Language: eng,deu\r\n", "hi"),
			page("conversion", "text/plain", "", "hi").in("eng,deu"),
		},
		"request":      {warcOf("request", http, "GET / HTTP/1.1\r\n\r\n"), about(Request, "request")},
		"metadata":     {warcOf("metadata", "", "a: b"), about(Metadata, "metadata")},
		"warcinfo":     {warcOf("warcinfo", "", "a: b"), about(Warcinfo, "warcinfo")},
		"revisit":      {warcOf("revisit", http, ok), about(Revisit, "revisit")},
		"continuation": {warcOf("continuation", "", "x"), about(OtherRecord, "continuation")},
		"type in capitals": {strings.Replace(warcOf("request", "", "x"), "WARC-Type: request", "warc-type:REQUEST",
			1), about(Request, "request")},
		"URL in brackets": {strings.Replace(warcOf("request", "", ""), "http://a.example/", "<http://a.example/>",
			1), about(Request, "request")},
		"URL with a bracket": {strings.Replace(warcOf("request", "", ""), "http://a.example/", "http://a.example/>",
			1), bracket},
		"line without colon": {warcOf("request", "http://a.example/\r\n", ""), about(Request, "request")},
		"arc": {
			"http://a.example/a b 1.2.3.4 20080101000000 text/html 46\n" + ok + html + "\r\nhi\n",
			arc,
		},
		"arc, type by archive": {"http://a.example/a b 1.2.3.4 20080101000000 text/html 21\n" + ok + "\r\nhi\n", arc},
		"arc 2": {"http://a.example/a b 1.2.3.4 20080101000000 text/html 200 - - 0 a.arc 21\n" + ok +
			"\r\nhi\n", arc},
		"arc, name server": {"dns:a b 1.2.3.4 20080101000000 text/dns 2\nhi\n", told{
			Use:       OtherType,
			Type:      "response",
			URL:       "dns:a b",
			Date:      name.Date,
			MediaType: "text/dns",
		}},
		"arc, first": {arcFirst, told{
			Use:  Warcinfo,
			Type: "warcinfo",
			URL:  "filedesc://a.arc",
			Date: "2008-01-01T00:00:00Z",
		}},
		"arc, no time of day": {strings.Replace(arcFirst, "20080101000000", "20080101", 1), told{
			Use:  Warcinfo,
			Type: "warcinfo",
			URL:  "filedesc://a.arc",
			Date: "2008-01-01",
		}},
	} {
		p := Parser{Limit: 1 << 20}
		for range 2 {
			r, err := p.Parse([]byte(test.raw))
			if difference := cmp.Diff(test.want, tell(r)); err != nil || difference != "" {
				t.Errorf("%s: %v\n%s", title, err, difference)
			}
		}
	}
}

func TestParseFaults(t *testing.T) {
	for raw, want := range map[string]string{
		"":                                   "the bytes are no WARC or ARC record",
		"WARC/1.0\r\n":                       "the header of the record has no end",
		"WARC/1.0\r\nContent-Length: 5\r\n":  "the header of the record has no end",
		"WARC/1.0\r\nWARC-Type: request\n\n": "the record does not give its length",
		warcOf("response", "Content-Type: application/http\r\n",
			"hi"): "the response does not begin with an HTTP status",
		warcOf("response", "",
			"HTTP/1.1 OK\r\n\r\n"): "the response does not begin with an HTTP status",
		warcOf("response", "",
			"HTTP/"): "the response does not begin with an HTTP status",
		warcOf("resource", "Content-Type: text/html\r\n",
			strings.Repeat("x", 101)): "the payload of 101 bytes is longer than the 100 that a document may have",
		warcOf("response", "",
			"HTTP/1.1 200\r\nContent-Type: text/html\r\n\r\n%PDF-1.4\n1 0 obj"): "the payload is no text: the record says text/html, and the bytes are application/pdf",
		warcOf("response", "",
			"HTTP/1.1 200\r\nContent-Type: text/plain\r\n\r\n"+
				packed(t, "gzip",
					"x")): "the payload is no text: the record says text/plain, and the bytes are application/x-gzip",
		warcOf("conversion", "Content-Type: text/plain\r\n",
			"\xff\xd8\xff\xe0\x00\x10JFIF"): "the payload is no text: the record says text/plain, and the bytes are image/jpeg",
		warcOf("response", "",
			"HTTP/1.1 200\r\nContent-Encoding: gzip\r\nContent-Type: text/html\r\n\r\n"+
				packed(t, "gzip",
					strings.Repeat("x",
						1<<16))): "the payload is longer than the 100 bytes that a document may have once its \"gzip\" encoding is undone",
	} {
		p := Parser{Limit: 100}
		if _, err := p.Parse([]byte(raw)); err == nil || err.Error() != want {
			t.Errorf("%.60q: %v, want %s", raw, err, want)
		}
	}
}

// packed returns a text in a content encoding.
func packed(t testing.TB, encoding, text string) string {
	t.Helper()
	var packed bytes.Buffer
	var w io.WriteCloser
	var err error
	switch encoding {
	case "gzip", "x-gzip":
		w = gzip.NewWriter(&packed)
	case "deflate":
		w = zlib.NewWriter(&packed)
	case "bare deflate":
		w, err = flate.NewWriter(&packed, 6)
	case "br":
		w = brotli.NewWriter(&packed)
	case "zstd":
		w, err = zstd.NewWriter(&packed)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}

// TestEncodings undoes what HTTP does to a body, and leaves what was undone by the crawler.
func TestEncodings(t *testing.T) {
	text := strings.Repeat("Some words of a page, and some more. ", 100)
	half := len(text) / 2
	chunked := "Transfer-Encoding: chunked\r\n"
	chunks := "e74;x=y\r\n" + text + "\r\n0\r\n\r\n"
	type body struct{ head, body, want string }
	tests := map[string]body{
		"none":              {"", text, text},
		"identity":          {"Content-Encoding: identity\r\n", text, text},
		"unknown":           {"Content-Encoding: sdch\r\n", text, text},
		"chunks":            {chunked, chunks, text},
		"two chunks":        {chunked, "5\r\nSome \r\n0005 \r\nwords\r\n0\r\nx: y\r\n\r\n", "Some words"},
		"chunks, undone":    {chunked, text, text},
		"chunks, cut":       {chunked, chunks[:half], text[:half-len("e74;x=y\r\n")]},
		"chunks, no last":   {chunked, "5\r\nSome \r\n", "Some "},
		"chunks, damaged":   {chunked, "5\r\nSome words\r\n0\r\n\r\n", "5\r\nSome words\r\n0\r\n\r\n"},
		"chunks, none":      {chunked, "", ""},
		"chunks and gzip":   {chunked + "Content-Encoding: gzip\r\n", "99999\r\n" + packed(t, "gzip", text), text},
		"two encodings":     {"Content-Encoding: br, gzip\r\n", packed(t, "gzip", packed(t, "br", text)), text},
		"gzip, junk behind": {"Content-Encoding: gzip\r\n", packed(t, "gzip", text) + "junk", text},
		"two lines": {
			"Content-Encoding: br\r\nContent-Encoding: gzip\r\n",
			packed(t, "gzip", packed(t, "br", text)), text,
		},
		"one of two is there": {"Content-Encoding: gzip\r\nContent-Encoding: br\r\n", packed(t, "gzip", text), text},
		"other order": {
			"Content-Encoding: gzip, zstd, deflate\r\n",
			packed(t, "zstd", packed(t, "deflate", packed(t, "gzip", text))), text,
		},
		"of the transfer": {"Transfer-Encoding: gzip, chunked\r\n", chunk(packed(t, "gzip", text)), text},
		"chunks within": {
			"Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n",
			packed(t, "gzip", chunks), text,
		},
		"chunked first":        {"Transfer-Encoding: chunked, gzip\r\n", chunk(packed(t, "gzip", text)), text},
		"transfer, undone":     {"Transfer-Encoding: gzip, chunked\r\n", packed(t, "gzip", text), text},
		"gzip and identity":    {"Content-Encoding: gzip, identity\r\n", packed(t, "gzip", text), text},
		"gzip and unknown":     {"Content-Encoding: gzip, utf-8\r\n", packed(t, "gzip", text), text},
		"as content":           {"Content-Encoding: chunked, br\r\n", chunk(packed(t, "br", text)), text},
		"br of an F":           {"Content-Encoding: br\r\n", "For all who read.", "For all who read."},
		"bare deflate, undone": {"Content-Encoding: deflate, br\r\n", "K\xf6ln und Umgebung", "K\xf6ln und Umgebung"},
		"bare deflate":         {"Content-Encoding: deflate\r\n", packed(t, "bare deflate", text), text},
	}
	for _, encoding := range []string{"gzip", "x-gzip", "deflate", "br", "zstd"} {
		head, whole := "Content-Encoding: "+strings.ToUpper(encoding)+"\r\n", packed(t, encoding, text)
		tests[encoding] = body{head, whole, text}
		tests[encoding+", undone"] = body{head, text, text}
		tests[encoding+", empty"] = body{head, "", ""}
	}
	var p Parser
	for range 2 { // the decoders are used again
		for name, test := range tests {
			p.Limit = 1 << 20
			r, err := p.Parse([]byte(warcOf("response", "",
				"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"+test.head+"\r\n"+test.body)))
			if difference := cmp.Diff(test.want, string(r.Payload)); err != nil || difference != "" {
				t.Errorf("%s: %v\n%.300s", name, err, difference)
			}
		}
		// A body that is cut short gives what is there.
		random := noise(1 << 16)
		for _, encoding := range []string{"gzip", "deflate", "br"} {
			cut := packed(t, encoding, random)
			r, err := p.Parse([]byte(warcOf("response", "",
				"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: "+encoding+"\r\n\r\n"+
					cut[:len(cut)/2])))
			if n := len(r.Payload); err != nil || n < 1<<14 || n == 1<<16 ||
				!strings.HasPrefix(random, string(r.Payload)) {
				t.Errorf("half of %s: %d bytes, %v", encoding, n, err)
			}
		}
	}
}

// chunk returns a body in two chunks.
func chunk(body string) string {
	half := len(body) / 2
	return fmt.Sprintf("%x\r\n%s\r\n%X;a=b\r\n%s\r\n0\r\n\r\n", half, body[:half], len(body)-half, body[half:])
}

// noise returns letters that hardly compress.
func noise(n int) string {
	text := make([]byte, n)
	state := uint64(1)
	for i := range text {
		state = state*6364136223846793005 + 1442695040888963407
		text[i] = 'a' + byte(state>>59)%26
	}
	return string(text)
}
