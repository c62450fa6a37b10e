package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// readPairs marks the copies that a pair joins to their originals. It returns the number of all other pairs.
func readPairs(pattern string, documents int, found []bool) (unknown int, err error) {
	paths, err := filepath.Glob(pattern)
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("no file is called %s", pattern)
	}
	for _, path := range paths {
		if err != nil {
			return 0, err
		}
		var others int
		others, err = readFile(path, documents, found)
		unknown += others
	}
	return unknown, err
}

func readFile(path string, documents int, found []bool) (unknown int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	decoder := json.NewDecoder(bufio.NewReaderSize(file, 1<<20))
	for {
		var pair struct{ A, B string }
		if err := decoder.Decode(&pair); errors.Is(err, io.EOF) {
			return unknown, nil
		} else if err != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
		a, errA := strconv.Atoi(pair.A)
		b, errB := strconv.Atoi(pair.B)
		if err := errors.Join(errA, errB); err != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
		if a, b = min(a, b), max(a, b); isCopy(b) && a == b-1 && b < documents {
			found[b/copyEvery] = true
		} else {
			unknown++
		}
	}
}
