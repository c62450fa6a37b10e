package warc

import (
	"bytes"
	"io"
	"mime/multipart"
	"regexp"
	"slices"
	"strings"
)

// unshown are the statuses whose body no browser shows, and redirects those that browsers follow.
var (
	unshown   = []int{204, 205, 304}
	redirects = []int{301, 302, 303, 307, 308}
)

func isShown(head httpHead, body []byte) bool {
	return head.status >= 200 && len(bytes.TrimSpace(body)) > 0 && !slices.Contains(unshown, head.status) &&
		!(len(head.location) > 0 && slices.Contains(redirects, head.status))
}

// leastError is the length of the shortest page of an error, in bytes between tags. A shorter one is the notice of a
// server: sites that have nothing else in common share it.
const leastError = 2000

// holding matches elements that make more of a page than its text.
var holding = regexp.MustCompile(`(?i)<(input|textarea)|srcdoc|data:text|data:image/svg|shadowroot`)

// isNotice reports whether the page of an error has little text, and nothing to fill in and no frame.
func isNotice(page []byte) bool {
	if holding.Match(page) {
		return false
	}
	text := 0
	for piece := range bytes.SplitSeq(page, []byte("<")) {
		_, behind, isTag := bytes.Cut(piece, []byte(">"))
		if !isTag {
			behind = piece
		}
		text += len(bytes.TrimSpace(behind))
	}
	return text < leastError
}

// isSniffed reports whether a media type says nothing, so that browsers look at the bytes (WHATWG MIME Sniffing).
func isSniffed(name string) bool {
	return name == "*/*" || name == "unknown/unknown" || name == "application/unknown"
}

// lastType returns the Content-Type of a response with several ones, as browsers do (WHATWG Fetch): the last one that
// is valid and says something.
func lastType(values [][]byte) []byte {
	for _, line := range slices.Backward(values) {
		for _, value := range slices.Backward(bytes.Split(line, []byte(","))) {
			if name, _ := mediaType(value); name != "" && !isSniffed(name) && !strings.ContainsAny(name, " \t\"<>") {
				return value
			}
		}
	}
	return nil
}

// shownPart returns the last part of a multipart body that is text: a browser shows each part in place of the one
// before. It returns nothing if there is none.
func shownPart(body []byte, limit int64) (name string, charset, payload []byte) {
	start := bytes.Index(body, []byte("--"))
	if start < 0 {
		return "", nil, nil
	}
	line, _ := nextLine(body[start:])
	parts := multipart.NewReader(bytes.NewReader(body[start:]), strings.TrimSpace(string(line[len("--"):])))
	for {
		part, err := parts.NextPart()
		if err != nil {
			return name, charset, payload
		}
		kind, label := mediaType([]byte(part.Header.Get("Content-Type")))
		content, _ := io.ReadAll(io.LimitReader(part, limit+1)) // what came before a fault is shown
		if kind == "" || isSniffed(kind) {
			kind = sniff(content)
		}
		if isText(kind) {
			name, charset, payload = kind, label, content
		}
	}
}
