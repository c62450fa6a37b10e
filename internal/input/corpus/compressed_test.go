package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// gzipped returns content as one gzip member.
func gzipped(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// zstded returns content as one zstd frame with a checksum.
func zstded(t testing.TB, content []byte, options ...zstd.EOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, append(options, zstd.WithEncoderConcurrency(1))...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// join puts parts one behind the other.
func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// sample returns numbered lines that do not compress to nothing.
func sample(from, to int) []byte {
	var b bytes.Buffer
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "{\"id\":%d,\"text\":\"%x %x\"}\n", i, uint32(i)*2654435761, uint32(i)*40503)
	}
	return b.Bytes()
}

func TestStreams(t *testing.T) {
	const lines = 30_000
	first, second := sample(0, lines), sample(lines, 2*lines)
	both := join(first, second)
	cutInLine := len(first) - 20
	skippable := []byte("\x53\x2a\x4d\x18\x05\x00\x00\x00hello")
	flip := func(b []byte, at int) []byte {
		b = bytes.Clone(b)
		b[(at+len(b))%len(b)] ^= 0x10
		return b
	}
	z1, z2 := zstded(t, first), zstded(t, second)
	g1, g2 := gzipped(t, first), gzipped(t, second)
	for _, test := range []struct {
		about   string
		content []byte
		// at least so many; exactly as many without a message. All but the last, which may be cut, are lines of the original.
		lines   int
		message string // of the one reject; empty: none
		warning bool
	}{
		{"gzip", gzipped(t, both), 2 * lines, "", false},
		{"gzip members", join(g1, g2), 2 * lines, "", false},
		{
			"gzip members cut inside a line", join(gzipped(t, both[:cutInLine]), gzipped(t, both[cutInLine:])), 2 * lines,
			"", false,
		},
		{"gzip with an empty member", join(g1, gzipped(t, nil), g2), 2 * lines, "", false},
		{"gzip with zeros behind", join(g1, make([]byte, 512)), lines, "", false},
		{
			"gzip with zeros between and junk behind",
			join(g1, make([]byte, 512), g2, make([]byte, 300<<10), []byte("junk")), 2 * lines,
			"4 bytes after the last whole gzip member", true,
		},
		{"gzip with one byte behind", join(g1, []byte("\n")), lines, "1 bytes after the last whole gzip member", true},
		{
			"gzip with junk behind", join(g1, g2, []byte("junk")), 2 * lines, "4 bytes after the last whole gzip member",
			true,
		},
		{
			"gzip cut in its data", join(g1, g2[:len(g2)/2]), lines + lines/3,
			"gzip stream is cut short: unexpected EOF: copy or download the file again; documents after this point are lost", false,
		},
		{"gzip cut in its trailer", join(g1, g2[:len(g2)-3]), 2 * lines, "cut short: unexpected EOF", false},
		{"gzip cut in a header", join(g1, g2[:5]), lines, "cut short: unexpected EOF", false},
		{"gzip cut in a magic number", join(g1, g2[:1]), lines, "cut short: unexpected EOF", false},
		{
			"gzip cut in a name", join(g1, []byte("\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x00name")), lines,
			"cut short: unexpected EOF", false,
		},
		{
			"gzip with a wrong checksum in the first member", join(flip(g1, -6), g2), 2 * lines,
			"gzip checksum does not match: documents of the member that ends here may be damaged", false,
		},
		{"gzip with a damaged block", join(g1, flip(g2, 20)), lines, "gzip stream is damaged: ", false},

		{"zstd", zstded(t, both), 2 * lines, "", false},
		{"zstd frames", join(z1, z2), 2 * lines, "", false},
		{
			"zstd frames cut inside a line", join(zstded(t, both[:cutInLine]), zstded(t, both[cutInLine:])), 2 * lines,
			"", false,
		},
		{"zstd with skippable frames", join(skippable, z1, skippable, z2, skippable), 2 * lines, "", false},
		{"zstd without checksums", join(zstded(t, first, zstd.WithEncoderCRC(false)), z2), 2 * lines, "", false},
		{"zstd single segment", join(zstded(t, first, zstd.WithSingleSegment(true)), z2), 2 * lines, "", false},
		{"zstd with zeros behind", join(z1, make([]byte, 512), z2, make([]byte, 7)), 2 * lines, "", false},
		{"zstd with one byte behind", join(z1, []byte("\n")), lines, "1 bytes after the last whole zstd frame", true},
		{
			"zstd with three bytes behind", join(z1, []byte("abc")), lines, "3 bytes after the last whole zstd frame",
			true,
		},
		{
			"zstd cut in its data", join(z1, z2[:len(z2)/2]), lines + lines/3,
			"zstd stream is cut short: unexpected EOF: copy or download the file again; documents after this point are lost", false,
		},
		{"zstd cut in a magic number", join(z1, z2[:3]), lines, "cut short: unexpected EOF", false},
		{"zstd cut in its checksum", join(z1, z2[:len(z2)-3]), 2 * lines, "cut short: unexpected EOF", false},
		{"zstd cut in a header", join(z1, z2[:5]), lines, "cut short: unexpected EOF", false},
		{"zstd cut in a skippable frame", join(z1, skippable[:10]), lines, "cut short: unexpected EOF", false},
		{
			"zstd with a wrong checksum in the first frame", join(flip(z1, -2), z2), 2 * lines,
			"zstd checksum does not match: documents of the frame that ends here may be damaged", false,
		},
		{"zstd with a damaged block", join(z1, flip(z2, len(z2)/2)), lines, "zstd", false},
	} {
		t.Run(test.about, func(t *testing.T) {
			file := store(t, test.content)
			got := readAll(t, file, 1<<20)
			want := reference(both, '\n', 1<<20)
			if len(got.Lines) < test.lines || test.message == "" && len(got.Lines) != test.lines {
				t.Errorf("%d lines, want %d", len(got.Lines), test.lines)
			}
			// All but the last, which may be cut, are the lines of the original.
			for i, line := range got.Lines[:min(len(got.Lines)-1, test.lines)] {
				if line != want.Lines[i] {
					t.Fatalf("line %d is %q, want %q", i, line, want.Lines[i])
				}
			}
			if test.message == "" {
				if len(got.Rejects) != 0 {
					t.Errorf("rejects %v", got.Rejects)
				}
				return
			}
			if len(got.Rejects) != 1 {
				t.Fatalf("rejects %v, want one", got.Rejects)
			}
			reject := got.Rejects[0]
			if !strings.Contains(reject.Message, test.message) || reject.Warning != test.warning || !reject.Damage {
				t.Errorf("reject %+v, want %q, warning %v", reject, test.message, test.warning)
			}
			if strings.Contains(reject.Message, "cut short") && reject.Position < int64(len(first)) {
				t.Errorf("fault at %d, before the end of what is whole at %d", reject.Position, len(first))
			}
		})
	}
}

