package warc

import (
	"bytes"
	"errors"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxLine is the longest line of a header in bytes. URLs of some ten thousand bytes do occur.
	maxLine   = 64 << 10
	maxHeader = 256 << 10
	// unknownLength stands for a length that a header does not tell.
	unknownLength = -1
)

const version = "WARC/"

func isVersion(line []byte) bool {
	number, ok := bytes.CutPrefix(line, []byte(version))
	return ok && len(number) > 0 && '0' <= number[0] && number[0] <= '9' && len(number) <= 16
}

func isBlank(line []byte) bool { return len(bytes.TrimRight(line, "\r\n")) == 0 }

// field splits a header line at its colon into name and value. Lines without a colon, as crawlers write, are no field.
func field(line []byte) (name, value []byte, ok bool) {
	name, value, ok = bytes.Cut(line, []byte(":"))
	return bytes.TrimRight(name, " \t"), bytes.TrimSpace(value), ok
}

// fields are the fields of the header of a WARC record, as they stand there.
type fields struct {
	kind, id, info, with, url, date, contentType, payloadType, languages []byte

	length int64 // or unknownLength
}

var (
	errEndless  = errors.New("the header of the record has no end")
	errNoLength = errors.New("the record does not give its length")
)

// parseFields reads the fields that a text begins with, up to a blank line, and returns what follows.
func parseFields(text []byte) (f fields, rest []byte, isWhole bool) {
	f.length = unknownLength
	for len(text) > 0 {
		var line []byte
		if line, text = nextLine(text); isBlank(line) {
			return f, text, true
		}
		name, value, isField := field(line)
		switch {
		case !isField:
		case is(name, "content-length") && f.length == unknownLength:
			if length, ok := number(value); ok {
				f.length = length
			}
		case is(name, "warc-type"):
			f.kind = value
		case is(name, "warc-record-id"):
			f.id = value
		case is(name, "warc-warcinfo-id"):
			f.info = value
		case is(name, "warc-concurrent-to"):
			f.with = value
		case is(name, "warc-target-uri"):
			f.url = value
		case is(name, "warc-date"):
			f.date = value
		case is(name, "content-type"):
			f.contentType = value
		case is(name, "warc-identified-content-language"):
			f.languages = value
		case is(name, "warc-identified-payload-type"):
			f.payloadType = value
		}
	}
	return f, nil, false
}

// is reports whether a name is the given one, which is in lower case. Names vary in case.
func is(name []byte, lower string) bool {
	return len(name) == len(lower) && bytes.EqualFold(name, []byte(lower))
}

func number(digits []byte) (int64, bool) {
	n, err := strconv.ParseUint(string(digits), 10, 63)
	return int64(n), err == nil
}

func nextLine(text []byte) (line, rest []byte) {
	if n := bytes.IndexByte(text, '\n'); n >= 0 {
		return text[:n+1], text[n+1:]
	}
	return text, nil
}

// arcHeader is the line that an ARC record begins with: URL, IP address, date, media type and length, or, in version 2,
// URL, IP address, date, media type, status, check sum, location, offset, file name and length. A URL may hold spaces,
// so the fields are counted from the right.
type arcHeader struct {
	url, date, mediaType []byte
	length               int64 // or unknownLength
}

func parseARC(line []byte) (arcHeader, bool) {
	line = bytes.TrimRight(line, "\r\n")
	if !bytes.Contains(line, []byte(":")) {
		return arcHeader{}, false
	}
	const fieldsAfterURL = 9 // of version 2
	var fields [fieldsAfterURL][]byte
	rest := line
	for i := range fields {
		n := bytes.LastIndexByte(rest, ' ')
		if n <= 0 {
			break
		}
		fields[i], rest = rest[n+1:], rest[:n]
		if date := i - 1; (i == 3 || i == 8) && isARCDate(fields[date]) && isAddress(fields[i]) &&
			bytes.Contains(rest, []byte(":")) {
			h := arcHeader{url: rest, date: fields[date], mediaType: fields[date-1], length: unknownLength}
			if length, ok := number(fields[0]); ok {
				h.length = length
			}
			return h, true
		}
	}
	return arcHeader{}, false
}

