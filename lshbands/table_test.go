package lshbands

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/util/checksum"
)

// keyLists are sorted lists of all kinds, by their number of keys.
var keyLists = map[string]func(random *rand.Rand, count int) []uint64{
	"random": func(random *rand.Rand, count int) []uint64 {
		keys := make([]uint64, count)
		for i := range keys {
			keys[i] = random.Uint64()
		}
		slices.Sort(keys)
		return keys
	},
	"clustered": clusteredKeys,
	"many times each": func(random *rand.Rand, count int) []uint64 {
		keys := make([]uint64, count)
		for i := range keys {
			keys[i] = uint64(random.IntN(1+count/100)) << 50
		}
		slices.Sort(keys)
		return keys
	},
	"all equal": func(random *rand.Rand, count int) []uint64 {
		return slices.Repeat([]uint64{random.Uint64()}, count)
	},
	"one after the other": func(_ *rand.Rand, count int) []uint64 {
		keys := make([]uint64, count)
		for i := range keys {
			keys[i] = uint64(i)
		}
		return keys
	},
	"both ends": func(random *rand.Rand, count int) []uint64 {
		keys := make([]uint64, count)
		for i := range keys {
			keys[i] = random.Uint64N(3) - 1
		}
		slices.Sort(keys)
		return keys
	},
}

// clusteredKeys are like SimHash fingerprints of real texts: bits that most have,
// and many keys a few bits away from another one.
func clusteredKeys(random *rand.Rand, count int) []uint64 {
	keys := make([]uint64, count)
	for i := range keys {
		if i > 0 && random.IntN(3) > 0 {
			keys[i] = keys[random.IntN(i)]
			for range random.IntN(6) {
				keys[i] ^= 1 << random.IntN(64)
			}
			continue
		}
		keys[i] = random.Uint64() & (random.Uint64() | 0x00ff0ff000ffff00)
	}
	slices.Sort(keys)
	return keys
}