// TestJunkAfterDamage ends a file with a part whose checksum is wrong, and bytes of no format behind it.
// These may be the rest of the part. So the message is not a warning.
func TestJunkAfterDamage(t *testing.T) {
	for _, packed := range [][]byte{gzipped(t, sample(0, 10)), zstded(t, sample(0, 10))} {
		if packed[0] == magicZstd[0] {
			packed[len(packed)-1] ^= 1 // the checksum is the end of a frame,
		} else {
			packed[len(packed)-8] ^= 1 // but not of a gzip member
		}
		got := readAll(t, store(t, append(packed, "junk"...)), 1<<20)
		if len(got.Lines) != 10 || len(got.Rejects) != 2 || got.Rejects[0].Warning || got.Rejects[1].Warning {
			t.Fatalf("%d lines, rejects %+v", len(got.Lines), got.Rejects)
		}
		if !strings.HasPrefix(got.Rejects[1].Message, "4 bytes after a damaged") {
			t.Errorf("reject %q", got.Rejects[1].Message)
		}
	}
}

// TestPartialLineComesOut cuts a stream in the middle of a line. The decoded part of the line comes out, and
// its end is a reject of its own.
func TestPartialLineComesOut(t *testing.T) {
	content := sample(0, 100)
	partial := content[:len(content)-10]
	for _, packed := range [][]byte{gzipped(t, partial), zstded(t, partial)} {
		got := readAll(t, store(t, packed[:len(packed)-2]), 1<<20)
		if len(got.Lines) != 100 ||
			!strings.HasSuffix(string(partial), got.Lines[99][strings.Index(got.Lines[99], ":")+1:]) {
			t.Errorf("%d lines, the last %q", len(got.Lines), got.Lines[len(got.Lines)-1])
		}
		if len(got.Rejects) != 1 || got.Rejects[0].Position != int64(len(partial)) {
			t.Errorf("rejects %v, want one at %d", got.Rejects, len(partial))
		}
	}
}

