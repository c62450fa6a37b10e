// Command languages tells which language '--code auto' finds in the files below some folders, by the endings of their
// names:
//
//	go run ./scripts/codetrees/languages trees
//
// A line has an ending, whether its files are short (below 150 words), their number, the number of those taken for
// something else than most of them, and how many are taken for which language. Files that have nothing but lines that
// begin with # are counted as comments: several languages have such comments, so nothing tells which it is.
package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"mirrorbeam.dev/internal/input/sourcecode"
)

const shortWords = 150

func main() {
	found := map[string]map[string]int{}
	for _, root := range os.Args[1:] {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(path)
			if err != nil || len(bytes.TrimSpace(content)) == 0 {
				return err
			}
			kind := filepath.Ext(path) + " long"
			if len(bytes.Fields(content)) < shortWords {
				kind = filepath.Ext(path) + " short"
			}
			if found[kind] == nil {
				found[kind] = map[string]int{}
			}
			found[kind][languageOf(content)]++
			return nil
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(found)) {
		all, most := 0, 0
		for name, n := range found[kind] {
			if name != "comments" {
				all, most = all+n, max(most, n)
			}
		}
		fmt.Printf("%-12s %6d %6d  %v\n", kind, all, all-most, found[kind])
	}
}

func languageOf(content []byte) string {
	if l := sourcecode.Detect(content); l != nil {
		return l.Name
	}
	for line := range bytes.Lines(bytes.TrimPrefix(content, []byte("\ufeff"))) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return "none"
		}
	}
	return "comments"
}
