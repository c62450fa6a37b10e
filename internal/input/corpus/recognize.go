package corpus

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/storage"
)

const headBytes = 512

// formatOf tells the format of a file by the first bytes of its content. Where these do not show it, the name does, and
// where neither does, it is the guess.
func formatOf(name string, head []byte, guess Format) Format {
	if mark := webtext.Marked(head); mark != "" {
		head, _ = io.ReadAll(inCharset(bytes.NewReader(head), mark)) // no reader of memory fails
	}
	for _, d := range registered {
		if slices.ContainsFunc(d.Magics, func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }) {
			return d.Format
		}
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte(ByteOrderMark)), " \t\r\n")
	named, known := nameFormat(name)
	switch {
	case len(text) == 0 && known:
		return named
	case known && named.Definition().IsBinary:
		if !isText(head) {
			return named // it is damaged
		}
		known, guess = false, Text
	case known && named != JSONLines && !named.IsWhole() && !BeginsObject(text):
		return named
	}
	isDocument := known && named.IsWhole() && !isProse(name)
	for _, d := range registered {
		if d.Begins != nil && (d.Format.IsWhole() || !isDocument) && d.Begins(text) {
			return d.Format
		}
	}
	switch {
	case isDocument:
		return named
	case BeginsObject(text):
		return JSONLines
	case known:
		return named
	case guess == Text && strings.HasPrefix(http.DetectContentType(text), "text/html"):
		return HTML
	}
	return guess
}

func (f Format) mayBegin(head []byte) bool {
	d := f.Definition()
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte(ByteOrderMark)), " \t\r\n")
	switch {
	case len(d.Magics) > 0:
		return slices.ContainsFunc(d.Magics, func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) })
	case f == JSONLines || f == JSON:
		return BeginsObject(text) || bytes.HasPrefix(text, []byte("[")) || webtext.Marked(head) != "" || len(text) == 0
	}
	return isText(head)
}

// BeginsObject reports whether a text begins with an object of JSON.
func BeginsObject(text []byte) bool {
	inner, isObject := bytes.CutPrefix(text, []byte("{"))
	inner = bytes.TrimLeft(inner, " \t\r\n")
	return isObject && (len(inner) == 0 || strings.IndexByte("\"'}", inner[0]) >= 0)
}

// isText reports whether the beginning of a file is text: it shows no type of file that is none, and at most one byte
// in thirty is a control character.
func isText(head []byte) bool {
	head = head[:min(len(head), headBytes)]
	switch found := http.DetectContentType(head); {
	case strings.HasPrefix(found, "text/"):
		return true
	case found != "application/octet-stream" || bytes.IndexByte(head, 0) >= 0:
		return false
	}
	controls := 0
	for _, c := range head {
		if c < ' ' && strings.IndexByte("\t\n\r\f\x1b", c) < 0 {
			controls++
		}
	}
	return 30*controls <= len(head)
}

// isProse reports whether a file with that name may hold lines of JSON, although its ending is one of texts. Scrapy
// calls such lines .jl, as Julia calls its programs.
func isProse(name string) bool {
	return slices.Contains([]string{".txt", ".text", ".log", ".jl"}, nameEnding(name))
}

func nameFormat(name string) (f Format, known bool) {
	ending := nameEnding(name)
	i := slices.IndexFunc(definitions[:], func(d *Definition) bool {
		return d != nil && slices.Contains(d.Endings, ending)
	})
	return Format(max(i, 0)), i >= 0
}

