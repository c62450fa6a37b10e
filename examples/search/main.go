// Command search finds the lines of a file that are similar to each line of its input.
//
//	echo 'a line to look for' | go run ./examples/search lines.txt
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"os"

	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: search FILE")
	}
	if err := run(os.Args[1], os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(name string, in io.Reader, out io.Writer) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	index, err := lshbands.NewIndex[int](lshbands.IndexOptions{Threshold: 0.5, Exact: true})
	if err != nil {
		return err
	}
	err = eachSet(file, func(number int, set []uint64) error { return index.Add(number, set) })
	if err != nil {
		return err
	}
	return eachSet(in, func(number int, set []uint64) error {
		found, err := index.Query(nil, set)
		for _, line := range found {
			fmt.Fprintf(out, "%d is similar to line %d: %.3f\n", number, line.ID, line.Similarity)
		}
		return err
	})
}

// eachSet visits the lines of a text as sets of shingles. A set is valid until visit returns.
func eachSet(in io.Reader, visit func(number int, set []uint64) error) error {
	hasher, err := sketch.NewHasher(sketch.Measure{Shingle: 2})
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	for number := 1; lines.Scan(); number++ {
		if err := visit(number, hasher.Document(lines.Bytes()).Set); err != nil {
			return err
		}
	}
	return lines.Err()
}
