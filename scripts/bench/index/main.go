// Command index measures lshbands.Index for index.py, which measures datasketch and gaoya next to it.
//
//	index estimates|exact|complete THRESHOLD FILE
//
// It reads texts, one a line, adds all of them, asks for each, and prints the CPU seconds of both and how many pairs
// were found.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// modes are the kinds of index.
var modes = map[string]lshbands.IndexOptions{
	"estimates": {},
	"exact":     {Exact: true},
	"complete":  {Exact: true, Recall: 1},
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: index MODE THRESHOLD FILE")
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

func run(mode, threshold, name string) error {
	options, isMode := modes[mode]
	if !isMode {
		return fmt.Errorf("mode %q: must be estimates, exact or complete", mode)
	}
	var err error
	if options.Threshold, err = strconv.ParseFloat(threshold, 64); err != nil {
		return fmt.Errorf("threshold: %w", err)
	}
	texts, err := readLines(name)
	if err != nil {
		return err
	}
	index, err := lshbands.NewIndex[int](options)
	if err != nil {
		return err
	}
	hasher, err := sketch.NewHasher(sketch.Measure{Shingle: 3})
	if err != nil {
		return err
	}
	begun := cpu()
	for id, text := range texts {
		if err := index.Add(id, hasher.Document(text).Set); err != nil {
			return err
		}
	}
	added := cpu()
	pairs := 0
	var found []lshbands.Similar[int]
	for id, text := range texts {
		if found, err = index.Query(found[:0], hasher.Document(text).Set); err != nil {
			return err
		}
		for _, other := range found {
			if other.ID < id {
				pairs++
			}
		}
	}
	asked := cpu()
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	fmt.Printf("mirrorbeam, %s\t%.2f\t%.2f\t%d\t%d\n", mode, (added - begun).Seconds(), (asked - added).Seconds(),
		pairs, memory.HeapAlloc>>20)
	runtime.KeepAlive(index)
	return nil
}

// cpu returns the CPU time of the process.
func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func readLines(name string) (texts [][]byte, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		texts = append(texts, append([]byte(nil), lines.Bytes()...))
	}
	return texts, lines.Err()
}
