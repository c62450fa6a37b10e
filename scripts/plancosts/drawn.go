package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"mirrorbeam/internal/look/plan"
)

// drawn is a corpus and a job, both drawn by chance.
type drawn struct {
	folder, corpus string
	sources        []string
	flags          []string
	counts         bool // whether the job counts candidates
}

// mostDrawnBytes is about the largest size of a drawn corpus.
const mostDrawnBytes = 64 << 20

// holdDrawn draws corpora from the given ones and jobs over them, and counts how many jobs are as their plans say. A job whose
// results are in the folder is not run again: it is the same for the same seed. Jobs with SimHash keys count no candidates, so of
// these only memory is compared.
func holdDrawn(runjob, folder string, seed uint64, plans int, corpora []string) error {
	fmt.Println("| plan | of | flags | documents, sampled | candidates | planned | from, to | memory, MB |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	counted, within, near := 0, 0, 0
	for i := range plans {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		d, err := draw(random, filepath.Join(folder, strconv.Itoa(i)), corpora)
		if err != nil {
			return fmt.Errorf("draw corpus %d: %w", i, err)
		}
		planned, facts, err := d.plan(runjob)
		if err != nil {
			return err
		}
		candidates, memory, err := d.job(runjob)
		if err != nil {
			return err
		}
		mark, real := " *", fmt.Sprintf("%.0f", candidates)
		switch {
		case !d.counts:
			mark, real = "", ""
		case candidates >= planned.CandidatesLow && candidates <= planned.CandidatesHigh:
			mark = ""
			within++
			counted++
		default:
			counted++
		}
		if ratio := planned.MemoryBytes / memory; ratio < 1.3 && ratio > 1/1.3 {
			near++
		} else {
			mark = " *"
		}
		fmt.Printf("| %d%s | %s | %s | %d, %d | %s | %.0f | %.0f, %.0f | %.0f; %.0f |\n", i, mark, strings.Join(d.sources, " "), strings.Join(d.flags, " "),
			facts.Documents, facts.SampledDocuments, real, planned.Candidates, planned.CandidatesLow, planned.CandidatesHigh, planned.MemoryBytes/1e6, memory/1e6)
	}
	fmt.Printf("\ncandidates are within the interval in %d of %d plans, memory is within 1.3 times in %d of %d\n", within, counted, near, plans)
	return nil
}

// draw draws a job and writes its corpus: stretches of one to three corpora, with all of their documents or some.
func draw(random *rand.Rand, folder string, corpora []string) (d drawn, err error) {
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	d = drawn{folder: folder, corpus: filepath.Join(folder, "corpus.jsonl")}
	threshold := " --threshold " + pick("0.5", "0.6", "0.7", "0.8", "0.9")
	keys := pick(threshold, threshold, threshold+" --keys exact", threshold+" --recall 0.9", threshold+" --recall 0.99", threshold+" --recall 0.999", " --keys simhash")
	d.counts = !strings.HasSuffix(keys, "simhash")
	d.flags = strings.Fields("--shingle " + pick("2", "3", "3", "5", "8") + keys)
	var text bytes.Buffer
	sources := 1 + random.IntN(3)
	for range sources {
		source := pick(corpora...)
		name, _, _ := strings.Cut(filepath.Base(source), ".")
		d.sources = append(d.sources, name)
		share := []float64{1, 1, 0.5, 0.2}[random.IntN(4)]
		if err := takeStretch(&text, random, source, share, mostDrawnBytes>>random.IntN(5)/sources); err != nil {
			return d, err
		}
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return d, fmt.Errorf("make a folder: %w", err)
	}
	return d, os.WriteFile(d.corpus, text.Bytes(), 0o666)
}

// takeStretch appends a share of the documents of a corpus to text, in a stretch that begins anywhere. It takes most bytes at most.
func takeStretch(text *bytes.Buffer, random *rand.Rand, corpus string, share float64, most int) error {
	all, err := readCorpus(corpus)
	if err != nil {
		return fmt.Errorf("read %s: %w", corpus, err)
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(all, []byte("\n")), []byte("\n"))
	start, taken := random.IntN(len(lines)), 0
	for i := range lines {
		line := bytes.TrimSpace(lines[(start+i)%len(lines)])
		if random.Float64() >= share {
			continue
		}
		if taken += len(line); taken > most {
			return nil
		}
		text.Write(line)
		text.WriteByte('\n')
	}
	return nil
}

// readCorpus reads a file of lines, with or without zstd.
func readCorpus(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	in := io.Reader(bufio.NewReader(file))
	if strings.HasSuffix(path, ".zst") {
		decoder, err := zstd.NewReader(in, zstd.WithDecoderMaxWindow(1<<30))
		if err != nil {
			return nil, err
		}
		defer decoder.Close()
		in = decoder
	}
	return io.ReadAll(in)
}

func (d *drawn) plan(runjob string) (plan.Choice, *plan.Facts, error) {
	out, _, err := run(runjob, append([]string{"plan", "--json", "--input", d.corpus}, d.flags...))
	if err != nil {
		return plan.Choice{}, nil, err
	}
	var advice plan.Advice
	if err := json.Unmarshal(out, &advice); err != nil {
		return plan.Choice{}, nil, fmt.Errorf("read the plan of %s: %w", d.corpus, err)
	}
	return advice.Choices[advice.Chosen], advice.Corpus, nil
}

// job returns the candidates of the job and the memory that it took, in bytes.
func (d *drawn) job(runjob string) (candidates, memory float64, err error) {
	path := filepath.Join(d.folder, "out", "summary.json")
	if _, err := os.Stat(path); err != nil {
		args := append([]string{"run", "--emit", "clusters", "--overwrite", "--input", d.corpus, "--output", filepath.Dir(path)}, d.flags...)
		if _, _, err := run(runjob, args); err != nil {
			return 0, 0, err
		}
	}
	var summary struct {
		Counts struct{ Candidates float64 } `json:"counts"`
		Memory float64                      `json:"peak_memory_bytes"`
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, err
	}
	err = json.Unmarshal(b, &summary)
	return summary.Counts.Candidates, summary.Memory, err
}
