package inflate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// gzipped returns content as one gzip member.
func gzipped(content []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, 1+len(content)%6) // each is a level
	w.Write(content)                                  // a buffer takes all
	w.Close()
	return b.Bytes()
}

// blockGzipped returns content as members of BGZF, which give their length.
func blockGzipped(content []byte) []byte {
	var packed bytes.Buffer
	for len(content) > 0 {
		n := min(len(content), 65280)
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Extra = []byte("BC\x02\x00\x00\x00")
		w.OS = 255
		w.Write(content[:n])
		w.Close()
		binary.LittleEndian.PutUint16(b.Bytes()[16:], uint16(b.Len()-1))
		packed.Write(b.Bytes())
		content = content[n:]
	}
	return packed.Bytes()
}

// storedMember returns content as one member of stored blocks, so that what is in it can look like members.
func storedMember(content []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, flate.NoCompression)
	w.Write(content)
	w.Close()
	return b.Bytes()
}

var frameEncoder, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))

// zstded returns content as one zstd frame with a checksum.
func zstded(content []byte) []byte { return frameEncoder.EncodeAll(content, nil) }

// skippable returns content as a skippable frame, such as the table of a seekable file.
func skippable(content []byte) []byte {
	head := []byte("\x5e\x2a\x4d\x18")
	return append(binary.LittleEndian.AppendUint32(head, uint32(len(content))), content...)
}

// text returns n bytes that compress to about a third.
func text(random *rand.Rand, n int) []byte {
	b := make([]byte, 0, n+20)
	for len(b) < n {
		b = fmt.Appendf(b, "{\"number\": %d}\n", random.Uint32())
	}
	return b[:n]
}

// begin is where the bytes of a member begin in the decoded file, and where the member begins in the stored one.
type begin struct {
	at     int
	stored int64
}

// outcome is all that a reader gives.
type outcome struct {
	decoded []byte
	members []begin  // which member the bytes come from
	faults  []string // with their position in the decoded bytes
}

// read reads a whole file.
func read(t testing.TB, r *Reader, stored io.Reader, about Options, buffer []byte) outcome {
	t.Helper()
	if err := r.Reset(stored, about); err != nil {
		t.Fatal(err)
	}
	var got outcome
	for {
		n, err := r.Read(buffer)
		if n > 0 && (len(got.members) == 0 || got.members[len(got.members)-1].stored != r.Member()) {
			got.members = append(got.members, begin{len(got.decoded), r.Member()})
		}
		got.decoded = append(got.decoded, buffer[:n]...)
		if err == io.EOF {
			return got
		}
		if err != nil {
			got.faults = append(got.faults, fmt.Sprintf("%d: %#v", len(got.decoded), err))
			if fault, ok := errors.AsType[*Fault](err); ok && !fault.Last {
				continue
			}
			return got
		}
	}
}

// newReader returns a reader of gzip or zstd.
func newReader(t testing.TB, zstd bool) *Reader {
	r := NewGzip()
	if zstd {
		r = NewZstd()
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// check reads a file whole and in small parts, with one reader. It holds both to the same outcome.
func check(t testing.TB, r *Reader, file []byte) {
	t.Helper()
	about := Options{Size: int64(len(file)), Window: 32 << 20}
	want := read(t, r, bytes.NewReader(file), about, make([]byte, 1000))
	got := read(t, r, iotest.HalfReader(bytes.NewReader(file)), about, make([]byte, 3000))
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%d bytes of %d members in parts, %d of %d whole\nfaults in parts %q\nwhole %q",
			len(got.decoded), len(got.members), len(want.decoded), len(want.members), got.faults, want.faults)
	}
}

// mixed returns a file of random parts: whole, damaged, cut short, empty, and no members at all.
func mixed(random *rand.Rand, zstd bool) []byte {
	press := []func([]byte) []byte{gzipped, blockGzipped, storedMember}
	if zstd {
		press = []func([]byte) []byte{zstded, zstded, skippable}
	}
	var file []byte
	damage := random.IntN(3) == 0
	for range random.IntN(60) {
		content := text(random, random.IntN(3000)*random.IntN(4)/2)
		if random.IntN(20) == 0 {
			content = bytes.Join([][]byte{content, gzipped(content), zstded(content)}, nil)
		}
		part := press[random.IntN(len(press))](content)
		if damage && random.IntN(20) == 0 && len(part) > 0 {
			switch at := random.IntN(len(part)); random.IntN(4) {
			case 0:
				part = part[:at]
			case 1:
				part[at] ^= 1 << random.IntN(8)
			case 2:
				part = append(part, make([]byte, random.IntN(20))...)
			default:
				part[max(len(part)-1-random.IntN(8), 0)] ^= 1
			}
		}
		file = append(file, part...)
	}
	return file
}

