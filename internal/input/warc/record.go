package warc

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/input/mediatype"
)

// Use says whether a record is a document, or why it is passed over.
type Use uint8

const (
	// Document is a page: a response or resource of status 200 and a text type, or the text of a conversion. A parser
	// that reads pages as browsers show them also takes other statuses and types.
	Document Use = iota
	// Warcinfo is about the archive: the record of that type, or the first record of an ARC file.
	Warcinfo
	Request
	// Metadata is about another record; a WAT file is full of it.
	Metadata
	// Revisit says that a page was the same as at an earlier visit. Its text is elsewhere.
	Revisit
	// OtherRecord is of any other type, such as continuation.
	OtherRecord
	// OtherStatus is a response whose HTTP status is not 200, or that is empty.
	OtherStatus
	// OtherType is a response or resource whose media type is no text, such as an image.
	OtherType
	// OfCrawler is a record of the crawler about its work, such as a log, or a page, such as its text or picture.
	OfCrawler
	Uses = iota
)

var useNames = [Uses]string{
	"document", "warcinfo", "request", "metadata", "revisit", "other record", "other status",
	"other type", "record of the crawler",
}

func (u Use) String() string { return useNames[u] }

// Record is what a frame holds. It is valid until the next call of [Parser.Parse], and as long as the frame.
type Record struct {
	Use Use
	// Type is its WARC-Type in lower case; of an ARC record "response", or "warcinfo" for the first of a file.
	Type string
	// ID is the WARC-Record-ID as written there, in angle brackets. ARC records have none.
	ID  []byte
	URL []byte
	// Date is the WARC-Date as it is written there. That of an ARC record is written in the same way.
	Date []byte
	// Status is the HTTP status; 0 for a record without one.
	Status int
	// Location is where a redirect leads, a response of a status of 3xx, as it is written there; nil for other records.
	Location []byte
	// MediaType is the media type of the payload, in lower case and without parameters; empty if unknown.
	MediaType string
	// Charset is the charset parameter of the media type, as it is written there.
	Charset []byte
	// Languages are those that the archive has found, as they stand there: "eng,deu". Few archives say so.
	Languages []byte
	// Payload is the content of a document, its HTTP encodings undone. It is empty for what is passed over.
	Payload []byte
}

// Parser reads frames. It keeps its decoders and buffers, and is not for concurrent use.
type Parser struct {
	// Limit is the longest payload in bytes, its HTTP encodings undone.
	Limit int64
	// AsShown takes each response for a page that a browser shows as one: of any status, of types that browsers sniff,
	// SVG, and the parts of a multipart response.
	AsShown bool
	decoder decoder
	date    []byte
	head    fields
}

// Parse reads the raw bytes of a frame without a fault. An error says that the record is malformed.
func (p *Parser) Parse(raw []byte) (Record, error) {
	line, rest := nextLine(raw)
	if isVersion(line) {
		return p.parseWARC(rest)
	}
	h, ok := parseARC(line)
	if !ok {
		return Record{}, errors.New("the bytes are no WARC or ARC record")
	}
	p.date = appendDate(p.date[:0], h.date)
	r := Record{URL: h.url, Date: p.date, Type: "response"}
	if bytes.HasPrefix(h.url, []byte("filedesc:")) {
		r.Use, r.Type = Warcinfo, "warcinfo"
		return r, nil
	}
	p.head = fields{payloadType: h.mediaType}
	return p.response(r, rest[:min(max(h.length, 0), int64(len(rest)))])
}

func (p *Parser) parseWARC(rest []byte) (r Record, err error) {
	head, rest, isWhole := parseFields(rest)
	p.head = head
	r.ID, r.URL, r.Date, r.Languages = head.id, head.url, head.date, head.languages
	if inner, is := bytes.CutPrefix(r.URL, []byte("<")); is { // as Wget writes it
		r.URL = bytes.TrimSuffix(inner, []byte(">"))
	}
	switch {
	case !isWhole:
		return r, errEndless
	case head.length == unknownLength:
		return r, errNoLength
	}
	block := rest[:min(head.length, int64(len(rest)))]
	r.Type = strings.ToLower(string(p.head.kind))
	if r.Type != "warcinfo" && isOfCrawler(r.URL) {
		r.Use = OfCrawler
		return r, nil
	}
	switch r.Type {
	case "response":
		return p.response(r, block)
	case "resource":
		p.head.payloadType = p.head.contentType
		return p.page(r, block, httpHead{})
	case "conversion":
		r.MediaType, r.Charset = mediaType(p.head.contentType)
		r.Payload = block
		return r, p.check(r)
	}
	r.Use = OtherRecord
	if i := slices.Index(useNames[Warcinfo:OtherRecord], r.Type); i >= 0 {
		r.Use = Warcinfo + Use(i)
	}
	return r, nil
}

