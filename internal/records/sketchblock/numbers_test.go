package sketchblock

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
)

// TestNumbers: a list gives its numbers back, in few bytes where they lie near a line.
func TestNumbers(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	list := func(n int, number func(i int) uint64) (list []uint64) {
		for i := range n {
			list = append(list, number(i))
		}
		return list
	}
	position := uint64(7 << 40)
	for _, test := range []struct {
		name  string
		width int
		list  []uint64
	}{
		{"none", 0, nil},
		{"one", 0, []uint64{1 << 63}},
		{"equal", 0, list(100, func(int) uint64 { return 97 })},
		{"even", 0, list(100, func(i int) uint64 { return 12345 + 6*uint64(i) })},
		{"small", 1, list(1000, func(int) uint64 { return 100 + random.Uint64N(100) })},
		{"lines of a file", 2, list(300, func(int) uint64 { position += 500 + random.Uint64N(200); return position })},
		{"falling", 2, list(1000, func(i int) uint64 { return 1000 - uint64(i) })},
		{"any", 8, list(1000, func(int) uint64 { return random.Uint64() })},
		{"far apart", 8, []uint64{0, math.MaxUint64, 1 << 63, 1, math.MaxUint64 - 1}},
		{"files", 6, []uint64{1 << 40, 1<<40 + 5, 3 << 40}},
	} {
		packed := appendNumbers(nil, test.list)
		behind := []byte("what follows")
		got, rest, err := takeNumbers(append(packed, behind...), len(test.list))
		if err != nil || !bytes.Equal(rest, behind) || got.width > test.width {
			t.Errorf("%s: %d bytes a number, want %d; %q is left (%v)", test.name, got.width, test.width, rest, err)
			continue
		}
		for i, want := range test.list {
			if got.at(i) != want {
				t.Errorf("%s: number %d is %d, want %d", test.name, i, got.at(i), want)
			}
		}
	}
	if _, _, err := takeNumbers(append(make([]byte, 16), 9, 0, 0, 0, 0, 0, 0, 0, 0, 0), 1); err == nil {
		t.Error("numbers of 9 bytes: no error")
	}
}