// TestPartsChangeNothing: what a reader gives does not depend on how the stored bytes come, nor on the file before.
func TestPartsChangeNothing(t *testing.T) {
	for _, zstd := range []bool{false, true} {
		r := newReader(t, zstd)
		for seed := range uint64(300) {
			check(t, r, mixed(rand.New(rand.NewPCG(seed, 1)), zstd))
		}
	}
}

// TestMembers: the bytes of all members come out, each with the place where its member begins.
func TestMembers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct {
		about string
		zstd  bool
		press func([]byte) []byte
	}{
		{"gzip", false, gzipped},
		{"members in a member", false, func(content []byte) []byte { return storedMember(gzipped(content)) }},
		{"zstd", true, zstded},
	} {
		t.Run(test.about, func(t *testing.T) {
			var file []byte
			var want outcome
			for range 40 {
				content := text(random, 1+random.IntN(20_000))
				want.members = append(want.members, begin{len(want.decoded), int64(len(file))})
				file = append(file, test.press(content)...)
				if test.about == "members in a member" {
					content = gzipped(content)
				}
				want.decoded = append(want.decoded, content...)
			}
			got := read(t, newReader(t, test.zstd), bytes.NewReader(file), Options{Size: int64(len(file))},
				make([]byte, 3000))
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%d bytes of %d members and faults %q, want %d of %d",
					len(got.decoded), len(got.members), got.faults, len(want.decoded), len(want.members))
			}
		})
	}
}

// TestFailure: an error of the file comes where the file fails, after all bytes before it, unless a fault has ended the
// file.
func TestFailure(t *testing.T) {
	broken := errors.New("the disk is broken")
	random := rand.New(rand.NewPCG(3, 4))
	for _, zstd := range []bool{false, true} {
		r := newReader(t, zstd)
		for range 50 {
			file := mixed(random, zstd)
			about := Options{Size: int64(len(file)) + 10_000}
			want := read(t, r, bytes.NewReader(file), about, make([]byte, 1000))
			stored := io.MultiReader(bytes.NewReader(file), iotest.ErrReader(broken))
			got := read(t, r, stored, about, make([]byte, 1000))
			failure := fmt.Sprintf("%d: %#v", len(got.decoded), broken)
			if !bytes.HasPrefix(want.decoded, got.decoded) || len(got.faults) == 0 ||
				got.faults[len(got.faults)-1] != failure && !slices.Equal(got.faults, want.faults) {
				t.Fatalf("%d bytes and %q, want %d and %q", len(got.decoded), got.faults, len(want.decoded),
					want.faults)
			}
		}
	}
}

// TestDecoderForgets: what a damaged member gives does not depend on the members before it. The damaged ones have a
// block without codes, where the decoder would use the codes of the block before.
func TestDecoderForgets(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 12))
		damaged := []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x05\x00\x00\x00")
		for range 100 {
			damaged = append(damaged, byte(random.Uint32()))
		}
		before := gzipped(text(random, 1000))
		r := NewGzip()
		defer r.Close()
		alone := read(t, r, bytes.NewReader(damaged), Options{}, make([]byte, 100))
		behind := read(t, r, bytes.NewReader(append(before, damaged...)), Options{}, make([]byte, 100))
		if !bytes.Equal(behind.decoded[1000:], alone.decoded) || behind.faults[0][4:] != alone.faults[0][1:] {
			t.Fatalf("%d bytes and %q behind another member, %d and %q alone", len(behind.decoded)-1000, behind.faults,
				len(alone.decoded), alone.faults)
		}
	}
}

// FuzzReader: what a reader gives does not depend on how the bytes come, whatever they are.
func FuzzReader(f *testing.F) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 9))
		for _, zstd := range []bool{false, true} {
			f.Add(mixed(random, zstd), zstd)
		}
	}
	f.Fuzz(func(t *testing.T, file []byte, zstd bool) { check(t, newReader(t, zstd), file) })
}
