package documents

import (
	"bytes"

	"mirrorbeam/internal/carry/findings"
)

// countTexts counts the texts of a document. A document without texts has features.
func countTexts(counts *findings.Texts, texts [][]byte) {
	if len(texts) == 0 {
		return
	}
	counts.Records++
	isEmpty, isAddress := true, true
	for _, text := range texts {
		if text = bytes.TrimSpace(text); len(text) > 0 {
			isEmpty = false
			isAddress = isAddress && isWebAddress(text)
		}
	}
	switch {
	case isEmpty:
		counts.Empty++
	case isAddress:
		counts.Addresses++
	}
}

// longestAddress is the length of the longest address that servers and browsers are sure to take, in bytes.
const longestAddress = 2048

// isWebAddress reports whether a text is an address on the web and nothing else.
func isWebAddress(text []byte) bool {
	return len(text) <= longestAddress && (bytes.HasPrefix(text, []byte("http://")) || bytes.HasPrefix(text, []byte("https://"))) &&
		!bytes.ContainsAny(text, " \t\r\n")
}