// TestEveryCut cuts small streams at every byte. Each time all lines before the cut come out right, and the
// loss is reported.
func TestEveryCut(t *testing.T) {
	first, second := sample(0, 40), sample(40, 80)
	want := reference(join(first, second), '\n', 1<<20)
	for _, parts := range [][2][]byte{{gzipped(t, first), gzipped(t, second)}, {zstded(t, first), zstded(t, second)}} {
		whole := join(parts[0], parts[1])
		for cut := 8; cut < len(whole); cut++ {
			got := readAll(t, store(t, whole[:cut]), 1<<20)
			if isWhole := cut == len(parts[0]); isWhole != (len(got.Rejects) == 0) {
				t.Errorf("cut at %d of %d: rejects %v", cut, len(whole), got.Rejects)
			}
			if cut >= len(parts[0]) && len(got.Lines) < 40 {
				t.Errorf("cut at %d: %d lines of the whole part", cut, len(got.Lines))
			}
			for i := range max(len(got.Lines)-1, 0) {
				if got.Lines[i] != want.Lines[i] {
					t.Fatalf("cut at %d: line %d is %q, want %q", cut, i, got.Lines[i], want.Lines[i])
				}
			}
		}
	}
}

// TestCutBeforeContent cuts files within the bytes that tell their compression: then their names tell it, or two bytes
// that no text begins with.
func TestCutBeforeContent(t *testing.T) {
	for _, c := range []struct {
		name, content string
		want          Compression
	}{
		{"a.jsonl.gz", magicGzip[:1], Gzip},
		{"A.GZ", magicGzip[:1], Gzip},
		{"a.jsonl", magicGzip[:1], None},
		{"a.jsonl.gz", "{", None},
		{"a.jsonl.gz", "", None},
		{"a.txt.zst", magicZstd[:1], Zstd},
		{"a.txt", magicZstd[:1], None}, // a bracket
		{"a.txt", magicZstd[:2], Zstd},
		{"a.jsonl.zst", magicZstd[:3], Zstd},
	} {
		file := File{Path: filepath.Join(t.TempDir(), c.name)}
		if err := os.WriteFile(file.Path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := inspect(&file, Options{}); err != nil || file.Compression != c.want {
			t.Errorf("%s of %q is %v (%v), want %v", c.name, c.content, file.Compression, err, c.want)
		}
		got := readAll(t, file, 1<<20)
		if c.want != None &&
			(len(got.Lines) != 0 || len(got.Rejects) != 1 ||
				!strings.Contains(got.Rejects[0].Message, "stream is cut short")) {
			t.Errorf("%s of %q: lines %q, rejects %v", c.name, c.content, got.Lines, got.Rejects)
		}
	}
}

// TestLongWindow reads a frame with a window of 128 MiB, and finds a match
// at that distance.
func TestLongWindow(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 400 MB")
	}
	unique := sample(0, 50_000)
	filler := bytes.Repeat([]byte("a line that is here many times\n"), 100<<20/31)
	content := join(unique, filler, unique)
	packed := zstded(t, content, zstd.WithWindowSize(128<<20), zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
	if exponent := packed[5] >> 3; exponent != 27-10 {
		t.Fatalf("the window of the frame is 1<<%d", exponent+10)
	}
	if len(packed) > len(zstded(t, unique))*3/2 {
		t.Fatalf("%d bytes: the match across the window was not found", len(packed))
	}
	file := store(t, packed)
	r, err := Open(file, Stretch{End: file.Size}, Limits{Line: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var buffer []byte
	for rest := content; ; {
		batch, err := r.Next(buffer)
		if err == io.EOF && len(rest) == 0 {
			return
		}
		if err != nil || len(batch.Rejects) > 0 || !bytes.HasPrefix(rest, batch.Data) {
			t.Fatalf("at %d: error %v, rejects %v", batch.Offset, err, batch.Rejects)
		}
		rest, buffer = rest[len(batch.Data):], batch.Data
	}
}

// TestLargeWindow reads a frame whose header asks for the 2 GiB window of zstd --ultra --long=31. It is
// refused by default, and read if that much may be held.
func TestLargeWindow(t *testing.T) {
	// Magic, descriptor, window of 1<<31, one raw block that is the last.
	frame := []byte("\x28\xb5\x2f\xfd\x00\xa8\x19\x00\x00{}\n")
	got := readAll(t, store(t, join(zstded(t, []byte("[]\n")), frame)), 1<<20)
	const want = "zstd frame needs a window of 2048 MiB, and at most 128 MiB are held: recompress the file with zstd --long=27"
	if len(got.Lines) != 1 || got.Lines[0] != "0:[]" || len(got.Rejects) != 1 || got.Rejects[0].Position != 3 ||
		!strings.HasPrefix(got.Rejects[0].Message, want) {
		t.Errorf("got %+v", got)
	}
	// A frame of a single segment needs a window of its size.
	encoder, err := zstd.NewWriter(nil, zstd.WithSingleSegment(true))
	if err != nil {
		t.Fatal(err)
	}
	defer encoder.Close()
	file := store(t, encoder.EncodeAll(bytes.Repeat([]byte("{}\n"), 1<<20), nil))
	for window, rejects := range map[int64]int{1 << 20: 1, 4 << 20: 0} {
		r, err := Open(file, Stretch{End: file.Size}, Limits{Line: 100, Window: window})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := collect(r); err != nil || len(got.Rejects) != rejects {
			t.Errorf("window %d: rejects %v (%v)", window, got.Rejects, err)
		}
		r.Close()
	}
	if testing.Short() {
		return // it reserves 2 GiB
	}
	file = store(t, frame)
	r, err := Open(file, Stretch{End: file.Size}, Limits{Line: 100, Window: MaxWindow})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := collect(r); err != nil || len(got.Lines) != 1 || got.Lines[0] != "0:{}" || len(got.Rejects) != 0 {
		t.Errorf("got %+v (%v)", got, err)
	}
}

// TestNoGoroutinesLeak opens and closes readers in every state.
func TestNoGoroutinesLeak(t *testing.T) {
	content := sample(0, 100_000)
	z := zstded(t, content)
	g := gzipped(t, content)
	files := []File{store(t, z), store(t, z[:len(z)/2]), store(t, g), store(t, g[:len(g)/2]), store(t, content)}
	before := runtime.NumGoroutine()
	for range 20 {
		for _, file := range files {
			r, err := Open(file, Stretch{End: file.Size}, Limits{Line: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Next(nil); err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestHoldWindow: before a stream holds a large zstd window, or a long line of a file that may have one, it asks once.
// It gives the right back at the end of the file.
func TestHoldWindow(t *testing.T) {
	// As above, with a window of 16 MiB.
	large := []byte("\x28\xb5\x2f\xfd\x00\x70\x19\x00\x00{}\n")
	small := zstded(t, []byte("[]\n"))
	long := zstded(t, append(bytes.Repeat([]byte("x"), LongLine+1), '\n'))
	for _, c := range []struct {
		name   string
		frames [][]byte
		want   string
	}{
		{"small windows", [][]byte{small, small}, ""},
		{"large windows", [][]byte{small, large, large, small}, "window, end"},
		{"a long line", [][]byte{small, long, large}, "window, line, end"},
	} {
		var asked []string
		limits := Limits{Line: 2 * LongLine}
		limits.Hold = func() error { asked = append(asked, "line"); return nil }
		limits.HoldWindow = func() (func(), error) {
			asked = append(asked, "window")
			return func() { asked = append(asked, "end") }, nil
		}
		file := store(t, join(c.frames...))
		r, err := Open(file, Stretch{End: file.Size}, limits)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := collect(r); err != nil || len(got.Lines) != len(c.frames) || len(got.Rejects) > 0 {
			t.Errorf("%s: %d lines, rejects %v (%v)", c.name, len(got.Lines), got.Rejects, err)
		}
		if got := strings.Join(asked, ", "); got != c.want {
			t.Errorf("%s: asked for %q, want %q", c.name, got, c.want)
		}
		r.Close()
	}
	// Who waits in vain fails: nothing is said of the file.
	fault := errors.New("no more waiting")
	file := store(t, join(small, large))
	r, err := Open(file, Stretch{End: file.Size}, Limits{
		Line:       100,
		HoldWindow: func() (func(), error) { return nil, fault },
	})
	if err == nil {
		_, err = collect(r)
		r.Close()
	}
	if !errors.Is(err, fault) {
		t.Errorf("error %v", err)
	}
}
