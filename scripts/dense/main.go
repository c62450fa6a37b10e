// Dense writes one of the corpora of much alike documents that the README has figures of:
//
//	go run ./scripts/dense -kind template -documents 100000 > template.jsonl
//
// The same kind and number give the same bytes.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
)

func main() {
	kind := flag.String("kind", "ordinary", "ordinary, equal, variants, template or star")
	documents := flag.Int("documents", 100_000, "number of documents")
	words := flag.Int("words", 60, "words of an ordinary document")
	flag.Parse()
	if err := write(*kind, *documents, *words); err != nil {
		fmt.Fprintln(os.Stderr, "dense:", err)
		os.Exit(1)
	}
}

// corpus makes documents of words drawn from a vocabulary.
type corpus struct {
	random *rand.Rand
	bases  [][]string // of variants
}

func (c *corpus) word() string { return fmt.Sprintf("w%d", c.random.IntN(50_000)) }

func (c *corpus) words(n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = c.word()
	}
	return words
}

// document returns the words of document i.
func (c *corpus) document(kind string, i, words int) ([]string, error) {
	base := c.bases[i%len(c.bases)]
	switch kind {
	case "ordinary": // like no other
		return c.words(words), nil
	case "equal":
		return base[:60], nil
	case "variants": // one word of a page is another
		changed := slices.Clone(base[:60])
		changed[c.random.IntN(60)] = c.word()
		return changed, nil
	case "template": // one word is another, and one is added
		changed := append(slices.Clone(base), c.word())
		changed[45] = c.word()
		return changed, nil
	case "star": // the page with ten words of its own added
		return append(slices.Clone(base[:80]), c.words(10)...), nil
	}
	return nil, fmt.Errorf("no kind %q: give ordinary, equal, variants, template or star", kind)
}

func write(kind string, documents, words int) error {
	c := &corpus{random: rand.New(rand.NewPCG(1, 1))}
	bases := 1
	if kind == "variants" {
		bases = max(documents/1000, 1)
	}
	for range bases {
		c.bases = append(c.bases, c.words(90))
	}
	out := bufio.NewWriter(os.Stdout)
	for i := range documents {
		text, err := c.document(kind, i, words)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "{\"id\":\"%d\",\"text\":\"%s\"}\n", i, strings.Join(text, " "))
	}
	return out.Flush()
}