// isARCDate reports whether a field is a date of ARC: year, month, day, and mostly the time of day, all in digits.
func isARCDate(field []byte) bool {
	const shortest, longest = len("20081231"), len("200812312359590000")
	return len(bytes.Trim(field, "0123456789")) == 0 && shortest <= len(field) && len(field) <= longest
}

// isAddress reports whether a field may be an IP address of ARC: crawlers write "-" or nothing for unknown ones.
func isAddress(field []byte) bool { return len(bytes.Trim(field, "0123456789abcdefABCDEF.:-")) == 0 }

type httpHead struct {
	status                int
	length                int64 // of the body, 0 if the head does not tell it
	contentType, location []byte
	contentTypes          [][]byte // the values of all its lines
	encodings             [][]byte // of the content, then of the transfer, as they are listed
}

func parseHTTP(block []byte) (head httpHead, body []byte, err error) {
	line, rest := nextLine(block)
	_, status, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
	status, _, _ = bytes.Cut(bytes.TrimLeft(status, " "), []byte(" "))
	if head.status, err = strconv.Atoi(string(status)); err != nil || len(status) != len("200") {
		return head, nil, errors.New("the response does not begin with an HTTP status")
	}
	var codings [][]byte
	for len(rest) > 0 {
		line, rest = nextLine(rest)
		if isBlank(line) {
			break
		}
		name, value, _ := field(line)
		switch {
		case is(name, "content-type"):
			head.contentType, head.contentTypes = value, append(head.contentTypes, value)
		case is(name, "content-encoding"):
			head.encodings = appendListed(head.encodings, value)
		case is(name, "transfer-encoding"):
			codings = appendListed(codings, value)
		case is(name, "content-length"):
			head.length, _ = number(value)
		case is(name, "location"):
			head.location = value
		}
	}
	head.encodings = append(head.encodings, codings...)
	return head, rest, nil
}

func appendListed(names [][]byte, list []byte) [][]byte {
	for name := range bytes.SplitSeq(list, []byte(",")) {
		names = append(names, bytes.TrimSpace(name))
	}
	return names
}

// dechunk appends the content of the chunks of a body. It reports whether the body is in chunks at all: crawlers write
// bodies that they have decoded under the head of one that was not. A body may end within a chunk.
func dechunk(dst, body []byte) ([]byte, bool) {
	for {
		line, rest := nextLine(body)
		if len(rest) == 0 && !bytes.HasSuffix(line, []byte("\n")) {
			return dst, len(dst) > 0 // the end is missing
		}
		digits, _, _ := bytes.Cut(line, []byte(";"))
		size, err := strconv.ParseUint(string(bytes.TrimSpace(digits)), 16, 63)
		if err != nil {
			return dst, false
		}
		if size == 0 {
			return dst, true
		}
		if uint64(len(rest)) <= size {
			return append(dst, rest...), true
		}
		dst = append(dst, rest[:size]...)
		end, rest := nextLine(rest[size:])
		if !isBlank(end) {
			return dst, false
		}
		body = rest
	}
}

// mediaType splits a Content-Type into media type, in lower case and empty if malformed, and charset parameter.
func mediaType(contentType []byte) (name string, charset []byte) {
	first, parameters, _ := bytes.Cut(contentType, []byte(";"))
	name = strings.ToLower(string(bytes.TrimSpace(first)))
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

var notPages = []string{
	"text/css", "text/javascript", "text/ecmascript", "text/x-javascript", "text/dns", "text/calendar",
	"text/x-cross-domain-policy", "text/cache-manifest",
}

var pages = []string{
	"application/xhtml+xml", "application/xml", "application/rss+xml", "application/atom+xml",
	"application/vnd.wap.xhtml+xml",
}

func isText(name string) bool {
	return slices.Contains(pages, name) || strings.HasPrefix(name, "text/") && !slices.Contains(notPages, name)
}

func sniff(payload []byte) string {
	name, _, err := mime.ParseMediaType(http.DetectContentType(payload))
	if err != nil || !isText(name) {
		return ""
	}
	return name
}
