package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// collections are the corpora that the articles of sites come from, and licences the one of licences.
var collections = []string{
	"reuters21578/reuters.jsonl.zst", "prose/linux_doc.jsonl.zst", "prose/misc_docs_text.jsonl.zst",
	"prose/goldminer_zh.jsonl.zst",
}

const licences = "licenses/all.jsonl.zst"

// document is a line of a corpus.
type document struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// The lengths of the texts that are taken, in words.
const leastWords, mostWords = 100, 2500

// readTexts returns the texts of usual length in a file of a corpus, each once, in their order.
func readTexts(path string) (texts [][]string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	packed, err := zstd.NewReader(file, zstd.WithDecoderMaxWindow(1<<28), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer packed.Close()
	lines := bufio.NewScanner(packed)
	lines.Buffer(nil, 64<<20)
	seen := map[string]bool{}
	for lines.Scan() {
		var d document
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		words := strings.Fields(d.Text)
		if begin := strings.Join(words[:min(len(words), 30)], " "); len(words) >= leastWords &&
			len(words) <= mostWords && !seen[begin] {
			seen[begin] = true
			texts = append(texts, words)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return texts, nil
}

// readArticles returns the articles of all collections, in their order.
func readArticles(corpora string) (articles [][]string, err error) {
	for _, collection := range collections {
		texts, err := readTexts(filepath.Join(corpora, filepath.FromSlash(collection)))
		if err != nil {
			return nil, err
		}
		articles = append(articles, texts...)
	}
	return articles, nil
}
