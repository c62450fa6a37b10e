// Dense writes one of the corpora of much alike documents that docs/explanation/scale.md has figures of, or one that is
// skewed:
//
//	go run ./scripts/dense -kind template -documents 100000 > template.jsonl
//
// Of the kind third, every third document is the same page. A chain is one component with few documents that are alike.
// A giant has one document of 60 MB among ordinary ones.
//
// Five kinds are made to cost much. Of vocabulary, each shingle is in about a hundred documents. Documents of the kinds
// fours and eights are made of blocks, of 15 words each, that very many others have. Those of families are just not
// alike, those of cliques are all alike. scripts/bench/costly.sh measures them.
//
// The same kind, numbers and seed give the same bytes.
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
	kind := flag.String("kind", "ordinary", kinds)
	seed := flag.Uint64("seed", 1, "seed of the words")
	documents := flag.Int("documents", 100_000, "number of documents")
	words := flag.Int("words", 60, "words of an ordinary document")
	flag.Parse()
	if err := write(*kind, *documents, *words, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "dense:", err)
		os.Exit(1)
	}
}

// kinds are the kinds of corpora.
const kinds = "ordinary, equal, alike, variants, template, star, subsets, third, chain, giant, vocabulary, fours, " +
	"families, eights or cliques"

// corpus makes documents of words drawn from a vocabulary.
type corpus struct {
	random   *rand.Rand
	bases    [][]string // of variants
	passages []string   // of subsets
	last     []string   // the last document of a chain
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
	case "alike": // one word of the page is another
		changed := slices.Clone(base)
		changed[c.random.IntN(len(changed))] = c.word()
		return changed, nil
	case "variants": // the same for many pages
		changed := slices.Clone(base[:60])
		changed[c.random.IntN(60)] = c.word()
		return changed, nil
	case "template": // one word is another, and one is added
		changed := append(slices.Clone(base), c.word())
		changed[45] = c.word()
		return changed, nil
	case "star": // the page with ten words of its own added
		return append(slices.Clone(base[:80]), c.words(10)...), nil
	case "subsets": // about half of 40 passages, which are the same in all documents
		var chosen []string
		for passage := range slices.Chunk(c.passages, len(c.passages)/40) {
			if c.random.IntN(2) == 0 {
				chosen = append(chosen, passage...)
			}
		}
		return chosen, nil
	case "vocabulary": // words from a vocabulary of 40, so every shingle is in about a hundred documents
		text := make([]string, words)
		for i := range text {
			text[i] = c.bases[0][c.random.IntN(40)]
		}
		return text, nil
	case "fours": // four of 300 blocks of text
		return c.someBlocks(4, 300), nil
	case "eights": // eight of 1,000 blocks of text
		return c.someBlocks(8, 1000), nil
	case "families": // one of three pages, with just enough words of its own to be unlike the others
		return append(slices.Clone(base[:words-words/8]), c.words(words/8)...), nil
	case "cliques": // 63 copies of a page, each with one word changed
		changed := slices.Clone(base[:words])
		changed[c.random.IntN(words)] = c.word()
		return changed, nil
	case "third":
		if i%3 == 0 {
			return base[:60], nil
		}
		return c.words(words), nil
	case "chain": // it shares all but four words with the next
		c.last = append(c.last[min(4, len(c.last)):], c.words(words-max(len(c.last)-4, 0))...)
		return c.last, nil
	case "giant":
		if i == 1 {
			return c.words(60_000_000 / 7), nil // a word has some seven bytes
		}
		return c.words(words), nil
	}
	return nil, fmt.Errorf("no kind %q: give %s", kind, kinds)
}

// blockWords is the number of words of a block.
const blockWords = 15

// someBlocks draws blocks and joins them.
func (c *corpus) someBlocks(some, blocks int) (text []string) {
	if c.passages == nil {
		c.passages = c.words(blocks * blockWords)
	}
	for range some {
		from := c.random.IntN(blocks) * blockWords
		text = append(text, c.passages[from:from+blockWords]...)
	}
	return text
}

func write(kind string, documents, words int, seed uint64) error {
	c := &corpus{random: rand.New(rand.NewPCG(seed, 1))}
	bases := 1
	switch kind {
	case "variants":
		bases = max(documents/1000, 1)
	case "families":
		bases = 3
	case "cliques":
		bases = max(documents/63, 1)
	}
	for range bases {
		c.bases = append(c.bases, c.words(max(words, 90)))
	}
	if kind == "subsets" {
		c.passages = c.words(40 * 10)
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
