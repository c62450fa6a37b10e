// Command text writes the text that runjob takes out of web pages, to compare it with the text of other programs.
//
//	go run ./scripts/warc/text -mode main PAGE.html... > texts.jsonl
//
// A line for each page has its path as id, and its text.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"mirrorbeam.dev/internal/input/webtext"
)

func main() {
	mode := flag.String("mode", string(webtext.Main), "which text: main or all, as in --html-text")
	flag.Parse()
	if err := run(webtext.Mode(*mode), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "text:", err)
		os.Exit(1)
	}
}

func run(mode webtext.Mode, paths []string) error {
	out := bufio.NewWriter(os.Stdout)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	extractor := webtext.Extractor{Mode: mode}
	var text []byte
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text = extractor.Append(text[:0], webtext.Page{Content: content})
		if err := lines.Encode(map[string]string{"id": path, "text": string(text)}); err != nil {
			return fmt.Errorf("write the text of %s: %w", path, err)
		}
	}
	return out.Flush()
}
