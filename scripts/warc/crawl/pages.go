package main

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/klauspost/compress/gzip"

	"mirrorbeam.dev/internal/input/warc"
)

// largestPage is the largest page that is used, in bytes.
const largestPage = 1 << 20

// page is a page of the archives.
type page struct {
	url, charset string
	content      []byte
}

// readPages reads the HTML pages in the archives of a folder, each content once.
func readPages(folder string) ([]page, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	if err != nil {
		return nil, err
	}
	sort.Strings(paths)
	var pages []page
	seen := map[string]bool{}
	for _, path := range paths {
		if !strings.Contains(path, "arc") || strings.HasSuffix(path, ".json") || strings.HasSuffix(path, ".txt") {
			continue
		}
		file, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for _, p := range pagesOf(file) {
			if !seen[string(p.content)] {
				seen[string(p.content)] = true
				pages = append(pages, p)
			}
		}
	}
	return pages, nil
}

// pagesOf returns the HTML pages of an archive, up to its first fault of compression.
func pagesOf(file []byte) (pages []page) {
	var plain io.Reader = bytes.NewReader(file)
	if unpacked, err := gzip.NewReader(bytes.NewReader(file)); err == nil {
		plain = unpacked
	}
	reader := warc.NewReader(plain, warc.Options{Limit: 64 << 20})
	parser := warc.Parser{Limit: largestPage}
	for {
		frame, err := reader.Next()
		if err != nil {
			return pages
		}
		if frame.Fault != "" {
			continue
		}
		record, err := parser.Parse(frame.Raw)
		if err == nil && record.Use == warc.Document && record.MediaType == "text/html" &&
			len(record.Payload) <= largestPage {
			pages = append(pages, page{string(record.URL), string(record.Charset), bytes.Clone(record.Payload)})
		}
	}
}

// edit returns a page in which a share of the words is replaced. A word is a run of letters of ASCII outside tags.
func edit(content []byte, share float64, random *rand.Rand) []byte {
	content = bytes.Clone(content)
	inTag, start := false, 0
	for i, c := range content {
		if c|0x20 >= 'a' && c|0x20 <= 'z' {
			continue
		}
		if word := content[start:i]; !inTag && len(word) > 2 && random.Float64() < share {
			for j := range word {
				word[j] = byte('a' + random.IntN(26))
			}
		}
		start = i + 1
		switch c {
		case '<':
			inTag = true
		case '>':
			inTag = false
		}
	}
	return content
}
