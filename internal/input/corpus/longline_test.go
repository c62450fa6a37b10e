package corpus

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLongLines: lines that are measured before they are held come out like others, from every kind of file.
func TestLongLines(t *testing.T) {
	const long, limit = 3000, 20_000
	for range 20 {
		random := rand.New(rand.NewPCG(rand.Uint64(), 1))
		var content []byte
		for range 50 {
			content = append(content, bytes.Repeat([]byte{'x'}, random.IntN(10)*random.IntN(3000))...)
			content = append(content, '\n')
		}
		content = content[:len(content)-random.IntN(2)]
		want := reference(content, '\n', limit)
		for _, stored := range [][]byte{content, gzipped(t, content), zstded(t, content)} {
			file := store(t, stored)
			held := 0
			r, err := Open(file, Stretch{End: file.Size}, Limits{Line: limit, Hold: func() error {
				held++
				return nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			r.long = long
			got, err := collect(r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%v, -want +got:\n%.1000s", file.Compression, diff)
			}
			if held == 0 {
				t.Errorf("%v: nobody asked whether long lines may be held", file.Compression)
			}
			r.Close()
		}
	}
}

// TestLongLineOfDamagedStream: the part of a long line before damage comes out, with a reject, like the one of a
// short line.
func TestLongLineOfDamagedStream(t *testing.T) {
	content := join([]byte("short\n"), bytes.Repeat(sample(0, 1), 40_000))
	content = bytes.ReplaceAll(content, []byte("\"}\n"), []byte("  "))
	for _, packed := range [][]byte{gzipped(t, content), zstded(t, content)} {
		file := store(t, packed[:len(packed)-2])
		r, err := Open(file, Stretch{End: file.Size}, Limits{Line: 64 << 20})
		if err != nil {
			t.Fatal(err)
		}
		r.long = 100_000
		got, err := collect(r)
		if err != nil || len(got.Lines) != 2 || len(got.Rejects) != 1 {
			t.Errorf("%v: %d lines, rejects %v (%v)", file.Compression, len(got.Lines), got.Rejects, err)
		}
		r.Close()
	}
}

// TestHoldRefused: Next returns the error of Hold.
func TestHoldRefused(t *testing.T) {
	file := store(t, bytes.Repeat([]byte("x"), LongLine+1))
	refused := errors.New("refused")
	r, err := Open(file, Stretch{End: file.Size}, Limits{Line: 1 << 30, Hold: func() error { return refused }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Next(nil); !errors.Is(err, refused) {
		t.Errorf("error %v", err)
	}
}

// TestLongLineMemory: a line takes memory for its length, and a line that is too long takes none, however
// small its file is.
func TestLongLineMemory(t *testing.T) {
	const length = 100 << 20
	file := store(t, gzipped(t, bytes.Repeat([]byte("x"), length)))
	for _, test := range []struct{ limit, most int64 }{
		{length, length + 40<<20},
		{length - 1, 40 << 20},
	} {
		r, err := Open(file, Stretch{End: file.Size}, Limits{Line: test.limit})
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var batch Batch
		for {
			next, err := r.Next(batch.Data)
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			batch = next
		}
		runtime.ReadMemStats(&after)
		if took := int64(after.TotalAlloc - before.TotalAlloc); took > test.most {
			t.Errorf("limit %d: %d bytes were allocated, at most %d are enough", test.limit, took, test.most)
		}
		r.Close()
	}
}
