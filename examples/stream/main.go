// Command stream reads a text a line, and tells at once which of the earlier ones each is like: the answer that a
// crawler wants before it stores a page. It searches SimHash fingerprints of 64 bits within a Hamming distance, and
// verifies nothing.
//
//	go run ./examples/stream < texts.txt
//	go run ./examples/stream -window 100000 -index last-day.index < texts.txt    # goes on where the last run ended
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"

	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

var (
	distance = flag.Int("distance", 3,
		"largest number of bits in which the fingerprints of two texts that are alike differ")
	window = flag.Int("window", 0, "number of texts to remember, the last ones; 0 for all")
	saved  = flag.String("index", "", "file that the index is read from, if it is there, and saved to")
)

func main() {
	log.SetFlags(0)
	flag.Parse()
	if err := run(os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run tells of each line of in that is like an earlier one.
func run(in io.Reader, out io.Writer) error {
	index, err := open()
	if err != nil {
		return err
	}
	last := uint64(0)
	for id := range index.All() {
		last = max(last, id)
	}
	buffered := bufio.NewWriter(out)
	hasher, err := sketch.NewFingerprinter(sketch.Options{Measure: sketch.Measure{Shingle: 3}, SimHashBits: 64})
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	var found []lshbands.Near[uint64]
	for number := last + 1; lines.Scan(); number++ {
		fingerprint := hasher.Texts([][]byte{lines.Bytes()}).SimHash
		if found, err = index.Query(found[:0], fingerprint); err != nil {
			return err
		}
		for _, near := range found {
			fmt.Fprintf(buffered, "text %d is like text %d (%d bits)\n", number, near.ID, near.Distance)
		}
		if err := buffered.Flush(); err != nil { // who feeds the texts waits for the answer
			return fmt.Errorf("print what is alike: %w", err)
		}
		if err := index.Add(number, fingerprint); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read the texts: %w", err)
	}
	return save(index)
}

// open returns the saved index, or an empty one.
func open() (*lshbands.HammingIndex[uint64], error) {
	file, err := os.Open(*saved)
	if *saved == "" || errors.Is(err, fs.ErrNotExist) {
		return lshbands.NewHammingIndex[uint64](lshbands.HammingOptions{Bits: 64, Distance: *distance, Window: *window})
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return loadIndex(file)
}

// save writes the index under its name when it is whole.
func save(index *lshbands.HammingIndex[uint64]) error {
	if *saved == "" {
		return nil
	}
	file, err := os.Create(*saved + ".new")
	if err != nil {
		return err
	}
	if err := errors.Join(saveIndex(file, index), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), *saved)
}
