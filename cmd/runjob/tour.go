package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tour shows what is in the results of a job over one JSONL file: the largest
// clusters, a pair that is near but not identical with its difference, and what
// would be removed.
type tour struct {
	corpus, results string
	clusters        map[string][]clusterRow // by the name of the cluster
}

type clusterRow struct {
	Cluster, ID string
	Kept        bool
	Similarity  float64
	Size        int
}

type pairRow struct {
	A, B      string
	Jaccard   float64
	Identical bool
}

// show prints the tour.
func (t *tour) show(w io.Writer) error {
	t.clusters = map[string][]clusterRow{}
	err := eachRow(filepath.Join(t.results, "clusters-*"), func(r clusterRow) {
		t.clusters[r.Cluster] = append(t.clusters[r.Cluster], r)
	})
	if err != nil || len(t.clusters) == 0 {
		return err
	}
	t.largest(w)
	if err := t.nearPair(w); err != nil {
		return err
	}
	return t.removed(w)
}

// largest prints the clusters with the most documents.
func (t *tour) largest(w io.Writer) {
	names := make([]string, 0, len(t.clusters))
	for name := range t.clusters {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(t.clusters[b][0].Size, t.clusters[a][0].Size), cmp.Compare(a, b))
	})
	fmt.Fprintln(w, "\nThe largest clusters, each by its first document:")
	for _, name := range names[:min(5, len(names))] {
		kept := 0
		for _, row := range t.clusters[name] {
			if row.Kept {
				kept++
			}
		}
		fmt.Fprintf(w, "%6d documents, %d kept   %s\n", t.clusters[name][0].Size, kept, name)
	}
}

// nearPair prints the pair whose similarity is closest to 0.85, and how it
// differs.
func (t *tour) nearPair(w io.Writer) error {
	var near pairRow
	distance := math.Inf(1)
	err := eachRow(filepath.Join(t.results, "pairs-*"), func(r pairRow) {
		if d := math.Abs(r.Jaccard - 0.85); !r.Identical && d < distance {
			near, distance = r, d
		}
	})
	if err != nil || math.IsInf(distance, 1) {
		return err
	}
	texts := map[string]string{near.A: "", near.B: ""}
	err = eachRow(t.corpus, func(r struct{ ID, Text string }) {
		if _, wanted := texts[r.ID]; wanted {
			texts[r.ID] = r.Text
		}
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nA pair that is no copy: similarity %.3f\n     - %s\n     + %s\n", near.Jaccard, near.A, near.B)
	for _, line := range difference(strings.Fields(texts[near.A]), strings.Fields(texts[near.B])) {
		fmt.Fprintln(w, "       "+line)
	}
	return nil
}

// removed prints some of the documents that would go, those farthest from the one
// that stays for them first: where to look before one trusts a threshold.
func (t *tour) removed(w io.Writer) error {
	var rows []clusterRow
	for _, cluster := range t.clusters {
		for _, row := range cluster {
			if !row.Kept {
				rows = append(rows, row)
			}
		}
	}
	slices.SortFunc(rows, func(a, b clusterRow) int {
		return cmp.Or(cmp.Compare(a.Similarity, b.Similarity), cmp.Compare(a.ID, b.ID))
	})
	fmt.Fprintf(w, "\n%s would be removed; those least like the one that stays:\n", counted(int64(len(rows)), "document"))
	for _, row := range rows[:min(4, len(rows))] {
		fmt.Fprintf(w, "   %.3f   %s\n", row.Similarity, row.ID)
	}
	return nil
}

// eachRow reads the JSON lines of the files that match a pattern.
func eachRow[T any](pattern string, visit func(T)) error {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := rowsOf(file, visit); err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
	}
	return nil
}

func rowsOf[T any](file string, visit func(T)) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	decoder := json.NewDecoder(bufio.NewReader(f))
	for {
		var row T
		if err := decoder.Decode(&row); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		visit(row)
	}
}

const (
	maxDifferences = 3
	contextWords   = 5
	longestRun     = 12 // words shown of what is only on one side
)

// difference describes the first places where two texts differ, a line each:
// some words before, [-what only a has-] and {+what only b has+}.
func difference(a, b []string) []string {
	var lines []string
	i, j := 0, 0
	for len(lines) < maxDifferences {
		for i < len(a) && j < len(b) && a[i] == b[j] {
			i++
			j++
		}
		if i == len(a) && j == len(b) {
			break
		}
		nextA, nextB := meet(a, b, i, j)
		line := "... " + strings.Join(a[max(i-contextWords, 0):i], " ")
		if nextA > i {
			line += " [-" + shorten(a[i:nextA]) + "-]"
		}
		if nextB > j {
			line += " {+" + shorten(b[j:nextB]) + "+}"
		}
		lines = append(lines, line+" ...")
		i, j = nextA, nextB
	}
	return lines
}

// meet returns the nearest places behind i and j from which three words of both
// texts agree, or their ends.
func meet(a, b []string, i, j int) (int, int) {
	const agree, farthest = 3, 400
	for distance := 1; distance <= farthest; distance++ {
		for x := range distance + 1 {
			p, q := i+x, j+distance-x
			if p+agree <= len(a) && q+agree <= len(b) && slices.Equal(a[p:p+agree], b[q:q+agree]) {
				return p, q
			}
		}
	}
	return len(a), len(b)
}

// shorten joins words and leaves out the middle of many.
func shorten(words []string) string {
	if len(words) <= longestRun {
		return strings.Join(words, " ")
	}
	half := longestRun / 2
	return fmt.Sprintf("%s ... (%d words) ... %s", strings.Join(words[:half], " "), len(words)-2*half, strings.Join(words[len(words)-half:], " "))
}
