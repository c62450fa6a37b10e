// Command scale makes a corpus of any size whose near-duplicates are known, to measure how a job grows and how many of
// them it finds.
//
//	go run ./scripts/scale -documents 1000000 -output corpus
//	go run ./scripts/scale -judge 'out/pairs-*.jsonl' -threshold 0.8 -documents 1000000
//
// Words are drawn by Zipf's law from a vocabulary of 200,000, and a document has from 40 to 160 of them. Every fourth
// document is a copy of the one before. In a copy a run of adjacent words is replaced by words that occur nowhere else.
// With shingles of three words that takes away a known number of shingles and adds as many, so the Jaccard similarity
// is known: it is drawn from 0.4 to 1. Each document depends on its number only, so the corpus is the same on every
// machine, and a larger corpus begins with a smaller one.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

func main() {
	documents := flag.Int("documents", 1_000_000, "number of documents")
	output := flag.String("output", "", "folder for the corpus")
	each := flag.Int("file", 250_000, "documents in a file")
	pairs := flag.String("judge", "", "pairs of a job over the corpus, to be compared with what is known")
	threshold := flag.Float64("threshold", 0.8, "threshold of the job")
	flag.Parse()
	var err error
	switch {
	case *pairs != "":
		err = judge(os.Stdout, *pairs, *documents, *threshold)
	case *output != "":
		err = generate(*output, *documents, *each)
	default:
		err = fmt.Errorf("give -output or -judge")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

const (
	vocabulary            = 200_000
	fewestWords           = 40
	mostWords             = 160
	shingle               = 3
	copyEvery             = 4
	leastAlike, mostAlike = 0.4, 1.0
)

// generate writes the documents to files of a folder.
func generate(folder string, documents, each int) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	words := newWords()
	for first := 0; first < documents; first += each {
		path := filepath.Join(folder, fmt.Sprintf("part-%05d.jsonl", first/each))
		if err := writeFile(path, words, first, min(first+each, documents)); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, words *words, from, to int) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriterSize(file, 1<<20)
	var text []byte
	for number := from; number < to; number++ {
		text = words.appendDocument(text[:0], number)
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return file.Close()
}

// words draws words by Zipf's law.
type words struct {
	spellings [][]byte
	until     []uint32 // of each word, the sum of the frequencies up to it, in 2^32 of all
	hint      [1 << 16]uint32
}

// newWords makes the vocabulary: frequent words are short.
func newWords() *words {
	w := &words{}
	sum := 0.0
	for rank := range vocabulary {
		sum += 1 / float64(rank+10)
	}
	total := 0.0
	for rank := range vocabulary {
		total += 1 / float64(rank+10)
		w.until = append(w.until, uint32(min(total/sum*(1<<32), math.MaxUint32)))
		w.spellings = append(w.spellings, spell(nil, uint64(rank)))
	}
	rank := uint32(0)
	for high := range w.hint {
		for w.until[rank] < uint32(high)<<16 && rank < vocabulary-1 {
			rank++
		}
		w.hint[high] = rank
	}
	return w
}

// spell appends a number as syllables.
func spell(b []byte, n uint64) []byte {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
	for {
		b = append(b, consonants[n%14], vowels[n/14%5])
		if n /= 70; n == 0 {
			return b
		}
	}
}

// draw returns a word.
func (w *words) draw(random *rand.PCG) []byte {
	at := uint32(random.Uint64() >> 32)
	rank := w.hint[at>>16]
	for w.until[rank] < at && rank < vocabulary-1 {
		rank++
	}
	return w.spellings[rank]
}

// isCopy reports whether a document is a copy of the one before it.
func isCopy(number int) bool { return number%copyEvery == copyEvery-1 }

// edit returns the number of words of a copy and where its replaced words begin and end.
func edit(number int) (n, from, to int) {
	random := rand.New(rand.NewPCG(uint64(number-1), 1))
	n = fewestWords + random.IntN(mostWords-fewestWords+1)
	random = rand.New(rand.NewPCG(uint64(number), 2))
	alike := leastAlike + (mostAlike-leastAlike)*random.Float64()
	// Of s shingles, m + 2 go and as many come: (s - m - 2) / (s + m + 2) is the similarity.
	s := float64(n - shingle + 1)
	m := int(math.Round(s*(1-alike)/(1+alike))) - shingle + 1
	if m <= 0 {
		return n, 0, 0
	}
	// Not at the ends, where a word is in fewer shingles.
	from = shingle - 1 + random.IntN(n-2*(shingle-1)-m+1)
	return n, from, from + m
}

// similarity returns the Jaccard similarity of a copy and the document before it, if no shingle occurs twice.
func similarity(number int) float64 {
	n, from, to := edit(number)
	shingles, gone := n-shingle+1, 0
	if to > from {
		gone = to - from + shingle - 1
	}
	return float64(shingles-gone) / float64(shingles+gone)
}

// appendDocument appends a document as a line of JSON.
func (w *words) appendDocument(b []byte, number int) []byte {
	b = append(b, `{"id":"`...)
	b = strconv.AppendInt(b, int64(number), 10)
	b = append(b, `","text":"`...)
	original, from, to := number, 0, 0
	if isCopy(number) {
		original = number - 1
		_, from, to = edit(number)
	}
	source := rand.NewPCG(uint64(original), 1)
	n := fewestWords + rand.New(source).IntN(mostWords-fewestWords+1)
	for i := range n {
		if i > 0 {
			b = append(b, ' ')
		}
		word := w.draw(source)
		if i >= from && i < to {
			// no word of the vocabulary ends like that
			b = append(spell(append(b, 'x'), uint64(number)*mostWords+uint64(i)), 'q')
			continue
		}
		b = append(b, word...)
	}
	return append(b, "\"}\n"...)
}

// judge prints how many of the known near-duplicates the pairs of a job hold, and how many pairs are not known.
func judge(out io.Writer, pattern string, documents int, threshold float64) error {
	found := make([]bool, documents/copyEvery)
	unknown, err := readPairs(pattern, documents, found)
	if err != nil {
		return err
	}
	var known, missed, wrong int
	for i, isFound := range found {
		isPair := similarity(copyEvery*i+copyEvery-1) >= threshold
		switch {
		case isPair && isFound:
			known++
		case isPair:
			known++
			missed++
		case isFound:
			wrong++
		}
	}
	_, err = fmt.Fprintf(out, "%d pairs of at least %g are known: %d found (%.5f); %d found of less, %d others\n",
		known, threshold, known-missed, float64(known-missed)/float64(max(known, 1)), wrong, unknown)
	return err
}
