package runfile

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
)

// meteredFile counts the reads of a file, and their bytes.
type meteredFile struct {
	storage.File
	reads, bytes int64
}

func (f *meteredFile) ReadAt(b []byte, offset int64) (int, error) {
	f.reads++
	f.bytes += int64(len(b))
	return f.File.ReadAt(b, offset)
}

// TestAhead: whatever is read in whatever order, the bytes are the file's. What is read one after the other takes few
// reads, and no more bytes than twice as many.
func TestAhead(t *testing.T) {
	_, folder := storagetest.NewMemory(t)
	random := rand.New(rand.NewPCG(1, 50))
	content := make([]byte, 3<<20)
	for i := range content {
		content[i] = byte(random.Uint32())
	}
	name := folder + "/file"
	if err := storage.WriteFile(name, content); err != nil {
		t.Fatal(err)
	}
	opened, err := storage.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	file := &meteredFile{File: opened}
	var a ahead
	read := func(offset, length int64) {
		t.Helper()
		b := make([]byte, length)
		if err := a.readAt(file, int64(len(content)), b, offset); err != nil ||
			!bytes.Equal(b, content[offset:offset+length]) {
			t.Fatalf("%d bytes at %d: %v", length, offset, err)
		}
	}
	size := int64(len(content))
	for range 3000 {
		switch offset := random.Int64N(size); random.IntN(3) {
		case 0:
			read(offset, random.Int64N(min(100_000, size-offset)))
		case 1: // on from where a stream is
			if offset = a.streams[random.IntN(streamsAhead)].next; offset < size {
				read(offset, random.Int64N(min(300, size-offset)))
			}
		default:
			read(size-random.Int64N(10), 0)
		}
	}
	for _, test := range []struct{ length, skip, others, most int64 }{
		{length: 270, most: 9}, {length: 40_000, most: 9}, {length: size, most: 1}, {
			length: 270,
			others: 3,
			most:   4 * 9,
		}, {length: 30_000, skip: 3000, others: 1, most: 2 * 9},
	} {
		a.reset()
		file.reads, file.bytes = 0, 0
		wanted, part := int64(0), size/(1+test.others)
		for at := int64(0); at+test.length <= part; at += test.length + test.skip {
			for other := range 1 + test.others {
				read(other*part+at, test.length)
				wanted += test.length
			}
		}
		if file.reads > test.most || file.bytes > 2*wanted+leastAhead {
			t.Errorf("%+v: %d reads of %d bytes, %d were wanted", test, file.reads, file.bytes, wanted)
		}
	}
}

// TestAheadFails: after a read that fails the next one starts again.
func TestAheadFails(t *testing.T) {
	m, folder := storagetest.NewMemory(t)
	name := folder + "/file"
	content := bytes.Repeat([]byte("0123456789"), 100_000)
	if err := storage.WriteFile(name, content); err != nil {
		t.Fatal(err)
	}
	file, err := storage.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	var a ahead
	fails := false
	m.Ask = func(operation, _ string) error {
		if fails && operation == "read" {
			return errFault
		}
		return nil
	}
	for i := range int64(50) {
		b := make([]byte, 10_001)
		fails = i%2 == 1
		err := a.readAt(file, int64(len(content)), b, i*10_001)
		if err == nil && !bytes.Equal(b, content[i*10_001:][:len(b)]) {
			t.Errorf("read %d gives other bytes", i)
		}
	}
	fails = false
	b := make([]byte, 10)
	if err := a.readAt(file, int64(len(content)), b, 500_000); err != nil || string(b) != "0123456789" {
		t.Errorf("%q, %v", b, err)
	}
}
