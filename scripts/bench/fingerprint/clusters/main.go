// Command clusters finds the pairs of a JSONL file with semblance, so that scripts/bench can measure it: three words,
// 128 hashes in 16 bands, similarities by estimate. It leaves found.tsv, two ids a row.
//
//	clusters corpus.jsonl
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/ophymx/semblance"
)

const threshold = 0.8

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: clusters corpus.jsonl")
		os.Exit(2)
	}
	if err := find(os.Args[1], "found.tsv"); err != nil {
		fmt.Fprintln(os.Stderr, "clusters:", err)
		os.Exit(1)
	}
}

// find writes the pairs of a corpus.
func find(corpus, found string) error {
	in, err := os.Open(corpus)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(found)
	if err != nil {
		return err
	}
	defer out.Close()
	pairs := bufio.NewWriter(out)
	sketcher := semblance.NewSketcher(semblance.Defaults())
	index := sketcher.NewVerifiedIndex()
	lines := bufio.NewReaderSize(in, 1<<20)
	for {
		line, end := lines.ReadBytes('\n')
		if len(line) > 1 {
			var document struct{ ID, Text string }
			if err := json.Unmarshal(line, &document); err != nil {
				return err
			}
			signature := sketcher.Sketch(document.Text)
			// A text of fewer than three words has no hashes, and would be like each other one.
			if slices.ContainsFunc(signature, func(hash uint64) bool { return hash != math.MaxUint64 }) {
				for _, similar := range index.Query(signature, threshold) {
					fmt.Fprintf(pairs, "%s\t%s\n", similar.ID, document.ID)
				}
				index.Add(document.ID, signature)
			}
		}
		if errors.Is(end, io.EOF) {
			return pairs.Flush()
		}
		if end != nil {
			return end
		}
	}
}
