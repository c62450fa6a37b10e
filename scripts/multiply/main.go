// Command multiply makes a larger corpus out of a corpus, to measure how a job
// grows: for every record it writes copies in which some words are replaced, so
// that a copy is a document of its own and not a near-duplicate.
//
//	go run ./scripts/multiply -times 8 < corpus.jsonl > larger.jsonl
//
// The first of the copies is the record itself. In the others 30 % of the words
// are replaced, 60 % in texts of at most 12 words, always by the same ones.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
)

func main() {
	times := flag.Int("times", 8, "copies of each record, the record itself included")
	flag.Parse()
	if err := multiply(os.Stdin, os.Stdout, *times); err != nil {
		fmt.Fprintln(os.Stderr, "multiply:", err)
		os.Exit(1)
	}
}

type record struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// multiply writes the records of in, times copies of each, to out.
func multiply(in io.Reader, out io.Writer, times int) error {
	w := bufio.NewWriterSize(out, 1<<20)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	decoder := json.NewDecoder(bufio.NewReaderSize(in, 1<<20))
	for n := uint64(0); ; n++ {
		var r record
		if err := decoder.Decode(&r); err == io.EOF {
			return w.Flush()
		} else if err != nil {
			return fmt.Errorf("record %d: %w", n, err)
		}
		words := strings.Fields(r.Text)
		for copy := range times {
			c := r
			if copy > 0 {
				c.ID = fmt.Sprintf("%s~%d", r.ID, copy)
				c.Text = substitute(words, rand.New(rand.NewPCG(n, uint64(copy))))
			}
			if err := encoder.Encode(c); err != nil {
				return err
			}
		}
	}
}

// substitute returns the words with some of them replaced. A script without
// spaces has long words, so that what replaces one keeps its length.
func substitute(words []string, random *rand.Rand) string {
	share := 0.3
	if len(words) <= 12 {
		share = 0.6
	}
	var b strings.Builder
	for i, word := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if random.Float64() >= share {
			b.WriteString(word)
			continue
		}
		for range max(len([]rune(word)), 3) {
			b.WriteByte(byte('a' + random.IntN(26)))
		}
	}
	return b.String()
}
