package output

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
)

// TestLater: small files are finished side by side, while others are written, and large ones at once. All are there
// after Wait.
func TestLater(t *testing.T) {
	const files = 20
	m, folder := storagetest.NewMemory(t)
	all := make(chan struct{}) // is closed when as many commits are under way as there are small files
	var mutex sync.Mutex
	small := 0
	m.Ask = func(operation, _ string) error {
		if operation != "commit" {
			return nil
		}
		mutex.Lock()
		if small++; small == files {
			close(all)
		}
		mutex.Unlock()
		<-all
		return nil
	}
	w := &Writer{Later: NewLater(folder, 100*laterFiles)}
	write := func(name string, length int) File {
		t.Helper()
		if err := w.Reset(folder, File{Name: name}, JSONL); err != nil {
			t.Fatal(err)
		}
		if err := w.Row([]byte(strings.Repeat("x", length))); err != nil {
			t.Fatal(err)
		}
		file, err := w.Close()
		if err != nil || file.Bytes != int64(length) || file.Rows != 1 {
			t.Fatalf("%+v, %v", file, err)
		}
		return file
	}
	var written []File
	for i := range files {
		written = append(written, write(fmt.Sprint("small ", i), 100))
	}
	large := write("large", 101)
	if _, err := storage.Stat(storage.Join(folder, large.Temporary)); err != nil {
		t.Errorf("a large file is not there when it is closed: %v", err)
	}
	if err := w.Later.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, file := range written {
		if content, err := storage.ReadFile(storage.Join(folder, file.Temporary)); err != nil || len(content) != 100 {
			t.Errorf("%s: %d bytes, %v", file.Name, len(content), err)
		}
	}
	if NewLater(t.TempDir(), 1<<20) != nil {
		t.Error("files of the local disk are finished later")
	}
}

// TestLaterFails: Wait tells that a file could not be finished, and which.
func TestLaterFails(t *testing.T) {
	m, folder := storagetest.NewMemory(t)
	fault := errors.New("the storage fails")
	m.Ask = func(operation, _ string) error {
		if operation == "commit" {
			return fault
		}
		return nil
	}
	w := &Writer{Later: NewLater(folder, 1<<20)}
	if err := w.Reset(folder, File{Name: "unique-1.jsonl"}, JSONL); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Later.Wait(); !errors.Is(err, fault) || !strings.Contains(err.Error(), "unique-1.jsonl") {
		t.Errorf("%v", err)
	}
}
