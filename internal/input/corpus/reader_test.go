package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// found is what a reader returned for a stream.
type found struct {
	Lines   []string // "position:line"
	Rejects []Reject
}

// collect reads a stretch to its end.
func collect(r *Reader) (f found, err error) {
	var buffer []byte
	for {
		batch, err := r.Next(buffer)
		if err == io.EOF {
			return f, nil
		}
		if err != nil {
			return f, err
		}
		if len(batch.Data) == 0 && len(batch.Rejects) == 0 {
			return f, errors.New("empty batch")
		}
		for position, line := range batch.Lines() {
			f.Lines = append(f.Lines, fmt.Sprintf("%d:%s", position, line))
		}
		f.Rejects = append(f.Rejects, batch.Rejects...)
		buffer = batch.Data
	}
}

// readAll reads the stretches of a file, one reader after the other.
func readAll(t testing.TB, file File, maxLine int64, cuts ...int64) found {
	t.Helper()
	var all found
	var r *Reader
	start := int64(0)
	for _, end := range append(cuts, file.Size) {
		s := Stretch{Start: start, End: end}
		var err error
		if r == nil {
			r, err = Open(file, s, Limits{Line: maxLine})
		} else {
			err = r.Reset(file, s)
		}
		if err != nil {
			t.Fatal(err)
		}
		f, err := collect(r)
		if err != nil {
			t.Fatal(err)
		}
		all.Lines = append(all.Lines, f.Lines...)
		all.Rejects = append(all.Rejects, f.Rejects...)
		start = end
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}

// store writes content to a file and inspects it.
func store(t testing.TB, content []byte) File {
	t.Helper()
	file := File{Path: filepath.Join(t.TempDir(), "file")}
	if err := os.WriteFile(file.Path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := inspect(&file, Options{}); err != nil {
		t.Fatal(err)
	}
	return file
}

// reference splits a whole stream at its line ends.
func reference(content []byte, newline byte, maxLine int) (f found) {
	offset := 0
	if bytes.HasPrefix(content, []byte(ByteOrderMark)) {
		offset = len(ByteOrderMark)
	}
	for offset < len(content) {
		line, _, _ := bytes.Cut(content[offset:], []byte{newline})
		if len(line) > maxLine {
			f.Rejects = append(f.Rejects, Reject{
				Position: int64(offset),
				Message: fmt.Sprintf("line of %d bytes is longer than the limit of %d bytes set by max_document",
					len(line), maxLine),
			})
		} else {
			f.Lines = append(f.Lines, fmt.Sprintf("%d:%s", offset, bytes.TrimSuffix(line, []byte("\r"))))
		}
		offset += len(line) + 1
	}
	return f
}

// TestStretches cuts random files in random places: the stretches together
// have each line once, in order, at its position.
func TestStretches(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	path := filepath.Join(t.TempDir(), "file")
	for range 3000 {
		content := make([]byte, random.IntN(200))
		for i := range content {
			content[i] = "\n\n\r abcdefghi"[random.IntN(13-random.IntN(12))]
		}
		if random.IntN(4) == 0 {
			content = append([]byte(ByteOrderMark), content...)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		var cuts []int64
		for range random.IntN(12) {
			cuts = append(cuts, random.Int64N(int64(len(content))+1))
		}
		slices.Sort(cuts)
		limit := leastLine + random.IntN(40)
		file := File{Path: path, Size: int64(len(content))}
		if diff := cmp.Diff(reference(content, '\n', limit), readAll(t, file, int64(limit), cuts...)); diff != "" {
			t.Fatalf("%q cut at %d with lines of at most %d, -want +got:\n%s", content, cuts, limit, diff)
		}
	}
}

// TestLargeBatches does the same with lines around the length of a batch and
// of the limit, plain and compressed.
func TestLargeBatches(t *testing.T) {
	const limit = 3*BatchBytes + 7
	var content []byte
	for i, length := range []int{
		0, 1, BatchBytes - 1, BatchBytes, BatchBytes + 1, 10, 2 * BatchBytes, limit - 1, limit, limit + 1, 5,
		limit + BatchBytes, 2 * limit, 3, keepBytes + 1, 100, 0, limit,
	} {
		content = append(content, bytes.Repeat([]byte{byte('a' + i)}, length)...)
		content = append(content, '\n')
	}
	want := reference(content, '\n', limit)
	if len(want.Rejects) != 4 {
		t.Fatalf("%d rejects in the reference", len(want.Rejects))
	}
	size := int64(len(content))
	for about, got := range map[string]found{
		"whole": readAll(t, store(t, content), limit),
		"cut": readAll(t, store(t, content), limit, BatchBytes, BatchBytes+1, size/3, size/2,
			size-limit, size-1),
		"gzip":               readAll(t, store(t, gzipped(t, content)), limit),
		"zstd":               readAll(t, store(t, zstded(t, content)), limit),
		"no newline at end":  readAll(t, store(t, content[:size-1]), limit),
		"a limit of 64 bits": readAll(t, store(t, content[:10*BatchBytes]), 1<<62),
	} {
		expected := want
		if strings.HasPrefix(about, "a limit") {
			expected = reference(content[:10*BatchBytes], '\n', 1<<40)
		}
		if !slices.Equal(expected.Lines, got.Lines) || !slices.Equal(expected.Rejects, got.Rejects) {
			t.Errorf("%s: %d lines, rejects %v; want %d lines, rejects %v", about, len(got.Lines), got.Rejects,
				len(expected.Lines), expected.Rejects)
		}
	}
}

// TestLongLineIsNotHeld reads a line far longer than the limit in the memory
// of a batch.
func TestLongLineIsNotHeld(t *testing.T) {
	file := store(t, append(bytes.Repeat([]byte("x"), 64<<20), "\nshort\n"...))
	r, err := Open(file, Stretch{End: file.Size}, Limits{Line: BatchBytes})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	batch, err := r.Next(nil)
	if err != nil || len(batch.Rejects) != 1 || len(batch.Data) != 0 {
		t.Fatalf("batch of %d bytes, rejects %v, error %v", len(batch.Data), batch.Rejects, err)
	}
	if held := cap(batch.Data) + cap(r.carry); held > 4*BatchBytes {
		t.Errorf("%d bytes are held", held)
	}
}

func TestReadFailures(t *testing.T) {
	content := []byte(strings.Repeat("line\n", 400_000))
	file := store(t, content)
	whole := Stretch{End: file.Size}

	if err := os.Truncate(file.Path, file.Size-5); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, whole, Limits{Line: 100}); err == nil ||
		!strings.Contains(err.Error(),
			"changed while the job ran: it had 2000000 bytes when it was listed and now has 1999995") {
		t.Errorf("a file that shrank before it was opened: %v", err)
	}

	file.Size, file.Generation = file.Size-5, ""
	r, err := Open(file, whole, Limits{Line: BatchBytes})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file.Path, BatchBytes); err != nil {
		t.Fatal(err)
	}
	if _, err := collect(r); err == nil || !strings.Contains(err.Error(), "changed while the job ran") {
		t.Errorf("a file that shrank while it was read: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}

	file.Size = BatchBytes
	if r, err = Open(file, Stretch{End: BatchBytes}, Limits{Line: BatchBytes}); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.stream.file.Generation = "1" // as if it had been listed long ago
	if _, err := collect(r); err == nil || !strings.Contains(err.Error(), "it was written to after it was listed") {
		t.Errorf("a file that changed while it was read: %v", err)
	}

	if err := os.Remove(file.Path); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, whole, Limits{Line: 100}); !errors.Is(err, os.ErrNotExist) ||
		!strings.Contains(err.Error(), file.Path) {
		t.Errorf("a file that vanished: %v", err)
	}

	packed := store(t, gzipped(t, content))
	if _, err := Open(packed, Stretch{Start: 5, End: packed.Size}, Limits{Line: 100}); err == nil ||
		!strings.Contains(err.Error(), "from its middle") {
		t.Errorf("the middle of a gzip file: %v", err)
	}
	for _, compression := range []Compression{None, Gzip, Zstd} {
		path := t.TempDir()
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		directory := File{Path: path, Size: info.Size(), Compression: compression}
		r, err := Open(directory, Stretch{End: 10}, Limits{Line: 100})
		if err == nil {
			_, err = collect(r)
		}
		if err == nil || !strings.Contains(err.Error(), directory.Path) ||
			!strings.Contains(err.Error(), "is a directory") {
			t.Errorf("a file that cannot be read, %v: %v", compression, err)
		}
	}
}

func TestLinesDoNotAllocate(t *testing.T) {
	batch := Batch{Data: []byte(strings.Repeat("one line\r\n\n", 100)), Offset: 7}
	lines, last := 0, int64(0)
	allocs := testing.AllocsPerRun(10, func() {
		for position, line := range batch.Lines() {
			lines += 1 + len(line)
			last = position
		}
	})
	if allocs != 0 || last != 7+1100-1 {
		t.Errorf("%v allocations, last line at %d", allocs, last)
	}
}

func TestNextDoesNotAllocate(t *testing.T) {
	content := []byte(strings.Repeat("a line of a file\n", 500_000))
	for _, file := range []File{store(t, content), store(t, gzipped(t, content)), store(t, zstded(t, content))} {
		r, err := Open(file, Stretch{End: file.Size}, Limits{Line: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		batch, err := r.Next(make([]byte, 0, BatchBytes))
		if err != nil {
			t.Fatal(err)
		}
		batch, err = r.Next(batch.Data)
		if err != nil {
			t.Fatal(err)
		}
		allocs := testing.AllocsPerRun(5, func() { batch, err = r.Next(batch.Data) })
		if err != nil || allocs > 1 {
			t.Errorf("%v: %v allocations a batch, error %v", file.Compression, allocs, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestIsBlank(t *testing.T) {
	for line, want := range map[string]bool{
		"":        true,
		" \t\r\n": true,
		"{}":      false,
		" a":      false,
		"\x00":    false,
		"\u00a0":  false,
	} {
		if got := IsBlank([]byte(line)); got != want {
			t.Errorf("IsBlank(%q) = %v", line, got)
		}
	}
}

// FuzzStretches is TestStretches for the fuzzer.
func FuzzStretches(f *testing.F) {
	f.Add([]byte("\xef\xbb\xbfa\nbb\r\n\nccc"), uint8(3), uint8(7), uint8(20))
	f.Add([]byte("a\rbb\r\rccc\nd"), uint8(3), uint8(7), uint8(20))
	f.Add([]byte("\xff\xfea\x00\n\x00"), uint8(3), uint8(7), uint8(20))
	f.Fuzz(func(t *testing.T, content []byte, first, second, limit uint8) {
		size := int64(len(content))
		cuts := []int64{min(int64(first), size), min(int64(first)+int64(second), size)}
		file := File{Path: filepath.Join(t.TempDir(), "file")}
		if err := os.WriteFile(file.Path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := inspect(&file, Options{}); err != nil || !file.isPlain() {
			t.Skip("no text that can be cut")
		}
		maxLine := max(int(limit), leastLine)
		if diff := cmp.Diff(reference(content, lineEnd(file.CR), maxLine),
			readAll(t, file, int64(maxLine), cuts...)); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	content := []byte(strings.Repeat(`{"id":"document","text":"`+strings.Repeat("some words of a text ", 30)+"\"}\n",
		100_000))
	for _, form := range []struct {
		name   string
		packed []byte
	}{{"plain", content}, {"gzip", gzipped(b, content)}, {"zstd", zstded(b, content)}} {
		b.Run(form.name, func(b *testing.B) {
			file := store(b, form.packed)
			buffer := make([]byte, 0, BatchBytes)
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				r, err := Open(file, Stretch{End: file.Size}, Limits{Line: 1 << 26})
				if err != nil {
					b.Fatal(err)
				}
				lines := 0
				for {
					batch, err := r.Next(buffer)
					if err == io.EOF {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
					for range batch.Lines() {
						lines++
					}
					buffer = batch.Data
				}
				if lines != 100_000 {
					b.Fatal(lines)
				}
				r.Close()
			}
		})
	}
}

// BenchmarkSmallFiles reads many small files with one reader.
func BenchmarkSmallFiles(b *testing.B) {
	content := []byte(strings.Repeat("{\"text\":\"short\"}\n", 20))
	for _, form := range []struct {
		name   string
		packed []byte
	}{{"plain", content}, {"gzip", gzipped(b, content)}, {"zstd", zstded(b, content)}} {
		b.Run(form.name, func(b *testing.B) {
			file := store(b, form.packed)
			s := Stretch{End: file.Size}
			r, err := Open(file, s, Limits{Line: 1 << 20})
			if err != nil {
				b.Fatal(err)
			}
			buffer := make([]byte, 0, BatchBytes)
			for b.Loop() {
				if err := r.Reset(file, s); err != nil {
					b.Fatal(err)
				}
				for {
					if _, err := r.Next(buffer); err != nil {
						break
					}
				}
			}
			r.Close()
		})
	}
}
