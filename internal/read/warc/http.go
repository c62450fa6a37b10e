package warc

import (
	"bytes"
	"errors"
	"strconv"
)

// httpHead is what matters of the head of an HTTP response.
type httpHead struct {
	status                                  int
	contentType, encoding, coding, location []byte
}

func parseHTTP(block []byte) (head httpHead, body []byte, err error) {
	line, rest := nextLine(block)
	_, status, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
	status, _, _ = bytes.Cut(bytes.TrimLeft(status, " "), []byte(" "))
	if head.status, err = strconv.Atoi(string(status)); err != nil || len(status) != len("200") {
		return head, nil, errors.New("the response does not begin with an HTTP status")
	}
	for len(rest) > 0 {
		line, rest = nextLine(rest)
		if isBlank(line) {
			break
		}
		name, value, _ := field(line)
		switch {
		case is(name, "content-type"):
			head.contentType = value
		case is(name, "content-encoding"):
			head.encoding = value
		case is(name, "transfer-encoding"):
			head.coding = value
		case is(name, "location"):
			head.location = value
		}
	}
	return head, rest, nil
}

// isChunked reports whether the last transfer coding is chunked.
func (h httpHead) isChunked() bool {
	coding := h.coding
	if n := bytes.LastIndexByte(coding, ','); n >= 0 {
		coding = coding[n+1:]
	}
	return is(bytes.TrimSpace(coding), "chunked")
}

// dechunk appends the content of the chunks of a body. It reports whether the body is in chunks at all: crawlers write
// bodies that they have decoded under the head of one that was not. A body that ends within a chunk gives what is there.
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
