package corpus

import (
	"errors"
	"strings"
	"testing"

	"mirrorbeam/internal/storage"
	"mirrorbeam/internal/storage/storagetest"
)

// TestReadsFail lets each operation on a stored file fail in turn, for each kind of
// stream: the error comes through and names the file.
func TestReadsFail(t *testing.T) {
	content := []byte(strings.Repeat("a line of a file\n", 50_000))
	for _, stored := range [][]byte{content, gzipped(t, content), zstded(t, content)} {
		m, folder := storagetest.NewMemory(t)
		name := storage.Join(folder, "a.jsonl")
		if err := storage.WriteFile(name, stored); err != nil {
			t.Fatal(err)
		}
		file := File{Path: name}
		if err := inspect(&file); err != nil {
			t.Fatal(err)
		}
		operations := 0
		m.Ask = func(string, string) error { operations++; return nil }
		read := func() (lines int, err error) {
			for _, err := range Lines(t.Context(), name) {
				if err != nil {
					return lines, err
				}
				lines++
			}
			return lines, nil
		}
		if lines, err := read(); lines != 50_000 || err != nil {
			t.Errorf("%v: %d lines, %v", file.Compression, lines, err)
		}
		fault, all := errors.New("the storage fails"), operations
		if all < 5 {
			t.Errorf("%v: only %d operations", file.Compression, all)
		}
		for failing := range all {
			asked := 0
			m.Ask = func(string, string) error {
				if asked++; asked-1 == failing {
					return fault
				}
				return nil
			}
			if _, err := read(); !errors.Is(err, fault) || !strings.Contains(err.Error(), name) {
				t.Errorf("%v: operation %d of %d fails: %v", file.Compression, failing, all, err)
			}
		}
	}
}
