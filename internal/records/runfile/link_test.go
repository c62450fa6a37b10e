package runfile

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"mirrorbeam.dev/internal/storage/storagetest"
)

// TestLinks: linked pieces are read like pieces of the run itself, with their marks, directly and by a catalog.
func TestLinks(t *testing.T) {
	_, memory := storagetest.NewMemory(t)
	for name, dir := range map[string]string{"disk": t.TempDir(), "memory": memory} {
		t.Run(name, func(t *testing.T) {
			var linked []Piece
			for i := range 2 {
				w := NewWriter(dir, 100)
				defer w.Abort()
				for shard := range 2 {
					if err := w.Section(1, shard, fmt.Appendf(nil, "unit %d %d", i, shard)); err != nil {
						t.Fatal(err)
					}
				}
				path, err := w.Close()
				if err != nil {
					t.Fatal(err)
				}
				pieces, err := Pieces(path)
				if err != nil {
					t.Fatal(err)
				}
				linked = append(linked, pieces...)
			}
			w := NewWriter(dir, 100)
			defer w.Abort()
			for i, piece := range linked {
				if err := w.Link(1, 7, piece, uint32(10*i)); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Section(2, 7, []byte("own")); err != nil {
				t.Fatal(err)
			}
			if err := w.Link(1, 7, linked[0], maxMark+1); err == nil {
				t.Error("a mark of 25 bits is taken")
			}
			path, err := w.Close()
			if err != nil {
				t.Fatal(err)
			}
			catalog, err := WriteCatalog(dir, []string{path}, []Kind{1}, []Kind{2})
			if err != nil || !slices.Equal(catalog.Shards, []int{7}) {
				t.Fatalf("shards %v, %v", catalog.Shards, err)
			}
			direct, err := Pieces(path)
			if err != nil {
				t.Fatal(err)
			}
			catalogued, err := ReadCatalog(catalog.Path, 7)
			if err != nil {
				t.Fatal(err)
			}
			for _, pieces := range [][]Piece{direct, catalogued} {
				var r Reader
				defer r.Close()
				got, err := r.ReadKind(nil, pieces, 1)
				if want := []byte("unit 0 0unit 0 1unit 1 0unit 1 1"); err != nil || !bytes.Equal(got, want) {
					t.Errorf("read %q, %v", got, err)
				}
				if got, err := r.ReadKind(nil, pieces, 2); err != nil || string(got) != "own" {
					t.Errorf("read %q of its own, %v", got, err)
				}
				for i, mark := range []uint32{0, 10, 20, 30, 0} {
					if pieces[i].Mark != mark {
						t.Errorf("piece %d has the mark %d, want %d", i, pieces[i].Mark, mark)
					}
				}
			}
			if filepath.Base(direct[4].Path) != filepath.Base(path) {
				t.Errorf("the own section lies in %s", direct[4].Path)
			}
		})
	}
}
