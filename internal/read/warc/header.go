package warc

import (
	"bytes"
	"strconv"
)

const (
	// maxLine is the longest line of a header in bytes. URLs of some ten thousand bytes do occur.
	maxLine = 64 << 10
	// maxHeader is the longest header of a record in bytes.
	maxHeader = 256 << 10
	// unknownLength stands for a length that a header does not tell.
	unknownLength = -1
)

// version is how each WARC record begins.
const version = "WARC/"

// isVersion reports whether a line is the first of a WARC record, such as "WARC/1.0".
func isVersion(line []byte) bool {
	number, ok := bytes.CutPrefix(line, []byte(version))
	return ok && len(number) > 0 && '0' <= number[0] && number[0] <= '9' && len(number) <= 16
}

// isBlank reports whether a line holds no more than its end.
func isBlank(line []byte) bool { return len(bytes.TrimRight(line, "\r\n")) == 0 }

// field splits a header line at its colon into a name and a value. Crawlers have written lines without a colon; these
// are no field.
func field(line []byte) (name, value []byte, ok bool) {
	name, value, ok = bytes.Cut(line, []byte(":"))
	return bytes.TrimRight(name, " \t"), bytes.TrimSpace(value), ok
}

// is reports whether a name is the given one, which is in lower case. Names vary in case.
func is(name []byte, lower string) bool {
	return len(name) == len(lower) && bytes.EqualFold(name, []byte(lower))
}

// number reads decimal digits, and nothing else.
func number(digits []byte) (int64, bool) {
	n, err := strconv.ParseUint(string(digits), 10, 63)
	return int64(n), err == nil
}

// nextLine cuts the first line, with its newline, off a text.
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
		if date := i - 1; (i == 3 || i == 8) && isARCDate(fields[date]) && isAddress(fields[i]) && bytes.Contains(rest, []byte(":")) {
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
	for _, c := range field {
		if c < '0' || c > '9' {
			return false
		}
	}
	return shortest <= len(field) && len(field) <= longest
}

// isAddress reports whether a field may be an IP address of ARC. Crawlers write "-" or nothing for one they do not know.
func isAddress(field []byte) bool {
	for _, c := range field {
		isHex := '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
		if !isHex && c != '.' && c != ':' && c != '-' {
			return false
		}
	}
	return true
}
