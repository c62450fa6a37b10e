package warc

import (
	"bytes"
	"mime"
	"net/http"
	"strings"
)

// knownNames are the usual names of record types and media types, which need no memory of their own.
var knownNames = known(
	"response", "request", "metadata", "warcinfo", "resource", "revisit", "conversion", "continuation",
	"application/http", "text/html", "text/plain", "application/xhtml+xml", "text/xml", "application/xml",
	"text/css", "text/javascript", "application/javascript", "application/x-javascript", "application/json",
	"image/jpeg", "image/png", "image/gif", "application/pdf", "application/octet-stream", "text/dns",
)

func known(names ...string) map[string]string {
	set := make(map[string]string, len(names))
	for _, name := range names {
		set[name] = name
	}
	return set
}

func lower(name []byte) string {
	if text, ok := knownNames[string(name)]; ok {
		return text
	}
	return strings.ToLower(string(name))
}

// mediaType splits a Content-Type into the media type, in lower case, and the charset parameter. What is no media type
// gives an empty one.
func mediaType(contentType []byte) (name string, charset []byte) {
	first, parameters, _ := bytes.Cut(contentType, []byte(";"))
	name = lower(bytes.TrimSpace(first))
	if !strings.Contains(name, "/") {
		name = ""
	}
	for len(parameters) > 0 {
		var parameter []byte
		parameter, parameters, _ = bytes.Cut(parameters, []byte(";"))
		key, value, _ := bytes.Cut(parameter, []byte("="))
		if is(bytes.TrimSpace(key), "charset") {
			return name, bytes.Trim(value, " \t\"'")
		}
	}
	return name, nil
}

// notPages are the text types that hold no text to read.
var notPages = known("text/css", "text/javascript", "text/ecmascript", "text/x-javascript", "text/dns", "text/calendar", "text/x-cross-domain-policy", "text/cache-manifest")

// pages are the other types that do.
var pages = known("application/xhtml+xml", "application/xml", "application/rss+xml", "application/atom+xml", "application/vnd.wap.xhtml+xml")

// isText reports whether a media type is one of documents.
func isText(name string) bool {
	if strings.HasPrefix(name, "text/") {
		return notPages[name] == ""
	}
	return pages[name] != ""
}

// sniff returns the media type of a payload that nothing tells, if it is HTML, XML or plain text.
func sniff(payload []byte) string {
	name, _, err := mime.ParseMediaType(http.DetectContentType(payload))
	if err != nil || !isText(name) {
		return ""
	}
	return name
}
