package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// truth has the documents of a corpus and all their pairs of at least the threshold, which is 0.8 for all that are
// compared. It is computed here from the definition, with nothing of the program that is measured.
type truth struct {
	numbers map[string]int32 // of documents, by id
	pairs   [][2]int32
}

// eachLine calls do with every line of a file.
func eachLine(path string, do func(line []byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewReaderSize(file, 1<<20)
	for {
		line, end := lines.ReadBytes('\n')
		if len(line) > 0 {
			if err := do(line); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		if errors.Is(end, io.EOF) {
			return nil
		}
		if end != nil {
			return fmt.Errorf("read %s: %w", path, end)
		}
	}
}

// newTruth finds all pairs of a corpus of at least the threshold.
func newTruth(corpus string) (*truth, error) {
	t := truth{numbers: map[string]int32{}}
	var sets [][]uint64
	seed := maphash.MakeSeed()
	err := eachLine(corpus, func(line []byte) error {
		var document struct{ ID, Text string }
		if err := json.Unmarshal(line, &document); err != nil {
			return err
		}
		t.numbers[document.ID] = int32(len(sets))
		sets = append(sets, shingles(seed, document.Text))
		return nil
	})
	if err == nil && len(t.numbers) != len(sets) {
		err = fmt.Errorf("%s: two documents have one id", corpus)
	}
	t.join(sets)
	return &t, err
}

// shingles returns the sorted hashes of three adjacent words each. A word is a letter or digit and the letters, digits
// and marks behind it, in lower case. A shorter text is one shingle of all its words.
func shingles(seed maphash.Seed, text string) []uint64 {
	var words []uint64
	start := -1
	text = strings.ToLower(text) + " "
	for i, r := range text {
		begins := unicode.IsLetter(r) || unicode.IsDigit(r)
		switch {
		case start < 0 && begins:
			start = i
		case start >= 0 && !begins && !unicode.IsMark(r):
			words = append(words, maphash.String(seed, text[start:i]))
			start = -1
		}
	}
	if len(words) == 0 {
		return nil
	}
	for len(words) < 3 {
		words = append(words, 0)
	}
	set := make([]uint64, 0, len(words)-2)
	for i := range len(words) - 2 {
		set = append(set, maphash.Comparable(seed, [3]uint64(words[i:])))
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// join finds the pairs. Two sets that are so similar share one of the rarest shingles of each, as many of them as may
// be missing in the other set and one more.
func (t *truth) join(sets [][]uint64) {
	frequencies := map[uint64]int32{}
	for _, set := range sets {
		for _, shingle := range set {
			frequencies[shingle]++
		}
	}
	order := make([]int32, len(sets))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(len(sets[a]), len(sets[b])) })
	holders := map[uint64][]int32{}
	compared := make([]int32, len(sets)) // with which document a document was compared last, counted from 1
	for _, i := range order {
		set := sets[i]
		rarest := slices.SortedFunc(slices.Values(set), func(a, b uint64) int {
			return cmp.Or(cmp.Compare(frequencies[a], frequencies[b]), cmp.Compare(a, b))
		})
		least := leastCommon(len(set))
		for _, shingle := range rarest[:min(len(set), len(set)-least+1)] {
			if frequencies[shingle] < 2 {
				continue
			}
			for _, j := range holders[shingle] {
				if compared[j] == i+1 || len(sets[j]) < least {
					continue
				}
				compared[j] = i + 1
				if common := intersection(set, sets[j]); isPair(common, len(set)+len(sets[j])-common) {
					t.pairs = append(t.pairs, [2]int32{min(i, j), max(i, j)})
				}
			}
			holders[shingle] = append(holders[shingle], i)
		}
	}
}

// leastCommon returns how many shingles a set of size has at least in common with any set that is similar enough.
func leastCommon(size int) int {
	least := 0
	for least < size && !isPair(least, size) {
		least++
	}
	return least
}

// isPair reports whether two sets are similar enough, by the sizes of their intersection and their union. Whole numbers
// decide, so that 4 of 5 are.
func isPair(common, union int) bool { return union > 0 && common*5 >= union*4 }

// intersection counts what two sorted sets have in common.
func intersection(a, b []uint64) (n int) {
	for len(a) > 0 && len(b) > 0 {
		switch c := cmp.Compare(a[0], b[0]); {
		case c < 0:
			a = a[1:]
		case c > 0:
			b = b[1:]
		default:
			n, a, b = n+1, a[1:], b[1:]
		}
	}
	return n
}

// What a row of a result joins.
const (
	pairsJoined    = "pairs"
	clustersJoined = "clusters"
	firstSeen      = "first seen"
)

// score says how good a result is: the share of the pairs that it has, and the share of its pairs that are pairs.
type score struct{ found, right float64 }

// judge scores the result that a program left in a folder.
func (t *truth) judge(folder, joins string) (score, error) {
	classes := make([]int32, len(t.numbers)) // disjoint sets of documents that are joined: a forest
	for i := range classes {
		classes[i] = int32(i)
	}
	root := func(i int32) int32 {
		for classes[i] != i {
			classes[i] = classes[classes[i]]
			i = classes[i]
		}
		return i
	}
	var rows [][2]int32
	named := map[string]int32{} // clusters, by name
	err := eachRow(folder, func(a, b string, same bool) error {
		i, known := t.numbers[a]
		j, also := t.numbers[b]
		if joins == clustersJoined {
			if j, also = named[b]; !also {
				j, also, named[b] = i, true, i
			}
		}
		if !known || !also {
			return fmt.Errorf("no document %q or %q", a, b)
		}
		if joins == pairsJoined && !same {
			rows = append(rows, [2]int32{i, j})
		} else {
			classes[root(i)] = root(j)
		}
		return nil
	})
	if err != nil {
		return score{}, err
	}
	return t.score(root, rows), nil
}

// score counts the pairs that are joined: all documents of a class with each other, and all of one class with all of
// another where a row has one of each.
func (t *truth) score(root func(int32) int32, rows [][2]int32) score {
	sizes := make([]int, len(t.numbers))
	for i := range sizes {
		sizes[root(int32(i))]++
	}
	joined := 0
	for _, size := range sizes {
		joined += size * (size - 1) / 2
	}
	between := map[[2]int32]bool{}
	ends := func(a, b int32) [2]int32 { return [2]int32{min(root(a), root(b)), max(root(a), root(b))} }
	for _, row := range rows {
		if pair := ends(row[0], row[1]); pair[0] != pair[1] && !between[pair] {
			between[pair] = true
			joined += sizes[pair[0]] * sizes[pair[1]]
		}
	}
	found := 0
	for _, pair := range t.pairs {
		if e := ends(pair[0], pair[1]); e[0] == e[1] || between[e] {
			found++
		}
	}
	return score{float64(found) / float64(max(1, len(t.pairs))), float64(found) / float64(max(1, joined))}
}

// eachRow calls do with the rows of found.tsv, or with the pairs of runjob, which says of documents with the same
// shingles only that they are the same.
func eachRow(folder string, do func(a, b string, same bool) error) error {
	ours, err := filepath.Glob(filepath.Join(folder, "out", "pairs-*.jsonl"))
	if err != nil {
		return err
	}
	if len(ours) == 0 {
		return eachLine(filepath.Join(folder, "found.tsv"), func(line []byte) error {
			a, b, ok := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\t")
			if !ok {
				return fmt.Errorf("row %q has one column", line)
			}
			return do(a, b, false)
		})
	}
	for _, path := range ours {
		err := eachLine(path, func(line []byte) error {
			var row struct {
				A, B      string
				Identical bool
			}
			if err := json.Unmarshal(line, &row); err != nil {
				return err
			}
			return do(row.A, row.B, row.Identical)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
