package inflate

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/dsnet/compress/bzip2"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
)

// others are the compressions that libraries decode. Each has a writer of another library.
var others = map[string]struct {
	open func() *Reader
	pack func(w io.Writer) (io.WriteCloser, error)
}{
	"bzip2": {NewBzip2, func(w io.Writer) (io.WriteCloser, error) { return bzip2.NewWriter(w, nil) }},
	"xz": {NewXZ, func(w io.Writer) (io.WriteCloser, error) {
		return xz.WriterConfig{DictCap: 1 << 20}.NewWriter(w)
	}},
	"lz4": {NewLZ4, func(w io.Writer) (io.WriteCloser, error) {
		packer := lz4.NewWriter(w)
		return packer, packer.Apply(lz4.ChecksumOption(true), lz4.BlockChecksumOption(true))
	}},
}

// packed returns content in a compression.
func packed(t testing.TB, name string, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := others[name].pack(&b)
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestOthers: all streams of a file are read. If it is cut or ends with something else, what comes before is read, and
// then there is one fault. A failure of the disk is none.
func TestOthers(t *testing.T) {
	content := text(rand.New(rand.NewPCG(1, 1)), 300_000)
	for name, other := range others {
		r := other.open()
		defer r.Close()
		whole := packed(t, name, content)
		for what, stored := range map[string][]byte{
			"one":            whole,
			"two":            append(bytes.Clone(whole), whole...),
			"empty":          packed(t, name, nil),
			"half":           whole[:len(whole)/2],
			"one and a half": append(bytes.Clone(whole), whole[:len(whole)/2]...),
			"four bytes":     whole[:4],
			"junk":           append(bytes.Clone(whole), "some words"...),
		} {
			want := content
			switch what {
			case "two", "one and a half":
				want = append(bytes.Clone(content), content...)
			case "empty":
				want = nil
			}
			got := read(t, r, bytes.NewReader(stored), Options{Size: int64(len(stored))}, make([]byte, 1000))
			isWhole := what == "one" || what == "two" || what == "empty"
			if isWhole && (!bytes.Equal(got.decoded, want) || len(got.faults) > 0) ||
				!isWhole && (!bytes.HasPrefix(want, got.decoded) || len(got.faults) != 1) {
				t.Errorf("%s, %s: %d bytes of %d and %q", name, what, len(got.decoded), len(want), got.faults)
			}
			if what == "one and a half" && len(got.decoded) < len(content) ||
				what == "junk" && len(got.decoded) < len(content) {
				t.Errorf("%s, %s: only %d bytes", name, what, len(got.decoded))
			}
		}
		broken := errors.New("the disk is broken")
		if err := r.Reset(io.MultiReader(bytes.NewReader(whole[:len(whole)/2]), iotest.ErrReader(broken)),
			Options{}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, r); !errors.Is(err, broken) {
			t.Errorf("%s: %v of a broken disk", name, err)
		}
	}
}

// TestDictionary: a file of xz waits for the right to hold a large dictionary, and gives it back. One that is too large
// is a fault before it is held.
func TestDictionary(t *testing.T) {
	content := []byte("some words")
	var b bytes.Buffer
	w, err := xz.WriterConfig{DictCap: 64 << 20}.NewWriter(&b)
	if err == nil {
		_, err = w.Write(content)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if got := xzDictionary(b.Bytes()); got != 64<<20 {
		t.Fatalf("a dictionary of %d bytes", got)
	}
	held := 0
	r := NewXZ()
	about := Options{HoldWindow: func() (func(), error) { held++; return func() { held += 10 }, nil }}
	if got := read(t, r, bytes.NewReader(b.Bytes()), about,
		make([]byte, 100)); string(got.decoded) != string(content) || len(got.faults) > 0 || held != 11 {
		t.Errorf("%q, faults %q, held %d", got.decoded, got.faults, held)
	}
	about.Window = 32 << 20
	got := read(t, r, bytes.NewReader(b.Bytes()), about, make([]byte, 100))
	if len(got.faults) != 1 || !strings.Contains(got.faults[0], "a dictionary of 64 MiB, and at most 32 MiB") ||
		held != 11 {
		t.Errorf("faults %q, held %d", got.faults, held)
	}
	r.Close()
}

// FuzzOthers: no bytes make a decoder panic or go on for ever, and after its last fault it says the same.
func FuzzOthers(f *testing.F) {
	content := text(rand.New(rand.NewPCG(1, 1)), 2000)
	for name := range others {
		f.Add(name, packed(f, name, content))
	}
	f.Fuzz(func(t *testing.T, name string, stored []byte) {
		other, is := others[name]
		if !is {
			return
		}
		r := other.open()
		defer r.Close()
		if err := r.Reset(bytes.NewReader(stored), Options{Size: int64(len(stored)), Window: SmallWindow}); err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, io.LimitReader(r, 64<<20))
		if n == 64<<20 {
			return
		}
		if fault, isFault := errors.AsType[*Fault](err); err != nil && (!isFault || !fault.Last) {
			t.Fatal(err)
		}
		if _, again := r.Read(make([]byte, 1)); err == nil && again != io.EOF || err != nil && again != err {
			t.Fatalf("%v, then %v", err, again)
		}
	})
}
