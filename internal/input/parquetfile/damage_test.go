package parquetfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/parquetfile"
)

// seen is a file that counts reads, and fails the reads of a range.
type seen struct {
	data   []byte
	reads  int
	fail   error
	failAt int64 // reads that reach beyond this fail
}

func (s *seen) ReadAt(p []byte, offset int64) (int, error) {
	s.reads++
	if s.fail != nil && offset+int64(len(p)) > s.failAt {
		return 0, s.fail
	}
	return bytes.NewReader(s.data).ReadAt(p, offset)
}

// use does all that can be done with a file. It returns the first error.
func use(data []byte) error {
	file, err := open(data)
	if err != nil {
		return err
	}
	_, readErr := contentOf(file, 1<<16)
	_, copyErr := file.Copy(io.Discard, corpus.RowCopy{Keep: func(row int64) bool { return row%2 == 0 }})
	return errors.Join(readErr, copyErr)
}

// known reports whether an error says that the content is at fault.
func known(err error) bool {
	var file *parquetfile.FileError
	var group *parquetfile.GroupError
	var field *parquetfile.FieldError
	return errors.As(err, &file) || errors.As(err, &group) || errors.As(err, &field)
}

// TestTwoFiles: a file behind another one, as cat joins them, is refused. Its footer would be read with the pages of
// the first, which are other rows of the same shape.
func TestTwoFiles(t *testing.T) {
	files := expected(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		t.Run(name, func(t *testing.T) {
			whole := readFile(t, name)
			_, err := open(slices.Concat(whole, whole))
			if want := fmt.Sprintf("split them at byte %d", len(whole)); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}

// TestDamage flips bytes and cuts files. Whatever happens is no panic, and an error that blames the content.
func TestDamage(t *testing.T) {
	files := expected(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		t.Run(name, func(t *testing.T) {
			whole := readFile(t, name)
			random := rand.New(rand.NewPCG(1, uint64(len(whole))))
			for range 50 {
				data := slices.Clone(whole)
				for range 1 + random.IntN(3) {
					data[random.IntN(len(data))] ^= byte(1 + random.IntN(255))
				}
				if err := use(data); err != nil && !known(err) {
					t.Fatalf("error %v", err)
				}
			}
			for cut := 0; cut < len(whole); cut += 1 + len(whole)/100 {
				if err := use(whole[:cut]); err == nil || !known(err) {
					t.Fatalf("error %v for the first %d bytes", err, cut)
				}
			}
		})
	}
}

// TestRestOfGroup: a page that is damaged loses the rest of its row group, which the error says. The rows before it and
// other row groups are read.
func TestRestOfGroup(t *testing.T) {
	const name = "gzip-v1.parquet" // which has checksums
	data := slices.Clone(readFile(t, name))
	file := mustOpen(t, data)
	columns, err := file.Columns("id")
	if err != nil {
		t.Fatal(err)
	}
	data[bytes.Index(data, []byte{0x1f, 0x8b})+20] ^= 0xff // in the dictionary of the first column
	rows, lost := int64(0), int64(0)
	for group := range file.Groups() {
		cursor := columns.Read(group)
		for {
			buffer, err := cursor.Append(nil, 1)
			if err == io.EOF {
				break
			}
			var damage *parquetfile.GroupError
			if errors.As(err, &damage) {
				if damage.Group != group || damage.First < file.Groups()[group].First || damage.Column != "id" {
					t.Errorf("%+v", damage)
				}
				lost += damage.Rows
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for range parquetfile.Rows(buffer, 1) {
				rows++
			}
		}
		cursor.Close()
	}
	if lost != 25 || rows+lost != file.Rows() {
		t.Errorf("%d rows are read and %d lost, of %d", rows, lost, file.Rows())
	}
}

// TestStorageFails: an error of the storage is not blamed on the content.
func TestStorageFails(t *testing.T) {
	broken := errors.New("the network is down")
	data := readFile(t, "groups.parquet")
	_, err := parquetfile.Open(&seen{data: data, fail: broken}, int64(len(data)))
	if !errors.Is(err, broken) || known(err) {
		t.Errorf("open: %v", err)
	}
	storage := &seen{data: data}
	file, err := parquetfile.Open(storage, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	storage.fail, storage.failAt = broken, 100
	if _, err := contentOf(file, 1); !errors.Is(err, broken) || known(err) {
		t.Errorf("read: %v", err)
	}
	rows := corpus.RowCopy{Keep: func(int64) bool { return true }}
	if _, err := file.Copy(io.Discard, rows); !errors.Is(err, broken) || known(err) {
		t.Errorf("copy: %v", err)
	}
	storage.fail, storage.data = nil, data[:200]
	if _, err := contentOf(file, 1); !errors.Is(err, io.ErrUnexpectedEOF) || known(err) {
		t.Errorf("read of a file that became shorter: %v", err)
	}
}

// TestReads counts reads: one for the footer, and one for each column of a row group that is wanted.
func TestReads(t *testing.T) {
	data := readFile(t, "groups.parquet")
	storage := &seen{data: data}
	file, err := parquetfile.Open(storage, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := contentOf(file, 1<<20, "id", "text"); err != nil {
		t.Fatal(err)
	}
	if want := 1 + 2*len(file.Groups()); storage.reads != want {
		t.Errorf("%d reads, want %d", storage.reads, want)
	}
}

func FuzzOpen(f *testing.F) {
	for name := range expected(f) {
		f.Add(readFile(f, name))
	}
	for _, name := range []string{"encrypted.parquet", "encrypted-column.parquet"} {
		f.Add(readFile(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := use(data); err != nil && !known(err) {
			t.Errorf("error %v", err)
		}
	})
}
