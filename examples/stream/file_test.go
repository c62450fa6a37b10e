package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"mirrorbeam.dev/lshbands"
)

// savedIndex returns a small index and its file.
func savedIndex(t testing.TB, o lshbands.HammingOptions) (*lshbands.HammingIndex[uint64], []byte) {
	t.Helper()
	x, err := lshbands.NewHammingIndex[uint64](o)
	if err != nil {
		t.Fatal(err)
	}
	for id := range uint64(5) {
		row := make([]uint64, (o.Bits+63)/64)
		row[len(row)-1] = 9 - id
		if err := x.Add(id, row); err != nil {
			t.Fatal(err)
		}
	}
	x.Remove(1)
	var file bytes.Buffer
	if err := saveIndex(&file, x); err != nil {
		t.Fatal(err)
	}
	return x, file.Bytes()
}

// TestSavedIndex: a loaded index has what was saved in the same order, and damaged files are errors.
func TestSavedIndex(t *testing.T) {
	for _, o := range []lshbands.HammingOptions{
		{Bits: 32, Distance: 1, Window: 4}, {Bits: 128, Distance: 6}, {Bits: 256, Distance: 4, Blocks: []int{5}},
	} {
		t.Run(fmt.Sprint(o), func(t *testing.T) {
			x, file := savedIndex(t, o)
			loaded, err := loadIndex(bytes.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			var again bytes.Buffer
			if err := saveIndex(&again, loaded); err != nil || !bytes.Equal(again.Bytes(), file) {
				t.Errorf("another file is saved, %v", err)
			}
			if got, want := len(maps.Collect(loaded.All())), x.Len(); got != want || want < 3 {
				t.Errorf("%d fingerprints, want %d", got, want)
			}
			for i := range file {
				if _, err := loadIndex(bytes.NewReader(file[:i])); err == nil {
					t.Errorf("the first %d bytes are loaded", i)
				}
				damaged := slices.Clone(file)
				damaged[i] ^= 1
				if _, err := loadIndex(bytes.NewReader(damaged)); err == nil {
					t.Errorf("byte %d may be another one", i)
				}
			}
		})
	}
}

// FuzzLoadIndex: no file makes the program panic, or take memory that the file does not have.
func FuzzLoadIndex(f *testing.F) {
	_, file := savedIndex(f, lshbands.HammingOptions{Bits: 64, Distance: 1, Window: 3})
	f.Add(file)
	f.Fuzz(func(_ *testing.T, file []byte) { _, _ = loadIndex(bytes.NewReader(file)) })
}
