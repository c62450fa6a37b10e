// Command fingerprint measures package sketch against semblance, the fastest
// library of its kind that we know, on the texts of a JSONL file: from text to
// MinHash signature and SimHash, and from shingles alone. Both run in turn on one
// core; the figures are medians of CPU time.
//
//	go run . [-runs N] [-documents N] corpus.jsonl
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/ophymx/semblance"
	"github.com/ophymx/semblance/minhash"
	"github.com/ophymx/semblance/shingle"

	"mirrorbeam.dev/sketch"
)

// permutations is the length of the signatures: semblance's default.
const permutations = 128

func main() {
	runs := flag.Int("runs", 7, "how often everything is measured")
	documents := flag.Int("documents", 10_000, "how many documents are taken")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: fingerprint [-runs N] [-documents N] corpus.jsonl")
		os.Exit(2)
	}
	texts, err := readTexts(flag.Arg(0), *documents)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fingerprint:", err)
		os.Exit(1)
	}
	runtime.GOMAXPROCS(1)
	if err := compare(texts, *runs); err != nil {
		fmt.Fprintln(os.Stderr, "fingerprint:", err)
		os.Exit(1)
	}
}

// readTexts returns the texts of the first documents of a file.
func readTexts(path string, documents int) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var texts []string
	for lines := bufio.NewReader(file); len(texts) < documents; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var document struct{ Text string }
		if err := json.Unmarshal(line, &document); err != nil {
			return nil, fmt.Errorf("read document %d: %w", len(texts), err)
		}
		texts = append(texts, document.Text)
	}
	return texts, nil
}

// kernel is something to measure.
type kernel struct {
	name string
	work func()
	cpu  []time.Duration
}

// compare measures all kernels in turn and prints a table.
func compare(texts []string, runs int) error {
	ours, err := sketch.NewFingerprinter(sketch.Options{Measure: sketch.Measure{Shingle: 3}, SimHashBits: 64})
	if err != nil {
		return err
	}
	hasher, err := sketch.NewHasher(sketch.Measure{Shingle: 3})
	if err != nil {
		return err
	}
	ourMinHash, err := sketch.NewMinHash(permutations)
	if err != nil {
		return err
	}
	theirs := semblance.NewSketcher(semblance.Defaults())
	theirMinHash := minhash.New(permutations, 0)

	var bytes, shingles, theirShingles int
	raw, sets, hashes := make([][]byte, len(texts)), make([][]uint64, len(texts)), make([][]uint64, len(texts))
	for i, text := range texts {
		raw[i] = []byte(text)
		bytes += len(text)
		sets[i] = slices.Clone(hasher.Document(raw[i]).Set)
		shingles += len(sets[i])
		hashes[i] = slices.Collect(shingle.Words(text, 3))
		theirShingles += len(hashes[i])
	}
	var signature []uint32
	theirSignature := make(minhash.Signature, permutations)
	one := make([][]byte, 1)
	kernels := []*kernel{
		{name: "ours: text to exact set", work: func() {
			for _, text := range raw {
				hasher.Document(text)
			}
		}},
		{name: "ours: text to exact set and MinHash", work: func() {
			for _, text := range raw {
				signature = ourMinHash.SignatureOfHashes(signature, hasher.Document(text).Set)
			}
		}},
		{name: "ours: text to exact set, MinHash, SimHash and digest", work: func() {
			for _, text := range raw {
				one[0] = text
				signature = ourMinHash.SignatureOfHashes(signature, ours.Texts(one).Set)
			}
		}},
		{name: "semblance: text to MinHash", work: func() {
			for _, text := range texts {
				theirs.SketchInto(theirSignature, text)
			}
		}},
		{name: "ours: set to MinHash", work: func() {
			for _, set := range sets {
				signature = ourMinHash.SignatureOfHashes(signature, set)
			}
		}},
		{name: "semblance: shingle hashes to MinHash", work: func() {
			for _, h := range hashes {
				theirMinHash.Reset(theirSignature)
				theirMinHash.Update(theirSignature, h)
			}
		}},
	}
	for range runs {
		for _, k := range kernels {
			start := cpuTime()
			k.work()
			k.cpu = append(k.cpu, cpuTime()-start)
		}
	}
	fmt.Printf(
		"%d documents, %.1f MB, %.0f distinct shingles a document (semblance takes %.0f, with repeats), "+
			"%d permutations\n",
		len(texts), float64(bytes)/1e6, float64(shingles)/float64(len(texts)),
		float64(theirShingles)/float64(len(texts)), permutations)
	for _, k := range kernels {
		slices.Sort(k.cpu)
		seconds := k.cpu[len(k.cpu)/2].Seconds()
		fmt.Printf("%-54s %7.3f CPU-s %8.0f MB/s %10.0f documents/s\n", k.name, seconds, float64(bytes)/seconds/1e6,
			float64(len(texts))/seconds)
	}
	return nil
}

// cpuTime returns the CPU time of this process.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // cannot fail for this process
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
