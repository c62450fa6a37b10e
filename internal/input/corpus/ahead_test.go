package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
)

// far lists files of a storage in memory, whose contents have the given lengths.
func far(t *testing.T, lengths ...int) (m *storagetest.Memory, files []File, split Split) {
	t.Helper()
	m, folder := storagetest.NewMemory(t)
	for i, length := range lengths {
		name := storage.Join(folder, fmt.Sprintf("%03d.jsonl", i))
		if err := storage.WriteFile(name, bytes.Repeat([]byte{byte(i)}, length)); err != nil {
			t.Fatal(err)
		}
		info, err := storage.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, File{Path: name, Size: info.Size, Generation: info.Generation})
		split = append(split, files[i].Whole(i))
	}
	return m, files, split
}

// contentOf opens a file and reads it to its end.
func contentOf(a *Ahead, file *File) ([]byte, error) {
	handle, err := a.Open(file)
	if err != nil {
		return nil, err
	}
	defer handle.Close()
	return io.ReadAll(handle.From(0))
}

// TestAhead: while the first file is read others are asked for, as many as the budget holds. Each comes whole, under
// its name.
func TestAhead(t *testing.T) {
	lengths := make([]int, 3*aheadFiles)
	for i := range lengths {
		lengths[i] = 10 + i
	}
	for _, test := range []struct {
		budget      int64
		least, most int
	}{
		{1 << 20, aheadFiles / 2, aheadFiles}, // a busy machine opens some of them late
		{600, 10, 60},
		{0, 0, 0},
	} {
		m, files, split := far(t, lengths...)
		var held, most atomic.Int64
		a := NewAhead(files, split, test.budget)
		var mutex sync.Mutex
		opened := map[string]bool{}
		m.Ask = func(operation, name string) error {
			if operation == "open" {
				mutex.Lock()
				defer mutex.Unlock()
				if opened[name] {
					t.Errorf("budget %d: %s is opened twice", test.budget, name)
				}
				opened[name] = true
				most.Store(max(most.Load(), int64(len(opened))-held.Load()))
			}
			return nil
		}
		for i := range files {
			content, err := contentOf(a, &files[i])
			if err != nil || !bytes.Equal(content, bytes.Repeat([]byte{byte(i)}, lengths[i])) {
				t.Errorf("budget %d, file %d: %d bytes, %v", test.budget, i, len(content), err)
			}
			held.Add(1)
			if a.held > test.budget {
				t.Errorf("%d bytes are held, the budget is %d", a.held, test.budget)
			}
		}
		a.Close()
		if a.held != 0 {
			t.Errorf("budget %d: %d bytes are held at the end", test.budget, a.held)
		}
		if got := int(most.Load()); got < test.least || got > test.most+1 {
			t.Errorf("budget %d: %d files are ahead, want %d to %d", test.budget, got, test.least, test.most)
		}
	}
}

// TestAheadLarge: a large file is opened when it is wanted. Those behind it come early all the same.
func TestAheadLarge(t *testing.T) {
	m, files, split := far(t, 5, 1000, 5, 5)
	var opened atomic.Int64
	m.Ask = func(operation, name string) error {
		if operation == "open" {
			opened.Add(1)
		}
		return nil
	}
	a := NewAhead(files, split, 100)
	if _, err := contentOf(a, &files[0]); err != nil {
		t.Fatal(err)
	}
	a.Close()
	if got := opened.Load(); got != 3 {
		t.Errorf("%d files were opened, want the three small ones", got)
	}
	if content, err := contentOf(a, &files[1]); err != nil || len(content) != 1000 {
		t.Errorf("%d bytes, %v", len(content), err)
	}
}

// TestAheadParts: of a split that has a part of a file, and of files on the local disk, nothing is read ahead.
func TestAheadParts(t *testing.T) {
	_, files, split := far(t, 50)
	split[0].Start = 10
	local := File{Path: "/a/file", Size: 10}
	for _, of := range []*Ahead{NewAhead(files, split, 1000), NewAhead([]File{local}, Split{local.Whole(0)}, 1000)} {
		if of.fill(); len(of.queue) > 0 {
			t.Errorf("%v is read ahead", of.queue[0].file.Path)
		}
		of.Close()
	}
}

// TestAheadFails: a fault shows where the file is read, and nowhere else.
func TestAheadFails(t *testing.T) {
	m, files, split := far(t, 5, 6, 7)
	fault := errors.New("the storage fails")
	m.Ask = func(_, name string) error {
		if name == files[1].Path {
			return fault
		}
		return nil
	}
	limits := Limits{Line: 100, Ahead: NewAhead(files, split, 1000)}
	defer limits.Ahead.Close()
	for i := range files {
		reader, err := Open(files[i], split[i], limits)
		if err == nil {
			_, err = reader.Next(nil)
			reader.Close()
		}
		if isFaulty := i == 1; isFaulty != errors.Is(err, fault) ||
			isFaulty && !strings.Contains(err.Error(), files[1].Path) {
			t.Errorf("file %d: %v", i, err)
		}
	}
}

// TestAheadChanged: what is read is the file that was listed, or nothing.
func TestAheadChanged(t *testing.T) {
	for name, content := range map[string]string{"same length": "01234", "longer": "012345", "shorter": "0123"} {
		_, files, split := far(t, 5, 5)
		if err := storage.WriteFile(files[1].Path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		a := NewAhead(files, split, 1000)
		for i := range files {
			reader := NewReader(Limits{Line: 100, Ahead: a})
			err := reader.Reset(files[i], split[i])
			if err == nil {
				_, err = reader.Next(nil)
			}
			if isChanged := err != nil &&
				strings.Contains(err.Error(), "the file changed while the job ran"); isChanged != (i == 1) {
				t.Errorf("%s, file %d: %v", name, i, err)
			}
			reader.Close()
		}
		a.Close()
	}
}
