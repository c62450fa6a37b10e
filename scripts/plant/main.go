// Command plant copies passages from long documents of a corpus into others, to
// measure how many of them a job finds.
//
//	go run ./scripts/plant -truth truth.tsv < corpus.jsonl > planted.jsonl
//	go run ./scripts/plant -truth truth.tsv -pairs 'out/pairs-*.jsonl'
//
// What it writes are the documents of at least -words words. Into most of every
// second one goes an excerpt of 50, 100 or 300 words of one of the others, whose id
// differs up to the first colon: as it is, or with every 20th or every 10th word
// replaced. The truth has a row for each: the two ids, words, which words are
// replaced (0: none), and where the excerpt is in both, in bytes.
//
// With -pairs it prints, for each kind of excerpt, for how many of them a pair tells,
// and how much of them is within its spans.
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
	"unicode"
	"unicode/utf8"
)

func main() {
	truth := flag.String("truth", "truth.tsv", "file for what was planted where")
	words := flag.Int("words", 2000, "words of the shortest document to take")
	pairs := flag.String("pairs", "", "pairs of a job over planted documents, to be compared with the truth")
	flag.Parse()
	err := error(nil)
	if *pairs == "" {
		err = plant(os.Stdin, os.Stdout, *truth, *words)
	} else {
		err = judge(os.Stdout, *truth, *pairs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "plant:", err)
		os.Exit(1)
	}
}

type record struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// source returns what the documents of one collection have in common in their ids.
func (r *record) source() string { return strings.SplitN(r.ID, ":", 2)[0] }

// kinds are the excerpts that are planted in turn.
var kinds = []struct{ words, every int }{
	{50, 0}, {50, 20}, {50, 10}, {100, 0}, {100, 20}, {100, 10}, {300, 0}, {300, 20}, {300, 10},
}

// plant writes the long documents of in to out, with excerpts in them.
func plant(in io.Reader, out io.Writer, truth string, least int) error {
	all, err := readLong(in, least)
	if err != nil {
		return err
	}
	if len(all) < 2 {
		return fmt.Errorf("%d documents have %d words, at least two are needed", len(all), least)
	}
	list, err := os.Create(truth)
	if err != nil {
		return err
	}
	defer list.Close()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	random := rand.New(rand.NewPCG(1, 2))
	for i, host := range all {
		donor := all[random.IntN(len(all)/2)*2]
		kind := kinds[i/2%len(kinds)]
		from, source, ok := excerpt(donor.Text, kind.words, random)
		// Donors stay as they are, and one in ten of the others.
		if i%2 == 1 && ok && donor.source() != host.source() && random.IntN(10) > 0 {
			planted := replace(source, kind.every, random)
			at := boundary(host.Text, random)
			host.Text = host.Text[:at] + "\n" + planted + "\n" + host.Text[at:]
			if _, err := fmt.Fprintf(list, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\n", donor.ID, host.ID, kind.words,
				kind.every,
				from, from+len(source), at+1, at+1+len(planted)); err != nil {
				return err
			}
		}
		if err := encoder.Encode(host); err != nil {
			return err
		}
	}
	return list.Close()
}

// readLong returns the documents of at least a number of words, each once: a job lets
// the first of identical ones stand for all.
func readLong(in io.Reader, least int) ([]record, error) {
	var all []record
	seen := map[string]bool{}
	decoder := json.NewDecoder(bufio.NewReaderSize(in, 1<<20))
	for {
		var r record
		if err := decoder.Decode(&r); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("record %d: %w", len(all), err)
		}
		words := wordsOf(r.Text)
		if len(words) < least {
			continue
		}
		var key strings.Builder
		for _, word := range words {
			key.WriteString(strings.ToLower(r.Text[word[0]:word[1]]) + " ")
		}
		if !seen[key.String()] {
			seen[key.String()] = true
			all = append(all, r)
		}
	}
}

// wordsOf returns where the words of a text are: letters, digits and marks in a
// row.
func wordsOf(text string) [][2]int {
	var words [][2]int
	begin := -1
	for at, r := range text {
		inside := unicode.IsLetter(r) || unicode.IsDigit(r) || begin >= 0 && unicode.IsMark(r)
		switch {
		case inside && begin < 0:
			begin = at
		case !inside && begin >= 0:
			words = append(words, [2]int{begin, at})
			begin = -1
		}
	}
	if begin >= 0 {
		words = append(words, [2]int{begin, len(text)})
	}
	return words
}

// excerpt returns some words in a row of a text, and where they begin. It wants
// prose: most of them differ from each other.
func excerpt(text string, words int, random *rand.Rand) (from int, excerpt string, ok bool) {
	places := wordsOf(text)
	first := random.IntN(len(places) - words)
	distinct := map[string]bool{}
	for _, place := range places[first : first+words] {
		distinct[text[place[0]:place[1]]] = true
	}
	from = places[first][0]
	return from, text[from:places[first+words-1][1]], len(distinct) > words/3
}

// replace returns an excerpt with every so manieth word replaced, none if every is
// 0.
func replace(excerpt string, every int, random *rand.Rand) string {
	if every == 0 {
		return excerpt
	}
	var b strings.Builder
	copied := 0
	for i, place := range wordsOf(excerpt) {
		if i%every != every/2 {
			continue
		}
		b.WriteString(excerpt[copied:place[0]])
		for range 7 {
			b.WriteByte(byte('a' + random.IntN(26)))
		}
		copied = place[1]
	}
	b.WriteString(excerpt[copied:])
	return b.String()
}

// boundary returns a place between two words of a text.
func boundary(text string, random *rand.Rand) int {
	places := wordsOf(text)
	at := places[random.IntN(len(places)-2)+1][0]
	_, size := utf8.DecodeLastRuneInString(text[:at])
	return at - size
}
