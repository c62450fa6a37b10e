package runfile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRecordsReachTheirShard sends random records through several runs and a
// catalog, with budgets from one record to everything.
func TestRecordsReachTheirShard(t *testing.T) {
	const shards = 5
	random := rand.New(rand.NewPCG(1, 2))
	for _, budget := range []int{1, 100, 1 << 20} {
		t.Run(fmt.Sprint("budget ", budget), func(t *testing.T) {
			dir := t.TempDir()
			want := map[Kind]*[shards][]byte{1: {}, 2: {}, 9: {}}
			var runs []string
			for run := range 4 {
				w := NewWriter(dir, budget)
				defer w.Abort()
				for range 300 {
					kind, shard, size := []Kind{1, 2, 9}[random.IntN(3)], random.IntN(shards), 1+random.IntN(20)
					record, err := w.Record(kind, shard, size)
					if err != nil {
						t.Fatal(err)
					}
					for i := range record {
						record[i] = byte(run)<<4 | byte(random.IntN(16))
					}
					want[kind][shard] = append(want[kind][shard], record...)
				}
				path, err := w.Close()
				if err != nil {
					t.Fatal(err)
				}
				runs = append(runs, path)
			}
			catalog, err := WriteCatalog(dir, runs, []Kind{9}, []Kind{1})
			if err != nil {
				t.Fatal(err)
			}
			for _, held := range []int{1, 7, 40} {
				other, err := writeCatalog(dir, runs, []Kind{9}, []Kind{1}, held)
				if err != nil {
					t.Fatal(err)
				}
				if a, b := readFile(t, catalog.Path),
					readFile(t, other.Path); !bytes.Equal(a, b) || !slices.Equal(catalog.Shards, other.Shards) ||
					catalog.Bytes != other.Bytes {
					t.Errorf("with %d sections held, the catalog is another one", held)
				}
			}
			if len(catalog.Shards) != shards {
				t.Fatalf("catalog names shards %v", catalog.Shards)
			}
			for _, kind := range []Kind{1, 9} {
				for _, packed := range want[kind] {
					catalog.Bytes -= int64(len(packed))
				}
			}
			if catalog.Bytes != 0 {
				t.Errorf("the catalog counts %d bytes too many", catalog.Bytes)
			}
			var r Reader
			defer r.Close()
			for _, shard := range catalog.Shards {
				pieces, err := ReadCatalog(catalog.Path, shard)
				if err != nil {
					t.Fatal(err)
				}
				for _, kind := range []Kind{1, 9} {
					got, err := r.ReadKind(nil, pieces, kind)
					if err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(got, want[kind][shard]) {
						t.Errorf("kind %d shard %d: %d bytes, want %d", kind, shard, len(got), len(want[kind][shard]))
					}
				}
				if got, _ := r.ReadKind(nil, pieces, 2); len(got) != 0 {
					t.Errorf("kind 2 was not asked for, shard %d has %d bytes of it", shard, len(got))
				}
			}
			if pieces, err := ReadCatalog(catalog.Path, shards); err != nil || len(pieces) != 0 {
				t.Errorf("a shard that received nothing has %v, %v", pieces, err)
			}
			if rest, _ := filepath.Glob(filepath.Join(dir, "*.partial")); len(rest) != 0 {
				t.Errorf("left behind: %v", rest)
			}
		})
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestEmptyRunHasNoFile(t *testing.T) {
	dir := t.TempDir()
	w := NewWriter(dir, 100)
	if path, err := w.Close(); path != "" || err != nil {
		t.Errorf("Close = %q, %v", path, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("the folder holds %v", entries)
	}
	catalog, err := WriteCatalog(dir, nil, []Kind{1}, nil)
	if err != nil || len(catalog.Shards) != 0 {
		t.Fatalf("catalog of nothing: shards %v, %v", catalog.Shards, err)
	}
	if pieces, err := ReadCatalog(catalog.Path, 0); err != nil || len(pieces) != 0 {
		t.Errorf("pieces %v, %v", pieces, err)
	}
}

func TestAbortLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	w := NewWriter(dir, 1)
	if err := w.Section(1, 0, []byte("half a run")); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("the folder holds %v", entries)
	}
}

// TestDamageIsNoticed flips every byte of a run file and cuts it at every length. Each damage must be an
// error, and never give other records.
func TestDamageIsNoticed(t *testing.T) {
	dir := t.TempDir()
	w := NewWriter(dir, 100)
	for shard := range 3 {
		record, err := w.Record(1, shard, 4)
		if err != nil {
			t.Fatal(err)
		}
		copy(record, "good")
	}
	path, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read := func() (string, error) {
		catalog, err := WriteCatalog(dir, []string{path}, []Kind{1}, nil)
		if err != nil {
			return "", err
		}
		var r Reader
		defer r.Close()
		var all []byte
		for _, shard := range catalog.Shards {
			pieces, err := ReadCatalog(catalog.Path, shard)
			if err != nil {
				return "", err
			}
			if all, err = r.ReadKind(all, pieces, 1); err != nil {
				return "", err
			}
		}
		return string(all), nil
	}
	good := strings.Repeat("good", 3)
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x10
		if err := os.WriteFile(path, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		// The last four bytes of the footer are padding.
		if got, err := read(); err == nil && (got != good || i < len(whole)-4) {
			t.Errorf("byte %d of %d flipped: read %q without an error", i, len(whole), got)
		}
	}
	for n := range whole {
		if err := os.WriteFile(path, whole[:n], 0o666); err != nil {
			t.Fatal(err)
		}
		if got, err := read(); err == nil {
			t.Errorf("cut to %d of %d bytes: read %q without an error", n, len(whole), got)
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	w := NewWriter(b.TempDir(), 8<<20)
	defer w.Abort()
	random := rand.New(rand.NewPCG(1, 2))
	b.SetBytes(32)
	for b.Loop() {
		if _, err := w.Record(1, int(random.Uint32()&63), 32); err != nil {
			b.Fatal(err)
		}
	}
}