// aboutPage matches what comes before the address of the page in the address of a record about it.
var aboutPage = regexp.MustCompile(`^[a-z][a-z_-]*(:[a-zA-Z_-]+)?:https?$`)

// isOfCrawler reports whether a record with that address is one of the crawler about its work or about a page, such as
// urn:text:https://... and screenshot:http://..., and metadata://... of wget.
func isOfCrawler(address []byte) bool {
	before, _, has := bytes.Cut(address, []byte("://"))
	if !has || bytes.IndexByte(before, ':') < 0 {
		return has && string(before) == "metadata"
	}
	return aboutPage.Match(before)
}

func (p *Parser) response(r Record, block []byte) (Record, error) {
	if len(block) == 0 {
		r.Use = OtherStatus
		return r, nil
	}
	if !bytes.HasPrefix(block, []byte("HTTP/")) {
		kind, _ := mediaType(p.head.contentType)
		isHTTP := kind == "application/http" || kind == "" && bytes.HasPrefix(r.URL, []byte("http"))
		if isHTTP {
			return r, errors.New("the response does not begin with an HTTP status")
		}
		// An answer of another protocol, as of a name server.
		if kind != "" {
			p.head.payloadType = p.head.contentType
		}
		return p.page(r, block, httpHead{})
	}
	head, body, err := parseHTTP(block)
	if err != nil {
		return r, err
	}
	if r.Status = head.status; r.Status != 200 && !(p.AsShown && isShown(head, body)) {
		r.Use = OtherStatus
		r.MediaType, r.Charset = mediaType(head.contentType)
		if r.Status/100 == 3 {
			r.Location = head.location
		}
		return r, nil
	}
	return p.page(r, body, head)
}

func (p *Parser) page(r Record, body []byte, head httpHead) (Record, error) {
	contentType := head.contentType
	if p.AsShown {
		contentType = lastType(head.contentTypes)
	}
	if r.MediaType, r.Charset = mediaType(contentType); r.MediaType == "" {
		if r.MediaType, _ = mediaType(p.head.payloadType); p.AsShown && isSniffed(r.MediaType) {
			r.MediaType = ""
		}
	}
	isMultipart := p.AsShown && strings.HasPrefix(r.MediaType, "multipart/")
	isXML := p.AsShown && strings.HasSuffix(r.MediaType, "+xml")
	if r.MediaType != "" && !isText(r.MediaType) && !isMultipart && !isXML {
		r.Use = OtherType
		return r, nil
	}
	var err error
	if r.Payload, err = p.decoder.decode(body, head, p.Limit); err != nil {
		return r, err
	}
	if isMultipart {
		r.MediaType, r.Charset, r.Payload = shownPart(r.Payload, p.Limit)
	}
	if isError := r.Status >= 400; isError && isNotice(r.Payload) {
		r.Use, r.Payload = OtherStatus, nil
		return r, nil
	}
	if r.MediaType == "" {
		if r.MediaType = sniff(r.Payload); r.MediaType == "" {
			r.Use, r.Payload = OtherType, nil
			return r, nil
		}
	}
	return r, p.check(r)
}

func (p *Parser) check(r Record) error {
	if int64(len(r.Payload)) > p.Limit {
		return fmt.Errorf("the payload of %d bytes is longer than the %d that a document may have", len(r.Payload),
			p.Limit)
	}
	if found := mediatype.OfNonText(r.Payload); found != "" {
		return fmt.Errorf("the payload is no text: the record says %s, and the bytes are %s",
			cmp.Or(r.MediaType, "nothing of its type"), found)
	}
	return nil
}

// appendDate writes a date of ARC like one of WARC: 20081231235959 is 2008-12-31T23:59:59Z.
func appendDate(dst, digits []byte) []byte {
	const day, second = len("20081231"), len("20081231235959")
	dst = fmt.Appendf(dst, "%s-%s-%s", digits[:4], digits[4:6], digits[6:day])
	if len(digits) < second {
		return dst
	}
	return fmt.Appendf(dst, "T%s:%s:%sZ", digits[8:10], digits[10:12], digits[12:second])
}
