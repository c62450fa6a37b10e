package runfile

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"

	"mirrorbeam.dev/internal/storage/storagetest"
)

// errFault is the error of an operation of storage that this test lets fail.
var errFault = errors.New("the storage fails")

// writeRuns writes two run files of several sections and their catalog, and reads all back. It returns the
// content of the shards that it could read.
func writeRuns(dir string) (content []byte, err error) {
	var runs []string
	for run := range 2 {
		w := NewWriter(dir, 10)
		defer w.Abort()
		for i := range 6 {
			record, err := w.Record(Kind(1+i%2), i%3, 5)
			if err != nil {
				return nil, err
			}
			copy(record, fmt.Sprint("r", run, i, "xx"))
		}
		if err := w.Section(3, 0, bytes.Repeat([]byte("long"), writeBuffer)); err != nil {
			return nil, err
		}
		path, err := w.Close()
		if err != nil {
			return nil, err
		}
		runs = append(runs, path)
	}
	catalog, err := WriteCatalog(dir, runs, []Kind{1, 2}, []Kind{3})
	if err != nil {
		return nil, err
	}
	var r Reader
	defer r.Close()
	for _, shard := range catalog.Shards {
		pieces, err := ReadCatalog(catalog.Path, shard)
		if err != nil {
			return content, err
		}
		for kind := Kind(1); kind <= 3; kind++ {
			if content, err = r.ReadKind(content, pieces, kind); err != nil {
				return content, err
			}
		}
	}
	return content, nil
}

// TestAnyStorage: run files are the same on the local disk and in a storage that offers only what every
// storage must.
func TestAnyStorage(t *testing.T) {
	_, folder := storagetest.NewMemory(t)
	got, err := writeRuns(folder)
	if err != nil {
		t.Fatal(err)
	}
	want, err := writeRuns(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if len(want) != 2*(6*5+4*writeBuffer) || !bytes.Equal(got, want) {
		t.Errorf("%d bytes from memory, %d from the disk", len(got), len(want))
	}
}

// TestStorageFails lets each operation fail in turn. The error comes through, the content read before is
// right, and every visible file is whole.
func TestStorageFails(t *testing.T) {
	m, folder := storagetest.NewMemory(t)
	var asked atomic.Int64 // sections are read side by side
	m.Ask = func(string, string) error { asked.Add(1); return nil }
	want, err := writeRuns(folder)
	if err != nil {
		t.Fatal(err)
	}
	all := asked.Load()
	if all < 20 {
		t.Fatalf("only %d operations", all)
	}
	for failing := range all {
		m, folder := storagetest.NewMemory(t)
		var what string
		var asked atomic.Int64
		m.Ask = func(operation, _ string) error {
			if asked.Add(1)-1 == failing {
				what = operation
				return errFault
			}
			return nil
		}
		got, err := writeRuns(folder)
		if !errors.Is(err, errFault) {
			t.Errorf("operation %d (%s) failed, and the error is %v", failing, what, err)
		}
		if !bytes.HasPrefix(want, got) {
			t.Errorf("operation %d (%s) failed, and %d bytes were read that are others", failing, what, len(got))
		}
		m.Ask = nil
		for info, err := range m.List(folder) {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Pieces(info.Name); err != nil && !strings.Contains(info.Name, "catalog-") {
				t.Errorf("operation %d (%s) failed, and left %s: %v", failing, what, info.Name, err)
			}
			if _, err := ReadCatalog(info.Name, 1); err != nil && strings.Contains(info.Name, "catalog-") {
				t.Errorf("operation %d (%s) failed, and left %s: %v", failing, what, info.Name, err)
			}
		}
	}
}

// TestOneSection: if each section costs a request, a run file has one section for each kind and shard. It has
// the same records in the same order as a run file on the local disk.
func TestOneSection(t *testing.T) {
	write := func(dir string) ([]Piece, string) {
		w := NewWriter(dir, 100)
		defer w.Abort()
		for i := range 5000 {
			record, err := w.Record(Kind(1+i%3), i%7, 1+i%20)
			if err != nil {
				t.Fatal(err)
			}
			for at := range record {
				record[at] = byte(i * (at + 1))
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
		return pieces, path
	}
	contents := func(pieces []Piece) map[[2]int]string {
		var r Reader
		defer r.Close()
		of := map[[2]int]string{}
		for _, p := range pieces {
			content, err := r.Read(nil, p)
			if err != nil {
				t.Fatal(err)
			}
			of[[2]int{int(p.Kind), p.Shard}] += string(content)
		}
		return of
	}
	_, folder := storagetest.NewMemory(t)
	pieces, _ := write(folder)
	local, _ := write(t.TempDir())
	if len(pieces) != 21 || len(local) < 100 {
		t.Errorf("%d sections, %d on the local disk", len(pieces), len(local))
	}
	if !maps.Equal(contents(pieces), contents(local)) {
		t.Error("the records differ")
	}
}
