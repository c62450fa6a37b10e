package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
)

// pair is a row of pairs.
type pair struct {
	A     string `json:"a"`
	B     string `json:"b"`
	Spans []span `json:"spans"`
}

type span struct {
	A [2]int `json:"a"`
	B [2]int `json:"b"`
}

// found sums up the excerpts of a kind.
type found struct {
	planted, paired, located int
	bytes, covered           int // of the excerpts, and within spans
}

// judge compares the pairs of a job with what was planted.
func judge(out io.Writer, truth, pattern string) error {
	pairs, err := readPairs(pattern)
	if err != nil {
		return err
	}
	list, err := os.Open(truth)
	if err != nil {
		return err
	}
	defer list.Close()
	sums := make([]found, len(kinds))
	lines := bufio.NewScanner(list)
	planted := map[[2]string]bool{}
	for lines.Scan() {
		var donor, host string
		var words, every int
		var from, at [2]int
		if _, err := fmt.Sscanf(lines.Text(), "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d", &donor, &host, &words, &every,
			&from[0], &from[1], &at[0], &at[1]); err != nil {
			return fmt.Errorf("%s: row %q: %w", truth, lines.Text(), err)
		}
		planted[[2]string{donor, host}], planted[[2]string{host, donor}] = true, true
		for i, kind := range kinds {
			if kind.words == words && kind.every == every {
				sums[i].add(pairs, donor, host, from, at)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "words\treplaced\tplanted\tpair found\tplace found\tof its bytes in spans")
	for i, kind := range kinds {
		s := sums[i]
		if s.planted == 0 {
			continue
		}
		n := float64(s.planted)
		fmt.Fprintf(table, "%d\t%d\t%d\t%.3f\t%.3f\t%.3f\n", kind.words, kind.every, s.planted, float64(s.paired)/n,
			float64(s.located)/n, float64(s.covered)/float64(max(s.bytes, 1)))
	}
	others := 0
	for names := range pairs {
		if !planted[names] {
			others++
		}
	}
	fmt.Fprintf(table, "%d pairs, %d of them not planted\n", len(pairs), others)
	return table.Flush()
}

// readPairs returns the pairs in the files by their names.
func readPairs(pattern string) (map[[2]string]pair, error) {
	names, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("no file is called " + pattern)
	}
	pairs := map[[2]string]pair{}
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		decoder := json.NewDecoder(bufio.NewReader(file))
		for {
			var p pair
			if err = decoder.Decode(&p); err != nil {
				break
			}
			pairs[[2]string{p.A, p.B}] = p
		}
		file.Close() // a file that was only read
		if err != io.EOF {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return pairs, nil
}

// add counts one excerpt.
func (f *found) add(pairs map[[2]string]pair, donor, host string, from, at [2]int) {
	f.planted++
	p, there := pairs[[2]string{donor, host}]
	back, turned := pairs[[2]string{host, donor}]
	f.bytes += at[1] - at[0]
	if !there && !turned {
		return
	}
	f.paired++
	covered := 0
	for _, s := range p.Spans {
		if overlap(s.A, from) > 0 {
			covered += overlap(s.B, at)
		}
	}
	for _, s := range back.Spans {
		if overlap(s.B, from) > 0 {
			covered += overlap(s.A, at)
		}
	}
	if covered > 0 {
		f.located++
	}
	f.covered += min(covered, at[1]-at[0])
}

// overlap returns how many bytes two stretches have in common.
func overlap(a, b [2]int) int { return max(min(a[1], b[1])-max(a[0], b[0]), 0) }
