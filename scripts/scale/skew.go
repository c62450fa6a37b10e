package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

const (
	identicalEvery = 3       // of the skew "identical"
	chainWords     = 100     // of a document of a chain
	chainStep      = 4       // words that a document of a chain does not share with the one before
	longWords      = 9 << 20 // of the document of the skew "long": some 60 MB
)

// generateSkewed writes a corpus in which much depends on few documents.
//
//	identical  every third document has the same text
//	chain      each document is like the one before, so all are one connected component
//	long       the first document has 60 MB
func generateSkewed(folder, skew string, documents int) error {
	words := newWords()
	lines := map[string]func([]byte, int) []byte{
		"identical": func(b []byte, number int) []byte {
			text := number
			if number%identicalEvery == 0 {
				text = 0
			}
			return words.appendText(b, number, text, chainWords)
		},
		"chain": func(b []byte, number int) []byte {
			b = begin(b, number)
			for i := range chainWords {
				b = words.appendWord(b, number*chainStep+i)
			}
			return end(b)
		},
		"long": func(b []byte, number int) []byte {
			if number == 0 {
				return words.appendText(b, number, number, longWords)
			}
			return words.appendDocument(b, number)
		},
	}
	line := lines[skew]
	if line == nil {
		return fmt.Errorf("no skew is called %q", skew)
	}
	return generate(folder, documents, documents, line)
}

// appendText appends a document of n words. Documents of the same text have the same words.
func (w *words) appendText(b []byte, number, text, n int) []byte {
	b = begin(b, number)
	random := rand.NewPCG(uint64(text), 3)
	for range n {
		b = append(append(b, w.draw(random)...), ' ')
	}
	return end(b)
}

// appendWord appends a word of an endless text.
func (w *words) appendWord(b []byte, number int) []byte {
	return append(append(b, w.draw(rand.NewPCG(uint64(number), 4))...), ' ')
}

func begin(b []byte, number int) []byte {
	return append(strconv.AppendInt(append(b, `{"id":"`...), int64(number), 10), `","text":"`...)
}

func end(b []byte) []byte { return append(b, "\"}\n"...) }