// nameEnding returns the ending of the name of a file, in small letters and without .gz and the like. Wget keeps the
// query of an address in the name, behind a question mark or, for Windows, an at sign. What has no equals sign and ends
// as data do is no query.
func nameEnding(name string) string {
	name = filepath.Base(dropCompressionSuffix(storage.WithoutQuery(name)))
	if address, query, is := strings.Cut(name, "?"); is &&
		(strings.Contains(query, "=") || !isKnownEnding(filepath.Ext(query))) {
		name = address
	}
	if isForeignCompression(name) {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	ending, _, _ := strings.Cut(filepath.Ext(dropCompressionSuffix(name)), "@")
	return strings.ToLower(ending)
}

// isForeignCompression reports whether a name is of a known format in a compression that is not read.
func isForeignCompression(name string) bool {
	ending := filepath.Ext(name)
	inner := strings.ToLower(filepath.Ext(strings.TrimSuffix(name, ending)))
	return slices.Contains([]string{".br", ".lzma", ".lz", ".lzo", ".z", ".sz", ".snappy", ".zz", ".deflate"},
		strings.ToLower(ending)) &&
		isKnownEnding(inner)
}

func isKnownEnding(ending string) bool {
	return slices.ContainsFunc(registered, func(d *Definition) bool {
		return slices.Contains(d.Endings, strings.ToLower(ending))
	})
}

// unmarkedUTF16 returns the charset of a beginning in UTF-16 without a byte order mark; empty if it is another.
func unmarkedUTF16(head []byte) string {
	const enough = 16
	head = head[:min(len(head), 4*enough)]
	var zeros [2]int
	for i, c := range head {
		if c == 0 {
			zeros[i&1]++
		}
	}
	switch {
	case len(head) < enough:
	case zeros[0] == 0 && zeros[1] == len(head)/2:
		return "utf-16le"
	case zeros[1] == 0 && zeros[0] == (len(head)+1)/2:
		return "utf-16be"
	}
	return ""
}

// IsGuessed reports whether a file counts as lines of JSON only since its name tells no
// format. It is meant for files without a document.
func IsGuessed(name string) bool {
	_, known := nameFormat(name)
	return !known
}

// dumps are files of records that are no documents, by their first bytes.
var dumps = []foreign{
	{"window.YTD.", "is from a Twitter archive", "remove all before its first '[', and name it .json"},
	{"-- MySQL dump ", sqlDump, export},
	{"-- MariaDB dump ", sqlDump, export},
	{"-- phpMyAdmin SQL Dump", sqlDump, export},
	{"--\n-- PostgreSQL database dump", sqlDump, export},
	{"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;", sqlDump, export},
	{"BEGIN:VCALENDAR", "is a calendar", export},
	{"<mediawiki ", "is a dump of MediaWiki", "extract its pages, as with wikiextractor --json"},
}

const sqlDump = "is a dump of a database"

// checkDump returns an error if a file that begins with head holds many records of a kind that is not read. As a text
// it would be one document.
func checkDump(head []byte) error {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte(ByteOrderMark)), " \t\r\n")
	at := slices.IndexFunc(dumps, func(f foreign) bool { return bytes.HasPrefix(text, []byte(f.magic)) })
	if at >= 0 {
		return unread(fmt.Sprintf("the file %s, which is not read: %s; to read it as one text, give --format text",
			dumps[at].what, dumps[at].todo))
	}
	if element := repeatedElement(text); element != "" {
		return unread(
			fmt.Sprintf(
				"the file contains XML records, <%s>, which are not read: %s; to read it as one text, "+
					"give --format text", element, export))
	}
	if mail := bytes.HasPrefix(text, []byte("From ")) && bytes.Contains(text, []byte("\nDate: ")) &&
		bytes.Contains(text, []byte("\nSubject: ")); mail {
		return unread(
			"the file is a mailbox, which is not read: write each mail to a file; to read it as one text, " +
				"give --format text")
	}
	return nil
}

// repeatedElement returns the name of the element that the first two children of the root of a text in XML have; empty:
// they differ, or it is no such text.
func repeatedElement(text []byte) string {
	if !bytes.HasPrefix(text, []byte("<")) {
		return ""
	}
	decoder, depth, last := xml.NewDecoder(bytes.NewReader(text)), 0, ""
	decoder.Strict = false
	// names are ASCII in all that matter
	decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
	for {
		token, err := decoder.RawToken()
		if err != nil {
			return ""
		}
		switch element := token.(type) {
		case xml.EndElement:
			depth--
		case xml.StartElement:
			name := element.Name.Local
			if depth == 1 && name == last {
				return name
			}
			switch depth {
			case 0:
				if name == "html" || name == "svg" {
					return ""
				}
			case 1:
				last = name
			}
			depth++
		}
	}
}