func newTable(t testing.TB, keys []uint64) *Table {
	t.Helper()
	table, err := NewTable(slices.Values(keys))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// reopened returns the table as it is after a file.
func reopened(t testing.TB, table *Table) *Table {
	t.Helper()
	var file bytes.Buffer
	if n, err := table.WriteTo(&file); err != nil || int(n) != file.Len() {
		t.Fatalf("WriteTo = %d, %v for %d bytes", n, err, file.Len())
	}
	table, err := OpenTable(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestTable compares searches with searches of the plain list, before a file and
// after.
func TestTable(t *testing.T) {
	for name, list := range keyLists {
		for _, count := range []int{0, 1, 2, 255, 256, 257, 512, 1000, 20_000} {
			t.Run(fmt.Sprintf("%s/%d", name, count), func(t *testing.T) {
				random := rand.New(rand.NewPCG(1, uint64(count)))
				keys := list(random, count)
				table := newTable(t, keys)
				for _, table := range []*Table{table, reopened(t, table)} {
					if table.Len() != count || !slices.Equal(slices.Collect(table.All()), keys) {
						t.Fatalf("%d keys come back as others", count)
					}
					for range 500 {
						checkRange(t, table, keys, probe(random, keys), random.IntN(65))
					}
					checkRange(t, table, keys, 0, 0)
					checkRange(t, table, keys, 0, 64)
					checkRange(t, table, keys, math.MaxUint64, 64)
				}
			})
		}
	}
}

// probe returns a key to search for: one of the list, near one, or any.
func probe(random *rand.Rand, keys []uint64) uint64 {
	if len(keys) == 0 || random.IntN(4) == 0 {
		return random.Uint64()
	}
	return keys[random.IntN(len(keys))] + random.Uint64N(3) - 1
}

func checkRange(t *testing.T, table *Table, keys []uint64, key uint64, prefixBits int) {
	t.Helper()
	prefix := key >> (64 - prefixBits)
	want := within(keys, prefix, prefixBits)
	wantFirst, _ := slices.BinarySearch(keys, prefix<<(64-prefixBits))
	first, end := table.Range(prefix, prefixBits)
	if first != wantFirst || end != wantFirst+len(want) {
		t.Fatalf("Range(%x, %d) = %d, %d, want %d, %d", prefix, prefixBits, first, end, wantFirst, wantFirst+len(want))
	}
	probes := []Probe{{Table: table, Prefix: prefix, PrefixBits: prefixBits}}
	Search(probes)
	for _, got := range [][]uint64{table.AppendKeys([]uint64{7}, first, end), probes[0].AppendKeys([]uint64{7})} {
		if got[0] != 7 || !slices.Equal(got[1:], want) {
			t.Fatalf("AppendKeys of %d to %d = %x, want %x", first, end, got[1:], want)
		}
	}
}

// TestSearch makes searches of several tables side by side. Each must give what it gives alone.
func TestSearch(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	var probes []Probe
	for _, list := range keyLists {
		for _, count := range []int{0, 1, 300, 5000} {
			keys := list(random, count)
			table := newTable(t, keys)
			for range 60 {
				prefixBits := random.IntN(65)
				probes = append(probes, Probe{
					Table:      table,
					Prefix:     probe(random, keys) >> (64 - prefixBits),
					PrefixBits: prefixBits,
					First:      -1,
					End:        -1,
				})
			}
		}
	}
	random.Shuffle(len(probes), func(i, j int) { probes[i], probes[j] = probes[j], probes[i] })
	for len(probes) > 0 {
		some := probes[:min(len(probes), random.IntN(48))]
		Search(some)
		for _, p := range some {
			if first, end := p.Table.Range(p.Prefix, p.PrefixBits); p.First != first || p.End != end {
				t.Fatalf("Search of %x, %d bits = %d, %d, want %d, %d", p.Prefix, p.PrefixBits, p.First, p.End, first,
					end)
			}
		}
		probes = probes[len(some):]
	}
}

func TestTableWantsSortedKeys(t *testing.T) {
	_, err := NewTable(slices.Values([]uint64{1, 2, 3, 2}))
	if err == nil || !strings.Contains(err.Error(), "not sorted") {
		t.Errorf("NewTable of keys out of order: %v", err)
	}
}

// TestTableIsSmall holds the promised size: 2^k random keys take about 64-k+6 bits each. No code could save
// more than four and a half of these bits.
func TestTableIsSmall(t *testing.T) {
	const count = 1 << 17
	table := newTable(t, keyLists["random"](rand.New(rand.NewPCG(2, 2)), count))
	if got := 8 * float64(table.Size()) / count; got > 64-17+6.1 {
		t.Errorf("%.2f bits for each of 2^17 random keys, want at most 53.1", got)
	}
}

func TestTableProbesAllocateNothing(t *testing.T) {
	keys := keyLists["random"](rand.New(rand.NewPCG(3, 3)), 10_000)
	table, out := newTable(t, keys), make([]uint64, 0, 10_000)
	probes := []Probe{{Table: table, Prefix: keys[7] >> 40, PrefixBits: 24}, {
		Table:      table,
		Prefix:     keys[8],
		PrefixBits: 64,
	}}
	allocations := testing.AllocsPerRun(10, func() {
		Search(probes)
		first, end := table.Range(keys[77]>>56, 8)
		out = table.AppendKeys(out[:0], first, end)
	})
	if allocations != 0 || len(out) == 0 {
		t.Errorf("%g allocations", allocations)
	}
}

func TestOpenTableRefusesOtherBytes(t *testing.T) {
	var file bytes.Buffer
	if _, err := newTable(t, keyLists["random"](rand.New(rand.NewPCG(4, 4)), 200)).WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	good := file.Bytes()
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 8)
		if _, err := OpenTable(bad); err == nil {
			t.Errorf("with another byte %d it is opened", i)
		}
		if _, err := OpenTable(good[:i]); err == nil {
			t.Errorf("cut to %d bytes it is opened", i)
		}
	}
	if _, err := OpenTable(append(bytes.Clone(good), 0)); err == nil {
		t.Error("with a byte more it is opened")
	}
}

// brokenWriter writes the given number of bytes, then fails.
type brokenWriter int

func (w *brokenWriter) Write(data []byte) (int, error) {
	if len(data) > int(*w) {
		return int(*w), errors.New("disk full")
	}
	*w -= brokenWriter(len(data))
	return len(data), nil
}

func TestWriteTableSaysWhatWentWrong(t *testing.T) {
	table := newTable(t, []uint64{1, 2, 3})
	for _, room := range []int{0, 30, 50, 60} {
		w := brokenWriter(room)
		if n, err := table.WriteTo(&w); err == nil || n != int64(room) || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("with room for %d bytes: %d, %v", room, n, err)
		}
	}
}

// FuzzOpenTable opens arbitrary bytes and searches the resulting table. Their sum is made right, so that the
// checks behind it are tried too.
func FuzzOpenTable(f *testing.F) {
	for _, list := range keyLists {
		var file bytes.Buffer
		if _, err := newTable(f, list(rand.New(rand.NewPCG(5, 5)), 300)).WriteTo(&file); err != nil {
			f.Fatal(err)
		}
		f.Add(file.Bytes(), uint64(1), 20)
	}
	f.Fuzz(func(_ *testing.T, file []byte, key uint64, prefixBits int) {
		if len(file) >= tableSum {
			body := file[:len(file)-tableSum]
			file = binary.LittleEndian.AppendUint32(bytes.Clone(body), checksum.Of(body))
		}
		table, err := OpenTable(file)
		if err != nil {
			return
		}
		prefixBits &= 63
		for _, key := range []uint64{key, 0, math.MaxUint64, table.least} {
			first, end := table.Range(key>>(64-prefixBits), prefixBits)
			table.AppendKeys(nil, min(first, end), end)
			probes := []Probe{{Table: table, Prefix: key >> (64 - prefixBits), PrefixBits: prefixBits}}
			Search(probes)
			probes[0].AppendKeys(nil)
		}
		table.AppendKeys(nil, 0, table.Len())
	})
}

// within returns the keys of a sorted list that begin with a prefix.
func within(sorted []uint64, prefix uint64, prefixBits int) []uint64 {
	low := prefix << (64 - prefixBits)
	first, _ := slices.BinarySearch(sorted, low)
	last := low | (1<<(64-prefixBits) - 1)
	if last == math.MaxUint64 {
		return sorted[first:]
	}
	end, _ := slices.BinarySearch(sorted, last+1)
	return sorted[first:end]
}
