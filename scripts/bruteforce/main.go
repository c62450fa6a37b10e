// Command bruteforce checks the pairs of a job by SimHash against all pairs of the
// fingerprints that it wrote, compared one by one with the Hamming kernel:
//
//	runjob run --keys simhash --emit pairs,sketches --input corpus.jsonl --output out
//	go run ./scripts/bruteforce out
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/input/corpus"
)

func main() {
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: bruteforce OUTPUT")
		os.Exit(2)
	}
	if err := check(context.Background(), flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "bruteforce:", err)
		os.Exit(1)
	}
}

// fingerprints are the distinct ones of a job's documents, one behind the other.
type fingerprints struct {
	words   int
	table   []uint64
	numbers map[string]int // of the fingerprint, by what pairs call its document
	known   map[string]int // by fingerprint
}

func (f *fingerprints) len() int { return len(f.table) / f.words }

func (f *fingerprints) row(i int) []uint64 { return f.table[i*f.words : (i+1)*f.words] }

// check compares the pairs of a job with brute force and says how many there are.
func check(ctx context.Context, folder string) error {
	var summary struct {
		Config struct{ Bits, Hamming int }
	}
	b, err := os.ReadFile(filepath.Join(folder, "summary.json"))
	if err == nil {
		err = json.Unmarshal(b, &summary)
	}
	if err != nil {
		return fmt.Errorf("read summary: %w", err)
	}
	all, err := readSketches(ctx, folder, (summary.Config.Bits+63)/64)
	if err != nil {
		return err
	}
	found, err := readPairs(ctx, folder, all)
	if err != nil {
		return err
	}
	start := time.Now()
	within := all.within(summary.Config.Hamming)
	missing := 0
	for pair := range within {
		if !found[pair] {
			missing++
		}
	}
	fmt.Printf(
		"%d distinct fingerprints: %d pairs within %d bits by brute force in %v, %d of them missing, %d others listed\n",
		all.len(), len(within), summary.Config.Hamming, time.Since(start).Round(time.Millisecond), missing,
		len(found)-(len(within)-missing))
	if missing > 0 || len(found) != len(within) {
		return errors.New("the pairs are not those of brute force")
	}
	return nil
}

// eachLine visits the lines of an output.
func eachLine(ctx context.Context, folder, output string, visit func(line []byte) error) error {
	files, err := filepath.Glob(filepath.Join(folder, output+"-*"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no %s in %s: run the job with --emit pairs,sketches", output, folder)
	}
	for _, file := range files {
		for line, err := range corpus.Lines(ctx, file) {
			if err == nil {
				err = visit(line)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// readSketches reads the fingerprints of documents with tokens.
func readSketches(ctx context.Context, folder string, words int) (*fingerprints, error) {
	f := &fingerprints{words: words, numbers: map[string]int{}, known: map[string]int{}}
	return f, eachLine(ctx, folder, "sketches", func(line []byte) error {
		var row struct {
			ID, Ref, SimHash string
			Shingles         int
		}
		// What follows is long, and not needed.
		head, _, _ := bytes.Cut(line, []byte(`,"fingerprint":`))
		if err := json.Unmarshal(append(head[:len(head):len(head)], '}'), &row); err != nil {
			return fmt.Errorf("read sketches: %w", err)
		}
		if row.Shingles == 0 {
			return nil
		}
		number, seen := f.known[row.SimHash]
		if !seen {
			number = f.len()
			f.known[row.SimHash] = number
			for hex := row.SimHash; len(hex) > 0; hex = hex[:max(len(hex)-16, 0)] {
				word, err := strconv.ParseUint(hex[max(len(hex)-16, 0):], 16, 64)
				if err != nil {
					return fmt.Errorf("read sketches: %w", err)
				}
				f.table = append(f.table, word)
			}
		}
		// An id that several documents have is not what pairs call them.
		f.numbers[row.ID], f.numbers[row.Ref] = number, number
		return nil
	})
}

// readPairs returns the pairs of different fingerprints.
func readPairs(ctx context.Context, folder string, f *fingerprints) (map[[2]int]bool, error) {
	found := map[[2]int]bool{}
	return found, eachLine(ctx, folder, "pairs", func(line []byte) error {
		var row struct {
			A, B    string
			Hamming int
		}
		if err := json.Unmarshal(line, &row); err != nil {
			return fmt.Errorf("read pairs: %w", err)
		}
		if row.Hamming > 0 {
			a, b := f.numbers[row.A], f.numbers[row.B]
			found[[2]int{min(a, b), max(a, b)}] = true
		}
		return nil
	})
}

// within compares all pairs, on all cores.
func (f *fingerprints) within(distance int) map[[2]int]bool {
	pairs := map[[2]int]bool{}
	var mutex sync.Mutex
	var group sync.WaitGroup
	workers := runtime.NumCPU()
	for worker := range workers {
		group.Go(func() {
			distances := make([]uint16, f.len())
			for i := worker; i < f.len(); i += workers {
				rest := distances[:f.len()-i-1]
				asmkernels.Hamming(rest, f.row(i), f.table[(i+1)*f.words:])
				for j, d := range rest {
					if int(d) <= distance {
						mutex.Lock()
						pairs[[2]int{i, i + 1 + j}] = true
						mutex.Unlock()
					}
				}
			}
		})
	}
	group.Wait()
	return pairs
}
